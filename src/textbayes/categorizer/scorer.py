"""A trained model that answers and does nothing else: what ``textbayes classify`` loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from textbayes.core.labels import LabelSpace
from textbayes.core.memory import check_fits_memory
from textbayes.core.saved_arrays import saved_array, saved_dense
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide import Rule
from textbayes.links import BaseLink, make_link
from textbayes.posterior.calibration_band import CalibrationBand, interval_within
from textbayes.posterior.intervals import label_probabilities
from textbayes.text.batches import check_texts
from textbayes.text.read_words import WordViews, read_word_views
from textbayes.text.term_weights import Entries


@dataclass(frozen=True)
class Assessment:
    """Probabilities and decisions for some texts, one row per text and one column per label column.

    ``known_words`` (n_docs,) counts the different words, and pairs of words, of each text that have a weight: where it
    is 0, the answer is that for any text, or rests on a sentence vector alone. Unpacks into the first two:
    ``proba, decisions = model.assess(texts)``.
    """

    proba: FloatArray
    decisions: BoolArray
    known_words: IntArray

    def __iter__(self) -> Iterator[Any]:
        return iter((self.proba, self.decisions))


class Scorer:
    """The part of a linear ``TextCategorizer`` that scores texts, read from a model file.

    It answers as ``TextCategorizer.assess`` does, to the last bit, but cannot learn, explain or be saved. Nothing of
    scikit-learn is imported for it, which would take longer than to score some hundred texts.

    Parameters
    ----------
    space : LabelSpace
    rule : Rule
        Fitted.
    views : WordViews
        How texts are read, a block of columns each.
    coef, intercept : arrays (n_columns, n_words), (n_columns,)
    link : BaseLink
    inverse_temperature : float
        As of ``TextCategorizer``.
    band : CalibrationBand or None
        What held-out texts say of the probabilities.
    columns : dict or None
        Columns of the file it was trained on.

    Attributes
    ----------
    label_space_, rule_, classes_, columns_
        As of ``TextCategorizer``.
    """

    def __init__(
        self,
        space: LabelSpace,
        rule: Rule,
        views: WordViews,
        coef: FloatArray,
        intercept: FloatArray,
        link: BaseLink,
        inverse_temperature: float,
        band: CalibrationBand | None = None,
        columns: dict[str, Any] | None = None,
    ) -> None:
        self.label_space_, self.rule_, self.columns_ = space, rule, columns
        self._views, self._coef, self._intercept = views, coef, intercept
        self._link, self._inverse_temperature, self._band = link, inverse_temperature, band
        ends = np.cumsum(views.widths)
        self._starts = [0, *ends[:-1].tolist()]
        self._known = np.split((coef != 0.0).any(axis=0).astype(np.float64), ends[:-1])

    @property
    def classes_(self) -> AnyArray:
        """All labels."""
        return self.label_space_.classes

    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions; one column per label, for two classes that of the second alone."""
        blocks = self._blocks(texts)
        proba = self._proba(blocks)
        known = [
            np.bincount(block.rows, one[block.indices], len(proba))
            for block, one in zip(blocks, self._known, strict=True)
        ]
        return Assessment(proba, self.rule_.decide(proba), np.max(known, axis=0).astype(np.int64))

    def predict_interval(self, texts: Iterable[str], level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval of each probability, see ``TextCategorizer.predict_interval``."""
        return interval_within(self._band, self._proba(self._blocks(texts)), level)

    def _blocks(self, texts: Iterable[str]) -> list[Entries]:
        return self._views.weights(list(check_texts(texts)))

    def _proba(self, blocks: list[Entries]) -> FloatArray:
        # The blocks side by side: SciPy's ``hstack`` takes longer than all else for one text.
        order = np.argsort(np.concatenate([block.rows for block in blocks]), kind="stable")
        data = np.concatenate([block.data for block in blocks])[order]
        both = zip(blocks, self._starts, strict=True)
        columns = np.concatenate([block.indices + start for block, start in both])[order]
        row_starts = np.sum([block.indptr for block in blocks], axis=0)
        weights = sparse.csr_matrix((data, columns, row_starts), shape=(len(row_starts) - 1, self._coef.shape[1]))
        eta = np.asarray(weights @ self._coef.T) + self._intercept
        return label_probabilities(eta, self._link, self.label_space_, self._inverse_temperature)

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Self | None:
        """The scoring part of what ``TextCategorizer.to_state`` gave; None of a model that scores in another way.

        Those are models of other kinds, with draws, or whose texts are not read as words of a vocabulary.
        """
        from textbayes.categorizer.schema import label_space, read_description  # loads pydantic
        from textbayes.core.saved import read_saved
        from textbayes.kinds._schema import SavedLinear

        told = read_description(meta, arrays)
        ensemble = told.ensemble
        (member, *others), stacked = ensemble.members, part_of(arrays, "fitted.label_stacking")
        if member.kind != "linear" or others or stacked:
            return None
        fitted = read_saved(SavedLinear, member.state, "the model's weights")
        views = read_word_views(told.vectorizer, told.weighting, arrays)
        if fitted.draws is not None or views is None:
            return None
        space, own = label_space(told.labels), part_of(arrays, "fitted.0")
        shape = (space.n_columns, sum(views.widths))
        link = make_link(fitted.link)
        link.check_labels(space.n_columns)
        check_fits_memory(8 * shape[0] * shape[1], "the weights of the model")
        coef, intercept = saved_dense(own, "coef", shape), saved_array(own, "intercept", np.float64, shape[:1])
        rule = Rule.from_state(told.rule, space.n_columns)
        band = part_of(arrays, "calibration_band")
        return cls(
            space, rule, views, ensemble.calibration * coef, ensemble.calibration * intercept, link,
            ensemble.inverse_temperature,
            CalibrationBand.from_arrays(band, space.n_columns) if band else None,
            None if told.columns is None else told.columns.model_dump(),
        )  # fmt: skip
