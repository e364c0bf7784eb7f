"""Options that say how a filter learns, decides and asks; what is not given stays as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from textbayes.cli.parameters import Checked, LinkSpec, NameOption
from textbayes.cli.text_options import check_stemmer_option, check_stop_words_option

# Settings of the same names in textbayes.stream.FilterSettings; the help says their defaults (tested).
SETTINGS = (
    "threshold",
    "ask",
    "explore",
    "budget",
    "patience",
    "rehearse",
    "word_threshold",
    "least_words",
    "start_words",
    "most_words",
    "passes",
    "covariance",
    "kernel",
    "basis",
    "link",
    "noise",
    "gain",
    "random_state",
    "keep",
    "snippet",
)
_TEXT = ("stemmer", "stop_words")


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options below; the command is given those that were used as ``changes``, those of words as ``text``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        changes = {name: given.pop(name) for name in SETTINGS}
        text = {name: given.pop(name) for name in _TEXT}
        return function(
            *args,
            changes={name: value for name, value in changes.items() if value is not None},
            text={name: None if value == "none" else value for name, value in text.items() if value is not None},
            **given,
        )

    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def _check_ask(text: str) -> None:
    from textbayes.stream import make_ask

    make_ask(text)


def _check_explore(text: str) -> None:
    from textbayes.stream import make_explore

    make_explore(text)


def _check_budget(text: str) -> None:
    from textbayes.stream import make_budget

    make_budget(text)


_OPTIONS = [
    click.option("--threshold", type=float, help="Deliver as relevant what is more probable than this; 0.5."),
    click.option(
        "--ask",
        type=Checked(_check_ask),
        metavar="SCHEDULE",
        help="Bits a document must be expected to teach to be asked about: paper (the default), which asks less the "
        "more is delivered, paper:target=50,width=10, constant:bits=0.1, or never.",
    ),
    click.option(
        "--explore",
        type=Checked(_check_explore),
        metavar="SCHEDULE",
        help="Chance of a delivery at random: never (the default), constant:rate=0.001, or "
        "paper:documents=293856,target=50.",
    ),
    click.option(
        "--budget",
        type=Checked(_check_budget),
        metavar="N/TIME",
        help="Most questions, asked or random, over all topics: 20/day, or 5/1000 for every 1000 documents.",
    ),
    click.option(
        "--patience",
        type=click.IntRange(min=0),
        metavar="N",
        help="A topic that has delivered nothing asks after about N documents, later after 2N, 3N and so on; 50, and 0 "
        "for never.",
    ),
    click.option(
        "--rehearse/--no-rehearse",
        default=None,
        help="With every irrelevant document, learn a past relevant one again; yes if not given.",
    ),
    click.option("--word-threshold", type=float, help="Least −2 ln λ of a topic's words; 12.13."),
    click.option(
        "--least-words",
        type=click.IntRange(min=0),
        help="Words that a topic has even where fewer pass the threshold, the best there are; 10.",
    ),
    click.option("--words", "start_words", type=click.IntRange(min=1), help="Words per topic at the start; 300."),
    click.option("--most-words", type=click.IntRange(min=1), help="Words per topic later; 1000."),
    click.option("--passes", type=click.IntRange(min=1), help="Passes over the labelled documents; 3."),
    click.option(
        "--covariance",
        type=click.Choice(["full", "low_rank", "diagonal", "gp"]),
        help="Correlations of weights that are kept; full. gp: a Gaussian process over documents.",
    ),
    click.option(
        "--kernel",
        type=click.Choice(["linear", "quadratic", "rbf"]),
        help="Of the Gaussian process; linear.",
    ),
    click.option("--basis", type=click.IntRange(min=1), help="Most documents the Gaussian process keeps; 300."),
    click.option("--link", cls=NameOption, type=LinkSpec(), help="Link; flip:rate=0.1,base=probit."),
    click.option("--noise", type=click.FloatRange(min=0.0), help="Scale on which the link sees x'w; 0, a threshold."),
    click.option(
        "--gain",
        type=click.Choice(["paper", "gaussian", "exact"]),
        help="How information is measured; paper.",
    ),
    click.option("--seed", "random_state", type=click.IntRange(min=0), help="Of the random deliveries; 0."),
    click.option(
        "--keep",
        type=click.Choice(["all", "delivered"]),
        help="Documents whose words the log keeps, for --replay; all.",
    ),
    click.option(
        "--snippet",
        type=click.IntRange(min=0),
        metavar="N",
        help="Characters of a delivered text that the log keeps, to be shown when it is judged; 200, and 0 for none.",
    ),
    click.option(
        "--stemmer",
        type=Checked(check_stemmer_option),
        metavar="NAME|none",
        help="porter (the default), or a Snowball language such as german.",
    ),
    click.option(
        "--stop-words",
        type=Checked(check_stop_words_option),
        metavar="english|smart|none|FILE",
        help="Words to leave out; english if not given.",
    ),
]
