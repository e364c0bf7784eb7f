"""The command itself: help without heavy imports, the table of commands, versions, typing errors, exit codes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import click
import pytest

from textbayes import __version__
from textbayes.cli.main import COMMANDS, cli
from textbayes.cli.options import UNTRAINED, ModelSpec, RegistryName, registered_names


def test_help_costs_little():
    """What it costs is what it imports: click, cloup and few modules of ours."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from textbayes.cli.main import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = done.stdout.splitlines()[-1].split()
    others = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"textbayes"}
    assert others <= {"click", "cloup", "typing_extensions"}
    assert len([name for name in loaded if name.startswith("textbayes")]) <= 25
    assert len(loaded) < 250


def test_help_of_the_group_lists_all_commands(run):
    shown = run("--help").stdout
    assert all(f"  {name} " in shown and command.help in shown for name, command in COMMANDS.items())
    assert run("-h").stdout == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_where_the_table_says_and_does_what_it_says(name, run):
    if importlib.util.find_spec(COMMANDS[name].target.partition(":")[0]) is None:
        pytest.skip(f"{name} is not there yet")
    command = cli.get_command(click.Context(cli), name)
    assert command.get_short_help_str(limit=100) == COMMANDS[name].help
    short = run(name, "--help").stdout
    shown = run(name, "--help-all").stdout if "--help-all" in short else short
    assert "--quiet" in shown
    assert "--debug" in shown
    assert "--json" in shown
    undocumented = [param.name for param in command.params if isinstance(param, click.Option) and not param.help]
    assert not undocumented


def test_version(run):
    assert run("--version").stdout == f"textbayes {__version__}\n"


def test_a_mistyped_command(run):
    assert "No such command 'trian'; did you mean 'train'?" in run("trian", code=2).stderr
    assert "choose one of demo, train, classify," in run("xyz", code=2).stderr


def test_no_command_and_unknown_options_are_usage_errors(run):
    assert "Usage:" in run(code=2).output
    assert "No such option" in run("words", "model.tb", "--tpo", "3", code=2).stderr
    assert "did you mean 0.9?" in run("words", "model.tb", "--level", "90", code=2).stderr
    said = run("filter", "desk", "new.csv", "-o", "out.csv", code=2).stderr
    assert "No such option '-o'. Write to a file with > FILE, as CSV with --csv > FILE.csv." in " ".join(said.split())


def test_a_value_given_to_a_flag_is_named_as_such(run):
    said = run("words", "model.tb", "--intervals", "0.9", code=2).stderr
    assert "--intervals takes no value; the level is --level 0.9" in said
    assert "takes no value" not in run("words", "model.tb", "--top", "3", "0.9", code=2).stderr


def test_a_misspelt_file_is_answered_with_the_one_beside_it(run, write, documents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(documents)
    (tmp_path / "news.tb").write_text("")
    (tmp_path / "desk").mkdir()
    for command, hint in (
        (("words", "nwes.tb"), "nwes.tb does not exist; did you mean 'news.tb'?"),
        (("train", "text.jsonl", "-o", "m.tb"), "no file or folder text.jsonl; did you mean 'texts.jsonl'?"),
        (("train", "x/text.jsonl", "-o", "m.tb"), "no file or folder x/text.jsonl; check the path"),
        (("filter", "dsk", "texts.jsonl"), "dsk is not the folder of a filter; did you mean 'desk'?"),
        (("filter", "news", "texts.jsonl"), "news is not the folder of a filter; start one: textbayes filter news"),
    ):
        assert hint in " ".join(run(*command, code=1).stderr.split())


def test_errors_are_one_sentence_and_debug_shows_where(run):
    failed = run("words", "nothing.tb", code=1)
    assert failed.stderr.startswith("textbayes: error: nothing.tb does not exist; train a model first")
    assert failed.stderr.count("\n") == 1
    for arguments in (("--debug", "words", "nothing.tb"), ("words", "nothing.tb", "--debug")):
        assert "Traceback" in run(*arguments, code=1).stderr


def test_a_fault_of_ours_is_admitted_without_a_traceback(run, monkeypatch):
    def fail(path):
        raise RuntimeError("a\nfault")

    monkeypatch.setattr("textbayes.store.load_categorizer", fail)
    failed = run("words", "model.tb", code=1)
    assert failed.stderr.startswith("textbayes: internal error (RuntimeError: a fault); please report it")
    assert failed.stderr.count("\n") == 1


def _registry_types():
    for name in ("train", "select", "classify"):
        for param in cli.get_command(click.Context(cli), name).params:
            if isinstance(param.type, RegistryName):
                yield pytest.param(param.type, id=f"{name}-{param.name}")


@pytest.mark.parametrize("kind", list(_registry_types()))
def test_names_in_help_are_those_of_the_registry(kind):
    shown = kind.names() if isinstance(kind, ModelSpec) else registered_names(kind.package)
    assert shown == [name for name in kind.registry().names() if name not in UNTRAINED]
