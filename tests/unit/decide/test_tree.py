"""Hierarchies of labels: coherence of any probabilities, what stays as it is, tables, vocabularies and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbayes.core.errors import InputError
from textbayes.data import read_parents
from textbayes.decide import LabelTree

NAMES = [f"label {k}" for k in range(7)]


@st.composite
def trees(draw):
    """Parents of lower number, any number of them; there are no cycles so."""
    return {
        name: [NAMES[j] for j in draw(st.sets(st.integers(0, k - 1), max_size=3))]
        for k, name in enumerate(NAMES)
        if k > 0
    }


@given(trees(), st.integers(0, 10_000))
def test_coherent_probabilities_and_closed_decisions(parents, seed):
    tree, rng = LabelTree(parents), np.random.default_rng(seed)
    proba = rng.random((5, 7))
    found, closed = tree.coherent(proba, NAMES), tree.closed(proba > 0.7, NAMES)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    for child, above in parents.items():
        for parent in above:
            k, j = NAMES.index(child), NAMES.index(parent)
            assert (found[:, k] <= found[:, j] + 1e-12).all()
            assert (closed[:, k] <= closed[:, j]).all()
    np.testing.assert_allclose(tree.coherent(found, NAMES), found, atol=1e-12)
    assert (closed >= (proba > 0.7)).all()
    np.testing.assert_array_equal(tree.closed(found > 0.5, NAMES), found > 0.5)  # one threshold decides coherently
    free = [k for k, name in enumerate(NAMES) if not parents.get(name) and not any(name in p for p in parents.values())]
    np.testing.assert_array_equal(found[:, free], proba[:, free])


def test_it_is_the_nearest_where_there_are_two():
    """Least squares: min (a − p)² + (b − q)² with a ≤ b has a = b = (p + q)/2 where p > q."""
    tree = LabelTree({"child": "parent"})
    np.testing.assert_allclose(tree.coherent([[0.9, 0.2]], ["child", "parent"]), [[0.55, 0.55]])
    np.testing.assert_allclose(tree.coherent([[0.1, 0.2]], ["child", "parent"]), [[0.1, 0.2]])


def test_labels_between_that_a_model_does_not_have_are_climbed_over():
    tree = LabelTree({"durum": "wheat", "wheat": ["grain", "goods"], "grain": "goods"})
    assert tree.above("durum") == ("wheat", "grain", "goods")
    assert tree.complete(["durum", "oil"]) == ("durum", "oil", "wheat", "grain", "goods")
    assert tree.closed(np.array([[True, False]]), ["durum", "goods"]).tolist() == [[True, True]]


def test_tables(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("parent,child\ngrain,wheat\ngoods,wheat\ngoods,grain\n,goods\n")
    assert read_parents(path) == {"wheat": ("grain", "goods"), "grain": ("goods",)}


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}])
def test_cycles_are_refused(parents):
    with pytest.raises(InputError, match="above itself"):
        LabelTree(parents)


def test_a_chain_without_end_is_refused():
    chain = {str(level): str(level + 1) for level in range(200_000)}
    assert len(LabelTree({str(level): str(level + 1) for level in range(100)}).above("0")) == 100
    with pytest.raises(InputError, match="more than 100 levels above it"):
        LabelTree(chain)


def test_a_cycle_that_a_label_only_leads_to_is_refused():
    with pytest.raises(InputError, match="'b' is above itself"):
        LabelTree({"a": "b", "b": "c", "c": "b"})


def test_ways_up_that_double_with_every_level_are_followed_once():
    ladder = {f"{level}{side}": [f"{level + 1}a", f"{level + 1}b"] for level in range(90) for side in "ab"}
    assert len(LabelTree(ladder).above("0a")) == 180


def test_more_ways_up_than_any_vocabulary_has_are_refused(monkeypatch):
    wide = {f"{level}.{k}": [f"{level + 1}.{j}" for j in range(9)] for level in range(9) for k in range(9)}
    assert len(LabelTree(wide).above("0.0")) == 81
    monkeypatch.setattr("textbayes.decide.tree._MOST_WAYS", 1_000)
    with pytest.raises(InputError, match="too many others above them"):
        LabelTree(wide)


def test_a_label_with_an_empty_cell_for_its_parent_is_at_the_top():
    tree = LabelTree({"wheat": "grain", "grain": None, "gold": float("nan"), "oil": "", "rye": ["grain", None]})
    assert tree.parents == {"wheat": ("grain",), "rye": ("grain",)}
