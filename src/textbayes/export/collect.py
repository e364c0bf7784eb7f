"""From a trained model to the numbers of its scoring, and to a file of them by the ending of its name.

What has no such numbers is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.ensemble import Ensemble
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray, IntArray
from textbayes.decide.fixed import TopLabel
from textbayes.export.as_json import to_json
from textbayes.export.as_onnx import to_onnx
from textbayes.export.as_sql import to_sql
from textbayes.export.scoring import NO_WORD, DispersedBlock, Hints, Scoring, TermBlock, TermWeight, TextReading
from textbayes.models.base import TextModel
from textbayes.models.counts.classifier import BayesCountClassifier
from textbayes.models.linear.model import LinearModel
from textbayes.models.multinomial import BayesMultinomialClassifier
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.batches import LONGEST_HEAD
from textbayes.text.tokenize import PATTERN_NAMES, SCRIPTS, token_expression
from textbayes.text.views import TextViews

_LINKS = ("logit", "probit")


def scoring_of(model: TextCategorizer) -> Scoring:
    """All that the probabilities and decisions of a trained model are made of.

    Parameters
    ----------
    model : fitted TextCategorizer
        Of a linear, multinomial or count type, or an ensemble of these.
    """
    check_is_fitted(model, "model_")
    views, space = read_views(model), model.label_space_
    ensemble: Ensemble = model.model_
    scoring, linear = Scoring(space), ensemble.linear
    if ensemble.recalibration is not None:
        raise NotSupportedError(
            f"the probabilities are mapped by {ensemble.recalibration.method} calibration, which other programs do not "
            "know; train without --calibrate-by"
        )
    if ensemble.label_tree is not None:
        raise NotSupportedError(
            "the labels agree with a label tree, which other programs do not know; train without --label-tree"
        )
    for part in ensemble.parts:
        own = part.model
        if linear is None and isinstance(own, LinearModel) and own.link_.name != "logit":
            raise NotSupportedError(
                f"an ensemble of a model with link {own.link_.name!r} and others cannot be exported; train the linear "
                "model by itself, or with --link logit"
            )
        if part.columns is not None or len(set(part.weight)) > 1:
            raise NotSupportedError(
                "an ensemble of other than linear models with weights by label, or words of their own, cannot be "
                "exported; train one of its models by itself, such as --model linear"
            )
        _add(scoring, views, own, ensemble.calibration * float(part.weight[0]), model.posterior_predictive)
    if space.kind == "multiclass":
        scoring.normalise = "softmax" if ensemble.is_softmax else "own"
    if linear is not None:
        if linear.link_.name not in _LINKS:
            raise NotSupportedError(
                f"link {linear.link_.name!r} has no formula that other programs know; train with --link logit or probit"
            )
        scoring.link, scoring.sharpness = linear.link_.name, ensemble.inverse_temperature
    if ensemble.label_stacking is not None:
        scoring.hints = Hints(*ensemble.label_stacking)
    _add_rule(scoring, model)
    return scoring


def _add(scoring: Scoring, views: list[ReadView], fitted: TextModel, factor: float, posterior_predictive: bool) -> None:
    """Add a model's scores, times a factor."""
    if getattr(fitted, "draws_", None) is not None and posterior_predictive:
        raise NotSupportedError(
            "the model's probabilities are averages over draws, which no formula gives; train it with --plug-in "
            "(posterior_predictive=False), or with another inference than gibbs"
        )
    if isinstance(fitted, BayesCountClassifier):
        add_counts(scoring, views, fitted, factor)
    elif isinstance(fitted, BayesMultinomialClassifier):
        if fitted.link != "logit":
            raise NotSupportedError(
                f"a multinomial model with link {fitted.link!r} has no formula; train it with link=logit"
            )
        both = fitted.is_softmax
        coef = fitted.coef_ if both else fitted.coef_[1:] - fitted.coef_[:1]
        intercept = fitted.intercept_ if both else fitted.intercept_[1:] - fitted.intercept_[:1]
        _add_weights(scoring, views, factor * coef, factor * intercept)
    elif isinstance(fitted, LinearModel):
        _add_weights(scoring, views, factor * fitted.coef_, factor * fitted.intercept_)
    else:
        raise NotSupportedError(
            f"a model of type {fitted.model_type!r} cannot be exported, as its scores are not sums over words; train "
            "one of type linear, multinomial or counts"
        )


