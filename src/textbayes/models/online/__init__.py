"""Online learning: Gaussian posteriors that learn documents one after the other and know what to ask.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.models.online.base import Bank, OnlinePosterior
    from textbayes.models.online.batch import (
        diagonal_from_batch,
        full_from_batch,
        low_rank_from_batch,
    )
    from textbayes.models.online.classifier import BayesOnlineClassifier
    from textbayes.models.online.diagonal import DiagonalPosterior
    from textbayes.models.online.full import DeferredPosterior, FullPosterior, propagate
    from textbayes.models.online.gp import RBF, GaussianProcess, Polynomial
    from textbayes.models.online.information import expected_information_gain, information_gain
    from textbayes.models.online.likelihood import PAPER_FLIP, PAPER_LOGIT, PAPER_PROBIT, OnlineLikelihood
    from textbayes.models.online.low_rank import LowRankPosterior
    from textbayes.models.online.process import SparseGPClassifier

_PUBLIC = {
    "Bank": "textbayes.models.online.base",
    "BayesOnlineClassifier": "textbayes.models.online.classifier",
    "DeferredPosterior": "textbayes.models.online.full",
    "DiagonalPosterior": "textbayes.models.online.diagonal",
    "FullPosterior": "textbayes.models.online.full",
    "GaussianProcess": "textbayes.models.online.gp",
    "LowRankPosterior": "textbayes.models.online.low_rank",
    "OnlineLikelihood": "textbayes.models.online.likelihood",
    "OnlinePosterior": "textbayes.models.online.base",
    "PAPER_FLIP": "textbayes.models.online.likelihood",
    "PAPER_LOGIT": "textbayes.models.online.likelihood",
    "PAPER_PROBIT": "textbayes.models.online.likelihood",
    "Polynomial": "textbayes.models.online.gp",
    "RBF": "textbayes.models.online.gp",
    "SparseGPClassifier": "textbayes.models.online.process",
    "diagonal_from_batch": "textbayes.models.online.batch",
    "expected_information_gain": "textbayes.models.online.information",
    "full_from_batch": "textbayes.models.online.batch",
    "information_gain": "textbayes.models.online.information",
    "low_rank_from_batch": "textbayes.models.online.batch",
    "propagate": "textbayes.models.online.full",
    "region_information_gain": "textbayes.models.online.information",
}
__all__ = [
    "PAPER_FLIP",
    "PAPER_LOGIT",
    "PAPER_PROBIT",
    "RBF",
    "Bank",
    "BayesOnlineClassifier",
    "DeferredPosterior",
    "DiagonalPosterior",
    "FullPosterior",
    "GaussianProcess",
    "LowRankPosterior",
    "OnlineLikelihood",
    "OnlinePosterior",
    "Polynomial",
    "SparseGPClassifier",
    "diagonal_from_batch",
    "expected_information_gain",
    "full_from_batch",
    "information_gain",
    "low_rank_from_batch",
    "propagate",
    "region_information_gain",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
