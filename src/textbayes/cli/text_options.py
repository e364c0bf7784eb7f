"""Options that say what a word is and what it weighs, for the commands that read words off texts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.parameters import Checked, DocumentFrequency, NgramRange, imported

if TYPE_CHECKING:
    from textbayes.text import TermWeighting, TextVectorizer

_VECTORIZER = ("analyzer", "token_pattern", "stemmer", "stop_words", "ngram_range", "min_df", "max_df")


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
        if chosen["analyzer"] in ("char", "char_wb"):  # the defaults are for words
            changes = {"stemmer": None, "stop_words": None, **changes}
        return function(*args, text=TextChoices(tuple(changes.items()), given.pop("weighting")), **given)

    return cloup.option_group("Words", *_OPTIONS)(command)


stemmer_option = click.option(
    "--stemmer",
    type=Checked(imported("textbayes.text.languages:check_stemmer", none="none")),
    metavar="NAME|none",
    help="porter (the default), or a Snowball language such as german or de.",
)
stop_words_option = click.option(
    "--stop-words",
    type=Checked(imported("textbayes.text:load_stop_words", none="none")),
    metavar="LANGUAGE|smart|none|FILE",
    help="Words to leave out: a language such as german or de; english if not given.",
)
_OPTIONS = [
    click.option(
        "--analyzer",
        type=click.Choice(["word", "mixed", "char", "char_wb"]),
        help="Read words; words, and characters of scripts without spaces such as Chinese or Thai (mixed); characters; "
        "or characters inside words.",
    ),
    click.option(
        "--token-pattern",
        type=Checked(imported("textbayes.text.tokenize:parse_pattern")),
        metavar="words|all|tweets|REGEX",
        help=r"What a word is: two letters or more (words, if not given); also digits, !, ? and emoji (all); also "
        r"#tags, @names and don't (tweets); or a pattern such as \w+ or [a-z]{3,}.",
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
