"""Counts of the real corpora, where a copy is at hand: $TEXTBAYES_DATA, or ../shared/data beside the checkout."""

from __future__ import annotations

import pytest

from textbayes.data import Corpus, check_corpus, corpus_path, list_corpora, load_corpus

NAMES = [info.name for info in list_corpora()]


def needs(name: str) -> None:
    if corpus_path(name) is None:
        pytest.skip(f"no copy of the corpus {name} on this machine")


def load(name: str, **options: object) -> Corpus:
    needs(name)
    return load_corpus(name, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "ohsumed_trec9"])
def test_counts_are_those_declared(name):
    needs(name)
    report = check_corpus(name)
    assert report.problem == ""
    assert report.ok


def test_ohsumed_trec9_topics_and_judgements():
    needs("ohsumed_trec9")
    found = check_corpus("ohsumed_trec9").found
    assert found["topics"] == 63
    assert found["judgements 88-91"] == 3205


@pytest.mark.slow
def test_reuters_top10_and_texts():
    corpus = load("reuters21578", topics="top10")
    assert " ".join(corpus.label_names) == "acq corn crude earn grain interest money-fx ship trade wheat"
    assert len(corpus.train) == 9603
    assert sum("earn" in labels for labels in corpus.train.labels) == 2877
    assert sum("earn" in labels for labels in corpus.test.labels) == 1087
    assert corpus.texts[0].startswith("BAHIA COCOA REVIEW\nShowers continued")
    assert not any("&#" in text or "&lt;" in text or "Blah blah" in text for text in corpus.texts)


@pytest.mark.slow
def test_spamassassin_bodies_are_readable():
    corpus = load("spamassassin", classes="three")
    assert {name: corpus.targets.count(name) for name in corpus.label_names} == {
        "easy_ham": 3900,
        "hard_ham": 250,
        "spam": 1896,
    }
    assert all(text.strip() for text in corpus.texts)
    # one mail quotes a header, one spam forwards another's with it
    assert sum("Received: from" in text[:200] for text in corpus.texts) == 2


def test_federalist_authors():
    corpus = load("federalist")
    counts = {name: corpus.targets.count(name) for name in corpus.label_names}
    assert counts == {
        "HAMILTON": 51,
        "MADISON": 14,
        "HAMILTON OR MADISON": 12,
        "JAY": 5,
        "HAMILTON AND MADISON": 3,
    }


def test_openstax_extra():
    corpus = load("openstax", extra=True)
    assert len(corpus) == 2097 + 388 + 149
    assert len(set(corpus.ids)) == len(corpus)


def test_one_systematic_review():
    corpus = load("systematic_reviews", review="ACEInhibitors")
    assert len(corpus) == 2544
    assert corpus.targets.count("included") == 41
    corpus = load("systematic_reviews", review="ACEInhibitors", stage="abstract")
    assert corpus.targets.count("included") == 183


def test_bbc_halves_every_topic():
    corpus = load("bbc")
    assert corpus.label_names == ("business", "entertainment", "politics", "sports", "tech")
    for name in corpus.label_names:
        assert abs(corpus.train.targets.count(name) - corpus.test.targets.count(name)) <= 1
    assert corpus.notes == ("sports/199 is not valid UTF-8 and was read as Windows-1252",)
    assert "£15.8m" in corpus.texts[corpus.ids.index("sports/199")]


def test_rcv1_rows_are_unit_vectors():
    corpus = load("rcv1", subset=1)
    assert corpus.X.shape[1] == 47236
    norms = corpus.X.multiply(corpus.X).sum(axis=1)
    assert abs(norms - 1).max() < 4e-3
    assert all(corpus.labels)
