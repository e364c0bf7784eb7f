"""Groups of texts: none is on both sides of a fold, wherever folds are made."""

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.member_scores import setting_of
from textbayes.categorizer.prepare import prepare
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.train import TrainingData, prepared_members
from textbayes.core.errors import InputError
from textbayes.core.folds import stratified_folds
from textbayes.core.labels import encode_labels
from textbayes.core.progress import silent
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import TermWeighting
from textbayes.text.copies import Copies
from textbayes.tune import BayesLinearClassifierCV


@pytest.fixture(scope="module")
def authors():
    """Texts, labels and authors: an author has one label and a word of its own, which therefore tells it by heart."""
    rng = np.random.default_rng(0)
    texts, labels, names = [], [], []
    for i in range(16):
        name = "abcdefghijklmnop"[i] * 5
        for _ in range(6):
            label = ("grain", "money")[i % 2]
            hint = ("corn", "bank")[(i % 2) ^ int(rng.random() < 0.25)]
            texts.append(f"{name} {hint} report {len(texts)}")  # texts that are the same share a fold anyway
            labels.append(label)
            names.append(name)
    return texts, labels, names


def test_held_out_probabilities_are_of_other_groups(authors):
    texts, labels, names = authors
    leaky, grouped = TextCategorizer().fit(texts, labels), TextCategorizer().fit(texts, labels, groups=names)
    assert leaky.held_out_["accuracy"] > 0.95
    assert grouped.held_out_["accuracy"] < 0.9  # a hint is right in three texts of four, and nothing else is known
    fold = stratified_folds(encode_labels(labels)[0], 5, 0, names)
    assert all(len(set(fold[np.array(names) == name])) == 1 for name in names)


def test_a_scale_is_looked_for_with_the_same_folds(authors):
    texts, labels, names = authors
    indicator, space = encode_labels(labels)
    counts = default_vectorizer().fit_transform(texts)
    codes = np.unique(names, return_inverse=True)[1]
    member = BayesLinearClassifierCV(prior="gaussian")
    settings = TextCategorizer(model=member, weighting=TermWeighting("raw", norm=None))

    def scale(groups):
        data = TrainingData(texts, indicator, space, None, groups, Copies(np.arange(len(texts)), 0, 0))
        ready = prepare(settings, data, silent)
        (member,) = prepared_members(setting_of(ready.plan, ready.target), ready.source, silent)
        return float(np.squeeze(member.estimator.scale))

    X = counts.astype(float)
    by_hand = BayesLinearClassifierCV(prior="gaussian", cv=stratified_folds(indicator, 5, 0, codes)).fit(X, labels)
    assert scale(codes) == pytest.approx(float(np.squeeze(by_hand.scale_)))
    assert scale(codes) < scale(None)  # names look as if they told everything, until they are new


def test_fewer_groups_than_folds_make_fewer_folds(authors):
    texts, labels, names = authors
    model = TextCategorizer(model=BayesLinearClassifier()).fit(texts, labels, groups=[name < "hhhhh" for name in names])
    assert model.held_out_["n_docs"] == len(texts)


def test_groups_of_another_length_are_refused_before_fitting(authors):
    texts, labels, names = authors
    with pytest.raises(InputError, match="95 groups were given for 96 documents"):
        TextCategorizer().fit(texts, labels, groups=names[1:])
    with pytest.raises(InputError, match="all documents are of one group"):
        TextCategorizer().fit(texts, labels, groups=["x"] * len(texts))


def test_texts_of_weight_nothing_take_their_group_with_them(authors):
    texts, labels, names = authors
    some = np.arange(len(texts)) % 3 > 0
    kept = [[values[i] for i in np.flatnonzero(some)] for values in authors]
    weighed = TextCategorizer().fit(texts, labels, sample_weight=some.astype(float), groups=names)
    assert (
        weighed.held_out_ == TextCategorizer().fit(kept[0], kept[1], sample_weight=[1.0] * 64, groups=kept[2]).held_out_
    )
