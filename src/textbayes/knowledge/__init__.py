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
    from textbayes.knowledge.informative_prior import Strength as Strength
    from textbayes.knowledge.informative_prior import count_priors as count_priors
    from textbayes.knowledge.informative_prior import table_prior as table_prior
    from textbayes.knowledge.match import MatchedPriors as MatchedPriors
    from textbayes.knowledge.match import match_priors as match_priors
    from textbayes.knowledge.match import with_words as with_words
    from textbayes.knowledge.match import words_of as words_of
    from textbayes.knowledge.rows import WordPrior as WordPrior
    from textbayes.knowledge.sources import from_descriptions as from_descriptions
    from textbayes.knowledge.sources import from_names as from_names
    from textbayes.knowledge.sources import from_posterior as from_posterior
    from textbayes.knowledge.sources import from_words as from_words
    from textbayes.knowledge.sources import read_bxr as read_bxr
    from textbayes.knowledge.table import WordPriors as WordPriors

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.knowledge.informative_prior": ("Strength", "count_priors", "table_prior"),
        "textbayes.knowledge.match": ("MatchedPriors", "match_priors", "with_words", "words_of"),
        "textbayes.knowledge.rows": ("WordPrior",),
        "textbayes.knowledge.sources": ("from_descriptions", "from_names", "from_posterior", "from_words", "read_bxr"),
        "textbayes.knowledge.table": ("WordPriors",),
    },
)