def _add_weights(scoring: Scoring, views: list[ReadView], coef: FloatArray, intercept: FloatArray) -> None:
    scoring.intercept += intercept
    for view in views:
        terms = view.vectorizer.get_feature_names_out().tolist()
        weights = view.factor * coef[:, view.start : view.start + len(terms)]
        cosine, idf = view.weighting.norm == "cosine", view.weighting.idf_
        scoring.blocks.append(TermBlock(view.name, view.reading, view.tf, cosine, terms, idf, weights))


def _add_rule(scoring: Scoring, model: TextCategorizer) -> None:
    rule, n_columns = model.rule_, scoring.space.n_columns
    if isinstance(rule, TopLabel):
        scoring.least = rule.min_probability or 0.0
        return
    thresholds = [rule.threshold_of(column) for column in range(n_columns)]
    found = [one for one in thresholds if one is not None]
    if len(found) < n_columns:
        raise NotSupportedError(
            f"rule {rule.name!r} has no thresholds for a text by itself; train with another, such as --rule pcut"
        )
    scoring.thresholds = found


_DISPERSED = ("negative_binomial", "dirichlet_negative_binomial")


def add_counts(scoring: Scoring, views: list[ReadView], fitted: BayesCountClassifier, factor: float) -> None:
    """Add the scores of count models, times a factor.

    Parameters
    ----------
    scoring : Scoring
        It is added to.
    views : list of ReadView
        Of which there must be one.
    fitted : BayesCountClassifier
    factor : float
    """
    if fitted.words_ is not None:
        raise NotSupportedError(
            "a count model of chosen words (select) cannot be exported; train it without --select, or a linear model"
        )
    [view] = views
    scoring.length = all_words(view.vectorizer)
    terms = view.vectorizer.get_feature_names_out().tolist()
    names = {_checked_count_model(one, view) for one in fitted.classifiers}
    rows = []
    weights = np.zeros((scoring.space.n_columns, len(terms)))
    for column, one, c, sign in _count_classes(fitted):
        rows.append((column, factor * sign))
        scoring.intercept[column] += factor * sign * one.class_log_prior_[c]
        if not names <= set(_DISPERSED):
            own, per_thousand, with_words = _linear_counts(one, c)
            weights[column] += factor * sign * own
            scoring.per_thousand[column] += factor * sign * per_thousand
            scoring.with_words[column] += factor * sign * with_words
    if names <= set(_DISPERSED):
        rates, deltas = (
            np.concatenate([getattr(one.estimate_, name) for one in fitted.classifiers]) for name in ("rates", "deltas")
        )
        scoring.dispersed.append(DispersedBlock(view.name, view.reading, terms, rates, deltas, rows))
        return
    tf: TermWeight = "binary" if "bernoulli" in names or view.vectorizer.binary else "raw"
    scoring.blocks.append(TermBlock(view.name, view.reading, tf, False, terms, np.ones(len(terms)), weights))


def _count_classes(fitted: BayesCountClassifier) -> Iterator[tuple[int, BayesCountClassifier, int, float]]:
    """Column, classifier, number of the class in it, and sign: of two classes the second less the first."""
    for number, one in enumerate(fitted.classifiers):
        for c in range(len(one.classes_)):
            yield (c, one, c, 1.0) if fitted.is_softmax else (number, one, c, 2.0 * c - 1.0)


def _linear_counts(one: BayesCountClassifier, c: int) -> tuple[FloatArray, float, float]:
    """Weights of a class's words, what a thousand words add, and what having any does."""
    estimate: Any = one.estimate_
    if one.model_.name == "multinomial":
        return estimate.log_shares[c] * estimate.weights, 0.0, 0.0
    if one.model_.name == "complement":
        return estimate.weights[c], 0.0, 0.0
    if one.model_.name == "bernoulli":
        log_no = np.log1p(-estimate.values[c]) * estimate.weights
        return np.log(estimate.values[c]) * estimate.weights - log_no, 0.0, float(log_no.sum())
    return np.log(estimate.rates[c]), -float(estimate.rates[c].sum()), 0.0  # Poisson, with or without a hierarchy


