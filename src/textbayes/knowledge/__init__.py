"""Prior knowledge of words: priors from files, descriptions, word lists and earlier models.

>>> from textbayes.knowledge import WordPriors, from_descriptions, from_words
>>> described = from_descriptions({"grain": "wheat, corn and their harvest"})
>>> WordPriors.merge([described, from_words("grain", ["barley"], ["bank"])])
<WordPriors: 3 rows, 1 labels>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.knowledge.bxr import read_bxr
    from textbayes.knowledge.informative_prior import Strength, count_priors, table_prior
    from textbayes.knowledge.match import MatchedPriors, match_priors, with_words, words_of
    from textbayes.knowledge.rows import WordPrior
    from textbayes.knowledge.sources import from_descriptions, from_names, from_posterior, from_words
    from textbayes.knowledge.table import WordPriors

_PUBLIC = {
    "MatchedPriors": "textbayes.knowledge.match",
    "Strength": "textbayes.knowledge.informative_prior",
    "WordPrior": "textbayes.knowledge.rows",
    "WordPriors": "textbayes.knowledge.table",
    "count_priors": "textbayes.knowledge.informative_prior",
    "from_descriptions": "textbayes.knowledge.sources",
    "from_names": "textbayes.knowledge.sources",
    "from_posterior": "textbayes.knowledge.sources",
    "from_words": "textbayes.knowledge.sources",
    "match_priors": "textbayes.knowledge.match",
    "read_bxr": "textbayes.knowledge.bxr",
    "table_prior": "textbayes.knowledge.informative_prior",
    "with_words": "textbayes.knowledge.match",
    "words_of": "textbayes.knowledge.match",
}

__all__ = [
    "MatchedPriors",
    "Strength",
    "WordPrior",
    "WordPriors",
    "count_priors",
    "from_descriptions",
    "from_names",
    "from_posterior",
    "from_words",
    "match_priors",
    "read_bxr",
    "table_prior",
    "with_words",
    "words_of",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
