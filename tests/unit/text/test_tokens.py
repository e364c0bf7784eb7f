"""Texts as tokens of an encoder: numbers in their order, words that they are pieces of, folders that hold none."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("torch", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")
pytest.importorskip("transformers", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")

from references.encoders import SPECIAL, write_encoder
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.text import tokens
from textbayes.text.subwords import NONE, Subwords
from textbayes.text.tokens import TokenVectorizer, tokens_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"), [["grain", "price", "rise"]])


def test_tokens_stand_in_their_order(folder):
    subwords = Subwords.in_folder(folder)
    assert (subwords.special.before, subwords.special.after) == ((SPECIAL.index("[CLS]"),), (SPECIAL.index("[SEP]"),))
    assert (subwords.special.mask, subwords.special.pad) == (SPECIAL.index("[MASK]"), SPECIAL.index("[PAD]"))
    (one, other, none) = subwords.ids(["grain price", "Price, GRAIN!", ""])
    assert one[:2].tolist() == other[[2, 0]].tolist()
    assert (one[2:] == NONE).all()
    assert (none == NONE).all()
    assert len(one) == 60, "no more than the encoder has places for"
    vectorizer = TokenVectorizer(folder).fit([])
    matrix = vectorizer.transform(["grain price", "Price, GRAIN!", ""])
    assert (tokens_in(matrix) == [one, other, none]).all()
    assert matrix.shape == (3, len(vectorizer.get_feature_names_out()))


def test_pieces_are_of_words_on_the_page(folder):
    vectorizer = TokenVectorizer(folder).fit([])
    text = "Grains rise — 40%"
    pieces = vectorizer.subwords.pieces(text)
    assert [text[one.begin : one.end] for one in pieces][:2] == ["Grain", "s"]
    assert vectorizer.words_at(text, range(len(pieces))) == ["grains", "grains", "rise", "—", "40", "40", "%"]
    assert vectorizer.words_at(text, [2]) == ["rise"]


def test_a_very_long_text_and_half_a_character_are_read(folder):
    vectorizer = TokenVectorizer(folder).fit([])
    assert vectorizer.transform(["grain " * 10**6]).nnz == 60
    assert vectorizer.transform(["grain \ud83d price"]).nnz == 3


def test_it_is_kept_without_its_folder(folder):
    vectorizer = TokenVectorizer(folder).fit([])
    state = {name: getattr(vectorizer, name) for name in ("name_", "fingerprint_", "definition_", "width_")}
    for again in (TokenVectorizer.of_state(**state), pickle.loads(pickle.dumps(vectorizer))):
        assert (again.transform(["grain rise"]) != vectorizer.transform(["grain rise"])).nnz == 0
    broken = TokenVectorizer.of_state(**state | {"definition_": "{}"})
    with pytest.raises(InputError, match="tokenizer of the encoder cannot be read"):
        broken.transform(["grain"])


def test_other_folders_are_refused(tmp_path, folder, monkeypatch):
    with pytest.raises(InputError, match="holds no encoder that can be read"):
        TokenVectorizer(tmp_path).fit([])
    with pytest.raises(InputError, match="holds no encoder that can be read"):
        TokenVectorizer(tmp_path / "none").fit([])
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(InputError, match=r"no weights as \.safetensors"):
        TokenVectorizer(tmp_path).fit([])
    monkeypatch.setattr(tokens, "is_installed", lambda: False)
    with pytest.raises(MissingExtraError, match=r"textbayes\[encoder\]"):
        TokenVectorizer(folder).fit([])
