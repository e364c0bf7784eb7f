"""Texts known again by 64 bits of each, and those that are there twice, or nearly so, by sketches of their words.

Two texts are **identical** if the vectorizer finds the same words and pairs of neighbouring words in them, each as
often: case, punctuation, stop words and endings matter as little as they do to it. Of texts without any word the
characters are compared. Two texts are **nearly identical** if at least nine tenths of the different words and pairs
that either has are in both, and each has 40 of these or more: a word in thirty may differ. Of shorter texts only
identical ones are copies. Where more than ten texts, and more than a twentieth of all, are near one another, they are
a form that is filled in (a letter of approval or refusal), whose few other words may be what matters: none is a copy.

The nine tenths are estimated: words and pairs are dealt into 256 bins by a hash, and the bins compared whose lowest
hashes agree (one-permutation hashing, Li, Owen & Zhang 2012), with a standard error of .02 or less. Sketches do not
depend on other texts, so that they can be made wherever the texts are. A text is a copy of the first that it is close
to and that is none itself; texts do not become copies by way of others that lie between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from textbayes.core.array_fields import Array
from textbayes.core.types import AnyArray, IntArray
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr
from textbayes.text.batches import batches, in_order
from textbayes.text.packed import Packed

if TYPE_CHECKING:
    from textbayes.text.base import BaseTextVectorizer

Fingerprints = npt.NDArray[np.uint64]


def text_fingerprints(texts: Iterable[str], unique: bool = True) -> Fingerprints:
    """Sorted fingerprints of texts, each once: BLAKE2b of the words, so that spaces and line ends do not matter.

    If not ``unique``, there is one for each text, in order.

    By chance one other text in 18 trillion has a fingerprint that is among those of a million texts.

    >>> text_fingerprints(["corn\\nprices", "corn prices ", "rates"]).shape
    (2,)
    """
    return np.unique(_each(texts)) if unique else _each(texts)


def n_known(texts: Iterable[str], fingerprints: Fingerprints) -> int:
    """Number of the texts that are among those that were fingerprinted.

    >>> n_known(["corn prices", "rain", "corn  prices"], text_fingerprints(["corn prices", "rates"]))
    2
    """
    wanted = _each(texts)
    if not fingerprints.size:
        return 0
    place = np.minimum(np.searchsorted(fingerprints, wanted), len(fingerprints) - 1)
    return int((fingerprints[place] == wanted).sum())


def _check_order(fingerprints: Any) -> None:
    if (fingerprints[1:] <= fingerprints[:-1]).any():
        raise ValueError("they are not sorted, or one is there twice")


FINGERPRINTS = Array(np.uint64, (None,), least=0, most=2**64 - 1).where(_check_order)


def _each(texts: Iterable[str]) -> Fingerprints:
    digests = b"".join(
        blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


SIMILAR = 0.9  # of the words and pairs that either text has, in both
LEAST_TERMS = 40  # different words and pairs of a text that may be a near copy
N_BINS = 256
_AT_ONCE = 10_000  # pairs compared
_MOST_NEAR, _MOST_SHARE = 10, 0.05  # texts near one another, beyond both of which they are a form
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Sketches(NamedTuple):
    """What is kept of texts to find copies: a number for all words of each, and the lowest hash of each bin.

    ``words`` (n_texts,) are 64-bit numbers, ``bins`` (n_texts, 256) bytes: 0 where a bin is empty, as all are of a
    text that is too short for near copies.
    """

    words: AnyArray
    bins: AnyArray


class Copies(NamedTuple):
    """The place of the first text that each is a copy of, its own if of none; and how many are copies of others."""

    first: IntArray
    n_identical: int
    n_near: int

    def numbers(self) -> dict[str, int]:
        """The two numbers by name."""
        return {"identical": self.n_identical, "near": self.n_near}


def copies_in_words(numbers: Mapping[str, int] | None, n_texts: int) -> str:
    """How many texts are copies of others, in a sentence; empty where none is, or nobody knows.

    Parameters
    ----------
    numbers : dict or None
        Of identical and near copies, as :meth:`Copies.numbers` has them.
    n_texts : int

    Examples
    --------
    >>> copies_in_words({"identical": 10, "near": 2}, 300)
    '12 of 300 texts are copies of others (10 identical, 2 nearly so); they are held out together.'
    """
    n_copies = sum(numbers.values()) if numbers else 0
    if not numbers or not n_copies:
        return ""
    kinds = f"{numbers['identical']:,} identical, {numbers['near']:,} nearly so"
    are = "is a copy of another" if n_copies == 1 else "are copies of others"
    return f"{n_copies:,} of {n_texts:,} texts {are} ({kinds}); they are held out together."


def text_sketches(texts: Iterable[str], vectorizer: BaseTextVectorizer) -> Sketches:
    """Sketches of texts as a vectorizer reads them, whatever words it has been fitted to and counts.

    Parameters
    ----------
    texts : iterable of str
    vectorizer : TextVectorizer or HashingTextVectorizer
        Fitted or not: only what a word is to it matters.
    """
    options = vectorizer._text_options()
    if options.analyzer in ("word", "mixed"):
        options = replace(options, ngram_range=(1, 2))
    return joined_sketches(list(in_order(lambda batch: _sketched(batch, options), batches(texts))))


def joined_sketches(parts: Sequence[Sketches]) -> Sketches:
    """Sketches of several parts of the texts, in order."""
    empty = Sketches(np.zeros(0, dtype=np.uint64), np.zeros((0, N_BINS), dtype=np.uint8))
    return Sketches(*(np.concatenate(columns) for columns in zip(empty, *parts, strict=True)))


def find_copies(sketches: Sketches) -> Copies:
    """The copies among texts: O(n log n), whatever the texts.

    Parameters
    ----------
    sketches : Sketches

    Examples
    --------
    >>> from textbayes.text import TextVectorizer
    >>> find_copies(text_sketches(["Corn prices", "rates", "corn, prices!"], TextVectorizer())).first.tolist()
    [0, 1, 0]
    """
    _, earliest, place = np.unique(sketches.words, return_index=True, return_inverse=True)
    first = earliest[place].astype(np.int64)
    single = np.unique(first)
    long = np.asarray(sketches.bins.any(axis=1))
    near = _near(sketches.bins, single[long[single]])
    leader = np.arange(len(first))
    sets = Counter(near.values())
    for text, of in near.items():
        if sets[of] < max(_MOST_NEAR, _MOST_SHARE * len(first)):
            leader[text] = of
    return Copies(leader[first], len(first) - len(single), int((leader != np.arange(len(first))).sum()))


def _near(bins: AnyArray, texts: IntArray) -> dict[int, int]:
    """Those of some texts that are close to an earlier one that is close to none before it, and that one."""
    pairs: dict[int, set[int]] = {}
    for later, earlier in _neighbours(bins, texts):
        pairs.setdefault(later, set()).add(earlier)
    leader: dict[int, int] = {}
    for text in sorted(pairs):
        firsts = {leader.get(one, one) for one in pairs[text]}
        close = [one for one in sorted(firsts) if _similarity(bins[[text]], bins[[one]])[0] >= SIMILAR]
        if close:
            leader[text] = close[0]
    return leader


def _neighbours(bins: AnyArray, texts: IntArray) -> set[tuple[int, int]]:
    """Pairs of similar texts, the later one first, that are side by side when sorted from some band on."""
    found: set[tuple[int, int]] = set()
    bands = bins.view(np.uint64)  # may be in a file: what is copied is a band at a time
    n_bands = bands.shape[1]
    for start in range(n_bands):
        keys = [bands[texts, (start + step) % n_bands] for step in (2, 1, 0)]  # the last is the first to be sorted by
        order = np.lexsort(keys)
        one, other = order[:-1], order[1:]
        agree = (keys[-1][one] == keys[-1][other]) & (keys[-1][one] != 0)
        one, other = texts[one[agree]], texts[other[agree]]
        for begin in range(0, len(one), _AT_ONCE):
            left, right = one[begin : begin + _AT_ONCE], other[begin : begin + _AT_ONCE]
            close = _similarity(bins[left], bins[right]) >= SIMILAR
            both = np.sort(np.stack([left[close], right[close]]), axis=0)
            found.update(zip(both[1].tolist(), both[0].tolist(), strict=True))
    return found


def _similarity(left: AnyArray, right: AnyArray) -> AnyArray:
    """Share of words and pairs that texts have in common, pair by pair."""
    agree = ((left == right) & (left > 0)).sum(axis=1)
    return np.asarray(agree / np.maximum(((left > 0) | (right > 0)).sum(axis=1), 1))


def _sketched(texts: list[str], options: TextOptions) -> Sketches:
    """Sketches of some texts."""
    analysis = analyze(texts, options)
    counts, terms, starts = columns_to_csr(analysis.pieces, np.arange(analysis.terms.n_strings, dtype=np.int32))
    hashes = _hashes(analysis.terms)[terms]
    n_terms, filled = np.diff(starts), np.flatnonzero(np.diff(starts))
    words = text_fingerprints(texts, unique=False)  # stay for texts without words
    if len(filled):
        words[filled] = np.add.reduceat(_mixed(hashes + counts.astype(np.uint64) * _ODD), starts[filled])
    lowest = np.full((len(texts), N_BINS), np.iinfo(np.uint64).max, dtype=np.uint64)
    row = np.repeat(np.arange(len(texts)), n_terms)
    long = np.repeat(n_terms >= LEAST_TERMS, n_terms)
    place = row[long] * N_BINS + (hashes[long] % np.uint64(N_BINS)).astype(np.int64)
    np.minimum.at(lowest.reshape(-1), place, hashes[long])
    full = lowest < np.iinfo(np.uint64).max
    bins = np.where(full, 1 + (_mixed(lowest) % np.uint64(255)), 0).astype(np.uint8)
    return Sketches(words, bins)


def _hashes(terms: Packed) -> AnyArray:
    """A 64-bit number for each term, by its bytes alone."""
    starts, lengths = terms.offsets[:-1], np.diff(terms.offsets)
    if not len(lengths) or not lengths.max():
        return np.zeros(len(lengths), dtype=np.uint64)
    powers = np.full(int(lengths.max()), _ODD).cumprod()  # of an odd number, modulo 2⁶⁴
    place = np.arange(len(terms.data)) - np.repeat(starts, lengths)
    parts = _mixed(terms.data + np.uint64(1)) * powers[place]
    return _mixed(np.add.reduceat(parts, starts))


def _mixed(numbers: AnyArray) -> AnyArray:
    """Numbers of which every bit depends on all bits of those given (SplitMix64)."""
    mixed = numbers + _ODD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
