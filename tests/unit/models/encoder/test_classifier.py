"""A fine-tuned encoder as a model type and as a member of an automatic training."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")
pytest.importorskip("transformers", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")

from references.encoders import draw, write_encoder
from textbayes import TextCategorizer, load_model, save_model
from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.executor import using
from textbayes.core.labels import encode_labels
from textbayes.core.protocols import Features
from textbayes.models.base import FitOptions, SamplingCallback
from textbayes.models.encoder import network as networks
from textbayes.models.encoder.classifier import EncoderClassifier
from textbayes.scale.executor import JoblibExecutor
from textbayes.text.tokens import TokenVectorizer

N_TEXTS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def vectorizer(folder):
    return TokenVectorizer(folder).fit([])


def features(vectorizer, texts):
    matrix = vectorizer.transform(texts)
    return Features(matrix, matrix, np.zeros(len(texts)))


KINDS = {
    "binary": lambda labels: labels,
    "multiclass": lambda labels: labels,
    "multilabel": lambda labels: [[label, *(["odd"] if label.endswith("1") else [])] for label in labels],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_labels_is_learnt_kept_and_explained(folder, vectorizer, kind):
    texts, labels = draw(0, N_TEXTS, 2 if kind == "binary" else 3)
    indicator, space = encode_labels(KINDS[kind](labels))
    told = []

    class Watch(SamplingCallback):
        def step(self, what, done, total):
            told.append((what, done, total))

    model = EncoderClassifier(folder, vectorizer.special, networks=2)
    fitted = model.fit_features(features(vectorizer, texts), indicator, space, FitOptions(watch=Watch()))
    assert told[0][0] == "tuning the encoder, all texts"
    assert told[-1][1] == told[-1][2]
    asked, truth = draw(1, 40, 2 if kind == "binary" else 3)
    expected, _ = encode_labels(KINDS[kind](truth), space.classes.tolist())
    new = features(vectorizer, asked)
    scores = fitted.scores(new)
    decided = scores > 0.0 if kind != "multiclass" else scores == scores.max(axis=1, keepdims=True)
    assert (decided == expected).mean() >= 0.9
    one = fitted.contributions(new.rows([0]))
    assert one.base + one.parts.sum(axis=1) == pytest.approx(scores[0], abs=1e-4)
    assert abs(fitted.rounding_) < 0.05
    assert not fitted.known_words().any()
    meta, arrays = fitted.to_state()
    again = EncoderClassifier.from_state(meta, arrays, space, new.n_features)
    assert (again.scores(new) == scores).all()
    assert again.scores(new.rows([])).shape == (0, space.n_columns)
    with pytest.raises(NotSupportedError, match="cannot be updated; train it again"):
        again.update(new, expected)
    name = next(iter(arrays))
    for broken in (arrays[name].astype(np.float64), np.full_like(arrays[name], np.nan)):
        with pytest.raises(ModelFileError, match="no array of finite numbers in half precision"):
            EncoderClassifier.from_state(meta, arrays | {name: broken}, space, new.n_features)


@pytest.mark.slow
def test_of_few_texts_one_way_to_learn_is_kept(folder, tmp_path):
    texts, labels = draw(0, 60)
    model = TextCategorizer(encoder=folder, cv=2, budget="quick").fit(texts, labels, groups=range(60))
    ways = [one["name"] for one in model.choice_["members"] if one["name"].endswith(", tokens")]
    assert len(ways) == 1
    assert model.choice_["encoder"]["outcome"] == "kept"
    assert model.choice_["encoder"]["log_loss"] < model.choice_["encoder"]["log_loss_without"]
    asked, truth = draw(1, 60)
    assert np.mean(model.predict(asked) == truth) >= 0.9
    save_model(model, tmp_path / "m.tb")
    assert (load_model(tmp_path / "m.tb").predict_proba(asked) == model.predict_proba(asked)).all()


NOISE = """
import sys
import numpy as np
from textbayes import TextCategorizer
rng = np.random.default_rng(0)
texts = [" ".join(rng.choice(list("abcdefgh"), 3)) for _ in range(320)]
labels = rng.choice(["no", "yes"], 320)
def fitted(encoder):
    return TextCategorizer(encoder=encoder, cv=2, budget="quick").fit(texts, labels, groups=range(320))
off = fitted("off")
assert "torch" not in sys.modules, "the extra costs no import where it is not used"
tried = fitted(sys.argv[1])
print(tried.choice_["encoder"]["outcome"], (tried.predict_proba(texts) == off.predict_proba(texts)).all())
"""


@pytest.mark.slow
def test_where_it_says_nothing_the_model_is_that_without_it(folder):
    done = subprocess.run([sys.executable, "-c", NOISE, folder], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["left", "out", "True"]


@pytest.mark.slow
def test_an_interrupt_while_it_learns_keeps_the_members_of_words(folder, monkeypatch):
    texts, labels = draw(0, 320)

    def stop(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(networks, "tune", stop)
    model = TextCategorizer(encoder=folder, cv=2, budget="quick").fit(texts, labels, keep_partial=True)
    assert model.choice_["interrupted"]
    assert model.choice_["encoder"]["outcome"] == "left out"
    assert not any("encoder" in one["name"] for one in model.choice_["members"])
    assert len(model.predict(texts)) == 320


def test_it_is_not_sent_to_other_machines(folder):
    texts, labels = draw(0, 40)
    with (
        JoblibExecutor(1) as executor,
        using(executor),
        pytest.raises(NotSupportedError, match="train without a cluster"),
    ):
        TextCategorizer(encoder=folder, cv=2).fit(texts, labels)
