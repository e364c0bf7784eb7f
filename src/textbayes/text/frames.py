"""``set_output`` for transformers of texts, whose results are sparse: data frames with sparse columns on request."""

from __future__ import annotations

import importlib
from typing import Any, Self

from scipy import sparse
from sklearn import get_config

from textbayes.core.errors import InputError, MissingExtraError


class SparseOutput:
    """``set_output`` as scikit-learn's transformers have it; its own refuses sparse results.

    Only ``set_output`` counts, not scikit-learn's global ``transform_output``: a data frame of all words is slow to
    make, and is to be asked for.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        # scikit-learn would wrap ``transform`` and refuse the sparse matrix.
        super().__init_subclass__(auto_wrap_output_keys=None, **options)  # type: ignore[call-arg]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : {"default", "pandas"} or None
            "default": a sparse matrix. "pandas": a ``DataFrame`` with sparse columns, named by
            ``get_feature_names_out``. None changes nothing.
        """
        if transform not in (None, "default", "pandas"):
            raise InputError(f"transform={transform!r} is not usable; pass 'default' or 'pandas'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # the name that scikit-learn's clone copies
        return self


def as_configured(transformer: Any, X: sparse.csr_matrix, given: Any) -> Any:
    """The result of a transformer as its ``set_output`` asks for: the matrix, or a data frame with sparse columns.

    Parameters
    ----------
    transformer : estimator
    X : sparse matrix (n_docs, n_features)
    given : what was transformed
        Of a pandas object, the index is kept.
    """
    if getattr(transformer, "_sklearn_output_config", {}).get("transform") != "pandas":
        return X
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "set_output(transform='pandas')") from None
    index = given.index if isinstance(given, pandas.DataFrame | pandas.Series) else None
    names = transformer.get_feature_names_out()
    return pandas.DataFrame.sparse.from_spmatrix(X, index=index, columns=names)


def check_sparse(transformer: Any, X: Any) -> None:
    """Refuse to make a data frame of dense numbers, in scikit-learn's words for transformers with sparse results."""
    wanted = getattr(transformer, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
    if wanted != "default" and not (sparse.issparse(X) or hasattr(X, "sparse")):
        raise InputError(
            "The transformer outputs a scipy sparse matrix. Pass a sparse matrix or a data frame with sparse columns, "
            "or disable data frames with set_output(transform='default')"
        )
