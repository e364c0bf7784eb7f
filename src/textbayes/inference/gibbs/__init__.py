"""The whole posterior by Gibbs sampling: chains, diagnostics, and what is read off the draws."""

from __future__ import annotations

from textbayes.inference.gibbs.factors import cooccurrence_factors
from textbayes.inference.gibbs.running import SamplingProgress
from textbayes.inference.gibbs.sampler import Gibbs
from textbayes.posterior.draws import Draws, LabelDraws

__all__ = ["Draws", "Gibbs", "LabelDraws", "SamplingProgress", "cooccurrence_factors"]
