"""Members found by folder and by entry point."""

from __future__ import annotations

import importlib.metadata

import pytest

from textbayes.core.errors import InputError
from textbayes.core.registry import Registry


@pytest.fixture
def registry():
    made = Registry[int]("number", "textbayes.core")
    made.register("one")(1)
    return made


def test_members_by_name(registry):
    assert registry.get("one") == 1
    assert registry.names() == ["one"]


def test_unknown_name_lists_what_there_is(registry):
    with pytest.raises(InputError, match="unknown number 'on': choose one of one; did you mean 'one'"):
        registry.get("on")


def test_name_taken_twice(registry):
    with pytest.raises(InputError, match="registered twice"):
        registry.register("one")(2)


def test_plug_ins_are_found(registry, monkeypatch):
    entry = importlib.metadata.EntryPoint("pi", "math:pi", "textbayes.core")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry] if group == "textbayes.core" else [])
    assert registry.names() == ["one", "pi"]
    assert registry.get("pi") == pytest.approx(3.14159, abs=1e-5)
