"""Options that say how a filter learns, decides and asks; what is not given stays as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click
import cloup

from textbayes.cli.options import COUNT, SEED
from textbayes.cli.parameters import Checked, LinkSpec, NameOption, imported
from textbayes.cli.sources import signature_defaults
from textbayes.cli.text_options import stemmer_option, stop_words_option

# The help says the defaults of the settings (tested).
_SETTING = signature_defaults("textbayes.stream.settings:FilterSettings")
_TEXT = ("stemmer", "stop_words")


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options below; the command is given those that were used as ``changes``, those of words as ``text``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        changes = {name: given.pop(name) for name in _SETTING if name in given}
        text = {name: given.pop(name) for name in _TEXT}
        return function(
            *args,
            changes={name: value for name, value in changes.items() if value is not None},
            text={name: None if value == "none" else value for name, value in text.items() if value is not None},
            **given,
        )

    command = cloup.option_group("Words", stemmer_option, stop_words_option)(command)
    command = cloup.option_group("How it learns", *_LEARNING)(command)
    return cloup.option_group("How it decides and asks", *_DECIDING)(command)


_DECIDING = [
    click.option(
        "--threshold",
        type=float,
        help=f"Deliver as relevant what is more probable than this; {_SETTING['threshold']:g}, or as in the last run.",
    ),
    click.option(
        "--ask",
        type=Checked(imported("textbayes.stream:make_ask")),
        metavar="SCHEDULE",
        help="Bits a document must be expected to teach to be asked about: paper (the default), which asks less the "
        "more is delivered, paper:target=50,width=10, constant:bits=0.1, or never.",
    ),
    click.option(
        "--explore",
        type=Checked(imported("textbayes.stream:make_explore")),
        metavar="SCHEDULE",
        help="Chance of a delivery at random: never (the default), constant:rate=0.001, or "
        "paper:documents=293856,target=50.",
    ),
    click.option(
        "--budget",
        type=Checked(imported("textbayes.stream:make_budget")),
        metavar="N/TIME",
        help="Most questions, asked or random, over all topics: 20/day, or 5/1000 for every 1000 documents.",
    ),
    click.option(
        "--patience",
        type=click.IntRange(min=0),
        metavar="N",
        help="A topic that has delivered nothing asks after about N documents, later after 2N, 3N and so on; "
        f"{_SETTING['patience']}, and 0 for never.",
    ),
    click.option(
        "--gain",
        type=click.Choice(["paper", "gaussian", "exact", "region"]),
        help=f"How information is measured; {_SETTING['gain']}. region: of the topic's relevant documents, so that odd "
        "documents are not asked about.",
    ),
    click.option("--seed", "random_state", type=SEED, help=f"Of the random deliveries; {_SETTING['random_state']}."),
    click.option(
        "--keep",
        type=click.Choice(["all", "delivered"]),
        help=f"Documents whose words the log keeps, for --replay; {_SETTING['keep']}.",
    ),
    click.option(
        "--snippet",
        type=click.IntRange(min=0),
        metavar="N",
        help="Characters of a delivered text that the log keeps, to be shown when it is judged; "
        f"{_SETTING['snippet']}, and 0 for none.",
    ),
]
_LEARNING = [
    click.option(
        "--rehearse/--no-rehearse",
        default=None,
        help="With every irrelevant document, learn a past relevant one again; yes if not given.",
    ),
    click.option(
        "--rehearsal",
        type=Checked(imported("textbayes.stream:make_rehearsal")),
        metavar="RULE",
        help="Which one: turn (the default), or recent:half_life=20, which favours recent ones, for topics that drift.",
    ),
    click.option(
        "--retention",
        type=click.FloatRange(min=0.0, min_open=True, max=1.0),
        help="Factor by which a topic's weights shrink towards their prior before each judgement, for topics that "
        f"drift; {_SETTING['retention']:g} forgets nothing.",
    ),
    click.option(
        "--word-threshold", type=float, help=f"Least −2 ln λ of a topic's words; {_SETTING['word_threshold']:g}."
    ),
    click.option(
        "--least-words",
        type=click.IntRange(min=0),
        help="Words that a topic has even where fewer pass the threshold, the best there are; "
        f"{_SETTING['least_words']}.",
    ),
    click.option(
        "--words", "start_words", type=COUNT, help=f"Words per topic at the start; {_SETTING['start_words']}."
    ),
    click.option("--most-words", type=COUNT, help=f"Words per topic later; {_SETTING['most_words']}."),
    click.option("--passes", type=COUNT, help=f"Passes over the labelled documents; {_SETTING['passes']}."),
    click.option(
        "--covariance",
        type=click.Choice(["full", "low_rank", "diagonal", "gp"]),
        help=f"Correlations of weights that are kept; {_SETTING['covariance']}. gp: a Gaussian process over documents.",
    ),
    click.option(
        "--kernel",
        type=click.Choice(["linear", "quadratic", "rbf"]),
        help=f"Of the Gaussian process; {_SETTING['kernel']}.",
    ),
    click.option("--basis", type=COUNT, help=f"Most documents the Gaussian process keeps; {_SETTING['basis']}."),
    click.option("--link", cls=NameOption, type=LinkSpec(), help=f"Link; {_SETTING['link']}."),
    click.option(
        "--noise",
        type=click.FloatRange(min=0.0),
        help=f"Scale on which the link sees x'w; {_SETTING['noise']:g}, a threshold.",
    ),
]
