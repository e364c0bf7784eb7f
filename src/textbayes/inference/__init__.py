"""Inferences: how a posterior is found, given a link and a prior. One file each; a new file is picked up by name."""

from __future__ import annotations

from inspect import signature

from textbayes.core.errors import InputError, did_you_mean
from textbayes.core.parameters import name_and_parameters
from textbayes.core.registry import Registry
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem

inferences: Registry[type[BaseInference]] = Registry("inference", "textbayes.inference")


def make_inference(
    inference: str | BaseInference, tol: float = 1e-4, max_iter: int = 100, n_jobs: int = 1
) -> BaseInference:
    """Make the inference of that name with the given settings; an object is returned as it is, with its own.

    Parameters
    ----------
    inference : str or BaseInference
        A name, with parameters after a colon: ``"em:plain=true"``.
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
    name, settings = name_and_parameters(inference)
    made = inferences.get(name)
    known = list(signature(made).parameters) if settings else []
    unknown = [one for one in settings if one not in known]
    if unknown:
        raise InputError(
            f"inference {name!r} has no parameter {unknown[0]!r}; it has: {', '.join(known)}"
            f"{did_you_mean(unknown[0], known)}"
        )
    return made(**{"tol": tol, "max_iter": max_iter, "n_jobs": n_jobs} | settings)


def samples(inference: str | BaseInference) -> bool:
    """Whether an inference, given by name or as an object, draws from the posterior."""
    return make_inference(inference).samples


__all__ = ["BaseInference", "FitInfo", "Posterior", "Problem", "inferences", "make_inference", "samples"]
