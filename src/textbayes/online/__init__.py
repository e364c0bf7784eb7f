"""Online learning: Gaussian posteriors that learn documents one after the other and know what to ask.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.online.bank import Bank
    from textbayes.online.base import LearnInfo, LinearPredictor, OnlinePosterior
    from textbayes.online.batch import BatchPrior, as_prior, diagonal_from_batch, full_from_batch, low_rank_from_batch
    from textbayes.online.classifier import BayesOnlineClassifier
    from textbayes.online.deferred import DeferredPosterior
    from textbayes.online.diagonal import DiagonalPosterior
    from textbayes.online.full import FullPosterior
    from textbayes.online.gp import GaussianProcess
    from textbayes.online.gp_kernels import RBF, Polynomial
    from textbayes.online.information import expected_information_gain, information_gain
    from textbayes.online.likelihood import PAPER_FLIP, PAPER_LOGIT, PAPER_PROBIT, OnlineLikelihood
    from textbayes.online.low_rank import LowRankPosterior
    from textbayes.online.propagation import propagate

_PUBLIC = {
    "Bank": "textbayes.online.bank",
    "BatchPrior": "textbayes.online.batch",
    "BayesOnlineClassifier": "textbayes.online.classifier",
    "DeferredPosterior": "textbayes.online.deferred",
    "DiagonalPosterior": "textbayes.online.diagonal",
    "FullPosterior": "textbayes.online.full",
    "GaussianProcess": "textbayes.online.gp",
    "LearnInfo": "textbayes.online.base",
    "LinearPredictor": "textbayes.online.base",
    "LowRankPosterior": "textbayes.online.low_rank",
    "OnlineLikelihood": "textbayes.online.likelihood",
    "OnlinePosterior": "textbayes.online.base",
    "PAPER_FLIP": "textbayes.online.likelihood",
    "PAPER_LOGIT": "textbayes.online.likelihood",
    "PAPER_PROBIT": "textbayes.online.likelihood",
    "Polynomial": "textbayes.online.gp_kernels",
    "RBF": "textbayes.online.gp_kernels",
    "as_prior": "textbayes.online.batch",
    "diagonal_from_batch": "textbayes.online.batch",
    "expected_information_gain": "textbayes.online.information",
    "full_from_batch": "textbayes.online.batch",
    "information_gain": "textbayes.online.information",
    "low_rank_from_batch": "textbayes.online.batch",
    "propagate": "textbayes.online.propagation",
}
__all__ = [
    "PAPER_FLIP",
    "PAPER_LOGIT",
    "PAPER_PROBIT",
    "RBF",
    "Bank",
    "BatchPrior",
    "BayesOnlineClassifier",
    "DeferredPosterior",
    "DiagonalPosterior",
    "FullPosterior",
    "GaussianProcess",
    "LearnInfo",
    "LinearPredictor",
    "LowRankPosterior",
    "OnlineLikelihood",
    "OnlinePosterior",
    "Polynomial",
    "as_prior",
    "diagonal_from_batch",
    "expected_information_gain",
    "full_from_batch",
    "information_gain",
    "low_rank_from_batch",
    "propagate",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
