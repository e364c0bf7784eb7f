"""Inferences: how a posterior is found, given a link and a prior. One file each; a new file is picked up by name."""

from __future__ import annotations

from textbayes.core.errors import InputError
from textbayes.core.registry import Registry
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem

inferences: Registry[type[BaseInference]] = Registry("inference", "textbayes.inference")


def make_inference(inference: str | BaseInference, tol: float, max_iter: int, n_jobs: int) -> BaseInference:
    """Make the inference of that name with the given settings; an object is returned as it is, with its own.

    Parameters
    ----------
    inference : str or BaseInference
    tol : float
        Relative violation of the optimality conditions to stop at.
    max_iter : int
    n_jobs : int
        Threads.
    """
    if isinstance(inference, BaseInference):
        return inference
    if not isinstance(inference, str):
        raise InputError(
            f"inference={inference!r} is not usable; pass one of {', '.join(inferences.names())}, or an object such as "
            "Em(plain=True)"
        )
    return inferences.get(inference)(tol, max_iter, n_jobs)


def samples(inference: str | BaseInference) -> bool:
    """Whether an inference, given by name or as an object, draws from the posterior."""
    return make_inference(inference, 1e-4, 100, 1).samples


__all__ = ["BaseInference", "FitInfo", "Posterior", "Problem", "inferences", "make_inference", "samples"]
