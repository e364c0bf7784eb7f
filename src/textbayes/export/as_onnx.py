"""Scoring as an ONNX graph of standard operators, on counts of terms.

Operators that cut texts are not standard, and those that count n-grams of strings know neither stems nor scripts
without spaces; counts are exact for every model. The terms of each input are in the file's metadata.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from textbayes._version import __version__
from textbayes.core.errors import MissingExtraError, NotSupportedError
from textbayes.core.types import AnyArray
from textbayes.export.scoring import Scoring, TermBlock

_OPSET, _IR_VERSION = 18, 9  # of ONNX 1.14, which runtimes of 2023 and later read
_LEAST_NORM = 1e-30


def to_onnx(scoring: Scoring) -> list[bytes]:
    """The bytes of an ONNX file; links other than the logit and negative binomials are refused.

    Parameters
    ----------
    scoring : Scoring
    """
    if scoring.link != "logit":
        raise NotSupportedError(
            f"ONNX has no operator for the {scoring.link} link in the precision needed; export JSON, or train with "
            "--link logit"
        )
    if scoring.dispersed:
        raise NotSupportedError(
            "ONNX has no operator for negative binomials; export JSON, or train counts:model=dirichlet_poisson"
        )
    try:
        from onnx import helper
    except ImportError:
        raise MissingExtraError("onnx", "onnx", "Export to ONNX") from None

    graph = _Graph()
    scores = graph.scores(scoring)
    probabilities = graph.probabilities(scoring, scores)
    graph.node("Identity", probabilities, output="probabilities")
    model = helper.make_model(
        graph.made(len(scoring.space.classes)), opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION,
        producer_name="textbayes", producer_version=__version__,
    )  # fmt: skip
    helper.set_model_props(model, _metadata(scoring))
    return [model.SerializeToString()]


def _metadata(scoring: Scoring) -> dict[str, str]:
    """What a program must know beside the graph, as JSON."""
    properties: dict[str, Any] = {f"terms of {block.name}": block.terms for block in scoring.blocks}
    properties |= {"classes": scoring.space.class_names, "kind": scoring.space.kind}
    properties |= {"thresholds": scoring.thresholds, "least": scoring.least}
    return {name: json.dumps(value) for name, value in properties.items()}


class _Graph:
    """A graph in the making; names of nodes are numbers."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, int] = {}

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node and give the name of its output."""
        from onnx import helper

        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """Add an array and give its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=kind), name))
        return name

    def input(self, name: str, width: int) -> str:
        """Name an input (n_texts, width)."""
        self.inputs[name] = width
        return name

    def made(self, n_classes: int) -> Any:
        """The graph from the inputs to the probabilities."""
        from onnx import TensorProto, helper

        def matrix(name: str, width: int) -> Any:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n_texts", width])

        inputs = [matrix(name, width) for name, width in self.inputs.items()]
        outputs = [matrix("probabilities", n_classes)]
        return helper.make_graph(self.nodes, "textbayes", inputs, outputs, self.constants)

    def scores(self, scoring: Scoring) -> str:
        """Scores of every column; a softmax asks only how they differ, which needs fewer digits."""
        mean = (lambda rows: rows - rows.mean(axis=0)) if scoring.normalise == "softmax" else np.asarray
        total = self.constant(mean(scoring.intercept)[None])
        for block in scoring.blocks:
            product = self.node("MatMul", self.values(block), self.constant(mean(block.weights).T))
            total = self.node("Add", total, product)
        if scoring.length is not None:
            thousands = self.node("Mul", self.input("n_words", 1), self.constant(1e-3))
            total = self.node(
                "Add", total, self.node("Mul", thousands, self.constant(mean(scoring.per_thousand)[None]))
            )
            there = self.node("Mul", self.present("n_words"), self.constant(mean(scoring.with_words)[None]))
            total = self.node("Add", total, there)
        return total

    def present(self, counts: str) -> str:
        """1 where something was counted, else 0."""
        from onnx import TensorProto

        return self.node("Cast", self.node("Greater", counts, self.constant(0.0)), to=TensorProto.FLOAT)

    def values(self, block: TermBlock) -> str:
        """Values of the terms of a block."""
        counts = self.input(f"counts_{block.name}", len(block.terms))
        values = counts
        if block.tf != "raw":
            values = self.present(counts)
        if block.tf in ("log", "log2"):
            log = self.node("Log", self.node("Max", counts, self.constant(1.0)))
            base = 1.0 if block.tf == "log" else 1.0 / np.log(2.0)
            values = self.node("Add", values, self.node("Mul", log, self.constant(base)))
        values = self.node("Mul", values, self.constant(block.idf[None]))
        if not block.cosine:
            return values
        norm = self.node("ReduceL2", values, self.constant([1], np.int64), keepdims=1)
        return self.node("Div", values, self.node("Max", norm, self.constant(_LEAST_NORM)))

    def log_own(self, scores: str) -> str:
        """Logarithms of the probabilities that belong to scores."""
        return self.node("Neg", self.node("Softplus", self.node("Neg", scores)))

    def probabilities(self, scoring: Scoring, scores: str) -> str:
        """Probabilities of the classes from scores of every column."""
        if scoring.hints is not None:
            scores = self.hinted(scores, *(np.asarray(one)[None] for one in scoring.hints))
        if scoring.normalise == "softmax":
            return self.node("Softmax", scores, axis=1)
        if scoring.normalise == "own":
            sharp = self.node("Mul", self.log_own(scores), self.constant(scoring.sharpness))
            return self.node("Softmax", sharp, axis=1)
        if scoring.space.kind == "binary":
            return self.node("Sigmoid", self.node("Concat", self.node("Neg", scores), scores, axis=1))
        return self.node("Sigmoid", scores)

    def hinted(self, scores: str, slope: AnyArray, offset: AnyArray, hint: AnyArray) -> str:
        """Scores after what a first pass says of the other labels."""
        first = self.node("Div", self.node("Sub", scores, self.constant(offset)), self.constant(slope))
        none = self.node("Neg", self.node("Softplus", first))
        total = self.node("ReduceSum", none, self.constant([1], np.int64), keepdims=1)
        others = self.node("Sub", self.constant(1.0), self.node("Exp", self.node("Sub", total, none)))
        return self.node("Add", scores, self.node("Mul", others, self.constant(hint)))
