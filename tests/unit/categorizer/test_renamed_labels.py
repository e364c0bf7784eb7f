"""Names of labels decide nothing: renamed, with their order reversed, labels have the same probabilities."""

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer

N_WORDS = 300


@pytest.fixture(scope="module")
def vocabulary():
    rng = np.random.default_rng(0)
    return np.array(["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(N_WORDS)])


def corpus(vocabulary, indicator, seed):
    """Texts of which a few words tell their labels."""
    rng = np.random.default_rng(seed)
    topics = np.stack([rng.dirichlet(np.full(N_WORDS, 0.15)) for _ in range(indicator.shape[1])])
    own = np.where(indicator.any(axis=1), 0.35, 0.0)[:, None]
    shares = own * (indicator @ topics) / np.maximum(indicator.sum(axis=1, keepdims=True), 1) + (1 - own) / N_WORDS
    return [" ".join(rng.choice(vocabulary, 15, p=row / row.sum())) for row in shares]


def probabilities(texts, indicator, names, kind, **settings):
    """Probabilities of the labels in the order of the indicator."""
    labels = [[names[k] for k in np.flatnonzero(row)] for row in indicator]
    given = labels if kind == "multilabel" else [one for (one,) in labels]
    model = TextCategorizer(embeddings="off", **settings).fit(texts, given)
    columns = [model.classes_.tolist().index(name) for name in names]
    return model.predict_proba(texts[::3])[:, columns], model.held_out_


def tied(n_docs, n_labels, kind, seed):
    """Labels of equal sizes."""
    rng = np.random.default_rng(seed)
    if kind != "multilabel":
        return (rng.permutation(n_docs) % n_labels)[:, None] == np.arange(n_labels)
    return np.stack([rng.permutation(n_docs) < n_docs // 4 for _ in range(n_labels)], axis=1)


@pytest.mark.parametrize(
    ("n_docs", "n_labels", "kind", "settings"),
    [
        (66, 3, "multiclass", {}),
        (92, 4, "multiclass", {"preset": "linear"}),
        (66, 2, "binary", {}),
        (61, 2, "binary", {"preset": "linear"}),
        (80, 4, "multilabel", {}),
        (320, 20, "multilabel", {"budget": "quick"}),
    ],
)
def test_renamed_labels_have_the_same_probabilities(vocabulary, n_docs, n_labels, kind, settings):
    """What remains is the order in which numbers are added up, and where solvers stop."""
    indicator = tied(n_docs, n_labels, kind, 1)
    texts = corpus(vocabulary, indicator, 2)
    names = [f"label{chr(97 + k)}" for k in range(n_labels)]
    found, figures = probabilities(texts, indicator, names, kind, **settings)
    renamed, other = probabilities(texts, indicator, names[::-1], kind, **settings)
    np.testing.assert_allclose(renamed, found, rtol=0, atol=1e-6)
    assert other["log_loss"] == pytest.approx(figures["log_loss"], abs=1e-6)
