"""Models with a label tree: every answer agrees with it, by enumeration of all sets of labels that agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

from textbayes import TextCategorizer
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.label_tree import in_agreement
from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.decide import FixedThreshold, LabelTree
from textbayes.export.collect import scoring_of
from textbayes.report.wording import settings_in_words
from textbayes.store import load_model, load_scorer, save_model
from textbayes.stream import filter_from_model

TREE = {"wheat": "grain", "corn": "grain", "gold": "metal", "grain": "goods", "metal": ["goods"]}
NAMES = ["corn", "gold", "goods", "grain", "metal", "money", "wheat"]
OWN = {"corn": ["corn"], "gold": ["gold"], "metal": ["metal"], "money": ["money"], "wheat": ["wheat", "money"], "": []}
ABOVE = {"wheat": {"grain", "goods"}, "corn": {"grain", "goods"}, "gold": {"metal", "goods"}, "grain": {"goods"}}
ABOVE["metal"] = {"goods"}
MODELS = ["linear:prior=gaussian", "counts:model=multinomial", "online", None]


def texts_of(n: int, seed: int = 0):
    """Texts whose words are often those of another label, and the lowest labels of each."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        own = str(rng.choice(list(OWN)))
        shown = own if rng.random() < 0.7 else str(rng.choice(list(OWN)))
        words = [f"{shown or 'other'}{'abcdef'[j]}" for j in rng.integers(6, size=3)]
        texts.append(" ".join([*words, *(f"w{'abcdefgh'[j]}" for j in rng.integers(8, size=3))]))
        labels.append(OWN[own])
    return texts, labels


def completed(labels):
    return [set(own).union(*(ABOVE.get(name, set()) for name in own)) for own in labels]


SETS = [set(some) for size in range(8) for some in combinations(NAMES, size)]
AGREEING = [some for some in SETS if all(ABOVE.get(name, set()) <= some for name in some)]


def smallest_around(some: set[str]) -> set[str]:
    return set.intersection(*(one for one in AGREEING if some <= one))


def largest_within(some: set[str]) -> set[str]:
    return set.union(set(), *(one for one in AGREEING if one <= some))


def agreed(p: np.ndarray) -> np.ndarray:
    """Halfway between the greatest agreeing probabilities below p and the least above, level by level.

    Probabilities agree if and only if the labels that reach any level are a set that agrees.
    """
    low, high = np.zeros(len(p)), np.zeros(len(p))
    for level in p:
        reached = {name for name, one in zip(NAMES, p, strict=True) if one >= level}
        for ends, some in ((low, largest_within(reached)), (high, smallest_around(reached))):
            for name in some:
                ends[NAMES.index(name)] = max(ends[NAMES.index(name)], level)
    return (low + high) / 2.0


def fitted(model, **parameters):
    texts, labels = texts_of(150)
    parameters = (
        {"embeddings": "off", "encoder": "off", "budget": "quick"} | parameters if model is None else parameters
    )
    return TextCategorizer(model=model, label_tree=TREE, **parameters).fit(texts, labels), texts, labels


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_the_sets_that_agree(name, tmp_path):
    model, _, _ = fitted(name)
    assert model.classes_.tolist() == NAMES  # goods and grain were in no list
    new, _ = texts_of(40, seed=1)
    own = model.model_.own_proba(model.features(new))
    proba, decisions = model.predict_proba(new), model.predict(new).astype(bool)
    assert np.abs(own - proba).max() > 0.02  # the tree matters here
    np.testing.assert_allclose(proba, [agreed(row) for row in own], atol=1e-9)
    for above, row in zip(proba > model.rule_.thresholds_, decisions, strict=True):
        given = {label for label, yes in zip(NAMES, above, strict=True) if yes}
        assert {label for label, yes in zip(NAMES, row, strict=True) if yes} == smallest_around(given)
    save_model(model, tmp_path / "m.tb")
    for loaded in (load_model(tmp_path / "m.tb"), load_scorer(tmp_path / "m.tb")):
        found = loaded.assess(new)
        np.testing.assert_array_equal(found.decisions, decisions)
        np.testing.assert_allclose(found.proba, proba, atol=1e-12)
    low, high = model.predict_interval(new)
    assert ((low <= proba) & (proba <= high)).all()


