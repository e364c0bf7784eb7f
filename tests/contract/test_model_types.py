"""Every kind of model, for every kind of labels: trained, used, saved, explained, told and taught the same way."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner, Result
from sklearn.base import BaseEstimator, ClassifierMixin

from textbayes import TextCategorizer, WordPriors, load_model, save_model
from textbayes.categorizer.model_types import make_model
from textbayes.cli.main import cli
from textbayes.cli.options import UNTRAINED
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.knowledge import WordPrior
from textbayes.models import model_types
from textbayes.models.base import TextModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TOPICS = {
    "grain": ["wheat", "corn", "harvest", "farm", "straw", "crop"],
    "money": ["bank", "rate", "loan", "credit", "bond", "dollar"],
    "oil": ["crude", "barrel", "opec", "rig", "pump", "fuel"],
}
SHARED = ["report", "week", "chart", "market", "news", "today", "said", "year"]


def draw(seed: int, n_docs: int, several: bool) -> tuple[list[str], list[list[str]]]:
    """Texts of one topic each, or of none to three."""
    rng = np.random.default_rng(seed)
    names, texts, labels = list(TOPICS), [], []
    for i in range(n_docs):
        own = [name for name in names if rng.random() < 0.4] if several else [names[i % 3]]
        words = [*rng.choice(SHARED, 6), *(word for name in own for word in rng.choice(TOPICS[name], 3))]
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    return texts, labels


def task(kind: str, seed: int, n_docs: int = 60) -> tuple[list[str], Any]:
    texts, labels = draw(seed, n_docs, kind == "multilabel")
    if kind == "multilabel":
        return texts, labels
    if kind == "multiclass":
        return texts, [one[0] for one in labels]
    return texts, ["grain" if one[0] == "grain" else "other" for one in labels]


# A quick version of each kind, and of what kinds are made of; every kind must be here.
SPECS = {
    "linear": [
        "linear:prior=gaussian", "linear:prior=laplace,scale=3", "linear:link=probit,prior=gaussian",
        "linear:link=auto,scales=2",
    ],
    "counts": [
        "counts:model=poisson", "counts:model=multinomial", "counts:model=bernoulli", "counts:model=complement",
        "counts:model=negative_binomial", "counts:model=dirichlet_poisson", "counts",
    ],
    "multinomial": ["multinomial", "multinomial:prior=laplace"],
    "online": ["online", "online:covariance=low_rank,rank=4", "online:covariance=full", "online:link=flip"],
    "svm": ["svm", "svm:loss=hinge,C=3"],
    "gp": ["gp:budget=40", "gp:kernel=quadratic,budget=40", "gp:kernel=rbf,budget=40"],
}  # fmt: skip
REFUSING = SPECS["svm"]  # a prior file, updates, intervals
ALL = [spec for specs in SPECS.values() for spec in specs]
KINDS = ["binary", "multiclass", "multilabel"]
# The first of each kind with every kind of labels, the others with one of them in turn. A softmax is of classes that
# exclude each other, which it says (tested below).
TRIED = [
    (spec, kind)
    for name, specs in SPECS.items()
    for i, spec in enumerate(specs)
    for j, kind in enumerate(KINDS[:2] if name == "multinomial" else KINDS)
    if i == 0 or j == i % (2 if name == "multinomial" else 3)
]
RYE = WordPriors([WordPrior("rye", "grain", mean=3.0, scale=0.3)])
POOL = ["linear:prior=gaussian", "counts:model=poisson", "online"]
_FITTED: dict[tuple[str, str], TextCategorizer] = {}


def fitted(model: Any, kind: str) -> TextCategorizer:
    key = str(model), kind
    if key not in _FITTED:
        texts, labels = task(kind, 0)
        _FITTED[key] = TextCategorizer(
            model=model, cv=2, intervals=str(model).startswith(("linear", "multinomial"))
        ).fit(texts, labels)
    return _FITTED[key]


def test_every_kind_is_tried_here():
    trained = {name for name in model_types.names() if model_types.get(name).trains}
    assert set(SPECS) == trained
    assert set(model_types.names()) - trained == set(UNTRAINED)  # what help leaves out
    assert model_types.known_names() == model_types.names()
    assert all(make_model(spec).model_type == name for name, specs in SPECS.items() for spec in specs)


@pytest.mark.parametrize(("spec", "kind"), [*TRIED, *((POOL, kind) for kind in KINDS)], ids=str)
def test_probabilities_and_decisions(spec, kind):
    model = fitted(spec, kind)
    texts, labels = task(kind, 1)
    proba = model.predict_proba(texts)
    assert proba.shape == (len(texts), len(model.classes_))
    assert ((proba >= 0.0) & (proba <= 1.0)).all()
    if kind != "multilabel":
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
    given = model.predict_labels(texts)
    right = [
        set(one) == ({label} if isinstance(label, str) else set(label))
        for one, label in zip(given, labels, strict=True)
    ]
    assert np.mean(right) > (0.6 if kind == "multilabel" else 0.9)  # topics have words of their own
    assert all(isinstance(one, TextModel) for one in model.model_.members)
    assert model.held_out_["n_docs"] == 60
    # Plug-in and averaged probabilities mean the same thing in every kind: one at the centre, one over all of it.
    plug_in = model.model_.proba(model.features(texts), posterior_predictive=False)
    assert plug_in.shape == model.assess(texts).proba.shape


@pytest.mark.parametrize(("spec", "kind"), [*TRIED, *((POOL, kind) for kind in KINDS)], ids=str)
def test_saved_and_loaded_to_the_bit_and_fitted_again(spec, kind, tmp_path):
    model = fitted(spec, kind)
    texts, labels = task(kind, 1)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert str(again.get_params(deep=False)["model"]) == str(model.get_params(deep=False)["model"])
    save_model(again, tmp_path / "n.tb")
    assert (tmp_path / "m.tb").read_bytes() == (tmp_path / "n.tb").read_bytes()
    first, labels = task(kind, 0)
    np.testing.assert_array_equal(again.fit(first, labels).predict_proba(texts), model.predict_proba(texts))


@pytest.mark.parametrize(("spec", "kind"), [*TRIED, *((POOL, kind) for kind in KINDS)], ids=str)
def test_explanations_add_up(spec, kind):
    model = fitted(spec, kind)
    texts, _ = task(kind, 1)
    scores = model.model_.scores(model.features(texts[:6]))
    for i, text in enumerate(texts[:6]):
        told = model.model_.contributions(model.features([text]))
        np.testing.assert_allclose(told.base + told.parts.sum(axis=1), scores[i], rtol=1e-8, atol=1e-8)
        for one in model.explain(text, labels=model.label_space_.class_names):
            assert one.base + sum(part.log_odds for part in one.contributions) == pytest.approx(one.log_odds, abs=1e-8)
            exclusive = kind == "multiclass" and not model.model_.is_softmax
            if 1e-9 < one.probability < 1.0 - 1e-9 and not exclusive:
                # The log-odds of the probability itself, except where classes are normalised one by one.
                assert np.log(one.probability / (1.0 - one.probability)) == pytest.approx(one.log_odds, abs=1e-5)
    best = model.explain("wheat harvest corn", labels=["grain"])[0].contributions[0]
    assert best.word in ("wheat", "harvest", "corn")
    assert best.log_odds > 0.0


@pytest.mark.parametrize(("spec", "kind"), [*TRIED, *((POOL, kind) for kind in KINDS)], ids=str)
def test_words(spec, kind):
    model = fitted(spec, kind)
    found = model.top_words("grain", 60)
    assert {word for word, _ in found[:3]} <= set(TOPICS["grain"])
    assert all(weight > 0.0 for _, weight in found[:3])
    weights = model.model_.word_weights().weights
    assert weights.shape == (model.label_space_.n_columns, len(model.vectorizer_.vocabulary_))
    assert model.weights_description


@pytest.mark.parametrize(("spec", "kind"), TRIED, ids=str)
def test_a_prior_file_tells_of_a_word_that_no_text_has(spec, kind):
    texts, labels = task(kind, 0)
    model = TextCategorizer(model=spec, cv=2, prior=RYE, prior_weight=1.0)
    if spec == "counts:model=complement" or spec in REFUSING:
        with pytest.raises(NotSupportedError, match=r"cannot use prior weights of words|a prior file cannot be used"):
            model.fit(texts, labels)
        return
    model.fit(texts, labels)
    assert "rye" in model.vectorizer_.vocabulary_
    column = model.classes_.tolist().index("grain")
    with_word, without = model.predict_proba(["rye report", "report"])[:, column]
    assert with_word > without
    automatic = TextCategorizer(model=spec, cv=2, prior=RYE).fit(texts, labels)
    assert automatic.prior_advice_[0].label in ("grain", "other")


@pytest.mark.parametrize(("spec", "kind"), [*TRIED, *((POOL, kind) for kind in KINDS)], ids=str)
def test_update(spec, kind):
    model = fitted(spec, kind)
    if spec == POOL or spec in REFUSING:
        with pytest.raises(
            NotSupportedError, match=r"train (it again|again with old and new texts|a new one|one with)"
        ):
            model.update(*task(kind, 2, 30))
        return
    new, labels = task(kind, 2, 30)
    fresh = copy.copy(model)  # the parts are shared: an update replaces what it changes
    kept = {name: array.copy() for name, array in model.to_state()[1].items()}
    before = fresh.predict_proba(new)
    fresh.update(new, labels)
    after = fresh.predict_proba(new)
    assert not np.array_equal(before, after)
    truth = [[label] if isinstance(label, str) else label for label in labels]
    Y = np.array([[name in row for name in fresh.classes_] for row in truth])
    loss = [-np.log(np.clip(np.where(Y, p, 1.0 - p), 1e-12, 1.0)).mean() for p in (before, after)]
    assert loss[1] < loss[0] + 1e-6
    assert fresh.label_counts_.sum() > model.label_counts_.sum()
    np.testing.assert_array_equal(model.predict_proba(new), before)  # the first is as it was
    assert all(np.array_equal(array, kept[name], equal_nan=True) for name, array in model.to_state()[1].items())


@pytest.mark.parametrize("spec", [spec for spec in ALL if spec not in REFUSING], ids=str)
def test_an_update_without_some_classes_keeps_what_is_known_of_them(spec):
    model = TextCategorizer.from_state(*fitted(spec, "multiclass").to_state())
    held, truth = task("multiclass", 5)
    model.update(["corn wheat harvest"], ["grain"])  # one text of one class
    assert np.mean(model.predict(held) == np.array(truth)) > 0.9
    model.update(["corn straw", "bond loan"], ["grain", "money"])  # two classes of three
    assert np.mean(model.predict(held) == np.array(truth)) > 0.9


@pytest.mark.parametrize(("spec", "kind"), [one for one in TRIED if one[0] in SPECS["counts"]], ids=str)
def test_count_models_learn_on_exactly(spec, kind):
    first, labels = task(kind, 0, 40)
    more, later = task(kind, 3, 30)
    fixed = {"vectorizer__vocabulary": sorted({word for text in (*first, *more) for word in text.split()}), "cv": 2}
    fixed |= {"vectorizer__min_df": 1, "vectorizer__stemmer": None}
    both = TextCategorizer(model=spec).set_params(**fixed).fit([*first, *more], [*labels, *later])
    parts = TextCategorizer(model=spec).set_params(**fixed).fit(first, labels).update(more, later)
    new, _ = task(kind, 4)
    np.testing.assert_allclose(parts.predict_proba(new), both.predict_proba(new), rtol=1e-9, atol=1e-12)


def test_a_softmax_says_that_it_is_of_exclusive_classes():
    with pytest.raises(NotSupportedError, match="classes that exclude each other"):
        TextCategorizer(model="multinomial", cv=2).fit(*task("multilabel", 0))


def test_other_labels_or_kinds_of_labels_are_refused():
    model = fitted("online", "multiclass")
    with pytest.raises(InputError, match="label 'gas' is not among the classes"):
        model.update(["wheat"], ["gas"])
    with pytest.raises(InputError, match="labels are multilabel, those of the model multiclass"):
        model.update(["wheat"], [["grain"]])


def test_partial_fit_fits_first_and_learns_on():
    texts, labels = task("multiclass", 0)
    model = TextCategorizer(model="counts:model=poisson", cv=2).partial_fit(texts, labels)
    assert model.partial_fit(["wheat corn"], ["grain"]).label_counts_.sum() == 61


# -- through the command line -----------------------------------------------------------------------------------------
def command(*arguments: Any, code: int = 0) -> Result:
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def write(path: Path, texts: list[str], labels: Any) -> Path:
    rows = [
        {"id": str(i), "text": text, "labels": [label] if isinstance(label, str) else label}
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# Each kind with one kind of labels in turn; a softmax is third, and of classes that exclude each other.
@pytest.mark.parametrize(
    ("spec", "kind"), [(specs[0], KINDS[(i + 2) % 3]) for i, specs in enumerate(SPECS.values())], ids=str
)
def test_the_same_by_commands(spec, kind, tmp_path):
    train, test = (write(tmp_path / f"{seed}.jsonl", *task(kind, seed)) for seed in (0, 1))
    more, model, page = write(tmp_path / "more.jsonl", *task(kind, 2, 20)), tmp_path / "m.tb", tmp_path / "r.html"
    keep = ["--unlabelled", "keep"] if kind == "multilabel" else []
    intervals = [] if spec in REFUSING else ["--intervals"]
    command("train", train, "-o", model, "--model", spec, "--folds", 2, *intervals, *keep)
    expected = TextCategorizer(model=spec, cv=2, intervals=bool(intervals), n_jobs=-1)
    expected.fit(*task(kind, 0))
    texts, _ = task(kind, 1)
    np.testing.assert_array_equal(load_model(model).predict_proba(texts), expected.predict_proba(texts))
    assert json.loads(command("evaluate", model, test, "--json", *keep).stdout)["n_docs"] == 60
    rows = [json.loads(line) for line in command("classify", model, test).stdout.splitlines()]
    assert len(rows) == 60
    assert json.loads(command("explain", model, test, "--label", "grain").stdout.splitlines()[0])["words"]
    assert command("words", model, "--label", "grain", "--csv").stdout.count("\n") > 5
    assert json.loads(command("show", model, "--json").stdout)["settings"]["members"]
    command("report", model, test, "-o", page, *keep)
    assert "<html" in page.read_text(encoding="utf-8")
    saved = [tmp_path / f"{name}.jsonl" for name in ("a", "b")]
    for path in saved:
        command("evaluate", model, test, "--save-decisions", path, *keep)
    command("compare", *saved, "--truth", test)
    if spec in REFUSING:
        assert "cannot be updated" in command("update", model, more, *keep, code=1).stderr
        again = command("train", train, "-o", model, "--model", spec, "--intervals", *keep, code=1).stderr
        assert "no posterior to take intervals from" in again
        return
    told = json.loads(command("update", model, more, "--json", *keep).stdout)
    assert told["documents"] == 20
    assert told["changes"]
    prior = tmp_path / "prior.csv"
    prior.write_text("word,label,mean,scale\nrye,grain,3,0.3\n", encoding="utf-8")
    command("train", train, "-o", model, "--model", spec, "--folds", 2, "--prior", prior, *keep)
    assert "rye" in load_model(model).vectorizer_.vocabulary_


def test_several_models_are_pooled_by_commands_and_linear_options_refused(tmp_path):
    train, model = write(tmp_path / "t.jsonl", *task("multiclass", 0)), tmp_path / "m.tb"
    command("train", train, "-o", model, "--model", "linear", "--model", "counts:model=poisson", "--folds", 2)
    assert len(load_model(model).pool_) == 2
    refused = command("train", train, "-o", model, "--model", "counts", "--family", "laplace", code=2).stderr
    assert "--family is of linear models" in refused
    refused = command("train", train, "-o", model, "--model", "counts:depth=3", code=2).stderr
    assert "has no parameter 'depth'" in refused


# -- a new model type is one class ------------------------------------------------------------------------------------
class MajorityClassifier(TextModel, ClassifierMixin, BaseEstimator):
    """A toy: every text has the log-odds of its labels' shares, times ``strength``; words say nothing."""

    model_type: ClassVar[str] = "majority"

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def fit_features(self, features: Features, indicator: Any, space: LabelSpace, options: Any = None) -> Any:
        share = (indicator.sum(axis=0) + 1.0) / (len(indicator) + 2.0)
        return self.unfitted()._taught(space, self.strength * np.log(share / (1.0 - share)), features.n_features)

    def _taught(self, space: LabelSpace, base: Any, n_features: int) -> Any:
        self.label_space_, self.base_, self.n_features_in_ = space, base, n_features
        return self

    def scores(self, features: Features, posterior_predictive: bool = True) -> Any:
        return np.tile(self.base_, (features.n_docs, 1))

    def contributions(self, document: Features) -> Contributions:
        return Contributions(self.base_, np.zeros(0, dtype=np.int64), np.zeros((len(self.base_), 0)))

    def word_weights(self) -> WordWeights:
        return WordWeights(np.zeros((len(self.base_), self.n_features_in_)), None, "nothing")

    def to_state(self) -> Any:
        return {}, {"base": self.base_}

    @classmethod
    def from_state(cls, meta: Any, arrays: Any, space: LabelSpace, n_features: int) -> Any:
        return cls()._taught(space, arrays["base"], n_features)


@pytest.fixture
def toy():
    model_types.names()  # all others are there
    model_types.register("majority")(MajorityClassifier)
    yield
    del model_types._members["majority"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_toy_kind_is_trained_saved_explained_pooled_and_refuses_in_a_sentence(toy, kind, tmp_path):
    texts, labels = task(kind, 0)
    model = TextCategorizer(model="majority:strength=0.5", cv=2).fit(texts, labels)
    save_model(model, tmp_path / "m.tb")
    again = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert again.explain(texts[0])[0].contributions == []
    assert len(TextCategorizer(model=["majority", "linear"], cv=2).fit(texts, labels).pool_) == 2
    with pytest.raises(NotSupportedError, match="a model of type 'majority' cannot be updated"):
        model.update(texts, labels)
    told = TextCategorizer(model="majority", cv=2, prior=RYE, prior_weight=1.0)
    with pytest.raises(NotSupportedError, match="prior file cannot be used with a model of type 'majority'"):
        told.fit(texts, labels)
