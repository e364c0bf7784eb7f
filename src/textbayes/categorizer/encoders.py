"""A pretrained encoder in an automatic training: which, whether the budget allows it, and the members it makes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.categorizer.plan import Member, fits_to_all
from textbayes.core.errors import NotSupportedError
from textbayes.core.executor import executor_in_use
from textbayes.core.machine import n_threads, on_card
from textbayes.core.progress import Progress
from textbayes.models.encoder.classifier import EncoderClassifier
from textbayes.models.encoder.schedule import WAYS, Schedule, operations
from textbayes.text.sentences import PACKAGED, VectorWeighting, packaged_folder
from textbayes.text.subwords import LONGEST
from textbayes.text.tokens import TokenVectorizer, find_encoder, is_installed
from textbayes.text.views import TextViews, View

VARIABLE = "TEXTBAYES_ENCODER"  # what "auto" stands for: off, or a folder
VIEW = "tokens"
_NAMES = {"all": "encoder", "pairs": "encoder by pairs", "head": "encoder's head"}
_CHARACTERS = 4.0  # of a token
_NETWORKS = 2  # whose log-odds are averaged: held-out texts are predicted better than by one (bench_encoder.py)
_MOST_SECONDS = {"quick": 0.0, "normal": 600.0, "thorough": 1_800.0}
# Operations a second, of a CPU for each core: a third of what products of such matrices reach; and seconds of a step,
# whatever is read. What a machine does in fact can differ several times.
_SPEED = {"cpu": 4e10, "cuda": 2e13}
_STEP = {"cpu": 0.15, "cuda": 0.015}


class ChosenEncoder(NamedTuple):
    """The encoder of a training, None for none; how many networks make it, 0 if one takes too long; their seconds."""

    given: Any
    n_networks: int = 0
    seconds: float = 0.0


def chosen_encoder(model: Any, texts: Sequence[str], n_texts: int | None = None) -> ChosenEncoder:
    """The encoder that the parameters of a categorizer ask for, and whether its budget allows it.

    Parameters
    ----------
    model : TextCategorizer
    texts : sequence of str
        All texts, or some of them.
    n_texts : int, optional
        How many there are in all.
    """
    given = model.encoder
    if given is None or given == "off":
        return ChosenEncoder(None)
    automatic, elsewhere = given == "auto", executor_in_use() is not None
    if elsewhere and not automatic:
        raise NotSupportedError(
            f"encoder={str(given)!r} is fine-tuned on this machine, and folds were to be spread over others; leave it "
            "out, or train without a cluster"
        )
    if automatic:
        given = os.environ.get(VARIABLE) or "auto"
        if (
            given == "off"
            or elsewhere
            or not _MOST_SECONDS[model.budget]
            or model.vectorizer is not None
            or not is_installed()
        ):
            return ChosenEncoder(None)
        if given == "auto":
            if packaged_folder() is None:
                return ChosenEncoder(None)
            given = PACKAGED
    seconds = expected_seconds(model, given, texts, len(texts) if n_texts is None else n_texts)
    affordable = int(_MOST_SECONDS[model.budget] / seconds)
    n_networks = min(max(affordable, 0 if automatic else 1), _NETWORKS)
    return ChosenEncoder(given, n_networks, max(n_networks, 1) * seconds)


def expected_seconds(model: Any, encoder: Any, texts: Sequence[str], n_texts: int) -> float:
    """Seconds of all fine-tuning of one network, as far as speeds measured elsewhere tell.

    Parameters
    ----------
    model : TextCategorizer
    encoder : str or path
    texts : sequence of str
    n_texts : int
        In all, of which these are some.
    """
    place = "cuda" if on_card(model.device) else "cpu"
    n_tokens = n_texts / max(len(texts), 1) * sum(min(len(text) / _CHARACTERS, LONGEST) + 2 for text in texts)
    speed = _SPEED[place] * (n_threads(-1) if place == "cpu" else 1)
    once = operations(find_encoder(encoder).folder, n_texts, n_tokens) / speed
    once += _STEP[place] * Schedule.of(n_texts).n_steps(n_texts)
    return once * fits_to_all(n_texts, model.cv, model.budget) * (len(WAYS) if n_texts < ENOUGH_TEXTS else 1)


def with_tokens(
    views: TextViews, blocks: list[Any], texts: Sequence[str], encoder: Any, report: Progress
) -> tuple[TextViews, list[Any]]:
    """The views, and the matrices of the texts, with that of the tokens of an encoder behind the others.

    Parameters
    ----------
    views, blocks : TextViews, list of CSR matrix
    texts : sequence of str
    encoder : str or path
    report : Progress
    """
    report("reading tokens", 0, 1)
    vectorizer = TokenVectorizer(encoder).fit(texts)
    tokens = vectorizer.transform(texts)
    report("reading tokens", 1, 1)
    view = View(VIEW, TokenVectorizer(encoder), VectorWeighting())
    return TextViews.of_fitted([*views.views, view], [*views.vectorizers_, vectorizer]), [*blocks, tokens]


def encoder_members(
    views: TextViews, encoder: ChosenEncoder, n_texts: int, random_state: int, device: str
) -> list[Member]:
    """The encoder as a member that reads the last view; of few texts one for each way to learn.

    Parameters
    ----------
    views : TextViews
        Whose last view is that of tokens.
    encoder : ChosenEncoder
    n_texts : int
    random_state : int
    device : {"auto", "cpu", "cuda"}
    """
    vectorizer: Any = views.vectorizers_[-1]
    folder, special = str(find_encoder(encoder.given).folder), vectorizer.special
    return [
        Member(
            f"{_NAMES[way]}, {VIEW}",
            (len(views.views) - 1,),
            EncoderClassifier(folder, special, way, encoder.n_networks, int(random_state), device),
        )
        for way in (WAYS if n_texts < ENOUGH_TEXTS else WAYS[:1])
    ]


def half_precision_cost(models: Sequence[Any]) -> float | None:
    """What rounding the encoder among fitted models to half precision adds to its log-loss; None without one."""
    found = [one.rounding_ for one in models if isinstance(one, EncoderClassifier) and one.rounding_ is not None]
    return float(np.mean(found)) if found else None
