"""Fitted ``SoftClusters`` as arrays and JSON, and back, with what a file could claim checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.state import plain, under
from textbayes.core.types import AnyArray
from textbayes.models.clusters.model import ClusterWords

_PARAMETERS = ("n_clusters", "n_init", "max_iter", "tol", "n_jobs")


def state_of_clusters(clusters: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A JSON-able description and named arrays; the random state is not kept, as nothing is drawn any more."""
    given = {name: plain(getattr(clusters, name)) for name in (*_PARAMETERS, "alpha", "beta")}
    meta = {
        "parameters": given,
        "classes": clusters.classes_.tolist(),
        "bound": float(clusters.bound_),
        "n_iter": int(clusters.n_iter_),
    }
    words = {name: array for name, array in clusters.words_._asdict().items() if array is not None}
    return meta, under("words", words) | {"sizes": clusters.sizes_}


def restore_clusters(cls: type, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    """The clusters described; what does not fit together is refused, since a file can claim anything."""
    try:
        clusters = cls(**{name: meta["parameters"][name] for name in (*_PARAMETERS, "alpha", "beta")})
        bursts = "words.deltas" in arrays
        clusters.set_params(model="negative_binomial" if bursts else "poisson")
        fields = ClusterWords._fields if bursts else ClusterWords._fields[:-1]
        words = ClusterWords(*(np.array(arrays[f"words.{name}"], dtype=np.float64) for name in fields))
        clusters.words_, clusters.sizes_ = words, np.array(arrays["sizes"], dtype=np.float64)
        clusters.classes_ = np.array(meta["classes"])
        clusters.bound_, clusters.n_iter_ = float(meta["bound"]), int(meta["n_iter"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the soft clusters cannot be read ({error!r}); was the file altered?") from error
    n_clusters, n_words = len(np.atleast_1d(words.alpha)), len(np.atleast_1d(words.sums))
    found = [array for array in words if array is not None]
    shapes = [clusters.sizes_.shape, *(array.shape for array in found)]
    expected = [(n_clusters,), (n_clusters,), (2,), (n_words,), (n_words, n_clusters), (n_words,)][: len(shapes)]
    positive = all(np.isfinite(array).all() and (array > 0.0).all() for array in found if array is not words.beta)
    if shapes != expected or not positive or clusters.classes_.ndim != 1 or len(clusters.classes_) > n_clusters:
        raise ModelFileError("the numbers of the soft clusters do not belong together; save the model again")
    clusters.n_features_in_ = n_words
    return clusters
