"""Words that are chosen for count models, and how many of them: by texts that the choice has not seen."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from textbayes import TextCategorizer, load_model, save_model
from textbayes.categorizer.member_scores import setting_of, with_top_k
from textbayes.categorizer.model_types import make_model
from textbayes.categorizer.plan import Plan
from textbayes.categorizer.prepare import named_plan, prepare
from textbayes.categorizer.train import TrainingData
from textbayes.cli.main import cli
from textbayes.core.errors import InputError
from textbayes.core.labels import encode_labels
from textbayes.core.progress import silent
from textbayes.models.counts import BayesCountClassifier
from textbayes.select import scores, select_per_label
from textbayes.text import TextVectorizer
from textbayes.text.copies import Copies

TOPICS = {"grain": ["wheat", "corn", "crop"], "money": ["bank", "loan", "bond"], "oil": ["crude", "opec", "rig"]}


def draw(kind: str, n_docs: int = 60, n_noise: int = 40, seed: int = 0):
    """Two words of each topic of a text among ten of a large number that say nothing."""
    rng = np.random.default_rng(seed)
    names, noise = list(TOPICS), [f"{a}{b}" for a in "bcdfghjk" for b in ("alo", "ene", "iri", "omo", "utu")][:n_noise]
    texts, labels = [], []
    for i in range(n_docs):
        own = [name for name in names if rng.random() < 0.4] if kind == "multilabel" else [names[i % 3]]
        words = [*rng.choice(noise, 10), *(word for name in own for word in rng.choice(TOPICS[name], 2))]
        texts.append(" ".join(words))
        labels.append(own if kind == "multilabel" else own[0] if kind == "multiclass" else own[0] == "oil")
    return texts, labels


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("score", ["delta2", "information_gain"])
def test_a_count_model_of_chosen_words_is_that_of_their_columns(kind, score, tmp_path):
    texts, labels = draw(kind)
    vectorizer = TextVectorizer(min_df=1)
    trained = TextCategorizer(vectorizer, model="counts:model=poisson", select=score, select_k=3, cv=3)
    trained.fit(texts, labels)
    X, lengths = trained.vectorizer_.transform(texts), trained.vectorizer_.document_lengths(texts)
    Y, _ = encode_labels(labels)
    given = {"lengths": lengths} if score == "delta2" else {}
    words = select_per_label(scores.get(score)(X, Y, **given), k=3)
    new, _ = draw(kind, 20, seed=1)
    X_new, new_lengths = trained.vectorizer_.transform(new), trained.vectorizer_.document_lengths(new)
    proba = trained.model_.members[0].scores(trained.features(new))
    for number in range(Y.shape[1] if kind == "multilabel" else 1):
        columns = np.flatnonzero(words.any(axis=0) if kind == "multiclass" else words[number])
        one = BayesCountClassifier("poisson")
        target = Y.argmax(axis=1) if kind == "multiclass" else Y[:, number].astype(int)
        one.fit(X[:, columns], target, lengths=lengths)
        found = one.predict_joint_log_proba(X_new[:, columns], new_lengths)
        expected = found if kind == "multiclass" else (found[:, 1] - found[:, 0])[:, None]
        own = proba if kind == "multiclass" else proba[:, [number]]
        np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9)
    used = words.any(axis=0)
    np.testing.assert_array_equal(trained.words_with_weight(), used)
    explained = trained.model_.members[0].contributions(trained.features(new[:1]))
    np.testing.assert_allclose(explained.base + explained.parts.sum(axis=1), proba[0], rtol=1e-9, atol=1e-9)
    assert not explained.parts[:, ~used[explained.columns]].any()
    save_model(trained, tmp_path / "m.tb")
    loaded = load_model(tmp_path / "m.tb")
    np.testing.assert_array_equal(loaded.predict_proba(new), trained.predict_proba(new))
    both = [one.model_.members[0].update(one.features(new), Y[:20]) for one in (trained, loaded)]
    np.testing.assert_array_equal(*(one.scores(trained.features(texts)) for one in both))


def setting(labels, texts):
    model = TextCategorizer(
        TextVectorizer(min_df=1), model="counts:model=poisson", select="information_gain", select_k="cv", cv=3
    )
    Y, space = encode_labels(labels)
    ready = prepare(model, TrainingData(texts, Y, space, None, None, Copies(np.arange(len(texts)), 0, 0)), silent)
    assert isinstance(named_plan(model, space), Plan)
    return setting_of(ready.plan, ready.target), ready.source


def test_the_number_of_words_is_that_of_the_least_loss_among_texts_learnt_from():
    """Labels of texts outside cannot change it, and where few words say all, few are taken."""
    texts, labels = draw("multiclass", 90)
    rows = np.arange(90) < 60
    other = [label if row else "oil" for label, row in zip(labels, rows, strict=True)]
    found = []
    for one in (labels, other):
        at, source = setting(one, texts)
        found.append(with_top_k(at, source, at.plan.members, rows).target.settings.select_k)
    assert found[0] == found[1]
    assert found[0] == 10  # of 49: three words of a topic, and the least number tried
    all_noise = setting(list(np.random.default_rng(3).permutation(labels)), texts)
    assert with_top_k(*all_noise, all_noise[0].plan.members, rows).target.settings.select_k in (
        10,
        30,
        all_noise[1].n_words,
    )


def test_a_label_without_a_chosen_word_is_named():
    texts, labels = draw("multilabel")
    model = TextCategorizer(model="counts", select="delta2", select_threshold=1e6, cv=2)
    with pytest.raises(InputError, match="no word is chosen for label 'grain'"):
        model.fit(texts, labels)
    with pytest.raises(InputError, match="select_k='all' is not usable"):
        TextCategorizer(model="counts", select="delta2", select_k="all").fit(texts, labels)


def test_settings_of_a_count_model_are_given_beside_those_of_the_classifier():
    made = make_model("counts:model=multinomial,weighting=tfidf,length_correction=true,class_prior=uniform")
    assert (made.model.weighting, made.model.length_correction, made.class_prior) == ("tfidf", True, "uniform")
    made = make_model("counts:beta=[2,1,500,4,1.5],dispersion_scale=length")
    assert made.model.dispersion_scale == "length"
    assert made.check_settings() is None
    with pytest.raises(InputError, match=r"no parameter 'dispersion_scale'; it has: model, .*, rate_means"):
        make_model("counts:model=poisson,dispersion_scale=2")


def test_the_papers_pipeline_from_the_command_line(tmp_path):
    texts, labels = draw("multiclass")
    rows = "\n".join(f"{text},{label}" for text, label in zip(texts, labels, strict=True))
    (tmp_path / "texts.csv").write_text(f"text,label\n{rows}\n")
    given = ["--model", "counts:model=poisson", "--select", "delta2", "--top-k", "cv", "--min-df", "1", "--folds", "2"]
    result = CliRunner().invoke(cli, ["train", str(tmp_path / "texts.csv"), "-o", str(tmp_path / "m.tb"), *given])
    assert result.exit_code == 0, result.output
    model = load_model(tmp_path / "m.tb")
    assert model.select_k == "cv"
    assert model.words_with_weight().sum() <= 30
    wrong = CliRunner().invoke(cli, ["train", "x.csv", "-o", "m.tb", "--select", "delta2", "--top-k", "many"])
    assert wrong.exit_code == 2
