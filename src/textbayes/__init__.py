"""Bayesian text categorisation: sparse, explainable, well-calibrated classifiers that say how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes._version import __version__
from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.core.errors import TextBayesError
    from textbayes.counts import BayesCountClassifier, SoftClusters
    from textbayes.data import load_corpus, open_documents
    from textbayes.decide import ThresholdClassifier
    from textbayes.evaluate import compare
    from textbayes.knowledge import WordPriors
    from textbayes.linear import BayesLinearClassifier
    from textbayes.online import BayesOnlineClassifier
    from textbayes.select import SelectWords
    from textbayes.store import load_model, save_model
    from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
    from textbayes.tune import BayesLinearClassifierCV

# Public name → module that defines it. Loaded on first use, so that `import textbayes` costs milliseconds.
_PUBLIC = {
    "BayesCountClassifier": "textbayes.counts",
    "BayesLinearClassifier": "textbayes.linear",
    "BayesLinearClassifierCV": "textbayes.tune",
    "BayesOnlineClassifier": "textbayes.online",
    "HashingTextVectorizer": "textbayes.text",
    "SelectWords": "textbayes.select",
    "SoftClusters": "textbayes.counts",
    "TermWeighting": "textbayes.text",
    "TextBayesError": "textbayes.core.errors",
    "TextCategorizer": "textbayes.categorizer",
    "TextVectorizer": "textbayes.text",
    "ThresholdClassifier": "textbayes.decide",
    "WordPriors": "textbayes.knowledge",
    "compare": "textbayes.evaluate",
    "load_corpus": "textbayes.data",
    "load_model": "textbayes.store",
    "open_documents": "textbayes.data",
    "save_model": "textbayes.store",
}

__all__ = [
    "BayesCountClassifier",
    "BayesLinearClassifier",
    "BayesLinearClassifierCV",
    "BayesOnlineClassifier",
    "HashingTextVectorizer",
    "SelectWords",
    "SoftClusters",
    "TermWeighting",
    "TextBayesError",
    "TextCategorizer",
    "TextVectorizer",
    "ThresholdClassifier",
    "WordPriors",
    "__version__",
    "compare",
    "load_corpus",
    "load_model",
    "open_documents",
    "save_model",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
