"""Text of strangers on its way out: it steers no terminal and computes nothing in a spreadsheet."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path

import pytest

import textbayes.cli
from textbayes.categorizer import TextCategorizer
from textbayes.core.tables import as_cell
from textbayes.display import visible
from textbayes.store import save_model

CLEAR, TITLE, C1, TURNED = "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202egpj.exe"
HOSTILE = f"a{CLEAR}{TITLE}{C1}{TURNED}\rb\x7f"
LABEL = HOSTILE.replace("\r", "")  # white space in labels is a space
SHOWN = r"a\x1b[2J\x1b]0;owned\x07\x9b31m\u202egpj.exe\rb\x7f"
# What may reach a terminal of the house's own making: colours, and what moves the cursor of progress bars.
OWN = re.compile(r"\x1b\[(\?25[lh]|[0-9;]*[mKAG])|\r\n|\r")


def unsafe(shown):
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", OWN.sub("", shown))


@pytest.fixture(scope="module")
def hostile(documents, tmp_path_factory):
    """A model with a hostile label, and documents with that label and hostile ids."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        doc | {"id": f"{doc['id']}{HOSTILE}", "labels": LABEL if doc["labels"] == "grain" else doc["labels"]}
        for doc in documents
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    save_model(TextCategorizer().fit([row["text"] for row in rows], [row["labels"] for row in rows]), folder / "m.tb")
    return folder / "m.tb", folder / "texts.jsonl"


def test_control_characters_become_escapes_but_tabs_and_line_ends_stay():
    assert visible(HOSTILE) == SHOWN
    assert visible("a\tb\r\nc é 漢 \u200f") == "a\tb\r\nc é 漢 \u200f"
    assert visible(f"{HOSTILE}\u200f\ufeff\ud800", unseen=True) == SHOWN + r"\u200f\ufeff\ud800"


@pytest.mark.parametrize(
    "command",
    [
        "classify MODEL TEXTS",
        "classify MODEL TEXTS --csv",
        "evaluate MODEL TEXTS --per-label",
        "explain MODEL corn --literal",
        "words MODEL",
        "select TEXTS --top-k 1",
    ],
)
def test_no_command_lets_a_text_steer_the_terminal(command, on_terminal, hostile):
    model, path = hostile
    given = [{"MODEL": model, "TEXTS": path}.get(word, word) for word in command.split()]
    shown, _ = on_terminal(*given)
    assert "owned" in "".join(shown.split())  # wrapped where it is long
    assert unsafe(shown) == []


def test_notes_warnings_progress_and_errors_do_not_either(on_terminal, run, hostile, write, tmp_path):
    _, path = hostile
    shown, _ = on_terminal("train", path, "-o", tmp_path / "n.tb", stream="stderr")
    assert r"\x1b]0;owned" in shown  # the summary of labels
    assert unsafe(shown) == []
    for arguments, code in (
        (("train", tmp_path / f"none{CLEAR}", "-o", tmp_path / "n.tb"), 1),
        (("train", path, "-o", tmp_path / "n.tb", "--label-field", CLEAR), 1),
        (("classify", path, "--table", "--format", CLEAR), 2),
    ):
        failed = run(*arguments, code=code).stderr
        assert "[2J" in failed
        assert unsafe(failed) == []


def test_json_escapes_what_steers_and_reads_back_the_same(run, hostile):
    model, path = hostile
    shown = run("classify", model, path).stdout
    assert unsafe(shown) == []
    assert json.loads(shown.splitlines()[0])["id"] == f"grain-0{HOSTILE}"


def test_all_text_goes_out_by_way_of_what_makes_it_safe():
    """A command that printed by itself would not be covered by the tests above."""
    allowed = {"terminal.py", "safe_console.py", "output.py"}
    for file in Path(textbayes.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and file.name not in allowed:
                called = ast.unparse(node.func)
                assert called not in ("print", "click.echo", "click.secho", "Console", "sys.stdout.write"), (
                    f"{file.name}, line {node.lineno}: use echo or console of textbayes.cli.terminal"
                )


def test_cells():
    assert as_cell("=1+1") == "'=1+1"
    assert as_cell("=1+1", keep_formulas=True) == "=1+1"
    assert (as_cell(-1.5), as_cell(None), as_cell("-1.5")) == (-1.5, None, "-1.5")


def test_several_values_in_a_cell_are_one_text():
    assert as_cell(["=a", "b"]) == "'=a|b"
    assert as_cell(["a", "=b"]) == "a|=b"


def test_csv_of_any_command_holds_no_formula(run, write, documents, tmp_path):
    rows = [
        doc | {"id": f"={i}+1", "labels": doc["labels"].replace("grain", "@grain")} for i, doc in enumerate(documents)
    ]
    path = write(rows)
    run("train", path, "-o", tmp_path / "m.tb")
    (first, *_) = csv.DictReader(io.StringIO(run("classify", tmp_path / "m.tb", path, "--csv").stdout))
    assert (first["id"], first["labels"]) == ("'=0+1", "'@grain")
    assert float(first["p_@grain"]) > 0.5
    words = csv.DictReader(io.StringIO(run("words", tmp_path / "m.tb", "--csv").stdout))
    assert "'@grain" in {row["label"] for row in words}
    (first, *_) = csv.DictReader(
        io.StringIO(run("classify", tmp_path / "m.tb", path, "--csv", "--keep-formulas").stdout)
    )
    assert (first["id"], first["labels"]) == ("=0+1", "@grain")
