"""``classify`` to files and with the input's own columns: CSV, JSON lines and XLSX."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import tracemalloc
from pathlib import Path

import pytest

from textbayes.core.tables import CsvForm, csv_text
from textbayes.display import workbook
from textbayes.store import load_model, save_model

openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")

CSV = 'id,text,label,year,note,p_money\n7,wheat harvest,grain,1999,=1+1,x\n8,"bank, rates",money,,plain,-3.5\n'


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def sheet(path):
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active]


def test_the_inputs_columns_come_first_and_ours_do_not_hide_them(run, models, new):
    shown = run("classify", models["multiclass"], new, "--csv", "--keep-columns").stdout
    header, *rows = csv.reader(io.StringIO(shown))
    assert header == [
        *["id", "text", "label", "year", "note", "p_money"],
        *["labels", "probability", "known_words", "p_grain", "textbayes_p_money", "p_sport"],
    ]
    assert rows[0][:7] == ["7", "wheat harvest", "grain", "1999", "'=1+1", "x", "grain"]
    assert rows[1][:7] == ["8", "bank, rates", "money", "", "plain", "-3.5", "money"]


def test_json_has_them_under_fields(lines, models, new):
    row = lines("classify", models["multiclass"], new, "--keep-columns")[0]
    assert list(row) == ["id", "fields", "labels", "probability", "known_words", "probabilities"]
    assert row["fields"]["note"] == "=1+1"
    assert list(row["fields"]) == ["id", "text", "label", "year", "note", "p_money"]


def test_rows_of_differing_columns(run, models, write, documents):
    rows = [documents[0] | {"a": 1}, documents[1] | {"b": None}]
    header, *cells = csv.reader(
        io.StringIO(run("classify", models["multiclass"], write(rows), "--csv", "--keep-columns").stdout)
    )
    assert header[:5] == ["id", "text", "labels", "a", "b"]
    assert [row[3:5] for row in cells] == [["1", ""], ["", ""]]
    failed = run(
        "classify", models["multiclass"], write(rows), "--csv", "--keep-columns", "--batch", "1", code=1
    )  # the header has gone out
    assert "document 'grain-1' has the column 'b', which the first documents lack" in failed.stderr


def test_what_has_no_columns_is_refused(run, models):
    refused = run("classify", models["multiclass"], "--keep-columns", "--csv", stdin="some words\n", code=1).stderr
    assert "format 'lines' has no option '--keep-columns'" in refused
    refused = run("classify", models["multiclass"], "--keep-columns", "--csv", "--corpus", "bbc", code=1).stderr
    assert "corpus 'bbc' has no columns of its own to keep" in refused
    assert "--keep-columns needs a form" in (
        run("classify", models["multiclass"], "--keep-columns", "--table", stdin="x", code=2).stderr
    )


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_a_file_holds_what_a_pipe_would_have_had(name, run, models, write, documents, tmp_path):
    path, form = write(documents), "--csv" if name == "out.csv" else "--json"
    done = run("classify", models["multiclass"], path, "-o", tmp_path / name, "--batch", "4")
    assert done.stdout == ""
    assert f"{name}: 15 documents" in done.stderr
    assert (tmp_path / name).read_text(encoding="utf-8") == run("classify", models["multiclass"], path, form).stdout


def test_a_file_appears_whole_or_not_at_all(run, models, write, documents, tmp_path):
    path = write(documents)
    with path.open("a", encoding="utf-8") as stream:
        stream.write("{not json\n")
    for name in ("out.csv", "out.jsonl", "out.xlsx"):
        run("classify", models["multiclass"], path, "-o", tmp_path / name, code=1)
    assert [file.name for file in tmp_path.iterdir()] == ["texts.jsonl"]
    assert "ends in none of .csv, .jsonl" in (
        run("classify", models["multiclass"], path, "-o", tmp_path / "out.txt", code=2).stderr
    )
    assert "would replace" in run("classify", models["multiclass"], path, "-o", path, code=1).stderr


def test_unsure_labels_are_in_the_table(run, models, tmp_path):
    from textbayes.decide import make_rule

    model = load_model(models["binary"])
    model.rule_ = make_rule("unsure", low=0.05, high=0.95).fit([[0.0]])
    save_model(model, tmp_path / "unsure.tb")
    shown = run("classify", tmp_path / "unsure.tb", "--csv", stdin="the bank\nnothing known\n").stdout
    header, *rows = csv.reader(io.StringIO(shown))
    assert header[:4] == ["id", "labels", "probability", "unsure"]
    assert [row[3] for row in rows] == ["", "grain|money"]


def test_a_workbook(run, models, new, tmp_path):
    run("classify", models["multiclass"], new, "--keep-columns", "-o", tmp_path / "out.xlsx")
    header, first, second = sheet(tmp_path / "out.xlsx")
    assert header[:7] == ["id", "text", "label", "year", "note", "p_money", "labels"]
    assert first[:7] == [7, "wheat harvest", "grain", 1999, "=1+1", "x", "grain"]
    assert (second[3], second[5]) == (None, -3.5)
    assert (first[8], 0 < first[7] < 1) == (2, True)  # two known words, and a probability
    formula = openpyxl.load_workbook(tmp_path / "out.xlsx").active["E2"]
    assert (formula.data_type, formula.quotePrefix) == ("s", True)  # text, and it stays text when edited
    run("classify", models["multiclass"], new, "--keep-columns", "-o", tmp_path / "raw.xlsx", "--keep-formulas")
    assert openpyxl.load_workbook(tmp_path / "raw.xlsx").active["E2"].data_type == "f"


def test_texts_that_no_cell_holds_are_made_to_fit(run, models, write, tmp_path):
    long, astral = "x" * 40_000, "😀" * 20_000
    rows = [
        {"id": "007", "text": "corn\x1b[0m\x00 \ufffe", "a": long, "b": astral, "c": "#N/A"},
        {"id": "1.10", "text": "corn", "a": "y" * 32_767, "b": "12345678901234567890", "c": "-1e5"},
    ]
    done = run("classify", models["multiclass"], write(rows), "--keep-columns", "-o", tmp_path / "out.xlsx")
    assert "2 texts are longer than an XLSX cell can be, and cut" in done.stderr
    _, first, second = sheet(tmp_path / "out.xlsx")
    assert first[:2] == ["007", r"corn\x1b[0m\x00 \ufffe"]
    assert first[2] == "x" * 32_766 + "…"
    assert first[3] == "😀" * 16_383 + "…"
    assert first[4] == "#N/A"
    assert second[:5] == ["1.10", "corn", "y" * 32_767, "12345678901234567890", "-1e5"]


def test_a_sheet_has_its_limits(monkeypatch, run, models, write, documents, tmp_path):
    monkeypatch.setattr("textbayes.display._MOST_ROWS", 10)
    failed = run("classify", models["multiclass"], write(documents), "-o", tmp_path / "out.xlsx", code=1).stderr
    assert "an XLSX sheet has 10 rows and there are more documents; write .csv instead" in failed
    monkeypatch.setattr("textbayes.display._MOST_COLUMNS", 3)
    failed = run("classify", models["multiclass"], write(documents), "-o", tmp_path / "out.xlsx", code=1).stderr
    assert "7 columns are more than the 3 of an XLSX sheet" in failed


def test_rows_of_a_workbook_are_not_kept_in_memory(tmp_path):
    words = "some words " * 100
    with (tmp_path / "a.xlsx").open("wb") as stream, workbook(stream) as book:
        book.write(({"text": f"{i} {words}"} for i in range(200)), ["text"])
        tracemalloc.start()
        book.write(({"text": f"{i} {words}"} for i in range(5_000)), ["text"], header=False)  # 5 MB of texts
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 1_000_000
    assert len(sheet(tmp_path / "a.xlsx")) == 5_201


def test_without_openpyxl_the_extra_is_named(monkeypatch, run, models, new, tmp_path):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    failed = run("classify", models["multiclass"], new, "-o", tmp_path / "out.xlsx", code=1).stderr
    assert "textbayes[xlsx]" in failed
    assert [file.name for file in tmp_path.iterdir()] == ["new.csv"]


def test_decisions_in_a_file_are_compared(run, models, write, documents, tmp_path):
    """JSON lines with kept columns are still decisions that ``compare`` reads."""
    rows = [doc | {"id": f"={doc['id']}"} for doc in documents]
    path = write(rows)
    run("classify", models["multiclass"], path, "--keep-columns", "-o", tmp_path / "d.jsonl")
    kept = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()]
    assert kept[0]["id"] == "=grain-0"
    run("compare", f"a={tmp_path / 'd.jsonl'}", f"b={tmp_path / 'd.jsonl'}", "--truth", path)


def test_small_numbers_in_cells_have_no_exponent():
    assert csv_text([[7e-05, -1.5e-07, 1e-300]]) == "0.00007,-0.00000015,1e-300\n"
    assert csv_text([[7e-05]], form=CsvForm(delimiter=";", decimal=",")) == "0,00007\n"


def test_probabilities_in_cells_are_short(run, lines, models, write, tmp_path):
    path = write([{"id": "a", "text": "wheat corn harvest " * 40}, {"id": "b", "text": "the bank"}])
    exact = [row["probabilities"] for row in lines("classify", models["multiclass"], path)]
    cells = list(csv.DictReader(io.StringIO(run("classify", models["multiclass"], path, "--csv").stdout)))
    run("classify", models["multiclass"], path, "-o", tmp_path / "out.xlsx")
    header, *numbers = sheet(tmp_path / "out.xlsx")
    for row, cell, number in zip(exact, cells, numbers, strict=True):
        for name, p in row.items():
            shown = cell[f"p_{name}"]
            assert re.fullmatch(r"[01]\.\d+", shown)
            assert len(shown.replace(".", "").lstrip("0")) <= 6
            assert float(shown) == pytest.approx(p, rel=5e-6)
            assert number[header.index(f"p_{name}")] == float(shown)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not tell the name of standard output")
@pytest.mark.parametrize(
    ("command", "name", "options", "said"),
    [
        ("classify", "out.csv", (), "use -o out.csv"),
        ("classify", "out.jsonl", (), ""),
        ("classify", "out.csv", ("--csv",), ""),
        ("classify", "out.csv", ("--quiet",), ""),
        ("words", "out.csv", (), "add --csv"),  # its -o is for drawings
        ("words", "out.csv", ("--csv",), ""),
        ("words", "out.csv", ("--json",), ""),
    ],
)
def test_json_lines_into_a_spreadsheet_are_noted(
    command, name, options, said, start, models, write, documents, tmp_path
):
    texts = (write(documents),) if command != "words" else ()
    with (tmp_path / name).open("wb") as stream:
        running = start(command, models["multiclass"], *texts, *options, stdout=stream)
        heard = running.communicate()[1].decode()
    assert running.returncode == 0
    noted = [line for line in heard.splitlines() if "for a spreadsheet" in line]
    assert noted == ([f"textbayes: standard output gets JSON lines; for a spreadsheet {said}"] if said else [])
