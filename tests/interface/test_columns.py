"""Columns from file to file: found by name, remembered by the model, written back in the form they came in."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest

from textbayes.store import load_model

HEADER = ["Nr", "Beschreibung", "Team", "Wert"]
NAMED = ("--text-field", "beschreibung", "--label-field", "TEAM", "--id-field", "nr")


@pytest.fixture(scope="module")
def rows(documents):
    return [[f"n{i}", doc["text"], doc["labels"], "0,5"] for i, doc in enumerate(documents)]


def write_csv(path, rows, header=HEADER, delimiter=";", encoding="utf-8-sig", line_end="\r\n", above=""):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator=line_end).writerows([header, *rows])
    path.write_bytes((above + stream.getvalue()).encode(encoding))
    return path


@pytest.fixture(scope="module")
def trained(rows, tmp_path_factory):
    """A model of a semicolon CSV whose columns have names of their own."""
    from click.testing import CliRunner

    from textbayes.cli.main import cli

    folder = tmp_path_factory.mktemp("columns")
    path = write_csv(folder / "train.csv", rows)
    command = ["train", str(path), *NAMED, "--preset", "linear", "-o", str(folder / "m.tb")]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.stderr
    return folder / "m.tb"


def test_the_model_file_remembers_them(trained):
    columns = load_model(trained).columns_
    assert (columns["text"], columns["label"], columns["id"]) == (["Beschreibung"], ["Team"], "Nr")
    assert (columns["delimiter"], columns["encoding"], columns["line_end"]) == (";", "utf-8-sig", "\r\n")


@pytest.mark.parametrize("header", [HEADER, [" nr", "BESCHREIBUNG ", "team", "x"]])
def test_other_commands_find_them_without_options(header, run, lines, trained, rows, tmp_path):
    new = write_csv(tmp_path / "new.csv", rows, header, delimiter=",", encoding="utf-8", line_end="\n")
    found = lines("classify", trained, new)
    assert [row["id"] for row in found] == [row[0] for row in rows]
    assert all(row["known_words"] for row in found)
    assert lines("evaluate", trained, new)[0]["n_docs"] == len(rows)
    assert lines("explain", trained, new, "--id", "n3")[0]["id"] == "n3"
    run("report", trained, new, "-o", tmp_path / "report.html")
    assert (tmp_path / "report.html").exists()


def test_show_names_them(run, lines, trained):
    (shown,) = lines("show", trained)
    assert (shown["columns"]["text"], shown["columns"]["label"]) == (["Beschreibung"], ["Team"])
    assert "text in 'Beschreibung', label in 'Team', id in 'Nr'" in " ".join(
        run("show", trained, "--table").stdout.split()
    )


def test_update_finds_them_and_keeps_them(run, rows, tmp_path):
    path = write_csv(tmp_path / "train.csv", rows)
    run("train", path, *NAMED, "--model", "counts", "-o", tmp_path / "m.tb")
    run("update", tmp_path / "m.tb", write_csv(tmp_path / "more.csv", rows, [name.upper() for name in HEADER]))
    assert load_model(tmp_path / "m.tb").columns_["text"] == ["Beschreibung"]


def test_options_win_over_what_the_model_remembers(lines, trained, rows, tmp_path):
    both = write_csv(tmp_path / "new.csv", [[*row, "goal goal"] for row in rows], [*HEADER, "other"])
    assert {row["known_words"] for row in lines("classify", trained, both, "--text-field", "Other")} == {1}


def test_a_missing_column_is_named_with_those_there_are_and_what_to_type(run, trained, tmp_path):
    path = write_csv(tmp_path / "new.csv", [["7", "the bank"]], ["key", "what happened"])
    failed = run("classify", trained, path, code=1).stderr.splitlines()
    assert "the model was trained on 'Beschreibung'); the fields are 'key', 'what happened'" in failed[0]
    assert failed[1:4] == ["columns, with the first value of each:", "  key            7", "  what happened  the bank"]
    assert failed[4] == "type, for example:"
    assert failed[5] == f"  textbayes classify {trained} {path} --text-field 'what happened'"


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_new_texts_without_the_models_label_are_for_classify(command, run, trained, rows, tmp_path):
    path = write_csv(tmp_path / "new.csv", [row[:2] + row[3:] for row in rows], ["Nr", "Beschreibung", "Eingang"])
    more = ("-o", tmp_path / "r.html") if command == "report" else ()
    *_, said, typed = run(command, trained, path, *more, code=1).stderr.splitlines()
    assert said == f"textbayes: error: {path} has no column 'Team'; to label new texts use:"
    assert typed == f"  textbayes classify {trained} {path}"
    run(*typed.split()[1:])


def test_columns_of_text_and_label_are_asked_for_at_once(run, rows, tmp_path):
    path = write_csv(tmp_path / "a.csv", rows)
    typed = run("train", path, "-o", tmp_path / "m.tb", code=1).stderr.splitlines()[-1]
    assert typed == f"  textbayes train {path} -o {tmp_path / 'm.tb'} --text-field Beschreibung --label-field Team"
    run(*typed.split()[1:], "--preset", "linear")
    write_csv(path, rows, ["Nr", "Beschreibung", "label", "Wert"])
    failed = run("train", path, "-o", tmp_path / "m.tb", code=1).stderr
    assert failed.endswith("--text-field Beschreibung\n")  # the label is found by its name


def test_a_name_that_no_column_has_is_answered_with_the_command_to_type(run, rows, tmp_path):
    path, model = write_csv(tmp_path / "a.csv", rows), tmp_path / "m.tb"
    train = ("train", path, "-o", model, "--preset", "linear")
    for wrong, right in (
        (("--text-field", "Text", "--label-field", "Team"), "--text-field Beschreibung --label-field Team"),
        (("--text-field", "Beschreibung", "--label-field=Tema"), "--text-field Beschreibung --label-field=Team"),
        (("--text-field", "Beschreibung", "--label-field", "train"), "--text-field Beschreibung --label-field Team"),
    ):
        failed = run(*train, *wrong, code=1).stderr.splitlines()
        assert "columns, with the first value of each:" in failed
        assert failed[-1] == f"  textbayes {' '.join(map(str, train))} {right}"
    run(*failed[-1].split()[1:])


def test_a_cover_sheet_is_not_asked_for_its_columns(run, rows, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    book = openpyxl.Workbook()
    book.active.title = "Info"
    book.active.append(["Stand", "Mai"])
    book.active.append(["Ort", "Bonn"])
    data = book.create_sheet("Alle Daten")
    for row in [HEADER, *rows]:
        data.append(row)
    book.save(tmp_path / "a.xlsx")
    command = ("train", tmp_path / "a.xlsx", "-o", tmp_path / "m.tb")
    typed = run(*command, code=1).stderr.splitlines()[-1]
    assert typed == f"  textbayes {' '.join(map(str, command))} --sheet 'Alle Daten'"
    failed = run(*command, "--sheet", "Alle Daten", code=1).stderr
    assert "--sheet 'Alle Daten' --text-field Beschreibung" in failed
    assert "--text-field" in run(*command, "--sheet", "Info", code=1).stderr.splitlines()[-1]


def test_texts_and_model_in_the_wrong_order(run, trained, rows, tmp_path):
    path = write_csv(tmp_path / "new texts.csv", rows)
    said, typed = run("classify", path, trained, "--top", "2", code=1).stderr.splitlines()
    assert said == f"textbayes: error: {path} is not a model file; did you mean:"
    assert typed == f"  textbayes classify {trained} '{path}' --top 2"


def test_training_without_a_label_says_what_to_type(run, rows, tmp_path):
    path = write_csv(tmp_path / "a.csv", rows)
    failed = run("train", path, "--text-field", "beschreibung", "-o", tmp_path / "m.tb", code=1).stderr
    assert "has a label; name the column that holds it with --label-field" in failed
    assert "  Team          grain\n" in failed
    assert failed.rstrip().endswith(f"-o {tmp_path / 'm.tb'} --label-field Team")  # the one with few values
    assert not (tmp_path / "m.tb").exists()


def test_a_choice_among_labels_is_said(run, rows, tmp_path):
    path = write_csv(tmp_path / "a.csv", rows, ["id", "text", "category", "topic"])
    options = ("--preset", "linear", "-o", tmp_path / "m.tb")
    said = run("train", path, *options).stderr
    assert "the label is read from the column 'category'; --label-field takes 'topic' instead" in said
    assert load_model(tmp_path / "m.tb").columns_["label"] == ["category"]
    assert "is read from" not in run("train", path, *options, "--label-field", "Category").stderr


def test_rows_go_out_as_they_came_in(run, trained, rows, tmp_path):
    given = [[*row[:3], "=1+1" if i else row[3]] for i, row in enumerate(rows)]
    new = write_csv(tmp_path / "new.csv", given)
    run("classify", trained, new, "-o", tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_bytes()
    assert written.startswith(
        b"\xef\xbb\xbfNr;Beschreibung;Team;Wert;labels;probability;known_words;p_grain;p_money;p_sport\r\n"
    )
    assert written.count(b"\xef\xbb\xbf") == 1
    assert written.count(b"\n") == written.count(b"\r\n") == len(rows) + 1
    _, *found = csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""), delimiter=";")
    assert [row[:3] for row in found] == [row[:3] for row in given]
    assert [row[3] for row in found] == ["0,5", *["'=1+1"] * (len(rows) - 1)]
    shares = [float(cell.replace(",", ".")) for cell in found[0][7:]]
    assert all("." not in cell for cell in found[0][7:])
    assert sum(shares) == pytest.approx(1.0)
    run("evaluate", trained, tmp_path / "out.csv")  # it is a file of the same columns


@pytest.mark.parametrize(
    ("delimiter", "encoding", "line_end"), [(",", "utf-8", "\n"), ("\t", "cp1252", "\r\n"), (";", "utf-16", "\n")]
)
def test_every_form_is_kept(delimiter, encoding, line_end, run, trained, rows, tmp_path):
    given = [[row[0], f"{row[1]} café", row[2], "1.5"] for row in rows]
    new = write_csv(tmp_path / "new.csv", given, HEADER, delimiter, encoding, line_end)
    options = () if encoding == "utf-8" else ("--encoding", encoding)
    run("classify", trained, new, *options, "-o", tmp_path / "out.csv", "--batch", "4")
    text = (tmp_path / "out.csv").read_bytes().decode(encoding)
    assert "\ufeff" not in text
    _, *found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert [row[:4] for row in found] == given
    assert text.endswith(line_end)
    assert text.count("\r\n") == (len(rows) + 1 if line_end == "\r\n" else 0)
    assert 0 <= float(found[0][7]) <= 1  # a file whose own numbers have points gets points


def test_a_label_that_the_encoding_lacks(run, tmp_path):
    rows = [[f"{word} {i}", label] for i in range(5) for word, label in (("corn", "Ökologie"), ("bank", "経済"))]
    train = write_csv(tmp_path / "train.csv", rows, ["text", "label"], ",", "utf-8", "\n")
    run("train", train, "--preset", "linear", "-o", tmp_path / "m.tb")
    new = tmp_path / "new.csv"
    new.write_bytes("text;x\ncafé corn;1\n".encode("cp1252"))
    done = run("classify", tmp_path / "m.tb", new, "--encoding", "cp1252", "-o", tmp_path / "out.csv")
    assert "a label cannot be written in cp1252, the encoding of the input; the file is in UTF-8" in done.stderr
    assert "p_経済" in (tmp_path / "out.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(("trained_in", "written_in"), [("cp1252", "cp1252"), ("utf-16", "utf-8-sig")])
def test_labels_with_accents_for_an_input_of_ascii(trained_in, written_in, run, tmp_path):
    rows = [[f"{word} {i}", label] for i in range(5) for word, label in (("corn", "Kürzel"), ("bank", "Wörter"))]
    train = write_csv(tmp_path / "train.csv", rows, ["text", "label"], encoding=trained_in)
    run("train", train, "--encoding", trained_in, "--preset", "linear", "-o", tmp_path / "m.tb")
    new = write_csv(tmp_path / "new.csv", [["corn", "1"], ["bank", "2"]], ["text", "x"], encoding="ascii")
    run("classify", tmp_path / "m.tb", new, "-o", tmp_path / "out.csv")
    data = (tmp_path / "out.csv").read_bytes()
    assert "p_Kürzel" in data.decode(written_in)
    assert data.startswith(b"\xef\xbb\xbf") == (written_in == "utf-8-sig")
    run("classify", tmp_path / "m.tb", new, new, "-o", tmp_path / "both.csv")  # what comes later may not be ASCII
    assert (tmp_path / "both.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    new.write_bytes("text;x\ncorn;Łódź\n".encode())
    run("classify", tmp_path / "m.tb", new, "-o", tmp_path / "out.csv")
    assert "Łódź" in (tmp_path / "out.csv").read_bytes().decode("utf-8")


def test_no_columns_of_the_input_on_request_and_by_default_in_json(run, trained, rows, tmp_path):
    new = write_csv(tmp_path / "new.csv", rows)
    run("classify", trained, new, "-o", tmp_path / "a.csv", "--no-keep-columns")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8-sig").startswith("id;labels;probability;known_words;")
    run("classify", trained, new, "-o", tmp_path / "a.jsonl")
    assert "fields" not in json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()[0])


def test_a_workbook_becomes_a_workbook(run, trained, rows, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    book = openpyxl.Workbook()
    book.active.title = "Info"
    book.active.append(["About this file"])
    page = book.create_sheet("Data")
    for row in [["Tickets of May"], [], [name.upper() for name in HEADER], *rows]:
        page.append(row)
    book.save(tmp_path / "new.xlsx")
    done = run("classify", trained, tmp_path / "new.xlsx", "-o", tmp_path / "out.xlsx")
    assert "'Info' (1 row), 'Data' (18 rows); 'Data' is read, --sheet NAME reads another" in done.stderr
    cells = [[cell.value for cell in row] for row in openpyxl.load_workbook(tmp_path / "out.xlsx").active]
    assert cells[0][:5] == [*(name.upper() for name in HEADER), "labels"]
    assert [row[:4] for row in cells[1:]] == rows
    for options in (("--sheet", "data"), ("--sheet", "2"), ("--sheet", "2", "--header-row", "3")):
        assert run("classify", trained, tmp_path / "new.xlsx", *options).stderr == ""
    failed = run("classify", trained, tmp_path / "new.xlsx", "--sheet", "Info", code=1).stderr
    assert "choose one with --sheet NAME" in failed


def test_columns_of_a_model_file_are_checked(run, trained, rows, tmp_path):
    with zipfile.ZipFile(trained) as archive:
        model = json.loads(archive.read("model.json"))
    assert model["state"]["columns"]["text"] == ["Beschreibung"]
    from textbayes.categorizer import TextCategorizer
    from textbayes.core.errors import ModelFileError

    _, arrays = load_model(trained).to_state()
    for field, value in (("text", []), ("delimiter", ";;"), ("header_row", 0), ("line_end", "x"), ("id", 7)):
        columns = model["state"]["columns"] | {field: value}
        with pytest.raises(ModelFileError, match=f"its columns.{field}"):
            TextCategorizer.from_state(model["state"] | {"columns": columns}, arrays)


def test_explain_says_that_rows_have_numbers_where_no_id_is_known(run, models, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("Ticket No,text\nT1,the bank raises rates\nT2,wheat and corn\n")
    said = " ".join(run("explain", models["multiclass"], path, "--id", "T2", code=1).stderr.split())
    assert "no id column is known, so rows are numbered 1 to 2; name one with --id-field" in said
    run("explain", models["multiclass"], path, "--id", "T2", "--id-field", "Ticket No")


def test_evaluate_proposes_no_column_whose_values_are_no_labels(run, models, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("Request no,text,place\nA7,the bank raises rates,north\nA7,wheat and corn,south\n")
    said = " ".join(run("evaluate", models["multiclass"], path, code=1).stderr.split())
    assert "--label-field Request" not in said
    assert "no column has labels of the model; the text is read from text" in said
    path.write_text("Request no,text,place\nA7,the bank raises rates,money\nA7,wheat and corn,grain\n")
    assert "--label-field place" in " ".join(run("evaluate", models["multiclass"], path, code=1).stderr.split())
