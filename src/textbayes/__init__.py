"""Bayesian text categorisation: sparse, explainable, well-calibrated classifiers that say how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes._version import __version__ as __version__
from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer as TextCategorizer
    from textbayes.categorizer.suggest import LabellingSession as LabellingSession
    from textbayes.categorizer.suggest import suggest as suggest
    from textbayes.core.errors import TextBayesError as TextBayesError
    from textbayes.data import load_corpus as load_corpus
    from textbayes.data import open_documents as open_documents
    from textbayes.decide import ThresholdClassifier as ThresholdClassifier
    from textbayes.evaluate import compare as compare
    from textbayes.inference.gibbs import Gibbs as Gibbs
    from textbayes.knowledge import WordPriors as WordPriors
    from textbayes.models.clusters import SoftClusters as SoftClusters
    from textbayes.models.counts import BayesCountClassifier as BayesCountClassifier
    from textbayes.models.linear.classifier import BayesLinearClassifier as BayesLinearClassifier
    from textbayes.models.multinomial import BayesMultinomialClassifier as BayesMultinomialClassifier
    from textbayes.models.online import BayesOnlineClassifier as BayesOnlineClassifier
    from textbayes.models.online import SparseGPClassifier as SparseGPClassifier
    from textbayes.select import SelectWords as SelectWords
    from textbayes.store import load_model as load_model
    from textbayes.store import save_model as save_model
    from textbayes.stream import AdaptiveFilter as AdaptiveFilter
    from textbayes.text import HashingTextVectorizer as HashingTextVectorizer
    from textbayes.text import TermWeighting as TermWeighting
    from textbayes.text import TextVectorizer as TextVectorizer
    from textbayes.tune import BayesLinearClassifierCV as BayesLinearClassifierCV


# By module, which is imported on first use: importing the package costs milliseconds.
__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.categorizer": ("TextCategorizer",),
        "textbayes.categorizer.suggest": ("LabellingSession", "suggest"),
        "textbayes.core.errors": ("TextBayesError",),
        "textbayes.data": ("load_corpus", "open_documents"),
        "textbayes.decide": ("ThresholdClassifier",),
        "textbayes.evaluate": ("compare",),
        "textbayes.inference.gibbs": ("Gibbs",),
        "textbayes.knowledge": ("WordPriors",),
        "textbayes.models.clusters": ("SoftClusters",),
        "textbayes.models.counts": ("BayesCountClassifier",),
        "textbayes.models.linear.classifier": ("BayesLinearClassifier",),
        "textbayes.models.multinomial": ("BayesMultinomialClassifier",),
        "textbayes.models.online": ("BayesOnlineClassifier", "SparseGPClassifier"),
        "textbayes.select": ("SelectWords",),
        "textbayes.store": ("load_model", "save_model"),
        "textbayes.stream": ("AdaptiveFilter",),
        "textbayes.text": ("HashingTextVectorizer", "TermWeighting", "TextVectorizer"),
        "textbayes.tune": ("BayesLinearClassifierCV",),
    },
    own=("__version__",),
)
