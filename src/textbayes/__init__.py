"""Bayesian text categorisation: sparse, explainable, well-calibrated classifiers that say how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes._version import __version__
from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.suggest import LabellingSession, suggest
    from textbayes.core.errors import TextBayesError
    from textbayes.data import load_corpus, open_documents
    from textbayes.decide import ThresholdClassifier
    from textbayes.evaluate import compare
    from textbayes.inference.gibbs import Gibbs
    from textbayes.knowledge import WordPriors
    from textbayes.models.clusters import SoftClusters
    from textbayes.models.counts import BayesCountClassifier
    from textbayes.models.linear.classifier import BayesLinearClassifier
    from textbayes.models.multinomial import BayesMultinomialClassifier
    from textbayes.models.online import BayesOnlineClassifier, SparseGPClassifier
    from textbayes.select import SelectWords
    from textbayes.store import load_model, save_model
    from textbayes.stream import AdaptiveFilter
    from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
    from textbayes.tune import BayesLinearClassifierCV

# Public name → module that defines it. Loaded on first use, so that `import textbayes` costs milliseconds.
_PUBLIC = {
    "AdaptiveFilter": "textbayes.stream",
    "BayesCountClassifier": "textbayes.models.counts",
    "BayesLinearClassifier": "textbayes.models.linear.classifier",
    "BayesLinearClassifierCV": "textbayes.tune",
    "BayesMultinomialClassifier": "textbayes.models.multinomial",
    "BayesOnlineClassifier": "textbayes.models.online",
    "Gibbs": "textbayes.inference.gibbs",
    "HashingTextVectorizer": "textbayes.text",
    "LabellingSession": "textbayes.categorizer.suggest",
    "SelectWords": "textbayes.select",
    "SoftClusters": "textbayes.models.clusters",
    "SparseGPClassifier": "textbayes.models.online",
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
    "suggest": "textbayes.categorizer.suggest",
}

__all__ = [
    "AdaptiveFilter",
    "BayesCountClassifier",
    "BayesLinearClassifier",
    "BayesLinearClassifierCV",
    "BayesMultinomialClassifier",
    "BayesOnlineClassifier",
    "Gibbs",
    "HashingTextVectorizer",
    "LabellingSession",
    "SelectWords",
    "SoftClusters",
    "SparseGPClassifier",
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
    "suggest",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
