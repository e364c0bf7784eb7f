"""Compiled loops. Kernels take arrays and scalars, never objects or functions, so that their cache always hits.

The first use on a machine compiles what it needs, which takes seconds; a user who waits is told why, once.
"""

from __future__ import annotations

import logging
from typing import Any

from numba.core import event

logger = logging.getLogger("textbayes")


class _Announce(event.Listener):
    """Says at the first compilation of a kernel of ours what the wait is for; a kernel found in the cache says nothing.

    A warning of the logger ``textbayes``, so that it is seen by default and can be turned off.
    """

    said = False

    def on_start(self, event: Any) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        module = getattr(function, "__module__", None) or ""  # made-up functions of other libraries have none
        if not self.said and module.startswith(__name__):
            self.said = True
            logger.warning("textbayes: compiling its kernels for this machine (once, a few seconds) ...")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announce())  # type: ignore[no-untyped-call]
