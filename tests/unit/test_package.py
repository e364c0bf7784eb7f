"""The package as a whole: public names, start-up cost, compiled kernels that are found again."""

from __future__ import annotations

import os
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

import textbayes
from textbayes.kernels import feature_of


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_exist_and_are_sorted():
    assert textbayes.__all__ == sorted(textbayes.__all__)
    for name in set(textbayes.__all__) - {"__version__"}:
        assert getattr(textbayes, name).__name__ == name
    assert dir(textbayes) == textbayes.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = textbayes.nothing


def test_import_is_cheap():
    """It loads four modules of ours and some of Python's own, none of others."""
    code = "import sys; before = set(sys.modules); import textbayes; print(*set(sys.modules) - before)"
    modules = run(code).split()
    others = [name for name in modules if name.partition(".")[0] not in {"textbayes", *sys.stdlib_module_names}]
    assert others == []
    assert len([name for name in modules if name.startswith("textbayes")]) <= 5
    assert len(modules) < 60


def test_text_and_selection_do_not_load_the_compiler():
    layers = ("text", "select", "decide", "evaluate", "data")
    names = "; ".join(f"from textbayes.{layer} import *" for layer in layers)  # which loads what is loaded on first use
    out = run(f"import sys; {names}; print('numba' in sys.modules)")
    assert out.strip() == "False"


@pytest.mark.slow
def test_second_process_finds_every_kernel_compiled():
    """Kernels take arrays and scalars only: nothing is compiled twice, whatever the first process had to compile.

    Where nothing is left to compile, as after other tests, the first is that second process already.
    """
    code = """
import textbayes, numpy as np
from numba.core.dispatcher import Dispatcher
texts = ["wheat corn prices", "corn harvest", "bank rates rise", "bank cuts rates", "oil", "Öl und Gas"] * 4
labels = ["grain", "grain", "money", "money", "oil", "oil"] * 4
model = textbayes.TextCategorizer(cv=2).fit(texts, labels)
model.assess(texts)
textbayes.TextVectorizer(ngram_range=(1, 2)).fit_transform(texts)
import sys
misses, hits = {}, 0
for name, module in list(sys.modules.items()):
    if name.startswith("textbayes.kernels"):
        for key, value in vars(module).items():
            if isinstance(value, Dispatcher):
                hits += sum(value.stats.cache_hits.values())
                misses[f"{name}.{key}"] = sum(value.stats.cache_misses.values())
print(hits, [key for key, value in misses.items() if value])
"""
    hits, _, misses = run(code).strip().partition(" ")
    if misses != "[]":
        hits, _, misses = run(code).strip().partition(" ")
    assert int(hits) > 5, "otherwise this test sees nothing"
    assert misses == "[]"


@pytest.mark.slow
def test_a_user_who_waits_for_the_compiler_is_told_why_once(tmp_path):
    code = """
import numpy as np, numba
from textbayes.kernels.linear.likelihoods import logit_likelihood
from textbayes.kernels.sparse import times
foreign = lambda x: x + 1
foreign.__module__ = None
assert numba.njit(foreign)(1) == 2
logit_likelihood(np.zeros(2), np.ones(2), np.empty(0))
times(np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0), np.ones((1, 1)), 1)
"""

    def said() -> str:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}  # in a hurry
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
        ).stderr

    assert said() == (
        "textbayes: compiling for linear models, once on this machine: about "
        f"{feature_of('sparse').seconds} s\n(`textbayes compile` does it for all features)\n"
    )
    assert said() == ""


def test_no_module_imports_itself_by_way_of_others():
    """Imports inside functions count too; those for type checkers alone do not."""
    graph = grimp.build_graph("textbayes", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 300
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
