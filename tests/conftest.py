"""Settings for all tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # pytest imports by path: so that tests find ``references``

# A shell has what it starts in the background ignore Ctrl-C, and commands started by tests would never be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: the first example pays for compilation or a busy machine. The same examples in every run: a red run can
# be repeated; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("textbayes", deadline=None, derandomize=True)
settings.load_profile("textbayes")
