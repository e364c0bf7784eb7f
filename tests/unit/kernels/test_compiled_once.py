"""What the demo waits for: each helper is compiled once, and no code for the words of an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys

CODE = """
import json
import numpy as np
from numba.core import event
from textbayes.kernels.linear import coordinate, dual, likelihoods

class Seen(list, event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        self.append(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, event):
        pass

event.register("numba:compile", seen := Seen())
one, two = np.ones(1), np.ones(2)
pointers, row = np.array([0, 1, 2], dtype=np.int32), np.zeros(2, dtype=np.int32)
dual.ascend(pointers, row, two, np.array([1.0, -1.0]), two, np.zeros(2), 1, np.zeros(2), 0.0, 1.0, 1e-3, 5)
likelihoods.class_power_likelihood(
    np.zeros((1, 2, 2), dtype=np.float32), np.array([0, 1]), two, one, np.zeros(2), 1.0, np.empty(4)
)
coordinate.newton_step(
    np.array([0]), np.array([2]), np.array([0, 1], dtype=np.int32), two, np.array([1.0, -1.0]), two, np.zeros(1), one,
    one, -one, one, np.zeros(1), 0.0, 0.0, 0.0, 0.1, 5, 0.0, 0.0, np.empty(2, dtype=np.int32), np.empty(2),
)
print(json.dumps(seen))
"""


def test_each_helper_of_the_linear_models_is_compiled_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment, check=True)
    compiled = json.loads(done.stdout)
    ours = [name for name in compiled if name.startswith("textbayes.")]
    assert {"textbayes.kernels.linear.dual.sweep", "textbayes.kernels.linear.coordinate.shrink"} < set(ours)
    assert len(ours) == len(set(ours)), "a plain 0 or a default value is a type of its own"
    assert not [name for name in compiled if "unicode" in name], "an array is assigned to a slice of another"
