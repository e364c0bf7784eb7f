"""Words compared by how often they occur: the Δ² test, keyness, burstiness, and what many tests at once call for."""

from __future__ import annotations

from textbayes.lexical.burstiness import burstiest, burstiness
from textbayes.lexical.delta2 import delta2_score, delta2_test
from textbayes.lexical.exposures import takes_counts
from textbayes.lexical.keyness import keyness
from textbayes.lexical.p_values import benjamini_hochberg, smallest_p_value, storey, storey_null_fraction

__all__ = [
    "benjamini_hochberg",
    "burstiest",
    "burstiness",
    "delta2_score",
    "delta2_test",
    "keyness",
    "smallest_p_value",
    "storey",
    "storey_null_fraction",
    "takes_counts",
]
