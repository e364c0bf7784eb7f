"""Matrices that can only be read, as joblib gives them to its processes, need no kernels of their own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher
from scipy import sparse

import textbayes

_COUNTS = np.random.default_rng(0).poisson(0.7, (40, 12))
_LABELS = np.where(_COUNTS[:, 0] > _COUNTS[:, 1], "more", "less")


def read_only_kernels() -> list[str]:
    """Kernels that were made for arrays that cannot be written to."""
    modules = [module for name, module in sys.modules.items() if name.startswith("textbayes.kernels")]
    kernels = {one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)}
    return [
        one.__name__
        for one in kernels
        if any(isinstance(given, types.Array) and not given.mutable for called in one.signatures for given in called)
    ]


def _frozen(X):
    for part in [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]:
        part.flags.writeable = False
    return X


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
@pytest.mark.parametrize(
    "estimator",
    [
        textbayes.BayesLinearClassifier(),
        textbayes.BayesLinearClassifier(prior="gaussian"),
        textbayes.BayesMultinomialClassifier(),
        textbayes.BayesCountClassifier(),
        textbayes.BayesOnlineClassifier(),
    ],
    ids=repr,
)
def test_no_kernel_is_made_for_matrices_that_can_only_be_read(estimator, form):
    before = read_only_kernels()  # of other tests in this process
    wanted = estimator.fit(form(_COUNTS.astype(float)), _LABELS).predict_proba(form(_COUNTS.astype(float)))
    X = _frozen(form(_COUNTS.astype(float)))
    found = estimator.fit(X, _LABELS).predict_proba(X)
    assert np.array_equal(found, wanted)
    assert read_only_kernels() == before
