"""The reference of every public name: by group and module a table of one-line descriptions, then each in full."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from textbayes.core.registry import Registry

_GROUPS: dict[str, dict[str, tuple[str, ...]]] = {  # modules of the reference, and which names where they do not say
    "Start here": {
        "textbayes": (),
    },
    "Texts and files": {
        "textbayes.text": (),
        "textbayes.data": (),
    },
    "Categorizer and explanations": {
        "textbayes.categorizer": ("Assessment",),
        "textbayes.categorizer.suggest": ("Suggestion",),
        "textbayes.categorizer.explain": ("Explanation", "Explanations", "Contribution"),
        "textbayes.report": (),
    },
    "Models": {
        "textbayes.models.linear": ("refit_top_words", "top_words"),
        "textbayes.models.counts": (),
        "textbayes.models.clusters": (),
        "textbayes.models.online": (),
        "textbayes.links": (),
        "textbayes.priors": (),
        "textbayes.tune": (),
    },
    "Inference and posterior": {
        "textbayes.inference": (),
        "textbayes.inference.gibbs": (),
        "textbayes.inference.laplace_approximation": ("laplace_approximation",),
        "textbayes.posterior.gaussian": ("GaussianApproximation",),
        "textbayes.posterior.intervals": (
            "WordInterval",
            "SampledWord",
            "centred_interval",
            "mixture_standard_errors",
            "sampled_words",
            "word_intervals",
        ),
        "textbayes.posterior.calibration_band": ("CalibrationBand",),
        "textbayes.store.checkpoint": ("Checkpoint", "RunFolder"),
    },
    "Prior knowledge and words": {
        "textbayes.knowledge": (),
        "textbayes.select": (),
        "textbayes.lexical": (),
    },
    "Decisions and evaluation": {
        "textbayes.decide": (),
        "textbayes.evaluate": (),
    },
    "Streams": {
        "textbayes.stream": (),
    },
    "Papers": {
        "textbayes.reproduce": (),
    },
    "Errors": {
        "textbayes.core.errors": (
            "InputError",
            "NotSupportedError",
            "MalformedFileError",
            "CorpusNotFoundError",
            "ModelFileError",
            "MissingExtraError",
        ),
    },
}


def page() -> str:
    """Autodoc directives for every public name and every member of a registry, each once."""
    lines: list[str] = []
    for group, modules in members().items():
        lines += [f"## {group}", ""]
        for module, public in modules.items():
            lines += [f"### {module}", "", "```{eval-rst}", f".. currentmodule:: {module}", ""]
            lines += [
                ".. autosummary::",
                "   :nosignatures:",
                "",
                *(f"   {name.removeprefix(f'{module}.')}" for name in public),
                "",
            ]
            for name, member in public.items():
                kind = _kind(member)
                in_full = kind == "class" and "." not in name  # members of registries do what their base says
                lines += [f".. auto{kind}:: {name}", *(["   :members:"] if in_full else []), ""]
            lines += ["```", ""]
    return "\n".join(lines)


def members() -> dict[str, dict[str, dict[str, Any]]]:
    """By group and module the public names and what they stand for, each thing once."""
    done: set[Any] = set()
    return {
        group: {module: dict(_new(module, chosen, done)) for module, chosen in modules.items()}
        for group, modules in _GROUPS.items()
    }


def _new(name: str, chosen: tuple[str, ...], done: set[Any]) -> Iterator[tuple[str, Any]]:
    module = importlib.import_module(name)
    public = {key: getattr(module, key) for key in chosen or module.__all__}
    for registry in [member for member in public.values() if isinstance(member, Registry)]:
        named = map(registry.get, registry.names())
        public |= {f"{member.__module__}.{member.__name__}": member for member in named if callable(member)}
    for key, member in public.items():
        if callable(member) and member not in done:
            done.add(member)
            yield key, member


def _kind(member: Any) -> str:
    if not inspect.isclass(member):
        return "function"
    return "exception" if issubclass(member, Exception) else "class"
