"""Terminals and pipes: tables for people, JSON for programs, progress that stays out of the results."""

from __future__ import annotations

import json
import shlex
import sys
import warnings

import click
import pytest

from textbayes.cli.errors import as_options, in_one_sentence
from textbayes.cli.output import to_json
from textbayes.core.errors import InputError


def test_a_table_on_a_terminal_json_in_a_pipe(on_terminal, start, models, write, documents):
    path = write(documents)
    shown, notes = on_terminal("classify", models["multiclass"], path)
    assert "most probable" in shown
    assert "grain-0" in shown
    assert notes == ""
    piped = start("classify", models["multiclass"], path).communicate()[0]
    assert json.loads(piped.splitlines()[0])["id"] == "grain-0"


def test_progress_goes_to_the_terminal_and_results_to_the_pipe(on_terminal, write, documents, tmp_path):
    arguments = ("train", write(documents), "-o", tmp_path / "m.tb")
    shown, result = on_terminal(*arguments, stream="stderr")
    assert "cross-validation" in shown
    assert json.loads(result)["documents"] == 15
    shown, result = on_terminal(*arguments, "--quiet", stream="stderr")
    assert shown == ""
    assert json.loads(result)["documents"] == 15


def test_messages_stand_above_a_bar_and_not_in_its_line(on_terminal, models, tmp_path):
    book = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed").Workbook()
    book.active.append(["made by Ann"])
    page = book.create_sheet("Data")
    page.append(["text"])
    page.append(["corn and wheat"])
    book.save(tmp_path / "a.xlsx")
    shown, _ = on_terminal("classify", models["multiclass"], tmp_path / "a.xlsx", stream="stderr")
    before, _, said = shown.partition("textbayes:")  # a line is broken after it where the path is long
    assert "has 2 sheets" in " ".join(said.split())
    assert "reading" in before
    assert before.endswith("\x1b[2K")  # the line of the bar was cleared


def test_counting_documents_leaves_the_pipe_alone(on_terminal, models, write, documents):
    path = write(doc | {"id": f"{doc['id']}-{i}"} for i in range(100) for doc in documents)
    shown, results = on_terminal("classify", models["multiclass"], path, stream="stderr")
    assert "reading" in shown
    assert len([json.loads(line) for line in results.splitlines()]) == 1_500


WAITS = {
    "clusters": (("{texts}", "-k", "2"), "fitting 2 clusters to 15 texts"),
    "keyness": (("{texts}",), "comparing word frequencies"),
    "select": (("{texts}",), "ranking words"),
    "link": (("{texts}", "--folds", "2"), "cross-validating links and scales"),
    "compare": (("a={model}", "b={model}", "--truth", "{texts}"), "testing 2 systems on 15 documents"),
    "report": (("{model}", "{texts}", "-o", "{folder}/report.html"), "writing the report"),
    "export": (("{model}", "-o", "{folder}/model.json"), "exporting"),
}


@pytest.mark.parametrize("command", WAITS)
def test_what_takes_long_says_what_it_does(command, on_terminal, models, write, documents, tmp_path):
    places = {"texts": write(documents), "model": models["multiclass"], "folder": tmp_path}
    arguments = [one.format_map(places) for one in WAITS[command][0]]
    shown, result = on_terminal(command, *arguments, "--json", stream="stderr")
    assert WAITS[command][1] in shown
    assert all(map(json.loads, result.splitlines()))
    shown, quiet = on_terminal(command, *arguments, "--json", "--quiet", stream="stderr")
    assert WAITS[command][1] not in shown
    assert quiet == result


def test_json_is_utf_8_in_any_locale_and_has_no_odd_numbers(start, models, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    (tmp_path / "größe.txt").write_text("the bank", encoding="utf-8")
    out, err = start("classify", models["multiclass"], tmp_path / "größe.txt").communicate()
    assert err == b""
    assert json.loads(out.decode("utf-8"))["id"] == "größe.txt"
    odd = {"a": float("nan"), "b": [float("inf"), -0.0], "c": (1, "é")}
    assert to_json(odd) == '{"a": null, "b": [null, 0.0], "c": [1, "é"]}'


def test_labels_are_shown_as_they_are(run, write, tmp_path):
    """Brackets and colons mean something to rich, not to us."""
    rows = [
        {"text": f"{word} {i}", "labels": f"[bold]{word}[/x] :smile:"} for word in ("corn", "bank") for i in range(4)
    ]
    run("train", write(rows), "-o", tmp_path / "m.tb", "--quiet")
    assert "[bold]corn[/x] :smile:" in run("words", tmp_path / "m.tb", "--table").stdout
    assert "[bold]bank[/x] :smile:? yes" in run("explain", tmp_path / "m.tb", "bank", "--table", "--literal").stdout


def test_messages_of_the_library_in_the_words_of_the_command_line():
    @click.command()
    @click.option("--label-field")
    @click.option("--encoding")
    @click.option("--jobs", "n_jobs")
    @click.option("--download", is_flag=True)
    @click.option("--calibrate", is_flag=True)
    @click.option("--calibrate-by")
    @click.option("--refit/--no-refit")
    def command() -> None: ...

    group = click.Group(commands={"command": command})
    for owner in (command, group):
        assert as_options("use encoding='latin-1' now", owner) == "use --encoding latin-1 now"
        assert as_options("n_jobs=0 runs nothing", owner) == "--jobs 0 runs nothing"
        assert as_options("name one as label_field", owner) == "name one as --label-field"
        assert as_options("pass download=True, or", owner) == "pass --download, or"
        assert as_options("the file's encoding; other=3", owner) == "the file's encoding; other=3"
        assert as_options("calibrate='beta', or calibrate=True", owner) == "--calibrate-by beta, or --calibrate"
        assert as_options("refit=False keeps them", owner) == "--no-refit keeps them"
    assert as_options("encoding='x'", None) == "encoding='x'"


def test_sentences_are_wrapped_between_words_and_commands_before_options(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    sentence, typed = (
        "a sentence of many words " * 5,
        f"  textbayes classify 'a file.csv' {'--text-field a-column ' * 3}--top 3",
    )
    error = InputError(sentence)
    error.add_note(typed)
    with pytest.raises(click.exceptions.Exit), in_one_sentence(lambda: None):
        raise error
    said = capsys.readouterr().err.splitlines()
    assert max(map(len, said)) <= 40
    begin = next(i for i, line in enumerate(said) if line.startswith("  textbayes"))
    assert len(said[begin:]) > 1
    assert shlex.split("\n".join(said[begin:]).replace("\\\n", "")) == shlex.split(typed)  # as a shell reads the lines
    with pytest.raises(click.UsageError) as caught, in_one_sentence(lambda: None):
        raise click.UsageError(sentence)
    caught.value.show()
    said = capsys.readouterr().err
    assert max(map(len, said.splitlines())) <= 40
    assert " ".join(said.split()) == f"textbayes: error: {sentence}".strip()


def test_what_every_fold_would_say_is_said_once(capsys):
    with in_one_sentence(lambda: None):
        for fold in range(1, 4):
            warnings.simplefilter("always")
            warnings.warn(
                f"1 of {fold} posteriors were sampled less well than asked for, R-hat 1.0{fold}", stacklevel=1
            )
            warnings.warn(f"label {fold} has one text", stacklevel=1)
    said = capsys.readouterr().err
    assert said.count("posteriors were sampled") == 1
    assert [f"label {fold} has one text" in said for fold in range(1, 4)] == [True] * 3
