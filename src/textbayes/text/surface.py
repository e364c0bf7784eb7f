"""From columns of a model back to words on the page: which pieces of a text are read, as what, in which form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.codec import ABSENT, Arrays, Field, Sizes
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.text.batches import head
from textbayes.text.languages import stem
from textbayes.text.packed import Strings, pack, unpack
from textbayes.text.sentences import MEANING, WordlessVectorizer
from textbayes.text.tokenize import PATTERN_NAMES, Script, blank, find_unspaced, token_expression, tokenize
from textbayes.text.tokens import TokenVectorizer
from textbayes.text.vectorize import TextVectorizer
from textbayes.text.views import TextViews

Forms = Mapping[str, str]
_TEXTS_FOR_FORMS = 20_000  # enough to know the commonest form of a stem


class PageWord(NamedTuple):
    """A word on the page, text[begin:end], and the term it is to the model; None for a stop word.

    Where words are not spaced, it is one character of that script.
    """

    begin: int
    end: int
    term: str | None
    script: Script | None = None


class Reading(NamedTuple):
    """One of the ways in which a model reads texts: a vectorizer, its first column, and what it reads of a text.

    ``prefix`` stands before its words in the names of columns; ``factor`` is what it counts for beside others.
    """

    vectorizer: Any
    start: int = 0
    prefix: str = ""
    part: str = "text"
    factor: float = 1.0

    @property
    def has_words(self) -> bool:
        """Whether its terms are words that can be found in a text, and not hashes or runs of characters."""
        return isinstance(self.vectorizer, TextVectorizer) and self.vectorizer.analyzer in ("word", "mixed")

    def names(self, columns: IntArray) -> list[str]:
        """The terms of some of its columns."""
        if isinstance(self.vectorizer, TextVectorizer):
            return self.vectorizer.terms_of(columns - self.start)
        return [str(name) for name in self.vectorizer.get_feature_names_out()[columns - self.start]]

    @property
    def is_vector(self) -> bool:
        """Whether its columns are no words: numbers of one vector, or places in a text."""
        return isinstance(self.vectorizer, WordlessVectorizer)

    @property
    def stemmer(self) -> str | None:
        return self.vectorizer.stemmer if self.has_words else None


def readings(vectorizer: Any) -> list[Reading]:
    """The ways in which a fitted vectorizer, or several of them side by side, read a text."""
    if not isinstance(vectorizer, TextViews):
        return [Reading(vectorizer)]
    return [
        Reading(one, int(start), f"{view.name}:" if number else "", view.part, view.factor)
        for number, (one, view, start) in enumerate(
            zip(vectorizer.vectorizers_, vectorizer.views, vectorizer.bounds_[:-1], strict=True)
        )
    ]


def word_columns(vectorizer: Any, n_features: int) -> BoolArray:
    """Mask of the columns of a fitted vectorizer that stand for words, (n_features,): numbers and places do not."""
    read = readings(vectorizer)
    widths = np.diff([*(one.start for one in read), n_features])
    return np.repeat([not one.is_vector for one in read], widths)


def token_columns(vectorizer: Any, n_features: int) -> BoolArray:
    """Mask of the columns of a fitted vectorizer that are places of tokens, which an encoder reads, (n_features,)."""
    read = readings(vectorizer)
    widths = np.diff([*(one.start for one in read), n_features])
    return np.repeat([isinstance(one.vectorizer, TokenVectorizer) for one in read], widths)


def find_tokens(text: str, vectorizer: Any) -> list[PageWord]:
    """The tokens of a text with their places, as the fitted vectorizer reads them; none where it reads no words.

    >>> vectorizer = TextVectorizer(stop_words=["the"], stemmer="porter").fit(["the banks rise"])
    >>> find_tokens("The banks", vectorizer)
    [PageWord(begin=0, end=3, term=None, script=None), PageWord(begin=4, end=9, term='bank', script=None)]
    """
    if vectorizer.analyzer in ("char", "char_wb"):
        return []
    read = text.lower() if vectorizer.lowercase else text
    if vectorizer.token_pattern in PATTERN_NAMES:
        read = read.replace("’", "'")
    mixed = vectorizer.analyzer == "mixed"
    spaced = blank(read) if mixed else read
    pattern = re.compile(token_expression(vectorizer.token_pattern))
    matches = (match.span(pattern.groups) for match in pattern.finditer(spaced))  # the group where one is captured
    spans = [(begin, end) for begin, end in matches if end > begin]
    terms = _terms([read[begin:end] for begin, end in spans], vectorizer)
    scripts: list[Script | None] = [None] * len(spans)
    for i, script in find_unspaced(read) if mixed else ():
        spans.append((i, i + 1))
        terms.append(read[i])
        scripts.append(script)
    if len(read) != len(text):
        # A few letters become two in lower case (İ): places in what was read are not places in the text.
        origin = list(chain.from_iterable([i] * len(letter.lower()) for i, letter in enumerate(text)))
        spans = [(origin[begin], origin[end - 1] + 1) for begin, end in spans]
    return sorted(PageWord(*span, term, script) for span, term, script in zip(spans, terms, scripts, strict=True))


def common_forms(texts: Sequence[str], vectorizer: Any) -> dict[str, str]:
    """For each stem its most frequent form in the texts (of equal ones the first in the alphabet).

    Parameters
    ----------
    texts : sequence of str
    vectorizer : TextVectorizer, HashingTextVectorizer or TextViews
        Of several views the forms are those of the whole texts; a headline's are among them.

    Examples
    --------
    >>> vectorizer = TextVectorizer(stemmer="porter").fit(["company companies"])
    >>> common_forms(["companies and a company", "companies"], vectorizer)["compani"]
    'companies'
    """
    forms: dict[str, str] = {}
    stemming = {one.vectorizer.stemmer: one.vectorizer for one in readings(vectorizer) if one.stemmer is not None}
    for one in stemming.values():
        tokens = tokenize(list(texts), one.token_pattern, bool(one.lowercase))
        names = unpack(tokens.names)
        counts = np.bincount(tokens.ids, minlength=len(names)).tolist()
        for _, name, term in sorted(zip(counts, names, _terms(names, one), strict=True), key=_by_frequency):
            if term is not None:
                forms.setdefault(term, name)
    return forms


def surface_forms(texts: Sequence[str], vectorizer: Any) -> dict[str, str]:
    """For each stem of a fitted vectorizer the whole word that it is shown as, unless that is the stem itself.

    Parameters
    ----------
    texts : sequence of str
        The training texts; the first 20,000 tell.
    vectorizer : TextVectorizer, HashingTextVectorizer or TextViews
    """
    stemmed = [
        one.vectorizer
        for one in readings(vectorizer)
        if one.stemmer is not None and isinstance(one.vectorizer, TextVectorizer)
    ]
    found = common_forms(texts[:_TEXTS_FOR_FORMS], vectorizer) if stemmed else {}
    terms = pack(found)
    known = np.zeros(len(found), dtype=np.bool_)
    for words in stemmed:
        known |= words.fitted()[1].find(terms) >= 0
    kept = zip(found.items(), known.tolist(), strict=True)
    return {term: form for (term, form), is_known in kept if is_known and term != form}


class FormsField(Field):
    """Forms of stems, as two arrays of texts."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping)

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        stems = sorted(value)
        Strings().write(stems, f"{place}.stems", arrays)
        return Strings().write([value[stem] for stem in stems], f"{place}.forms", arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        stems, forms = (Strings().read(saved, f"{place}.{name}", arrays, sizes) for name in ("stems", "forms"))
        if len(stems) != len(forms) or len(set(stems)) < len(stems):
            raise ValueError("stems and forms of words do not belong together")
        return dict(zip(stems, forms, strict=True))


def shown_names(names: Sequence[str], vectorizer: Any, forms: Forms) -> list[str]:
    """Names of columns as people read them: stems as whole words, other views by what they read.

    A stem that is shown as a word that is a column too is marked, "party (stem)".

    Parameters
    ----------
    names : sequence of str
        As ``get_feature_names_out`` has them.
    vectorizer : TextVectorizer, HashingTextVectorizer or TextViews
    forms : stem → its most frequent form
    """
    read = readings(vectorizer)
    plain = read[0].vectorizer.columns_by_term() if isinstance(read[0].vectorizer, TextVectorizer) else {}
    others = {one.prefix: one for one in read[1:]}
    found = []
    for name in names:
        one = next((others[prefix] for prefix in others if name.startswith(prefix)), read[0])
        term = name.removeprefix(one.prefix)
        whole = shown(term, forms) if one.stemmer is not None else term
        if one.part == "head":
            whole += " (first line)"
        elif one.stemmer is not None and one is not read[0] and whole in plain:
            whole += " (stem)"
        elif one is not read[0] and not one.has_words:
            whole += " (characters)"
        found.append(whole)
    return found


def shown(term: str, forms: Forms) -> str:
    """A term, or each word of an n-gram, in its most frequent form."""
    return " ".join(forms.get(part, part) for part in term.split(" ")) if forms else term


class Gathered(NamedTuple):
    """Columns gathered by word: the words in their commonest forms, and the word and the view of each column."""

    forms: list[str]
    word: IntArray
    view: IntArray

    def occurrences(self, counts: FloatArray) -> FloatArray:
        """How often each word occurs, given how often its columns do: as in the view that has most of it."""
        total = np.zeros((len(self.forms), int(self.view.max(initial=0)) + 1))
        np.add.at(total, (self.word, self.view), counts)
        return np.asarray(total.max(axis=1))


def gather(vectorizer: Any, columns: IntArray, counts: FloatArray, forms: Forms, text: str | None = None) -> Gathered:
    """Columns gathered by the word they stand for: all forms of it, in all views, are one; n-grams likewise.

    Parameters
    ----------
    vectorizer : fitted TextVectorizer, HashingTextVectorizer or TextViews
    columns : array of int
        Columns of the matrix that it makes.
    counts : array of as many numbers
        How often each occurs: of several forms the commonest is shown, and a stem only if there is no form.
    forms : stem → its most frequent form, see :func:`common_forms`
    text : str, optional
        What the columns are of: a token stands for the word of this text that it is a piece of.
    """
    read = readings(vectorizer)
    stemmer = next((one.stemmer for one in read if one.stemmer is not None), None)
    view = np.searchsorted([one.start for one in read], columns, side="right") - 1
    terms, keys = np.empty((2, len(columns)), dtype=object)
    for number, one in enumerate(read):
        places = np.flatnonzero(view == number)
        if len(places):
            own = columns[places]
            if text is not None and isinstance(one.vectorizer, TokenVectorizer):
                names = one.vectorizer.words_at(text, own - one.start)
                terms[places], keys[places] = names, _stemmed(names, stemmer)
            else:
                terms[places], keys[places] = _shown_and_stemmed(one.names(own), one, stemmer, forms)
    number_of: dict[str, int] = {}
    word = np.array([number_of.setdefault(key, len(number_of)) for key in keys.tolist()], dtype=np.int64)
    plain = np.array([one.stemmer is None for one in read])[view]
    best: list[Any] = [None] * len(number_of)
    for rank in zip(word.tolist(), (~plain).tolist(), (-counts).tolist(), terms.tolist(), strict=True):
        best[rank[0]] = rank[1:] if best[rank[0]] is None else min(best[rank[0]], rank[1:])
    return Gathered([found[-1] for found in best], word, view)


def word_keys(words: list[str], vectorizer: Any) -> list[str]:
    """What forms of one word have in common: their stem, where a fitted vectorizer has stems.

    Parameters
    ----------
    words : list of str
        As :func:`gather` gives them.
    vectorizer : fitted TextVectorizer, HashingTextVectorizer or TextViews
    """
    return _stemmed(words, next((one.stemmer for one in readings(vectorizer) if one.stemmer is not None), None))


def part_read(text: str, one: Reading) -> tuple[int, str]:
    """The part of a text that is read, and where it begins."""
    if one.part == "text":
        return 0, text
    return len(text) - len(text.lstrip()), head(text)


def _shown_and_stemmed(
    names: list[str], one: Reading, stemmer: str | None, forms: Forms
) -> tuple[list[str], list[str]]:
    """The form of each term that is shown, and what it has in common with other forms of the same words."""
    if one.is_vector:
        return [MEANING] * len(names), [f"\n{MEANING}"] * len(names)
    if not one.has_words:
        named = [one.prefix + name for name in names]
        return named, [f"\n{name}" for name in named]  # like no word
    found = [shown(name, forms) for name in names] if one.stemmer is not None else names
    return found, names if one.stemmer == stemmer else _stemmed(found, stemmer)


def _stemmed(terms: list[str], stemmer: str | None) -> list[str]:
    """Terms, word by word, as their stems; as they are without a stemmer."""
    if stemmer is None:
        return terms
    distinct = sorted({part for term in terms for part in term.split(" ")})
    stems = dict(zip(distinct, unpack(stem(pack(distinct), stemmer)), strict=True))
    return [shown(term, stems) for term in terms]


def _terms(tokens: Iterable[str], vectorizer: Any) -> list[str | None]:
    """The term of each token after stop words and stems."""
    words = list(tokens)
    distinct = sorted(set(words) - set(vectorizer.stop_words_))
    stems = distinct if vectorizer.stemmer is None else unpack(stem(pack(distinct), vectorizer.stemmer))
    term_of = dict(zip(distinct, stems, strict=True))
    return [term_of.get(word) for word in words]


def _by_frequency(row: tuple[int, str, str | None]) -> tuple[int, str]:
    return -row[0], row[1]