def _checked_count_model(one: BayesCountClassifier, view: ReadView) -> str:
    """The name of a count model that can be exported."""
    model: Any = one.model_
    name = str(model.name)
    if getattr(model, "sampling", None) is not None and model.sampling.integrate:
        raise NotSupportedError(
            "a count model whose probabilities are averages over draws (prediction='integrated') has no formula; train "
            "it with prediction='mode'"
        )
    if name == "bernoulli" and model.length_correction:
        raise NotSupportedError(
            "the bernoulli model with length_correction cannot be exported; train it without, or counts:model=poisson"
        )
    if name in _DISPERSED and view.vectorizer.binary:
        raise NotSupportedError(f"the {name} model needs counts, but words count once (binary); train it with counts")
    return name


_TERM_WEIGHTS: dict[str, TermWeight] = {"raw": "raw", "binary": "binary", "ltc": "log2"}


class ReadView(NamedTuple):
    """One view of a model: how it reads texts, its terms, and how it weighs them; columns begin at ``start``."""

    name: str
    reading: TextReading
    vectorizer: TextVectorizer
    weighting: TermWeighting
    factor: float
    start: int

    @property
    def tf(self) -> TermWeight:
        """What becomes of a count; one where only presence was counted."""
        return "binary" if self.vectorizer.binary else _TERM_WEIGHTS.get(self.weighting.scheme, "log")


def read_views(model: TextCategorizer) -> list[ReadView]:
    """The views of a model, one where it has a single vectorizer; hashed words are refused.

    Parameters
    ----------
    model : fitted TextCategorizer
    """
    vectorizer, weighting = model.vectorizer_, model.weighting_
    if isinstance(vectorizer, TextViews):
        if not all(isinstance(one, TextVectorizer) for one in vectorizer.vectorizers_):
            raise NotSupportedError(
                "a model that reads sentence vectors, or has an encoder, cannot be exported, as these come of a neural "
                "network; train it with --embeddings off and --encoder off"
            )
        parts = zip(vectorizer.views, vectorizer.vectorizers_, weighting.weightings_, vectorizer.bounds_, strict=False)
        return [
            ReadView(view.name, reading_of(one, view.part == "head"), one, weigh, view.factor, int(start))
            for view, one, weigh, start in parts
        ]
    if not isinstance(vectorizer, TextVectorizer):
        raise NotSupportedError(
            f"a model whose words are hashed ({type(vectorizer).__name__}) cannot be exported, as it does not know "
            "them; train it with a vocabulary (TextVectorizer)"
        )
    return [ReadView("words", reading_of(vectorizer), vectorizer, weighting, 1.0, 0)]


def reading_of(vectorizer: TextVectorizer, head: bool = False) -> TextReading:
    """How a fitted vectorizer cuts texts.

    Parameters
    ----------
    vectorizer : TextVectorizer
    head : bool
        Whether it is shown first lines only.
    """
    low, high = vectorizer.ngram_range
    base = TextReading(
        head=LONGEST_HEAD if head else None, tidy=False, replace=(), lowercase=bool(vectorizer.lowercase), runs=(),
        token=NO_WORD,
    )  # fmt: skip
    if vectorizer.analyzer == "char":
        return replace(base, replace=((r"\s\s+", " "),), runs=(("(?s:.)", "", low, high),))
    if vectorizer.analyzer == "char_wb":
        return replace(base, runs=((r"\S", " ", low, high),))
    named = vectorizer.token_pattern in PATTERN_NAMES
    runs = tuple((f"[{script.characters}]", "", low, high + script.more) for script in SCRIPTS)
    return replace(
        base,
        tidy=named,
        replace=(("’", "'"),) if named else (),
        runs=runs if vectorizer.analyzer == "mixed" else (),
        token=token_expression(vectorizer.token_pattern),
        stop_words=tuple(vectorizer.stop_words_),
        stemmer=vectorizer.stemmer,
        ngrams=(low, high),
    )


