"""Copies among texts: identical as the vectorizer reads them, nearly identical by the stated rule, and no others."""

import itertools

import numpy as np
import pytest

from textbayes.text import HashingTextVectorizer, TextVectorizer
from textbayes.text.copies import LEAST_TERMS, SIMILAR, Sketches, find_copies, joined_sketches, text_sketches


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    return np.array(["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 7)) for _ in range(3_000)])


def copies(texts, **settings):
    return find_copies(text_sketches(texts, TextVectorizer(**settings)))


def test_identical_is_what_the_vectorizer_reads_alike():
    texts = ["Corn prices rise", "corn, prices RISE!", "corn price rise", "rise corn prices"]
    assert copies(texts).first.tolist() == [0, 0, 2, 3]
    assert copies(texts, lowercase=False).first.tolist() == [0, 1, 2, 3]
    assert copies(texts, stemmer="porter").first.tolist() == [0, 0, 0, 3]
    assert copies(["the corn", "a corn"], stop_words="english").numbers() == {"identical": 1, "near": 0}
    assert copies(["corn corn", "corn"], binary=True).first.tolist() == [0, 1]
    assert copies(["naïve", "naive"], analyzer="char_wb", ngram_range=(2, 3)).first.tolist() == [0, 1]
    hashed = text_sketches(texts, HashingTextVectorizer(stemmer="porter"))
    assert find_copies(hashed).first.tolist() == [0, 0, 0, 3]


def test_words_that_a_vocabulary_leaves_out_tell_texts_apart():
    """One word in common, the others in one text each: nothing else would be left of them with ``min_df=2``."""
    assert copies(["invoice smith", "invoice jones", "invoice brown"], min_df=2).first.tolist() == [0, 1, 2]


def test_texts_without_words_are_copies_only_if_they_are_the_same():
    assert copies(["", "!!", "??", " ", "!!", "the", "a"], stop_words="english").first.tolist() == [0, 1, 2, 0, 1, 5, 6]
    assert copies([]).first.tolist() == []


def jaccard(one, other):
    """Share of the words and pairs of two texts that are in both."""
    sets = [set(text) | set(itertools.pairwise(text)) for text in (one.split(), other.split())]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@pytest.mark.parametrize("n_words", [25, 60, 400])
def test_near_copies_are_those_of_the_stated_rule(words, n_words):
    """Within the error of the estimate: far above nine tenths all are found, far below none."""
    rng = np.random.default_rng(n_words)
    found = {True: [], False: []}
    for share in (0.0, 0.01, 0.02, 0.1, 0.2, 0.3):
        for _ in range(20):
            text = rng.choice(words, n_words)
            other = text.copy()
            at = rng.choice(n_words, max(round(share * n_words), int(share > 0.0)), replace=False)
            other[at] = rng.choice(words, len(at))
            one, other = " ".join(text), " ".join(other)
            close = jaccard(one, other)
            if abs(close - SIMILAR) > 0.08 or (n_words < 60 and abs(close - SIMILAR) > 0.03):
                found[close > SIMILAR].append(copies([one, other]).first.tolist() == [0, 0])
    assert len(found[True]) >= 15
    assert all(found[True])
    assert len(found[False]) >= 20
    assert not any(found[False])


def test_short_texts_and_templates_are_no_copies(words):
    short = " ".join(words[: (LEAST_TERMS - 1) // 2])
    assert copies([short, f"{short} more"]).first.tolist() == [0, 1]
    letters = [
        " ".join([*words[:20], *words[100 + 6 * i : 103 + 6 * i], *words[20:40], *words[103 + 6 * i : 106 + 6 * i]])
        for i in range(20)
    ]
    assert copies(letters).first.tolist() == list(range(20))
    rng = np.random.default_rng(0)
    of_few_words = [" ".join(rng.choice(words[:30], 80)) for _ in range(40)]  # nearly all have nearly all words
    assert copies(of_few_words).first.tolist() == list(range(40))


def test_a_copy_is_close_to_its_first_and_not_by_way_of_others(words):
    """Each text has two other words than the one before: far ones are no copies of the first."""
    texts, text = [], words[:200].copy()
    for i in range(40):
        texts.append(" ".join(text))
        text[4 * i : 4 * i + 2] = words[1_000 + 2 * i : 1_002 + 2 * i]
    first = copies(texts).first
    assert first[1] == 0
    assert first[-1] != 0
    assert all(first[first] == first)
    assert all(jaccard(texts[i], texts[first[i]]) > SIMILAR - 0.1 for i in range(40))


def test_many_near_copies_of_several_texts_find_their_first(words):
    rng = np.random.default_rng(3)
    originals = [rng.choice(words, 150) for _ in range(25)]
    texts, source = [], rng.permutation(np.repeat(np.arange(25), 8))
    for k in source:
        text = originals[k].copy()
        text[rng.integers(150)] = rng.choice(words)
        texts.append(" ".join(text))
    firsts = np.array([np.flatnonzero(source == k)[0] for k in source])
    found = copies(texts)
    assert (found.first == firsts).mean() > 0.98
    assert found.n_identical + found.n_near == (found.first != np.arange(200)).sum()


def test_a_form_that_is_filled_in_is_no_copy(words):
    """Of many texts that differ in a word or two, that word may be what matters; identical ones are copies still."""
    form = words[:100].tolist()
    letters = [" ".join([*form, words[200 + i], "approved" if i % 2 else "rejected"]) for i in range(40)]
    others = [" ".join(words[300 + 10 * i : 340 + 10 * i]) for i in range(40)]
    found = copies([*letters, *others, letters[0]])
    assert found.first.tolist() == [*range(80), 0]
    assert found.numbers() == {"identical": 1, "near": 0}
    few = copies([*letters[:4], *others])
    assert few.first[:4].tolist() == [0, 0, 0, 0]


def test_sketches_of_parts_are_those_of_all_texts(words):
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(words, n)) for n in rng.integers(0, 80, size=30)]
    vectorizer = TextVectorizer(token_pattern="all", analyzer="mixed")
    whole = text_sketches(texts, vectorizer)
    parts = joined_sketches([text_sketches(texts[i : i + 7], vectorizer) for i in range(0, 30, 7)])
    assert isinstance(whole, Sketches)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)
