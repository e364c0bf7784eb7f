"""A fine-tuned encoder as a model type: what a categorizer asks of it, and its form in a model file."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator

from textbayes.core.codec import Choice, Field, Flag, List, Text, Whole, read, written
from textbayes.core.errors import MissingExtraError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.lazy import LazyModule
from textbayes.core.machine import cuda_is_there, on_card
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.models import model_types
from textbayes.models.base import FitOptions, TextModel
from textbayes.models.encoder.schedule import WAYS
from textbayes.text.subwords import NONE, Special
from textbayes.text.tokens import tokens_in

_body: Any = LazyModule("textbayes.models.encoder.body")
_network: Any = LazyModule("textbayes.models.encoder.network")

_LOOKED_AT = 500  # texts, for what half precision costs
_TOKEN = Whole(0, 2**31 - 1)
_STATE: dict[str, Field] = {
    "way": Choice(*WAYS),
    "networks": Whole(1, 100),
    "config": Text(least=2),
    "exclusive": Flag(),
    "unit": Flag(),
    "before": List(_TOKEN, 0, 8, tuple),
    "after": List(_TOKEN, 0, 8, tuple),
    "mask": _TOKEN,
    "pad": _TOKEN,
}


@model_types.register("encoder")
class EncoderClassifier(TextModel, BaseEstimator):
    """A pretrained encoder and a linear map of the mean of its last layer, fine-tuned on labelled texts, or several.

    It reads a view of tokens (``textbayes.text.tokens``). Scores are log-odds of each label, of exclusive classes those
    against all others. What a fit to all texts finds is rounded to half precision, as a model file has it.

    Parameters
    ----------
    encoder : str or path
        The folder of the encoder, or the name of the packaged one.
    tokenizer : Special or None
        Numbers of special tokens of its tokenizer.
    way : {"all", "pairs", "head"}
        Fine-tune all weights; or the encoder by pairs of texts and then the head (SetFit); or the head alone.
    networks : int
        Networks of other seeds, whose log-odds are averaged.
    random_state : int
    device : {"auto", "cpu", "cuda"}

    Attributes
    ----------
    rounding_ : float or None
        What half precision adds to the log-loss of some training texts; None where it was not measured.
    """

    model_type = "encoder"
    reads = "weights"
    gives_intervals = False
    trains = False
    fields: ClassVar[Mapping[str, Field | None]] = {}

    rounding_: float | None = None

    def __init__(
        self,
        encoder: Any = None,
        tokenizer: Special | None = None,
        way: str = "all",
        networks: int = 1,
        random_state: int = 0,
        device: str = "auto",
    ) -> None:
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.way = way
        self.networks = networks
        self.random_state = random_state
        self.device = device

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        options = options or FitOptions()
        exclusive, ids = space.kind == "multiclass", tokens_in(features.weights)
        target = indicator.argmax(axis=1) if exclusive else indicator
        body, device = _body.read_body(self.encoder), "cuda" if on_card(self.device) else "cpu"
        one = self.unfitted()
        one.networks_ = [
            _network.fitted(
                body, self.tokenizer, ids, target, n_outputs=space.n_columns, exclusive=exclusive, way=self.way,
                weight=options.weight, seed=self.random_state + number, device=device, report=partial(_step, options),
            )
            for number in range(self.networks)
        ]  # fmt: skip
        one.label_space_, one.classes_, one.n_places_ = space, space.classes, features.n_features
        if options.last:
            one.rounding_ = one._rounded(ids[:_LOOKED_AT], indicator[:_LOOKED_AT])
        return one

    def _rounded(self, ids: AnyArray, indicator: BoolArray) -> float:
        """Round weights to half precision; by how much the log-loss of some texts rises."""
        before = self._loss(ids, indicator)
        for network in self.networks_:
            _network.load(network, _network.saved(network))
        return self._loss(ids, indicator) - before

    def _loss(self, ids: AnyArray, indicator: BoolArray) -> float:
        """Mean log-loss of texts, of exclusive classes that of the true one."""
        odds = self._log_odds(ids)
        losses = -special.log_expit(np.where(indicator, odds, -odds))
        return float(losses[indicator].sum() if self.networks_[0].exclusive else losses.sum()) / len(ids)

    def _log_odds(self, ids: AnyArray) -> FloatArray:
        """Log-odds of texts, given their tokens: the mean of those of the networks."""
        return np.asarray(np.mean([_network.log_odds(one, ids) for one in self._fitted()], axis=0))

    def _fitted(self) -> list[Any]:
        """The networks, made of the arrays of a model file when they are first asked for."""
        if "networks_" not in vars(self):
            if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
                raise MissingExtraError("torch", "encoder", "a model with a fine-tuned encoder")
            meta, arrays = self.saved_
            tokens = Special(tuple(meta["before"]), tuple(meta["after"]), meta["mask"], meta["pad"])
            device = "cuda" if cuda_is_there() else "cpu"
            n_outputs = self.label_space_.n_columns
            config, how = json.loads(meta["config"]), (meta["exclusive"], meta["unit"], device)
            self.networks_ = [
                _network.restored(config, part_of(arrays, str(number)), tokens, n_outputs, *how)
                for number in range(self.networks)
            ]
        return self.networks_

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Log-odds of every column (n_docs, n_columns)."""
        if not features.n_docs:
            return np.zeros((0, self.label_space_.n_columns))
        return self._log_odds(tokens_in(features.weights))

    def contributions(self, document: Features) -> Contributions:
        """The parts of the tokens of one document, by their places: integrated gradients."""
        ids = tokens_in(document.weights)[0]
        found = [_network.shares(one, ids) for one in self._fitted()]
        base, parts = (np.mean([getattr(one, name) for one in found], axis=0) for name in ("base", "parts"))
        return Contributions(base, np.flatnonzero(ids != NONE), parts)

    def word_weights(self) -> WordWeights:
        """Zeros: a place in a text has no weight of its own."""
        return WordWeights(np.zeros((self.label_space_.n_columns, self.n_places_)), None, "weight")

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The networks as a description and arrays in half precision."""
        networks = self._fitted()
        network: Any = networks[0]
        tokens = network.special
        values = {
            "way": self.way,
            "networks": len(networks),
            "config": network.body.config.to_json_string(),
            "exclusive": network.exclusive,
            "unit": network.unit,
            "before": list(tokens.before),
            "after": list(tokens.after),
            "mask": tokens.mask,
            "pad": tokens.pad,
        }
        meta, arrays = written(values, _STATE)
        for number, one in enumerate(networks):
            arrays |= under(str(number), _network.saved(one))
        return meta, arrays

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The model of a file; its networks are made when texts come."""
        found = read(_STATE, meta, {}, "the model's encoder")
        for name, array in arrays.items():
            if array.dtype != np.float16 or not np.isfinite(array).all():
                raise ModelFileError(f"the encoder's {name} is no array of finite numbers in half precision")
        made = cls(way=found["way"], networks=found["networks"])
        made.saved_, made.n_places_ = (found, dict(arrays)), n_features
        made.label_space_, made.classes_ = space, space.classes
        return made


def _step(options: FitOptions, what: str, done: int, total: int | None) -> None:
    """Report a step of a fit."""
    options.watch.step(f"{what}, {options.stage}", done, total)
