"""Words counted shard by shard against the vectorizer that has all texts at once; kills, changes and choices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.scale.out_of_core import fit_out_of_core
from textbayes.scale.shards import Shards
from textbayes.scale.text_shards import TextShards
from textbayes.text import TextVectorizer
from textbayes.text.copies import text_fingerprints


def stacked(shards):
    return sparse.vstack([block.counts for block in shards], format="csr")


SETTINGS = [
    {"min_df": 2, "stemmer": "porter"},
    {"max_features": 30, "ngram_range": (1, 2)},
    {"analyzer": "mixed", "binary": True, "max_df": 0.5},
    {"vocabulary": ["oil", "corn", "unheard"]},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_counts_are_those_of_all_texts_at_once(documents, tmp_path, settings):
    texts = [document.text for document in documents]
    expected = TextVectorizer(**settings)
    counts = expected.fit_transform(texts)
    shards = TextShards.build(documents, TextVectorizer(**settings), tmp_path, chunk=1_000)
    assert len(shards.counts) > 5
    found = stacked(shards)
    np.testing.assert_array_equal(found.toarray(), counts.toarray())
    assert found.has_sorted_indices
    assert shards.vectorizer.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    lengths = np.concatenate([block.lengths for block in shards])
    np.testing.assert_array_equal(lengths, expected.document_lengths(texts))
    np.testing.assert_array_equal(shards.fingerprints(), text_fingerprints(texts))
    assert list(shards.documents()) == [document._replace(text="") for document in documents]
    assert not (tmp_path / "raw").exists()


def test_documents_that_are_not_chosen_are_as_if_they_were_not_there(documents, tmp_path):
    kept = [i for i in range(len(documents)) if i % 3]

    def choose(given):
        assert [one.id for one in given] == [one.id for one in documents]
        return np.array(kept), [("new", *documents[i].labels) for i in kept]

    shards = TextShards.build(documents, TextVectorizer(), tmp_path, choose, chunk=1_000)
    expected = TextVectorizer()
    counts = expected.fit_transform([documents[i].text for i in kept])
    np.testing.assert_array_equal(stacked(shards).toarray(), counts.toarray())
    assert shards.vectorizer.vocabulary_ == expected.vocabulary_
    assert [one.labels for one in shards.documents()] == [("new", *documents[i].labels) for i in kept]


def test_a_run_that_stopped_goes_on_with_the_shards_it_has(documents, tmp_path):
    def broken():
        yield from documents[:100]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TextShards.build(broken(), TextVectorizer(), tmp_path, chunk=1_000)
    raw = Shards(tmp_path / "raw")
    finished = raw.n_finished()
    assert finished > 3
    times = {path.name: path.stat().st_mtime_ns for path in raw.folder.glob("*.npy")}

    class Watching(TextVectorizer):
        counted = 0

        def count_terms(self, texts):
            Watching.counted += len(list(texts))
            assert all((raw.folder / name).stat().st_mtime_ns == then for name, then in times.items())
            return super().count_terms(texts)

    shards = TextShards.build(documents, Watching(), tmp_path, chunk=1_000)
    assert 0 < Watching.counted <= 60  # the first hundred, but for the unfinished chunk, were not counted again
    expected = TextVectorizer().fit_transform([document.text for document in documents])
    np.testing.assert_array_equal(stacked(shards).toarray(), expected.toarray())


KILLED = """
import os, signal, sys
from pathlib import Path
from textbayes.core.types import Document
from textbayes.scale.out_of_core import fit_out_of_core
from textbayes.scale.shards import Shards
from textbayes.scale.text_shards import TextShards
from textbayes.text import TextVectorizer

write = Shards.write
def dying(self, number, arrays):
    if number == 3:  # some of its arrays are there, its description is not
        write(self, number, dict(list(arrays.items())[:2]))
        self._description(number).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, number, arrays)
Shards.write = dying
documents = [Document(str(i), f"word{i % 9} other{i % 5} w{i}", ("a",)) for i in range(120)]
TextShards.build(documents, TextVectorizer(), Path(sys.argv[1]), chunk=300)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process as Unix does")
def test_a_killed_process_leaves_what_the_next_one_uses(tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], env=os.environ, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert Shards(tmp_path / "raw").n_finished() == 3
    documents = [Document(str(i), f"word{i % 9} other{i % 5} w{i}", ("a",)) for i in range(120)]
    shards = TextShards.build(documents, TextVectorizer(), tmp_path, chunk=300)
    expected = TextVectorizer().fit_transform([document.text for document in documents])
    np.testing.assert_array_equal(stacked(shards).toarray(), expected.toarray())


def test_finished_shards_are_not_read_again(documents, tmp_path):
    TextShards.build(documents, TextVectorizer(), tmp_path)

    def never():
        raise AssertionError("the documents were read again")
        yield

    assert TextShards.build(never(), TextVectorizer(), tmp_path).n_docs == len(documents)


def test_no_documents_and_no_words_are_refused(tmp_path):
    with pytest.raises(InputError, match="no document was given"):
        TextShards.build([], TextVectorizer(), tmp_path / "a")
    with pytest.raises(InputError, match="hold no term"):
        TextShards.build([Document("1", "", ("a",))], TextVectorizer(), tmp_path / "b")


def test_copies_are_found_across_shards_and_share_a_fold(documents, tmp_path):
    """As in memory: the same copies, the same folds, and so the same held-out probabilities."""
    given = [*documents, *(one._replace(id=f"copy of {one.id}", text=one.text.upper()) for one in documents[::4])]
    texts, labels = [one.text for one in given], [one.labels for one in given]
    settings = {"vectorizer": TextVectorizer(), "model": "counts:model=multinomial"}
    shards = TextShards.build(given, TextVectorizer(), tmp_path / "shards", chunk=1_000)
    assert len(shards.counts) > 5
    found = fit_out_of_core(TextCategorizer(**settings), shards, labels, tmp_path)
    whole = TextCategorizer(**settings).fit(texts, labels)
    assert found.copies_ == whole.copies_ == {"identical": 38, "near": 0}
    np.testing.assert_array_equal(found.held_out_proba_, whole.held_out_proba_)
