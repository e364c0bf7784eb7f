"""Every example in the docstrings of textbayes.report runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import textbayes.report

MODULES = [module.name for module in pkgutil.walk_packages(textbayes.report.__path__, "textbayes.report.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
