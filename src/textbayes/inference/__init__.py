"""Inferences: how a posterior is found, given a link and a prior. One file each; a new file is picked up by name."""

from __future__ import annotations

from textbayes.core.registry import Registry
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem

inferences: Registry[type[BaseInference]] = Registry("inference", "textbayes.inference")

__all__ = ["BaseInference", "FitInfo", "Posterior", "Problem", "inferences"]