def all_words(vectorizer: TextVectorizer) -> TextReading:
    """The terms that make up the length of a text: every word, and every character of a script without spaces.

    Parameters
    ----------
    vectorizer : TextVectorizer
        One that counts words; lengths of texts that are read as characters are refused.
    """
    if vectorizer.analyzer not in ("word", "mixed"):
        raise NotSupportedError(
            f"a count model of characters (analyzer={vectorizer.analyzer!r}) cannot be exported, as its texts have "
            "lengths in words; train it on words, or train a linear model"
        )
    reading = reading_of(vectorizer)
    runs = tuple((unit, edge, 1, 1) for unit, edge, _, _ in reading.runs)
    return replace(reading, runs=runs, stop_words=(), stemmer=None, ngrams=(1, 1))


_WRITERS: dict[str, Callable[[Scoring], Iterable[str | bytes]]] = {"json": to_json, "sql": to_sql, "onnx": to_onnx}
FORMATS = tuple(_WRITERS)


def reference_scorer() -> Path:
    """The file of the reference scorer of JSON, which needs Python's standard library alone and may be copied."""
    return Path(__file__).with_name("score.py")


def export_scoring(model: TextCategorizer, path: str | Path) -> None:
    """Write the scoring of a trained model for programs other than textbayes, whole or not at all.

    Its probabilities are those of ``predict_proba``: to 1e-9 in JSON and SQL, to 1e-5 in ONNX, which counts in single
    precision. What has no such form is refused.

    Parameters
    ----------
    model : fitted TextCategorizer
        Of type linear, multinomial or counts, an ensemble of these, or an automatic training.
    path : str or Path
        Ends in ``.json``, ``.sql`` or ``.onnx``, which says what is written.

    Examples
    --------
    >>> import tempfile
    >>> from textbayes import TextCategorizer
    >>> model = TextCategorizer().fit(["corn harvest", "wheat falls", "bank rates", "bank loans"] * 5, list("ggmm") * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_scoring(model, Path(folder, "model.json"))
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['model.json']
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in _WRITERS:
        endings = ", ".join(f".{one}" for one in FORMATS)
        raise InputError(f"{path} does not say what to write; end its name in {endings}")
    parts = _WRITERS[ending](scoring_of(model))
    with atomic_write(path) as stream:
        for part in parts:
            stream.write(part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace"))


class TermCounts(NamedTuple):
    """Counts of the terms of texts, by view.

    Attributes
    ----------
    counts : dict of str to CSR matrix (n_texts, n_terms)
    terms : dict of str to list of str
        The terms by column.
    words : array (n_texts,)
        Number of words of each text, those that the model does not know too; 0 where it does not ask.
    """

    counts: dict[str, sparse.csr_matrix]
    terms: dict[str, list[str]]
    words: IntArray

    def rows(self) -> Iterator[tuple[int, str, str, int]]:
        """Rows (number of the text, view, term, count), as the table ``textbayes_counts`` of an SQL script has them."""
        for view, counts in self.counts.items():
            entries = counts.tocoo()
            for doc, column, n in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
                yield doc, view, self.terms[view][column], n


def count_terms(model: TextCategorizer, texts: Iterable[str]) -> TermCounts:
    """Count the terms of texts as a model reads them: the input of its SQL and ONNX forms.

    Parameters
    ----------
    model : fitted TextCategorizer
    texts : iterable of str

    Examples
    --------
    >>> from textbayes import TextCategorizer, TextVectorizer
    >>> model = TextCategorizer(TextVectorizer(), model="linear").fit(["corn falls", "rates rise"] * 5, ["c", "r"] * 5)
    >>> list(count_terms(model, ["corn and corn"]).rows())
    [(0, 'words', 'corn', 2)]
    """
    features = model.features(texts)
    counts, terms = {}, {}
    for view in read_views(model):
        terms[view.name] = view.vectorizer.get_feature_names_out().tolist()
        counts[view.name] = features.counts[:, view.start : view.start + len(terms[view.name])]
    words = np.rint(1000.0 * features.lengths).astype(np.int64) * model.model_.uses_lengths
    return TermCounts(counts, terms, words)
