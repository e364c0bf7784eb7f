"""Options that are given twice: joined where several make sense, else refused where the values differ."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import click
import pytest

from textbayes import load_model
from textbayes.cli.main import COMMANDS, cli


def single_options(command, words):
    """Words that lead to each option of one value, by the command and those below it."""
    for param in command.params:
        if isinstance(param, click.Option) and not param.multiple and not param.is_flag and not param.count:
            yield [*words, max(param.opts, key=len)]
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from single_options(below, [*words, name])


@pytest.mark.parametrize("name", COMMANDS)
def test_two_values_of_one_option_are_refused(run, name):
    for words in single_options(cli.get_command(click.Context(cli), name), [name]):
        done = run(*words, "first", words[-1], "second", code=2)
        assert f"{words[-1]} was given twice, with 'first' and 'second'; give it once." in done.stderr


def test_the_same_value_twice_is_one(run, write, documents, tmp_path):
    run("train", write(documents), "--seed", "3", "--seed", "3", "-o", tmp_path / "m.tb", "--output", tmp_path / "m.tb")


@pytest.mark.parametrize(("first", "second"), [("--multi-label", "--single-label"), ("--in-memory", "--out-of-core")])
def test_both_sides_of_a_switch_are_refused(run, write, documents, tmp_path, first, second):
    done = run("train", write(documents), first, second, "-o", tmp_path / "m.tb", code=2)
    assert f"{first} and {second} were both given" in done.stderr


@pytest.fixture
def two_fields(tmp_path) -> Path:
    """Texts with a topic and a region each; one lacks its region, and one both."""
    path = tmp_path / "two.csv"
    rows = [("wheat and corn", "grain", "north"), ("bank rates", "money", "south"), ("corn rain", "grain", "south")]
    rows += [("bank loans", "money", "north"), ("wheat farm", "grain", "")]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "topic", "region"), *(rows * 3)])
    return path


def test_several_label_fields_are_joined(run, two_fields, tmp_path):
    fields = ("--label-field", "topic", "--label-field", "region")
    run("train", two_fields, *fields, "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    assert dict(zip(model.classes_, model.label_counts_, strict=True)) == {
        "grain": 9, "money": 6, "north": 6, "south": 6
    }  # fmt: skip


def test_a_readers_option_has_one_value(run, two_fields, tmp_path):
    twice = ("--reader-option", "delimiter=;", "--reader-option", "delimiter=,")
    done = run("train", two_fields, *twice, "-o", tmp_path / "m.tb", code=2)
    assert "'delimiter' was given twice, with ';' and ','" in done.stderr
    done = run("train", two_fields, "--text-field", "text", "--reader-option", "text_field=topic", "-o", "m.tb", code=2)
    assert "'text_field' was given twice" in done.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--class-weight", "grain=2,grain=3"),
        ("--link", "student_t:df=3,df=4"),
        ("--rule", "fixed:threshold=0.1,threshold=0.2"),
    ],
)
def test_a_parameter_has_one_value(run, write, documents, tmp_path, option, value):
    done = run("train", write(documents), option, value, "-o", tmp_path / "m.tb", code=2)
    assert "give it on" in done.stderr


def test_a_schedule_has_each_setting_once(run, write, documents, tmp_path):
    done = run("filter", tmp_path / "desk", "--train", write(documents), "--ask", "paper:target=1,target=2", code=2)
    assert "target is given twice" in done.stderr


def test_descriptions_of_one_label_are_joined(run):
    done = run("prior", "--describe", "ship=ports", "--describe", "ship=cargo", "--json")
    assert [json.loads(line)["word"] for line in done.stdout.splitlines()] == ["ports cargo"]


def test_a_database_named_before_the_command_is_the_one(run, tmp_path):
    first, second = (f"sqlite:///{tmp_path / name}" for name in ("first.db", "second.db"))
    done = run("app", "--database", first, "user", "anna", "--password-stdin", stdin="correct horse battery\n")
    assert (tmp_path / "first.db").exists()
    done = run("app", "--database", first, "backup", tmp_path / "copy.db", "--database", second, code=2)
    assert "--database was given twice" in done.stderr
