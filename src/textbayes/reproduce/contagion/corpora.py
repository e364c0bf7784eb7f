"""The paper's public collections as counts, with the classes that it made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.data import Corpus, load_corpus
from textbayes.text import TextVectorizer

_MIN_DF = 3  # documents that a word must be in; rarer ones no test could choose


class Documents(NamedTuple):
    """Counts (n_docs, n_words) in CSR, lengths in thousands of words, classes by number and by name, and the words."""

    X: Any
    lengths: FloatArray
    y: IntArray
    classes: tuple[str, ...]
    words: AnyArray


# "Newsgroups, 5 classes" is not explained. The twenty groups are usually gathered by subject into six classes, of which
# one has a single group, misc.forsale; these are the other five.
NEWSGROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "computers": (
        "comp.graphics",
        "comp.os.ms-windows.misc",
        "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware",
        "comp.windows.x",
    ),
    "recreation": ("rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey"),
    "science": ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    "politics": ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
    "religion": ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
}
# The other reading: the five groups about computers, as McCallum & Nigam (1998) use them.
COMPUTERS: Final[Mapping[str, tuple[str, ...]]] = {group: (group,) for group in NEWSGROUPS["computers"]}

# "Our own high level categories — Money, Crops, and Natural Resources"; the topics are not listed. Of the 90 topics of
# the ModApte split: currencies, interest and money supply; what grows on fields and its oils and meals; what is mined,
# pumped or felled. A story must belong to exactly one of the three.
REUTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "money": (
        *("money-fx", "money-supply", "interest", "reserves"),
        *("dlr", "yen", "dmk", "dfl", "nkr", "nzdlr", "rand"),
    ),
    "crops": (
        *("grain", "wheat", "corn", "barley", "oat", "rye", "rice", "sorghum", "soybean", "oilseed", "rapeseed"),
        *("sunseed", "groundnut", "coconut", "palmkernel", "coffee", "cocoa", "sugar", "cotton", "tea", "potato"),
        *("orange", "rubber", "veg-oil", "soy-oil", "soy-meal", "palm-oil", "sun-oil", "sun-meal", "rape-oil"),
        *("lin-oil", "coconut-oil", "cotton-oil", "groundnut-oil", "castor-oil", "copra-cake", "meal-feed"),
    ),
    "natural resources": (
        *("crude", "nat-gas", "gas", "fuel", "heat", "jet", "naphtha", "propane", "lumber"),
        *("gold", "silver", "platinum", "palladium", "copper", "zinc", "lead", "tin", "nickel", "alum", "iron-steel"),
        "strategic-metal",
    ),
}
AUTHORS: Final = {"Hamilton": ("HAMILTON",), "Madison": ("MADISON",)}


def group_documents(
    texts: Sequence[str],
    labels: Sequence[Sequence[str]],
    groups: Mapping[str, Sequence[str]],
    *,
    min_df: int = _MIN_DF,
    pattern: str | None = None,
) -> Documents:
    """Count the words of the texts whose labels lie in exactly one of the groups.

    >>> texts, labels = ["a rise", "a fall", "a rise", "none"], [("up",), ("down",), ("up", "down"), ()]
    >>> documents = group_documents(texts, labels, {"less": ("down",), "more": ("up", "higher")}, min_df=1)
    >>> documents.y.tolist(), documents.words.tolist(), documents.lengths.tolist()
    ([1, 0], ['fall', 'rise'], [0.001, 0.001])
    """
    of_label = {label: number for number, names in enumerate(groups.values()) for label in names}
    found = [{of_label[label] for label in document if label in of_label} for document in labels]
    rows = [row for row, numbers in enumerate(found) if len(numbers) == 1]
    settings = {} if pattern is None else {"token_pattern": pattern}
    vectorizer = TextVectorizer(min_df=min_df, **settings)  # type: ignore[arg-type]
    chosen = [texts[row] for row in rows]
    X = vectorizer.fit_transform(chosen)
    lengths = vectorizer.document_lengths(chosen)
    kept = np.flatnonzero(lengths > 0.0)  # a mail may be a picture only
    y = np.array([min(found[row]) for row in rows], dtype=np.int64)
    return Documents(X[kept], lengths[kept], y[kept], tuple(groups), vectorizer.get_feature_names_out())


def _read(corpus: Corpus, groups: Mapping[str, Sequence[str]] | None = None, **settings: Any) -> Documents:
    """A corpus by groups of its labels, or by its labels as they are."""
    return group_documents(
        corpus.texts, corpus.labels, groups or {name: (name,) for name in corpus.label_names}, **settings
    )


LOADERS: Final[Mapping[str, Callable[[], Documents]]] = {
    "Newsgroups": lambda: _read(load_corpus("20newsgroups", remove=("headers",)), NEWSGROUPS),
    "Newsgroups, computers": lambda: _read(load_corpus("20newsgroups", remove=("headers",)), COMPUTERS),
    "Reuters": lambda: _read(load_corpus("reuters21578").part("train", "test"), REUTERS),
    "Spam-Assassin": lambda: _read(load_corpus("spamassassin", classes="three")),
    "Movie Reviews": lambda: _read(load_corpus("movie_reviews")),
    # Those that are Hamilton's or Madison's beyond dispute; every word of one letter or more.
    "Federalist": lambda: _read(load_corpus("federalist"), AUTHORS, min_df=1, pattern=r"(?u)\b[^\W\d_]+\b"),
}
"""The collections by the names of the paper's rows; its other ones are not public."""
