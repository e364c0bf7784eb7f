"""An analyst's path: a messy CSV file from a spreadsheet, a model, and answers that go back to the spreadsheet."""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner

from textbayes.cli.main import cli
from textbayes.store import load_model

HEADER = ["Nr", "Text", "Label", "Bemerkung"]
ODD = {  # by row: stray spaces, twins by case, missing labels, a word for missing
    0: " grain",
    1: "grain\u00a0",
    2: "GRAIN",
    3: "Grain ",
    17: "",
    31: "  ",
    32: "N/A",
}


@pytest.fixture(scope="module")
def messy(tmp_path_factory, documents):
    """45 rows with semicolons, a byte order mark, umlauts, dashes, quoted line ends and formulas."""
    path = tmp_path_factory.mktemp("messy") / "Beiträge.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, delimiter=";", lineterminator="\r\n")
        writer.writerow(HEADER)
        for i, doc in enumerate(documents * 3):
            text = f"{doc['text']} – „so\nheißt es“; Teil {i}"
            writer.writerow([f"{i:03}", text, ODD.get(i, doc["labels"]), "=SUM(A1:A9)" if i % 2 else "-1,5"])
    return path


@pytest.fixture(scope="module")
def model(messy):
    """The model after all that reading named was settled."""
    path = messy.with_name("model.tb")
    options = ("--unlabelled", "skip", "--merge-case", "--missing-label", "N/A", "--id-field", "Nr")
    done = CliRunner().invoke(cli, ["train", str(messy), *options, "-o", str(path), "--json"])
    assert done.exit_code == 0, done.stderr
    assert "warning" not in done.stderr
    assert json.loads(done.stdout)["documents"] == 42
    return path


def test_reading_says_what_it_found(run, messy, tmp_path):
    said = run("train", messy, "-o", tmp_path / "model.tb").stderr
    assert "2 of 45 texts of " in said
    assert "have no label and are left out (ids '18', '32'); learn from such texts with --unlabelled learn" in said
    assert "43 texts, 6 labels: money 15, sport 15, grain 10, GRAIN 1, Grain 1, N/A 1" in said
    assert "'grain' (10) ~ 'GRAIN' (1) ~ 'Grain' (1); make them one with --merge-case" in said
    assert "'N/A' (1) is treated as a label; if that means a missing label, use --missing-label N/A" in said
    assert load_model(tmp_path / "model.tb").label_space_.kind == "multiclass"


def test_what_reading_named_is_settled_by_its_options(model):
    space = load_model(model).label_space_
    assert (space.kind, list(space.classes)) == ("multiclass", ["grain", "money", "sport"])


def test_the_model_is_measured_on_the_messy_file(run, model, messy):
    done = run("evaluate", model, messy, "--merge-case", "--missing-label", "N/A", "--json")
    result = json.loads(done.stdout)
    assert (result["n_docs"], result["unknown_labels"]) == (42, {})
    assert "3 texts of " in done.stderr


def test_answers_open_as_csv_and_as_a_workbook(run, model, messy, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    shown = run("classify", model, messy, "--csv", "--keep-columns").stdout
    header, *rows = csv.reader(io.StringIO(shown))
    assert header == [*HEADER, "labels", "probability", "known_words", "p_grain", "p_money", "p_sport"]
    assert len(rows) == 45
    run("classify", model, messy, "--keep-columns", "-o", tmp_path / "answers.xlsx")
    book = openpyxl.load_workbook(tmp_path / "answers.xlsx").active
    cells = [[cell.value for cell in row] for row in book]
    assert cells[0] == header
    with messy.open(encoding="utf-8-sig", newline="") as stream:
        given = list(csv.reader(stream, delimiter=";"))[1:]
    for row, cell, own in zip(rows, cells[1:], given, strict=True):
        assert row[:3] == own[:3]
        assert row[3] == ("'=SUM(A1:A9)" if own[3].startswith("=") else "-1,5")
        assert [value or "" for value in cell[:4]] == own[:4]
        assert row[4] == cell[4]
        assert [float(value) for value in row[5:]] == pytest.approx(cell[5:], rel=1e-12)
    assert {cell.data_type for cell in book["D"]} == {"s"}  # no formula


def test_the_report_opens(run, model, messy, tmp_path):
    run("report", model, messy, "--merge-case", "--missing-label", "N/A", "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "<script" not in page
    assert f"42 in {messy}" in page
