"""Counting and weighing: the ltc weights of TermWeighting, whatever documents are weighed together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import ModelFileError
from textbayes.stream.settings import default_text_options
from textbayes.stream.words import Bag, Bags, DocumentCounts, FilterLexicon, KeptDocuments
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.analyze import TextOptions
from textbayes.text.packed import pack

TEXTS = ["corn corn corn wheat", "corn rain", "rain rain wheat bank", "bank", "corn snow hail", ""]


@pytest.fixture
def counted():
    vectorizer = TextVectorizer()
    counts = vectorizer.fit_transform(TEXTS[:4])
    names = vectorizer.get_feature_names_out().tolist()
    frequency = np.bincount(counts.indices, minlength=len(names))
    return vectorizer, counts, FilterLexicon(pack(names), frequency, 4)


def matrix(rows, n_words):
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.n_docs, n_words)).toarray()


def test_weights_are_ltc(counted):
    vectorizer, counts, lexicon = counted
    weighting = TermWeighting("ltc").fit(counts)
    bags = Bags.read(TEXTS, TextOptions())
    rows = lexicon.weigh(bags, 0, len(TEXTS))
    expected = weighting.transform(vectorizer.transform(TEXTS)).toarray()
    np.testing.assert_allclose(matrix(rows, len(lexicon)), expected, rtol=1e-14, atol=0)


def test_kept_documents_weigh_the_same_and_new_words_count_as_in_one_document(counted):
    _, _, lexicon = counted
    bags = Bags.read(TEXTS, TextOptions())
    kept = [lexicon.keep(bags.bag(i)) for i in range(len(TEXTS))]
    assert [lexicon.name(column) for column in range(4, 6)] == ["hail", "snow"]
    rows, again = lexicon.weigh(bags, 0, len(TEXTS)), lexicon.weigh_kept(kept)
    for one, other in zip(rows, again, strict=True):
        np.testing.assert_array_equal(one, other)
    # "hail" and "snow" weigh log₂ 4 each, "corn", in two of four documents, log₂ 2.
    np.testing.assert_allclose(matrix(rows, 6)[4, [1, 4, 5]], np.array([1.0, 2.0, 2.0]) / 3.0, rtol=1e-15)


def test_the_same_bits_whatever_is_weighed_together():
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(400)]
    texts = [" ".join(rng.choice(words, rng.integers(1, 120))) for _ in range(60)]
    bags = Bags.read(texts, TextOptions())
    frequency = rng.integers(1, 50, len(words))
    lexicon = FilterLexicon(pack(sorted(words)[:300]), frequency[:300], 50)
    together = lexicon.weigh(bags, 0, len(texts))
    for i, text in enumerate(texts):
        start, stop = together.indptr[i], together.indptr[i + 1]
        for one in (
            lexicon.weigh(Bags.read([text], TextOptions()), 0, 1),
            lexicon.weigh(Bags.of([bags.bag(i)]), 0, 1),
            lexicon.weigh(bags, i, i + 1),
        ):
            np.testing.assert_array_equal(one.indices, together.indices[start:stop])
            assert one.data.tobytes() == together.data[start:stop].tobytes()


def test_bags_are_sorted_and_come_back_from_json():
    bag = Bags.read(["the wheat, the rains and the wheat"], default_text_options()).bag(0)
    assert bag == Bag(("rain", "wheat"), (1, 2))
    assert Bag.from_json(dict(reversed(bag.to_json().items()))) == bag


def test_a_document_without_words():
    bags = Bags.read(["", "corn"], TextOptions())
    lexicon = FilterLexicon(pack(["corn"]), [1], 4)
    assert lexicon.weigh(bags, 0, 2).indptr.tolist() == [0, 0, 1]
    assert bags.bag(0) == Bag((), ())
    assert lexicon.weigh_kept([lexicon.keep(bags.bag(0))]).indptr.tolist() == [0, 0]
    assert lexicon.weigh_kept([]).n_docs == 0


def test_documents_that_are_kept_come_back_as_they_were():
    rng = np.random.default_rng(4)
    documents = [
        DocumentCounts(np.sort(rng.choice(900, n, replace=False)), rng.integers(1, 9, n)) for n in (3, 0, 40, 1) * 30
    ]
    kept = KeptDocuments(documents[:50])
    other = kept.copy()
    for document in documents[50:]:
        kept.append(document)
    assert (len(kept), len(other)) == (120, 50)
    again = KeptDocuments.from_arrays(kept.to_arrays(), 900)
    for one, two, document in zip(kept, again, documents, strict=True):
        assert one.columns.tolist() == two.columns.tolist() == document.columns.tolist()
        assert one.counts.tolist() == two.counts.tolist() == document.counts.tolist()
    assert kept[-1].columns.tolist() == documents[-1].columns.tolist()
    with pytest.raises(IndexError):
        kept[120]
    for name, value in (("kept.indptr", [0, 9]), ("kept.columns", [7, 900]), ("kept.columns", [-1, 3])):
        arrays = {"kept.indptr": np.array([0, 2]), "kept.columns": np.array([0, 1]), "kept.counts": np.array([1, 1])}
        with pytest.raises(ModelFileError, match=name):
            KeptDocuments.from_arrays({**arrays, name: np.array(value)}, 900)
