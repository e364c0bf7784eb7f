"""Options on labels: one each or many, texts without one, spellings that are the same, words that mean none."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import click
import cloup

Unlabelled = Literal["skip", "keep"]


@dataclass(frozen=True)
class Labelling:
    """Options on labels; the defaults leave them to the documents."""

    multi_label: bool | None = None
    unlabelled: Unlabelled | None = None
    merge_case: bool = False
    missing: frozenset[str] = frozenset()  # in small letters
    min_texts: int = 1


_OPTIONS = {
    "multi_label": click.option(
        "--multi-label/--single-label",
        "multi_label",
        default=None,
        help="Whether a document has any number of labels, or exactly one; as the documents say if not given.",
    ),
    "unlabelled": click.option(
        "--unlabelled",
        type=click.Choice(["skip", "keep"]),
        help="Texts without a label: leave them out, or keep them as texts of none of the labels (multi-label).",
    ),
    "merge_case": click.option(
        "--merge-case", is_flag=True, help="Labels that differ by letter case only are one, spelt as most texts do."
    ),
    "missing": click.option(
        "--missing-label", "missing", multiple=True, metavar="TEXT", help="A label that means there is none: N/A, …"
    ),
    "min_texts": click.option(
        "--min-texts",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Leave out labels that fewer texts have.",
    ),
}


def label_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options on labels, all of them or those named; the command is given them as ``labelling``."""
    chosen = names or tuple(_OPTIONS)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:
            told = {name: given.pop(name) for name in chosen}
            if told.get("multi_label") is False and told.get("unlabelled") == "keep":
                raise click.UsageError(
                    "--single-label and --unlabelled keep contradict each other: a text without a label has none of "
                    "them, so that labels are many (--multi-label). Leave one out, or take --unlabelled skip."
                )
            if "missing" in told:
                told["missing"] = frozenset(text.strip().casefold() for text in told["missing"])
            return function(*args, labelling=Labelling(**told), **given)

        return cloup.option_group("Labels", *(_OPTIONS[name] for name in chosen))(command)

    return decorate