@pytest.mark.parametrize("name", MODELS)
def test_held_out_figures_are_those_of_answers_that_agree(name):
    model, _, labels = fitted(name)
    truth = np.array([[label in own for label in NAMES] for own in completed(labels)])
    proba, decisions = model.held_out_proba_, model.held_out_decisions_
    for child, above in ABOVE.items():
        for parent in above:
            k, j = NAMES.index(child), NAMES.index(parent)
            assert (proba[:, k] <= proba[:, j] + 1e-12).all()
            assert (decisions[:, k] <= decisions[:, j]).all()
    tp, wrong = (truth & decisions).sum(), (truth != decisions).sum()
    assert model.held_out_["micro_f1"] == pytest.approx(2 * tp / (2 * tp + wrong))
    loss = -np.log(np.where(truth, proba, 1.0 - proba)).mean()
    assert model.held_out_["log_loss"] == pytest.approx(loss)
    assert model.label_counts_.tolist() == truth.sum(axis=0).tolist()


def test_labels_that_are_given_with_those_above_or_as_a_matrix_make_the_same_model():
    model, texts, labels = fitted("linear:prior=gaussian")
    whole = clone(model).fit(texts, [sorted(own) for own in completed(labels)])
    np.testing.assert_array_equal(whole.predict_proba(texts), model.predict_proba(texts))
    matrix, _ = encode_labels(labels, NAMES)
    numbered = {NAMES.index(child): [NAMES.index(one) for one in ABOVE[child]] for child in ABOVE}
    other = clone(model).set_params(label_tree=numbered).fit(texts, matrix.astype(int))
    np.testing.assert_array_equal(other.predict_proba(texts), model.predict_proba(texts))


def test_the_tree_is_a_parameter_that_files_keep(tmp_path):
    model, texts, labels = fitted("linear:prior=gaussian")
    assert clone(model).get_params()["label_tree"] == TREE
    save_model(model, tmp_path / "m.tb")
    again = clone(load_model(tmp_path / "m.tb")).fit(texts, labels)
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert not np.array_equal(
        clone(model).set_params(label_tree=None).fit(texts, labels).predict(texts), model.predict(texts)
    )
    path = tmp_path / "tree.csv"
    path.write_text("child,parent\n" + "".join(f"{child},{one}\n" for child in ABOVE for one in ABOVE[child]))
    for given in (LabelTree(TREE), path, str(path)):
        same = clone(model).set_params(label_tree=given).fit(texts, labels)
        np.testing.assert_array_equal(same.predict_proba(texts), model.predict_proba(texts))
    assert "wheat below grain" in dict(settings_in_words(model))["Label tree"]


def test_update_learns_the_labels_above_those_given():
    model, texts, _ = fitted("counts:model=multinomial")
    more, labels = texts_of(30, seed=2)
    before = model.label_counts_.copy()
    model.update(more, labels)
    truth = np.array([[label in own for label in NAMES] for own in completed(labels)])
    assert (model.label_counts_ - before).tolist() == truth.sum(axis=0).tolist()
    proba = model.predict_proba(texts)
    assert (proba[:, NAMES.index("wheat")] <= proba[:, NAMES.index("grain")] + 1e-12).all()


def test_explanations_add_up_to_the_labels_own_probability():
    model, texts, _ = fitted("linear:prior=gaussian")
    proba, own = model.predict_proba(texts), model.model_.own_proba(model.features(texts))
    place = int(np.abs(own - proba).max(axis=1).argmax())
    found = model.explain(texts[place], NAMES)
    for k, one in enumerate(found):
        assert one.probability == pytest.approx(proba[place, k])
        assert 1.0 / (1.0 + np.exp(-one.log_odds)) == pytest.approx(own[place, k])
        assert one.base + sum(part.log_odds for part in one.contributions) == pytest.approx(one.log_odds)
        moved = abs(own[place, k] - proba[place, k]) > 1e-6
        assert (one.uncalibrated is not None) == moved
        assert any("before the label tree" in note for note in one.notes) == moved


def test_a_label_given_for_one_below_it_says_so():
    thresholds = [0.9999 if name in ("goods", "grain", "corn") else 0.3 for name in NAMES]
    model, texts, _ = fitted("linear:prior=gaussian", rule=FixedThreshold(thresholds))
    row = next(i for i, p in enumerate(model.predict_proba(texts)) if 0.3 < p[NAMES.index("wheat")] < p[2] < 0.9)
    [one] = model.explain(texts[row], ["goods"])
    assert one.decision
    assert one.rule == "given with wheat"


