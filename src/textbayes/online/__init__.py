"""Online learning: Gaussian posteriors that learn documents one after the other and know what to ask.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR.
"""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "Bank": "textbayes.online.bank",
    "BatchPrior": "textbayes.online.batch",
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
    "propagate": "textbayes.online.propagation",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
