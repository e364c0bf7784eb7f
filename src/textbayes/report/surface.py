"""From vocabulary words back to the words on the page: which pieces of a text a model read, and as what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from textbayes.report.records import Fragment
from textbayes.text import TextVectorizer
from textbayes.text.packed import pack, unpack
from textbayes.text.stem import stem
from textbayes.text.tokenize import tokenize

_LEVELS = (0.08, 0.2, 0.45, 0.75)  # least share of the text's strongest word for levels 1 to 4
_MARGIN = 1_000  # characters


class Token(NamedTuple):
    """A word on the page, text[begin:end], and the term it is to the model; None for a stop word."""

    begin: int
    end: int
    term: str | None


def find_tokens(text: str, vectorizer: TextVectorizer) -> list[Token]:
    """The tokens of a text with their places, as the fitted vectorizer reads them; none for character n-grams.

    >>> vectorizer = TextVectorizer(stop_words=["the"], stemmer="porter").fit(["the banks rise"])
    >>> find_tokens("The banks", vectorizer)
    [Token(begin=0, end=3, term=None), Token(begin=4, end=9, term='bank')]
    """
    if vectorizer.analyzer != "word":
        return []
    read = text.lower() if vectorizer.lowercase else text
    pattern = re.compile(vectorizer.token_pattern)
    matches = (match.span(pattern.groups) for match in pattern.finditer(read))  # the group where one is captured
    spans = [(begin, end) for begin, end in matches if end > begin]
    terms = _terms([read[begin:end] for begin, end in spans], vectorizer)
    if len(read) != len(text):
        # A few letters become two in lower case (İ): places in what was read are not places in the text.
        origin = list(chain.from_iterable([i] * len(letter.lower()) for i, letter in enumerate(text)))
        spans = [(origin[begin], origin[end - 1] + 1) for begin, end in spans]
    return [Token(begin, end, term) for (begin, end), term in zip(spans, terms, strict=True)]


def token_values(tokens: Sequence[Token], vectorizer: TextVectorizer, values: Mapping[str, float]) -> list[float]:
    """Contribution of each token, given that of one occurrence of each term; the words of an n-gram share equally.

    Parameters
    ----------
    tokens : sequence of Token
    vectorizer : TextVectorizer
        For its n-grams.
    values : term → what one occurrence adds
    """
    kept = [i for i, token in enumerate(tokens) if token.term is not None]
    shares = [0.0] * len(tokens)
    shortest, longest = vectorizer.ngram_range
    for n in range(shortest, longest + 1):
        for first in range(len(kept) - n + 1):
            members = kept[first : first + n]
            value = values.get(" ".join(str(tokens[i].term) for i in members), 0.0)
            for i in members:
                shares[i] += value / n
    return shares


def highlight(text: str, vectorizer: TextVectorizer, values: Mapping[str, float], most: int) -> list[Fragment]:
    """Cut the first ``most`` characters into fragments, words marked by what each adds; the text is not changed.

    Parameters
    ----------
    text : str
    vectorizer : TextVectorizer
        The model's own, fitted.
    values : term → what one occurrence adds to the log-odds
    most : int
    """
    # Read a little further than is shown, so that no word is cut in half; a text of megabytes is not read to its end.
    tokens = find_tokens(text[: most + _MARGIN], vectorizer)
    marked = list(zip(tokens, token_values(tokens, vectorizer, values), strict=True))
    strongest = max((abs(share) for token, share in marked if token.end <= most), default=0.0)
    fragments, done = [], 0
    for token, share in marked:
        level = sum(abs(share) > least * strongest for least in _LEVELS)
        if token.end > most or not level:
            continue
        if token.begin > done:
            fragments.append(Fragment(text[done : token.begin]))
        fragments.append(Fragment(text[token.begin : token.end], share, level if share > 0 else -level))
        done = token.end
    return [*fragments, Fragment(text[done:most])] if done < min(most, len(text)) else fragments


def common_forms(texts: Sequence[str], vectorizer: TextVectorizer) -> dict[str, str]:
    """For each stem its most frequent form in the texts (of equal ones the first in the alphabet).

    >>> vectorizer = TextVectorizer(stemmer="porter").fit(["company companies"])
    >>> common_forms(["companies and a company", "companies"], vectorizer)["compani"]
    'companies'
    """
    if vectorizer.analyzer != "word" or vectorizer.stemmer is None:
        return {}
    tokens = tokenize(list(texts), vectorizer.token_pattern, bool(vectorizer.lowercase))
    names = unpack(tokens.names)
    counts = np.bincount(tokens.ids, minlength=len(names)).tolist()
    forms: dict[str, str] = {}
    for _, name, term in sorted(zip(counts, names, _terms(names, vectorizer), strict=True), key=_by_frequency):
        if term is not None:
            forms.setdefault(term, name)
    return forms


def shown(term: str, forms: Mapping[str, str]) -> str:
    """A term, or each word of an n-gram, in its most frequent form."""
    return " ".join(forms.get(part, part) for part in term.split(" ")) if forms else term


def headline(text: str, most: int) -> str:
    """The beginning of a text on one line, cut at the end of a word.

    >>> headline("Corn  and\\nwheat prices", 12)
    'Corn and …'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"


def _terms(tokens: Iterable[str], vectorizer: TextVectorizer) -> list[str | None]:
    """The term of each token after stop words and stems."""
    words = list(tokens)
    distinct = sorted(set(words) - set(vectorizer.stop_words_))
    stems = distinct if vectorizer.stemmer is None else unpack(stem(pack(distinct), vectorizer.stemmer))
    term_of = dict(zip(distinct, stems, strict=True))
    return [term_of.get(word) for word in words]


def _by_frequency(row: tuple[int, str, str | None]) -> tuple[int, str]:
    return -row[0], row[1]
