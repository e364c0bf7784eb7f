"""A filter remembers how its training file was read: columns, label separator, delimiter, encoding, sheet."""

from __future__ import annotations

import csv
import io
import json

import pytest

from textbayes.store import load_model
from textbayes.store.event_folder import read_log

GRAIN = ["corn", "wheat", "Mais café", "harvest", "crop", "barley"]
OTHERS = ["bank", "rates", "loans", "goal", "match", "team", "office"]
HEADER = ["nr", "abstract", "remarks", "topics"]
NAMED = ("--text-field", "remarks", "--label-field", "topics", "--label-separator", ",", "--id-field", "nr")


def rows(n_docs=60, first=0):
    """Every third text is relevant; 'abstract', a usual name of a text, says nothing."""
    made = []
    for i in range(first, first + n_docs):
        relevant = i % 3 == 0
        own = [(GRAIN if relevant else OTHERS)[(i // 3 + j) % 6] for j in range(4)]
        made.append([f"p{i}", "nothing here", " ".join([*own, "report today"]), "news,grain" if relevant else "news"])
    return made


def write_table(path, body, delimiter="\t", encoding="utf-8", above=""):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([HEADER, *body])
    path.write_bytes((above + stream.getvalue()).encode(encoding))
    return path


def write_workbook(path, body):
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["text", "label"])
    book.active.append(["bank rates", "no"])
    page = book.create_sheet("Papers")
    for row in [["Papers of the week"], HEADER, *body]:
        page.append(row)
    book.save(path)
    return path


FILES = {
    "tsv": ("archive.tsv", write_table, ()),
    "delimiter, encoding and title": (
        "archive.csv",
        lambda path, body: write_table(path, body, "|", "cp1252", "Papers of the week\n"),
        ("--encoding", "cp1252", "--header-row", 2, "--reader-option", "delimiter=|"),
    ),
    "workbook": ("archive.xlsx", write_workbook, ("--sheet", "Papers", "--header-row", 2)),
}


def answers(state):
    """The judgements that a filter learnt."""
    entries = [entry for entry, _ in read_log(state / "log.jsonl")]
    return {entry["id"]: entry["relevant"] for entry in entries if entry["kind"] == "judgement"}


def texts_of(state):
    return {entry["id"]: entry["snippet"] for entry, _ in read_log(state / "log.jsonl") if entry.get("snippet")}


@pytest.mark.parametrize("kind", FILES)
def test_later_files_are_read_as_the_training_file_was(kind, run, tmp_path):
    name, write, options = FILES[kind]
    desk, archive = tmp_path / "desk", write(tmp_path / name, rows())
    run("filter", desk, "--train", archive, *NAMED, *options, "--topic", "grain")
    later = rows(30, first=60)
    run("filter", desk, write(tmp_path / f"more{archive.suffix}", later), "--judge-by-labels", "--threshold", 0.2)
    given = answers(desk)
    assert sum(given.values()) >= 5
    assert given == {key: int(key[1:]) % 3 == 0 for key in given}
    written = {row[0]: row[2] for row in later}
    assert texts_of(desk) == {key: written[key] for key in given}


def test_options_win_over_what_the_filter_remembers(run, tmp_path):
    desk, archive = tmp_path / "desk", write_table(tmp_path / "archive.tsv", rows())
    run("filter", desk, "--train", archive, *NAMED, "--topic", "grain")
    later = [[key, remarks, abstract, labels.replace(",", ";")] for key, abstract, remarks, labels in rows(30, 60)]
    more = write_table(tmp_path / "more.tsv", later)
    options = ("--text-field", "abstract", "--label-separator", ";", "--id-field", "abstract")
    run("filter", desk, more, "--judge-by-labels", "--threshold", 0.2, *options)
    given = answers(desk)
    assert sum(given.values()) >= 5
    assert all(answer == any(word in text for word in GRAIN) for text, answer in given.items())


def test_a_filter_has_the_columns_of_its_model(run, tmp_path):
    archive = write_table(tmp_path / "archive.tsv", rows())
    run("train", archive, *NAMED, "--model", "online", "-o", tmp_path / "m.tb")
    desk = tmp_path / "desk"
    run("filter", desk, "--model", tmp_path / "m.tb", "--topic", "grain")
    more = write_table(tmp_path / "more.tsv", rows(30, first=60))
    run("filter", desk, more, "--judge-by-labels", "--threshold", 0.2)
    given = answers(desk)
    assert sum(given.values()) >= 5
    assert given == {key: int(key[1:]) % 3 == 0 for key in given}
    run("filter", desk, "--export", tmp_path / "back.tb")
    assert load_model(tmp_path / "back.tb").columns_ == load_model(tmp_path / "m.tb").columns_


@pytest.mark.parametrize(
    "change", [{"text": "remarks"}, {"header_row": 0}, {"label_separator": ""}, {"delimiter": ",,"}, {"other": 1}]
)
def test_columns_that_cannot_be_are_refused(change, run, tmp_path):
    desk, archive = tmp_path / "desk", write_table(tmp_path / "archive.tsv", rows())
    run("filter", desk, "--train", archive, *NAMED, "--topic", "grain")
    config = json.loads((desk / "config.json").read_text())
    config["columns"].update(change)
    (desk / "config.json").write_text(json.dumps(config))
    assert "config.json is a damaged filter file" in run("filter", desk, archive, code=1).stderr


# -- what is said of them ---------------------------------------------------------------------------------------------
def test_the_start_says_which_columns_were_read(run, lines, tmp_path):
    archive = write_table(tmp_path / "archive.tsv", rows())
    (told,) = lines("filter", tmp_path / "a", "--train", archive, *NAMED)
    assert (told["columns"]["text"], told["columns"]["label"], told["columns"]["id"]) == (["remarks"], ["topics"], "nr")
    assert told["columns"]["label_separator"] == ","
    done = run("filter", tmp_path / "b", "--train", archive, *NAMED, "--table")
    assert "Columns: text in 'remarks', label in 'topics', id in 'nr'." in done.stdout
    assert "ids" not in done.stderr
    run("train", archive, *NAMED, "--model", "online", "-o", tmp_path / "m.tb")
    done = run("filter", tmp_path / "c", "--model", tmp_path / "m.tb", "--table")
    assert "Columns: text in 'remarks', label in 'topics', id in 'nr'." in done.stdout


def test_the_start_warns_when_row_numbers_are_the_ids(run, tmp_path):
    archive = write_table(tmp_path / "archive.tsv", rows())
    warned = run("filter", tmp_path / "desk", "--train", archive, *NAMED[:-2]).stderr
    assert "textbayes: warning: the training file has no id column, so row numbers are the ids" in warned
    assert "Name a column with --id-field" in warned


def test_a_delivery_under_another_id_has_its_own_text(run, lines, tmp_path):
    """Two files with row numbers as ids: the second document of an id is given another one."""
    desk, archive = tmp_path / "desk", write_table(tmp_path / "archive.tsv", rows())
    run("filter", desk, "--train", archive, *NAMED, "--topic", "grain", "--threshold", 0.0)
    for text in ("corn wheat", "corn harvest"):
        (row,) = lines("filter", desk, stdin=json.dumps({"id": "1", "remarks": text}) + "\n")
        assert row["snippet"] == text
    assert row["id"] != "1"
    shown = run("filter", desk, "--table", stdin=json.dumps({"id": "1", "remarks": "corn barley"}) + "\n").stdout
    assert "corn barley" in shown
    (row,) = csv.DictReader(
        io.StringIO(run("filter", desk, "--csv", stdin='{"id": "2", "remarks": "corn crop"}\n').stdout)
    )
    assert row["snippet"] == "corn crop"


def test_statements_are_read_by_the_columns_of_the_labelled_file(run, tmp_path):
    labelled = write_table(tmp_path / "archive.tsv", rows())
    statements = write_table(tmp_path / "topics.tsv", [["s1", "nothing here", "corn wheat barley harvest", "grain"]])
    told = json.loads(run("filter", tmp_path / "desk", "--train", labelled, *NAMED, "--statements", statements).stdout)
    assert told["topics"]["grain"]["relevant"] == 21  # of 20 documents and one statement
