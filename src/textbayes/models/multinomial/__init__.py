"""Softmax regression: one of several classes that exclude each other, all fitted together."""

from __future__ import annotations

from textbayes.models.multinomial.classifier import BayesMultinomialClassifier

__all__ = ["BayesMultinomialClassifier"]
