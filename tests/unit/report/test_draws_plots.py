"""Plots of words: files that show the words asked for, and the same bytes every time."""

from __future__ import annotations

import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.report import plot_words

TEXTS = ["Öl preise", "Öl ernte", "bank rates", "the bank", "match goal", "goal"] * 4
LABELS = ["chain", "chain", "money", "money", "sport", "sport"] * 4  # a name that ArviZ has for something else


@pytest.fixture(scope="module", autouse=True)
def az():
    return pytest.importorskip("arviz", reason="needs the extra gibbs")


@pytest.fixture(scope="module")
def model():
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    return TextCategorizer(model=BayesLinearClassifier("probit", inference=sampler), cv=2).fit(TEXTS, LABELS)


@pytest.mark.parametrize("kind", ["forest", "trace", "rank"])
def test_every_word_is_there_and_the_bytes_are_the_same(model, kind, tmp_path):
    import matplotlib.pyplot as plt

    for name in ("a.svg", "b.svg"):
        plot_words(model, tmp_path / name, kind, ["chain", "sport"], top=2)
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for label in ("chain", "sport"):
        for word in model.word_intervals(label, k=2):
            assert word.word in drawn
    assert "money" not in drawn
    assert (tmp_path / "b.svg").read_text(encoding="utf-8") == drawn
    assert plt.get_fignums() == []  # nothing is left behind


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats(model, suffix, start, tmp_path):
    plot_words(model, tmp_path / f"words.{suffix}", top=1)
    assert (tmp_path / f"words.{suffix}").read_bytes().startswith(start)


def test_the_other_of_two_classes_is_drawn_mirrored(tmp_path):
    sampler = Gibbs(chains=2, warmup=20, max_draws=100, target_ess=10, max_r_hat=3.0)
    two = TextCategorizer(model=BayesLinearClassifier("probit", inference=sampler), cv=2)
    two.fit(TEXTS, [label if label == "money" else "other" for label in LABELS])
    for label in ("money", "other"):
        plot_words(two, tmp_path / f"{label}.svg", labels=[label], top=3)
    assert (tmp_path / "money.svg").read_text() != (tmp_path / "other.svg").read_text()


def test_what_cannot_be_drawn_is_refused(model, tmp_path):
    with pytest.raises(InputError, match=r"end it in \.svg, \.pdf, \.png"):
        plot_words(model, tmp_path / "words.bmp")
    with pytest.raises(InputError, match="'pie'"):
        plot_words(model, tmp_path / "words.svg", "pie")
    with pytest.raises(InputError, match="label 'nothing' is not known"):
        plot_words(model, tmp_path / "words.svg", labels=["nothing"])
    with pytest.raises(InputError, match="level=95"):
        plot_words(model, tmp_path / "words.svg", level=95)
    plain = TextCategorizer(cv=2, intervals=True).fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="no draws to plot: it was not sampled"):
        plot_words(plain, tmp_path / "words.svg")
    assert list(tmp_path.iterdir()) == []
