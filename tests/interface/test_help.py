"""Help of the commands: short and whole, options in groups, defaults that are the library's, 80 columns."""

from __future__ import annotations

import importlib
import inspect
import re

import click
import pytest

from textbayes.cli.main import COMMANDS, GROUPS, cli, full_help
from textbayes.cli.options import signature_defaults

LONG = [
    "train",
    "classify",
    "evaluate",
    "filter",
    "words",
    "report",
    "compare",
    "explain",
    "clusters",
    "keyness",
    "update",
]


def groups(shown: str) -> dict[str, list[str]]:
    """The sections of a help text and the long names of the options in each."""
    found: dict[str, list[str]] = {}
    for line in shown.splitlines():
        if re.fullmatch(r"\w.*:", line):
            found[line[:-1]] = []
        elif found and (option := re.match(r"  (?:-\w, )?(--[\w-]+)", line)):
            found[list(found)[-1]].append(option[1])
    return found


def options(name: str) -> dict[str, click.Option]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return {param.name or "": param for param in command.params if isinstance(param, click.Option)}


def every_command():
    """Every command and those below it, with their contexts."""

    def below(command, context):
        yield pytest.param(command, context, id=context.command_path)
        for name, member in getattr(command, "commands", {}).items():
            yield from below(member, member.context_class(member, parent=context, info_name=name))

    root = click.Context(cli, info_name="textbayes", help_option_names=["-h", "--help"])
    for name in COMMANDS:
        command = cli.get_command(root, name)
        yield from below(command, command.context_class(command, parent=root, info_name=name))


def test_train_shows_the_ten_options_that_people_use_and_five_examples(run):
    shown = run("train", "--help").stdout
    found = groups(shown)
    assert list(found) == ["Examples", "Most used options", "More"]
    assert len(found["Most used options"]) == 10
    assert {"--output", "--cv-only", "--report", "--text-field", "--label-field", "--rule"} <= set(
        found["Most used options"]
    )
    assert len(re.findall("^  textbayes train ", shown, re.MULTILINE)) == 5
    assert f"Show all {len(options('train')) - 1} options" in shown


def test_the_whole_help_of_train_begins_with_them(run):
    found = groups(run("train", "--help-all").stdout)
    assert len(found["Most used"]) == 10
    assert {"Labels", "Model", "Words", "Input", "Output", "Sampling, with --inference gibbs"} < set(found)


def test_commands_are_grouped_by_what_they_are_for(run):
    found = re.split(r"^(\w.*):$", run("--help").stdout, flags=re.MULTILINE)
    titles = found[1::2]
    assert titles == ["Options", *GROUPS]
    listed = {
        title: re.findall(r"^  (\w+) ", text, re.MULTILINE) for title, text in zip(titles, found[2::2], strict=True)
    }
    assert {title: list(commands) for title, commands in GROUPS.items()} == {title: listed[title] for title in GROUPS}
    assert len(COMMANDS) == sum(map(len, GROUPS.values()))


@pytest.mark.parametrize(("command", "context"), list(every_command()))
def test_help_fits_80_columns_with_whole_words(command, context):
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    for shown in (command.get_help(context), full_help(command, context)):
        for line in shown.splitlines():
            assert len(line) <= 80, line
            assert not re.search(r"\w-$", line), f"a broken word: {line}"
    if sum(isinstance(param, click.Option) for param in command.params) > 16:  # with --help-all itself
        assert "--help-all" in known


@pytest.mark.parametrize("name", LONG)
def test_every_option_of_a_long_command_is_in_one_named_group(name, run):
    found = groups(run(name, "--help-all").stdout)
    assert set(found.pop("Other options")) <= {"--quiet", "--debug", "--help", "--help-all"}
    listed = [option for names in found.values() for option in names]
    assert len(listed) == len(set(listed))
    assert len(listed) == len(options(name)) - 3  # but for --quiet, --debug and --help-all
    assert all(len(names) <= 13 for names in found.values()), "a longer list is not read"


def test_completion_knows_options_that_the_short_help_leaves_out():
    from click.shell_completion import ShellComplete

    shell = ShellComplete(cli, {}, "textbayes", "_TEXTBAYES_COMPLETE")
    assert {"--sheet", "--help-all", "--stemmer"} <= {
        item.value for item in shell.get_completions(["train", "texts.csv"], "--")
    }
    assert "classify" in {item.value for item in shell.get_completions([], "cl")}


@pytest.mark.parametrize(
    ("name", "target", "parameters"),
    [
        ("train", "textbayes.categorizer.estimator:TextCategorizer", "rule refit_by prior_weight cv random_state"),
        ("clusters", "textbayes.models.clusters.estimator:SoftClusters", "n_clusters n_init"),
        ("keyness", "textbayes.lexical.keyness:keyness", "model method level fdr_method"),
        ("compare", "textbayes.evaluate.compare:compare", "n_resamples"),
        ("link", "textbayes.tune.links:link_report", "cv random_state"),
    ],
)
def test_defaults_are_those_of_the_library(name, target, parameters):
    module, _, item = target.partition(":")
    known = inspect.signature(getattr(importlib.import_module(module), item)).parameters
    given = options(name)
    for parameter in parameters.split():
        assert given[parameter].default == known[parameter].default, parameter


@pytest.mark.parametrize(
    "target", ["textbayes.inference.gibbs.sampler:Gibbs", "textbayes.stream.settings:FilterSettings"]
)
def test_defaults_read_off_the_source_are_those_of_the_signature(target):
    module, _, item = target.partition(":")
    known = inspect.signature(getattr(importlib.import_module(module), item)).parameters
    read = signature_defaults(target)
    assert len(read) > 10
    assert dict(read) == {name: known[name].default for name in read}


def test_an_option_means_the_same_in_every_command():
    """Where two commands have an option of the same spelling and type, their parameter has the same name."""
    shared = ("--label", "--top", "--jobs", "--strict", "--fdr", "--fdr-method", "--stemmer", "--stop-words", "--level")
    for spelling in shared:
        kinds = set()
        for name in COMMANDS:
            command = cli.get_command(click.Context(cli), name)
            members = [command, *getattr(command, "commands", {}).values()]
            kinds |= {
                (param.name, param.multiple, repr(param.type), param.metavar)
                for member in members
                for param in member.params
                # one label of one corpus; −1 for all cores; 0 for no words
                if spelling in param.opts and name not in ("datasets", "demo", "update")
            }
        assert len(kinds) == 1, (spelling, kinds)


def test_help_all_on_every_command(run):
    def paths(command, path):
        yield path
        for name, member in getattr(command, "commands", {}).items():
            yield from paths(member, (*path, name))

    for name in COMMANDS:
        for path in paths(cli.get_command(click.Context(cli), name), (name,)):
            assert run(*path, "--help-all").stdout.startswith("Usage: ")
    assert run("show", "--help-all").stdout == run("show", "--help").stdout
    assert run("--help-all").stdout == run("--help").stdout
