"""The paper's public collections as counts, with the classes that it made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.data import load_corpus
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


def newsgroups(computers: bool = False) -> Documents:
    """20 Newsgroups, all posts of the groups that make up the five classes, without headers."""
    corpus = load_corpus("20newsgroups", remove=("headers",))
    return grouped(corpus.texts, corpus.labels, COMPUTERS if computers else NEWSGROUPS)


def reuters() -> Documents:
    """Reuters-21578, training and test stories of the ModApte split that belong to one of the three groups."""
    corpus = load_corpus("reuters21578").part("train", "test")
    return grouped(corpus.texts, corpus.labels, REUTERS)


def spam() -> Documents:
    """The SpamAssassin mails, subject and body: easy ham, hard ham and spam."""
    corpus = load_corpus("spamassassin", classes="three")
    return grouped(corpus.texts, corpus.labels, {name: (name,) for name in corpus.label_names})


def movies() -> Documents:
    """The movie reviews, as they come: in lower case, words apart."""
    corpus = load_corpus("movie_reviews")
    return grouped(corpus.texts, corpus.labels, {"neg": ("neg",), "pos": ("pos",)})


def federalist() -> Documents:
    """The Federalist papers that are Hamilton's or Madison's beyond dispute; every word of one letter or more."""
    corpus = load_corpus("federalist")
    authors = {"Hamilton": ("HAMILTON",), "Madison": ("MADISON",)}
    return grouped(corpus.texts, corpus.labels, authors, min_df=1, pattern=r"(?u)\b[^\W\d_]+\b")


def grouped(
    texts: Sequence[str],
    labels: Sequence[Sequence[str]],
    groups: Mapping[str, Sequence[str]],
    *,
    min_df: int = _MIN_DF,
    pattern: str | None = None,
) -> Documents:
    """The texts whose labels lie in exactly one of the groups, counted.

    >>> texts, labels = ["a rise", "a fall", "a rise", "none"], [("up",), ("down",), ("up", "down"), ()]
    >>> documents = grouped(texts, labels, {"less": ("down",), "more": ("up", "higher")}, min_df=1)
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


LOADERS: Final[Mapping[str, Callable[[], Documents]]] = {
    "Federalist": federalist,
    "Newsgroups": newsgroups,
    "Newsgroups, computers": lambda: newsgroups(computers=True),
    "Reuters": reuters,
    "Spam-Assassin": spam,
    "Movie Reviews": movies,
}
"""The collections by the names of the paper's rows; its other ones are not public."""
