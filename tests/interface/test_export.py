"""``textbayes export``: the scoring of a model file, for programs other than textbayes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import pytest

NEW = ["Corn prices and the bank’s rates", "nothing known", "the team’s goals", ""]


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_json_scores_as_classify_does(kind, run, lines, models, write, tmp_path):
    [told] = lines("export", models[kind], "-o", tmp_path / "m.json", "--scorer", tmp_path / "score.py")
    assert (told["format"], told["bytes"]) == ("json", (tmp_path / "m.json").stat().st_size)
    texts = write([{"text": text} for text in NEW])
    rows = lines("classify", models[kind], texts, "--guess")
    command = [sys.executable, "-I", "-S", tmp_path / "score.py", tmp_path / "m.json"]
    done = subprocess.run(command, input=texts.read_bytes(), capture_output=True, check=True)
    for row, line in zip(rows, done.stdout.splitlines(), strict=True):
        found = json.loads(line)
        assert found["labels"] == row["labels"]
        assert found["probabilities"] == pytest.approx(row["probabilities"], abs=1e-9)


def test_the_scorer_says_what_it_lacks(run, models, write, documents, tmp_path):
    told = run("export", models["binary"], "-o", tmp_path / "m.json", "--scorer", tmp_path / "score.py").stderr
    assert "Snowball" not in told
    command = [sys.executable, "-I", "-S", tmp_path / "score.py", tmp_path / "m.json"]
    done = subprocess.run(command, input='{"body": "corn"}\n', capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == '{"body": "corn"} has no field "text" with a string: write {"text": "..."} on each line\n'
    german = tmp_path / "german.tb"
    run("train", write(documents), "-o", german, "--stemmer", "german", "--preset", "linear", "--folds", "2")
    told = run("export", german, "-o", tmp_path / "german.json").stderr
    assert "needs a stemmer of a Snowball library, added to FUNCTIONS of the scorer as 'Snowball german'" in told


def test_sql_is_a_script(run, models, tmp_path):
    run("export", models["binary"], "-o", tmp_path / "m.sql")
    database = sqlite3.connect(":memory:")
    database.executescript((tmp_path / "m.sql").read_text(encoding="utf-8"))
    assert database.execute("SELECT label FROM textbayes_labels").fetchall() == [("money",)]
    database.close()


def test_a_table_for_people(on_terminal, models, tmp_path):
    shown, _ = on_terminal("export", models["binary"], "-o", tmp_path / "m.json")
    assert "2 labels" in " ".join(shown.split())


def test_what_cannot_be_written(run, models, tmp_path):
    before = models["binary"].read_bytes()
    assert "end its name in" in run("export", models["binary"], "-o", tmp_path / "m.txt", code=1).stderr
    assert (
        "which the command was given as an input too"
        in run("export", models["binary"], "-o", models["binary"], code=1).stderr
    )
    assert models["binary"].read_bytes() == before
    assert "Missing option" in run("export", models["binary"], code=2).stderr
    twice = run("export", models["binary"], "-o", tmp_path / "m.json", "--scorer", tmp_path / "m.json", code=1)
    assert "name another file for the output" in twice.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    loop = run("export", models["binary"], "-o", tmp_path / "loop.json", code=1)
    assert "loop.json cannot be written (Too many levels of symbolic links)" in loop.stderr
    assert "internal error" not in loop.stderr
