from __future__ import annotations

import io

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS
from textbayes.data.formats.smart import read_topic_labels, read_vectors

LYRL = FORMATS.get("lyrl2004")


def test_tokens_in_every_compression(write_compressed):
    path = write_compressed("lyrl2004_tokens_train.dat", b".I 2286\n.W\nrecov recov\nexpect\n\n.I 2287\n.W\n\n")
    assert list(LYRL.read(path)) == [Document("2286", "recov recov\nexpect"), Document("2287", "")]


def test_vectors_in_every_compression(write_compressed):
    path = write_compressed("lyrl2004_vectors_train.dat", b"2286  864:0.05 47236:0.5\n810596  1:1\n")
    X, ids = read_vectors(path)
    assert ids == ["2286", "810596"]
    assert X.shape == (2, 47236)
    assert X[0, 863] == 0.05
    assert X[0, 47235] == 0.5
    assert X[1, 0] == 1.0


def test_topic_labels():
    qrels = b"E11 2286 1\nECAT 2286 1\nCCAT 2287 1\nM11 2287 0\n"
    assert read_topic_labels(io.BytesIO(qrels)) == {"2286": ("E11", "ECAT"), "2287": ("CCAT",)}


def test_malformed():
    with pytest.raises(MalformedFileError, match=r"line 1: document 1 has no \.W field"):
        list(LYRL.read(io.BytesIO(b".I 1\n")))
    with pytest.raises(MalformedFileError, match="line 2: not svmlight"):
        read_vectors(io.BytesIO(b"1  1:1\n2  x:1\n"))
    with pytest.raises(MalformedFileError, match="column 47237 was found"):
        read_vectors(io.BytesIO(b"1  47237:1\n"))
