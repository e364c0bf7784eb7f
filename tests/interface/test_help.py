"""Help of the commands: options in groups, the most used ones first, defaults that are the library's."""

from __future__ import annotations

import importlib
import inspect
import re

import click
import pytest

from textbayes.cli.main import COMMANDS, cli
from textbayes.cli.sources import signature_defaults

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


def test_train_begins_with_the_ten_options_that_people_use(run):
    found = groups(run("train", "--help").stdout)
    title, used = next(iter(found.items()))
    assert title == "Most used"
    assert len(used) == 10
    assert {"--output", "--cv-only", "--report", "--text-field", "--label-field", "--rule"} <= set(used)
    assert {"Labels", "Model", "Words", "Input", "Output", "Sampling, with --inference gibbs"} < set(found)


@pytest.mark.parametrize("name", LONG)
def test_every_option_of_a_long_command_is_in_one_named_group(name, run):
    found = groups(run(name, "--help").stdout)
    assert set(found.pop("Other options")) <= {"--quiet", "--debug", "--help"}
    listed = [option for names in found.values() for option in names]
    assert len(listed) == len(set(listed))
    assert len(listed) == len(options(name)) - 2  # but for --quiet and --debug
    assert all(len(names) <= 13 for names in found.values()), "a longer list is not read"


@pytest.mark.parametrize(
    ("name", "target", "parameters"),
    [
        ("train", "textbayes.categorizer.estimator:TextCategorizer", "rule refit_by prior_weight cv random_state"),
        ("clusters", "textbayes.models.clusters.estimator:SoftClusters", "n_clusters n_init"),
        ("keyness", "textbayes.lexical.keyness:keyness", "model method level fdr_method"),
        ("compare", "textbayes.evaluate.compare:compare", "n_resamples"),
        ("link", "textbayes.tune.link_comparison:link_report", "cv random_state"),
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
