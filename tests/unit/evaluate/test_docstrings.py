"""The examples in the docstrings of textbayes.evaluate run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import textbayes.evaluate

MODULES = [f"textbayes.evaluate.{module.name}" for module in pkgutil.iter_modules(textbayes.evaluate.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
