"""``textbayes datasets``: what there is, whether it is whole, what it looks like, shown on a corpus of three lines."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from textbayes.data import CORPORA, Corpus, CorpusInfo
from textbayes.data.download import PublicFile

LABELS = [("sport",), ("money",), ()]


def _load(path: Path, *, upper: bool = False) -> Corpus:
    texts = (path / "tiny.txt").read_text(encoding="utf-8").splitlines()
    ids = [str(i) for i in range(len(texts))]
    return Corpus("tiny", ids, LABELS[: len(texts)], [text.upper() if upper else text for text in texts])


@pytest.fixture
def tiny(tmp_path, monkeypatch) -> Path:
    """A corpus that can be found in $TEXTBAYES_DATA, and nothing else there."""
    CORPORA.names()  # loads the others
    info = CorpusInfo(
        name="tiny",
        title="Three lines",
        homepage="https://example.org",
        licence="public domain",
        load=_load,
        expected={"documents": 3, "labels": 2},
        files=("tiny.txt",),
        obtain="write it yourself",
    )
    monkeypatch.setitem(CORPORA._members, "tiny", info)
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("textbayes.data.catalogue.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.txt").write_text("five goals\nthe bank\n" + "rain " * 100 + "\n", encoding="utf-8")
    return tmp_path / "tiny" / "tiny.txt"


def test_list(lines, run, tiny):
    rows = {row["name"]: row for row in lines("datasets")}
    assert set(rows) == set(CORPORA.names())
    assert rows["tiny"]["path"] == str(tiny.parent)
    assert rows["tiny"]["options"] == {"upper": False}
    assert rows["reuters21578"]["path"] is None
    assert "textbayes datasets check reuters21578 --download" in rows["reuters21578"]["to_get_it"]
    assert all(row["licence"] and row["title"] and row["to_get_it"] for row in rows.values())
    assert lines("datasets", "list") == lines("datasets", "--json", "list") == list(rows.values())
    assert "Found in" in run("datasets", "--table", "list").stdout
    table = run("datasets", "list", "--table").stdout
    assert "Found in" in table
    assert "To get it:" in table
    assert "3 documents, 2 labels" in table
    assert len(list(csv.DictReader(io.StringIO(run("datasets", "list", "--csv").stdout)))) == len(rows)


def test_check(lines, run, tiny):
    (report,) = lines("datasets", "check", "tiny")
    assert (report["ok"], report["problem"]) == (True, "")
    assert "documents 3" in run("datasets", "check", "tiny", "--table").stdout
    tiny.write_text("five goals\n", encoding="utf-8")
    (report,) = lines("datasets", "check", "tiny", code=1)
    assert report["problem"] == "documents: 1 found, 3 expected; labels: 1 found, 2 expected"


def test_check_elsewhere_and_not_there(lines, run, tiny, tmp_path):
    tiny.rename(tmp_path / "moved.txt")
    tiny.parent.rmdir()
    (report,) = lines("datasets", "check", "tiny", code=1)
    assert "was not found" in report["problem"]
    (tmp_path / "place").mkdir()
    (tmp_path / "moved.txt").rename(tmp_path / "place" / "tiny.txt")
    assert lines("datasets", "check", "tiny", "--path", tmp_path / "place")[0]["ok"]
    assert "--path is that of one corpus" in run("datasets", "check", "--path", tmp_path, code=2).stderr


def test_show(lines, run, tiny):
    rows = lines("datasets", "show", "tiny", "-n", "2", "--quiet")
    assert rows == [
        {"id": "0", "text": "five goals", "labels": ["sport"]},
        {"id": "1", "text": "the bank", "labels": ["money"]},
    ]
    assert [row["id"] for row in lines("datasets", "show", "tiny", "--label", "money")] == ["1"]
    assert lines("datasets", "show", "tiny", "--reader-option", "upper=true")[0]["text"] == "FIVE GOALS"
    table = run("datasets", "show", "tiny", "--table").stdout
    assert "0  [sport]" in table
    assert "2  [no label]" in table
    assert "…" in table
    assert "…" not in run("datasets", "show", "tiny", "--table", "--full").stdout


def test_what_is_not_there(run, tiny):
    assert "no document of label 'oil'" in run("datasets", "show", "tiny", "--label", "oil", code=1).stderr
    assert "has no part 'test'" in run("datasets", "show", "tiny", "--part", "test", code=1).stderr
    assert "unknown corpus 'tyni'" in run("datasets", "show", "tyni", code=2).stderr
    failed = run("datasets", "show", "reuters21578", code=1)
    assert "was not found" in failed.stderr
    assert "To get it: pass --download" in failed.stderr


def test_download(lines, run, tiny, monkeypatch, tmp_path):
    fetched = []

    def fetch(file, folder, progress=None, **_):
        if not (folder / file.filename).exists():
            fetched.append((file.filename, folder))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file.filename).write_text("five goals\nthe bank\nrain\n", encoding="utf-8")
        return folder / file.filename

    file = PublicFile("tiny.txt", ("https://example.org/tiny.txt",), "0" * 64)
    info = CORPORA.get("tiny")
    monkeypatch.setitem(CORPORA._members, "tiny", CorpusInfo(**{**vars(info), "downloads": (file,)}))
    monkeypatch.setattr("textbayes.data.catalogue.fetch", fetch)
    assert lines("datasets", "check", "tiny", "--download")[0]["ok"]
    assert fetched == []  # there is a copy
    tiny.unlink()
    assert lines("datasets", "check", "tiny", "--download")[0]["ok"]
    assert fetched == [("tiny.txt", tmp_path / "tiny")]


def test_a_corpus_that_nobody_offers_ready_is_built(lines, run, tiny, monkeypatch, tmp_path):
    def build(folder, progress):
        progress("lines", 0, 3)
        (folder / "tiny.txt").write_text("five goals\nthe bank\nrain\n", encoding="utf-8")
        built.append(folder)

    built = []
    monkeypatch.setitem(CORPORA._members, "tiny", CorpusInfo(**{**vars(CORPORA.get("tiny")), "build": build}))
    assert lines("datasets", "check", "tiny", "--download")[0]["ok"]
    assert built == []  # there is a copy
    tiny.unlink()
    tiny.parent.rmdir()
    (row,) = (row for row in lines("datasets") if row["name"] == "tiny")
    assert row["to_get_it"] == "textbayes datasets check tiny --download, or write it yourself"
    assert lines("datasets", "check", "tiny", "--download")[0]["ok"]
    assert built == [tmp_path / "tiny"]
    tiny.unlink()
    assert [row["id"] for row in lines("datasets", "show", "tiny", "-n", "1", "--download")] == ["0"]
