"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# No deadline: the first example pays for compilation or a busy machine. The same examples in every run: a red run can
# be repeated; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("textbayes", deadline=None, derandomize=True)
settings.load_profile("textbayes")
