"""Linear models: a link × a prior × an inference."""

from __future__ import annotations

from textbayes.models.linear.audit import audit_priors
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.words import refit_top_words, top_words

__all__ = ["BayesLinearClassifier", "audit_priors", "refit_top_words", "top_words"]
