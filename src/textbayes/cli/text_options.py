"""Options that say what a word is and what it weighs, for the commands that read words off texts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.parameters import Checked, DocumentFrequency, NgramRange

if TYPE_CHECKING:
    from textbayes.text import TermWeighting, TextVectorizer

_VECTORIZER = ("token_pattern", "stemmer", "stop_words", "ngram_range", "min_df", "max_df")


@dataclass(frozen=True)
class TextChoices:
    """Options on words; those left out are as in ``TextCategorizer()``."""

    changes: tuple[tuple[str, Any], ...]
    weighting: str | None

    def vectorizer(self) -> TextVectorizer:
        from textbayes.categorizer.presets import default_vectorizer

        vectorizer: TextVectorizer = default_vectorizer().set_params(**dict(self.changes))
        return vectorizer

    def term_weighting(self) -> TermWeighting:
        from textbayes.categorizer.presets import default_weighting
        from textbayes.text import TermWeighting

        return default_weighting() if self.weighting is None else TermWeighting(self.weighting)

    def check_can_be_kept(self) -> None:
        """Refuse, before any text is read, a token pattern that no model file may carry."""
        pattern = dict(self.changes).get("token_pattern")
        if pattern is not None:
            from textbayes.text.linear_pattern import check_can_be_kept

            check_can_be_kept(pattern)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--stemmer``, ``--stop-words`` and so on; the command is given them as ``text``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        chosen = {name: given.pop(name) for name in _VECTORIZER}
        changes = {name: value for name, value in chosen.items() if value is not None}
        changes |= {name: None for name in ("stemmer", "stop_words") if changes.get(name) == "none"}
        return function(*args, text=TextChoices(tuple(changes.items()), given.pop("weighting")), **given)

    return cloup.option_group("Words", *_OPTIONS)(command)


def check_token_pattern_option(pattern: str) -> None:
    from textbayes.text.tokenize import parse_pattern

    parse_pattern(pattern)


def check_stemmer_option(name: str) -> None:
    from textbayes.text.stem import check_stemmer

    check_stemmer(None if name == "none" else name)


def check_stop_words_option(name: str) -> None:
    from textbayes.text import load_stop_words

    load_stop_words(None if name == "none" else name)


stemmer_option = click.option(
    "--stemmer",
    type=Checked(check_stemmer_option),
    metavar="NAME|none",
    help="porter (the default), or a Snowball language such as german.",
)
stop_words_option = click.option(
    "--stop-words",
    type=Checked(check_stop_words_option),
    metavar="english|smart|none|FILE",
    help="Words to leave out; english if not given.",
)
_OPTIONS = [
    click.option(
        "--token-pattern",
        type=Checked(check_token_pattern_option),
        metavar="REGEX",
        help=r"What a word is, such as \w+ or [a-z]{3,}; runs of two letters or more if not given.",
    ),
    stemmer_option,
    stop_words_option,
    click.option("--ngrams", "ngram_range", type=NgramRange(), help="Words (1), pairs (2) or both (1-2)."),
    click.option("--min-df", type=DocumentFrequency(), help="Leave out words in fewer documents; 2 if not given."),
    click.option("--max-df", type=DocumentFrequency(), help="Leave out words in more documents."),
    click.option(
        "--weighting",
        type=click.Choice(["raw", "binary", "log", "ltc", "tfidf", "tfidf1"]),
        help="Weight of a word in a document, before the cosine norm; tfidf1 if not given.",
    ),
]