def test_a_label_that_a_fold_lacks_moves_no_other():
    """Its probability there means nothing: it stays, and others are as if it were not in the tree."""
    proba = np.array([[0.2, 0.4, 0.9], [0.2, 0.4, 0.9]])  # corn, grain, wheat
    seen = np.array([[True, True, False], [True, True, True]])
    space = LabelSpace(np.array(["corn", "grain", "wheat"], dtype=object), "multilabel")
    held = HeldOut(np.zeros((2, 3), dtype=bool), seen, np.zeros(2, dtype=int), None, space)
    found = in_agreement(LabelTree({"corn": "grain", "wheat": "grain"}), proba, held)
    np.testing.assert_allclose(found, [[0.2, 0.4, 0.9], [0.2, 0.65, 0.65]])
    seen = np.array([[True, False, True], [True, True, True]])
    found = in_agreement(LabelTree({"corn": "grain", "wheat": "grain"}), proba, replace(held, label_seen=seen))
    np.testing.assert_allclose(found, [[0.2, 0.4, 0.9], [0.2, 0.65, 0.65]])


def test_a_label_above_all_others_changes_no_held_out_probability():
    """All texts have it, so that no fold can tell it from anything."""
    texts, labels = texts_of(150)
    labels = [own or ["corn"] for own in labels]
    plain = TextCategorizer(model="linear:prior=gaussian").fit(texts, labels)
    below_one = dict.fromkeys(OWN.keys() - {""}, "all")
    model = TextCategorizer(model="linear:prior=gaussian", label_tree=below_one).fit(texts, labels)
    assert model.classes_[0] == "all"
    np.testing.assert_allclose(model.held_out_proba_[:, 1:], plain.held_out_proba_, atol=1e-6)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"wheet": "grain"}, r"1 label that no text has: 'wheet'; correct the spelling.*did you mean 'wheat'"),
        ({"wheat": "grain", "grain": "wheat"}, "'wheat' is above itself"),
        ({}, "label_tree is empty"),
        (["wheat", "grain"], "label_tree is a list; pass a mapping"),
    ],
)
def test_trees_that_cannot_be_used_are_refused(tree, said):
    texts, labels = texts_of(30)
    with pytest.raises(InputError, match=said):
        TextCategorizer(model="linear", label_tree=tree).fit(texts, labels)


def test_labels_that_exclude_each_other_have_no_tree():
    texts, _ = texts_of(30)
    with pytest.raises(InputError, match="exactly one each; give a list of labels for each text"):
        TextCategorizer(model="linear", label_tree={"wheat": "corn"}).fit(texts, ["wheat", "corn", "oil"] * 10)
    matrix = np.eye(3, dtype=int)[np.arange(30) % 3]
    with pytest.raises(InputError, match="'goods' above others, and the labels are numbers"):
        TextCategorizer(model="linear", label_tree={"1": "goods"}).fit(texts, matrix)


def test_a_vocabulary_may_have_more_labels(tmp_path):
    path = tmp_path / "goods.rdf"
    concept = '<skos:Concept rdf:about="#{0}"><skos:prefLabel>{0}</skos:prefLabel>{1}</skos:Concept>'
    rows = [("wheat", "grain"), ("durum", "wheat"), ("corn", "grain"), ("grain", ""), ("tin", "metal"), ("metal", "")]
    broader = '<skos:broader rdf:resource="#{}"/>'
    path.write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:skos="http://www.w3.org/2004/02/skos/core#">'
        + "".join(concept.format(child, broader.format(parent) if parent else "") for child, parent in rows)
        + "</rdf:RDF>"
    )
    texts, labels = texts_of(60)
    model = TextCategorizer(model="linear", label_tree=path).fit(texts, labels)
    assert model.model_.label_tree.parents == {"wheat": ("grain",), "corn": ("grain",)}


def test_files_with_another_tree_are_refused():
    model, _, _ = fitted("linear:prior=gaussian")
    meta, arrays = model.to_state()
    for parents in ({"wheat": ["oil"]}, {"wheat": ["corn"], "corn": ["wheat"]}, {"wheat": []}, {"wheat": "corn"}):
        meta["ensemble"]["label_tree"] = {"parents": parents}
        with pytest.raises(ModelFileError):
            TextCategorizer.from_state(meta, arrays)


def test_what_does_not_know_the_tree_refuses_it():
    model, texts, _ = fitted("online")
    with pytest.raises(NotSupportedError, match="label tree"):
        scoring_of(model)
    with pytest.raises(NotSupportedError, match="each label by itself"):
        model.predict_uncertainty(texts[:1])
    with pytest.raises(InputError, match="topics of a filter are judged one by one"):
        filter_from_model(model)
