"""Online learning: Gaussian posteriors that learn documents one after the other and know what to ask.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.models.online.base import Bank as Bank
    from textbayes.models.online.base import OnlinePosterior as OnlinePosterior
    from textbayes.models.online.batch import diagonal_from_batch as diagonal_from_batch
    from textbayes.models.online.batch import full_from_batch as full_from_batch
    from textbayes.models.online.batch import low_rank_from_batch as low_rank_from_batch
    from textbayes.models.online.classifier import BayesOnlineClassifier as BayesOnlineClassifier
    from textbayes.models.online.diagonal import DiagonalPosterior as DiagonalPosterior
    from textbayes.models.online.full import DeferredPosterior as DeferredPosterior
    from textbayes.models.online.full import FullPosterior as FullPosterior
    from textbayes.models.online.full import propagate as propagate
    from textbayes.models.online.gp import RBF as RBF
    from textbayes.models.online.gp import GaussianProcess as GaussianProcess
    from textbayes.models.online.gp import Polynomial as Polynomial
    from textbayes.models.online.information import expected_information_gain as expected_information_gain
    from textbayes.models.online.information import information_gain as information_gain
    from textbayes.models.online.likelihood import PAPER_FLIP as PAPER_FLIP
    from textbayes.models.online.likelihood import PAPER_LOGIT as PAPER_LOGIT
    from textbayes.models.online.likelihood import PAPER_PROBIT as PAPER_PROBIT
    from textbayes.models.online.likelihood import OnlineLikelihood as OnlineLikelihood
    from textbayes.models.online.low_rank import LowRankPosterior as LowRankPosterior
    from textbayes.models.online.process import SparseGPClassifier as SparseGPClassifier

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.models.online.base": ("Bank", "OnlinePosterior"),
        "textbayes.models.online.batch": ("diagonal_from_batch", "full_from_batch", "low_rank_from_batch"),
        "textbayes.models.online.classifier": ("BayesOnlineClassifier",),
        "textbayes.models.online.diagonal": ("DiagonalPosterior",),
        "textbayes.models.online.full": ("DeferredPosterior", "FullPosterior", "propagate"),
        "textbayes.models.online.gp": ("RBF", "GaussianProcess", "Polynomial"),
        "textbayes.models.online.information": (
            "expected_information_gain",
            "information_gain",
            "region_information_gain",
        ),
        "textbayes.models.online.likelihood": ("PAPER_FLIP", "PAPER_LOGIT", "PAPER_PROBIT", "OnlineLikelihood"),
        "textbayes.models.online.low_rank": ("LowRankPosterior",),
        "textbayes.models.online.process": ("SparseGPClassifier",),
    },
)
