"""Terms of a known vocabulary, counted without spelling them out: the same numbers as ``analyze`` gives."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from textbayes.core.errors import CorpusNotFoundError
from textbayes.data import load_corpus
from textbayes.text import vocabulary
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr
from textbayes.text.packed import pack, unpack
from textbayes.text.term_weights import Entries
from textbayes.text.vocabulary import TermCounter, Vocabulary

ODD = [
    "",
    " \n\t",
    "zebra xylophone",
    "wheat" * 20_000,
    "a\0b corn\0prices",
    "great 😀😀 news!!! 🇩🇪🇫🇷 right?",
    "don’t AT&amp;T &eacute;t&#233;",
    "ÇA VA İSTANBUL ΣΊΣΥΦΟΣ straße STRASSE",
    "मुझे हिंदी पसंद है وَرَقَة",
    "lone \ud800 surrogate \udfff",
    "日本語のニュース and Python",
    "ข่าวภาษาไทย corn",
    "corn  prices _x1 2005 3.14 e-mail",
    "the the of",
]
OPTIONS = [
    TextOptions("mixed", (1, 2), token_pattern="all"),
    TextOptions("mixed", (1, 2), token_pattern="words", stop_words=("the", "of", "and", "to"), stemmer="porter"),
    TextOptions("word", (1, 3), stemmer="english"),
    TextOptions("word", (2, 2), lowercase=False, stop_words=("the",)),
    TextOptions("word", (1, 1), token_pattern=r"[a-z]{3,}"),
    TextOptions("word", (1, 2), token_pattern=r"[a-z ]{3,}"),
    TextOptions("word", (1, 2), token_pattern="tweets"),
    TextOptions("char_wb", (2, 3)),
]


def spelt_out(words: Vocabulary, texts: list[str], options: TextOptions) -> Entries:
    """The reference: all terms of the texts, of which those of the vocabulary are kept."""
    analysis = analyze(texts, options)
    return Entries(*columns_to_csr(analysis.pieces, words.find(analysis.terms)))


def learnt(texts: list[str], options: TextOptions, every: int = 1) -> Vocabulary:
    """The terms of some texts, or every so-manyth of them."""
    names = sorted(unpack(analyze(texts, options).terms))
    return Vocabulary(pack(names[::every]))


def assert_same(found: Entries, wanted: Entries) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype.kind == other.dtype.kind == "i"
        assert one.tolist() == other.tolist()


@pytest.fixture(scope="module", params=["bbc", "movie_reviews", "reuters21578", "20newsgroups"])
def corpus(request) -> list[str]:
    try:
        return load_corpus(request.param).texts[::50][:120]
    except CorpusNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("options", OPTIONS)
def test_counts_are_those_of_texts_spelt_out(corpus, options):
    texts = corpus
    words = learnt([*texts[:60], *ODD], options, every=2)
    new = [*texts[60:], *ODD]
    assert_same(words.count(new, options), spelt_out(words, new, options))
    for text in [*texts[:20], *ODD]:  # one by one: tokens of earlier texts are known by now
        assert_same(words.count([text], options), spelt_out(words, [text], options))


@pytest.mark.parametrize("options", OPTIONS[:5])
def test_the_kernel_reads_what_it_can(options):
    counter = TermCounter(pack(["corn", "corn price"]), options)
    assert counter.count(["corn prices"]) is not None
    assert (counter.count(["日本"]) is None) == (options.analyzer == "mixed")
    for slow in OPTIONS[5:]:
        assert TermCounter(pack(["corn"]), slow).count(["corn"]) is None


def test_terms_that_no_text_can_have_are_never_counted():
    options = TextOptions("word", (1, 2))
    words = Vocabulary(pack(["corn  prices", " corn", "corn ", "", "rise", "corn prices rise", "corn prices"]))
    assert words.count(["corn prices rise rise"], options).indices.tolist() == [4, 6]
    assert words.count(["corn prices rise rise"], options).data.tolist() == [2, 1]
    assert words.count([], options).indptr.tolist() == [0]


def test_what_is_remembered_of_tokens_is_bounded_and_changes_nothing(monkeypatch):
    monkeypatch.setattr(vocabulary, "_MOST_TOKENS", 700)
    options = TextOptions("word", (1, 2), stop_words=("the",), stemmer="porter")
    texts = [" ".join(["the", "prices", *(f"word{i}s" for i in range(n, n + 90))]) for n in range(0, 3_000, 50)]
    words = learnt(texts[:40], options, every=3)
    wanted = spelt_out(words, texts, options)
    counter = TermCounter(words.terms, options)
    for _ in range(2):
        found = [counter.count([text]) for text in texts]
        assert np.concatenate([one.indices for one in found]).tolist() == wanted.indices.tolist()
        assert np.concatenate([one.data for one in found]).tolist() == wanted.data.tolist()
        assert 0 < len(counter._seen.tokens) <= 700
        assert len(counter._lately) < 700


def test_threads_may_count_at_once():
    texts = load_corpus("bbc").train.texts[:80]
    options = OPTIONS[1]
    words = learnt(texts[::2], options)
    wanted = [spelt_out(words, [text], options).indices.tolist() for text in texts]
    for _ in range(3):
        fresh, wrong = Vocabulary(words.terms), []

        def work(first: int, fresh: Vocabulary = fresh, wrong: list[int] = wrong) -> None:
            order = [*range(first, len(texts)), *range(first)]
            found = {i: fresh.count([texts[i]], options).indices.tolist() for i in order}
            wrong.extend(i for i in order if found[i] != wanted[i])

        threads = [threading.Thread(target=work, args=(20 * k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
