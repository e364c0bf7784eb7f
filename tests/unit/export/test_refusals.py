"""What has no formula is refused in a sentence, and nothing is written."""

from __future__ import annotations

import builtins

import pytest

from textbayes import BayesCountClassifier, TextCategorizer, TextVectorizer
from textbayes.core.errors import InputError, MissingExtraError, NotSupportedError
from textbayes.export import export_scoring
from textbayes.models.counts.families.bernoulli import Bernoulli

TEXTS = ["corn and wheat", "wheat falls", "corn rises", "bank rates", "the bank cuts rates", "loans and rates"] * 4
LABELS = [*"ggg", *"mmm"] * 4


def trained(model: object, **settings: object) -> TextCategorizer:
    return TextCategorizer(TextVectorizer(**settings), model=model, cv=2).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("model", "name", "sentence"),
    [
        ("gp", "m.json", "type 'gp' cannot be exported.*train one of type linear, multinomial or counts"),
        ("online", "m.sql", "type 'online' cannot be exported"),
        ("linear:inference=gibbs,link=probit", "m.json", "averages over draws.*--plug-in"),
        ("linear:link=student_t:df=3", "m.json", "link 'student_t' has no formula.*--link logit or probit"),
        ("linear:link=probit", "m.sql", "SQL has no function for the probit link; export JSON"),
        ("linear:link=probit", "m.onnx", "ONNX has no operator for the probit link.*export JSON"),
        ("counts", "m.onnx", "ONNX has no operator for negative binomials; export JSON"),
        (BayesCountClassifier(Bernoulli(length_correction=True)), "m.json", "length_correction cannot be exported"),
        (["linear:link=probit", "counts:model=multinomial"], "m.json", "ensemble of a model with link 'probit'"),
    ],
)
def test_models_without_a_formula(model, name, sentence, tmp_path):
    with pytest.raises(NotSupportedError, match=sentence):
        export_scoring(trained(model), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_pools_by_label(tmp_path):
    model = TextCategorizer(TextVectorizer(), model=["linear", "counts:model=multinomial"], pool="best", cv=2)
    model.fit(TEXTS, [[label, *["even"] * (i % 2)] for i, label in enumerate(LABELS)])
    with pytest.raises(NotSupportedError, match=r"weights by label.*train one of its models by itself"):
        export_scoring(model, tmp_path / "m.json")


def test_lengths_of_texts_that_are_read_as_characters(tmp_path):
    model = trained("counts:model=poisson", analyzer="char_wb", ngram_range=(2, 3))
    with pytest.raises(NotSupportedError, match="count model of characters"):
        export_scoring(model, tmp_path / "m.json")


def test_rules_that_need_all_texts_at_once(tmp_path):
    model = TextCategorizer(TextVectorizer(), model="linear", rule="expected_f1", cv=2)
    model.fit(TEXTS, [[label] for label in LABELS])
    with pytest.raises(NotSupportedError, match="rule 'expected_f1' has no thresholds for a text by itself"):
        export_scoring(model, tmp_path / "m.json")


@pytest.mark.parametrize("name", ["model", "model.txt", "json"])
def test_names_that_say_nothing(name, tmp_path):
    with pytest.raises(InputError, match=r"end its name in \.json, \.sql, \.onnx"):
        export_scoring(trained("linear"), tmp_path / name)


def test_onnx_that_is_not_installed(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **more):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[onnx\]'"):
        export_scoring(trained("linear"), tmp_path / "m.onnx")


@pytest.mark.parametrize("character", ["\0", "\ud800"])
@pytest.mark.parametrize("where", ["word", "label", "first label"])
def test_characters_that_sql_does_not_have(character, where, tmp_path):
    """JSON has them; a database would end the text there, or be given another one."""
    texts = [text.replace("corn", f"co{character}rn") if where == "word" else text for text in TEXTS]
    odd = {"g": f"g{character}"} if where == "first label" else {"m": f"m{character}"} if where == "label" else {}
    model = TextCategorizer(TextVectorizer(analyzer="char", ngram_range=(2, 3)), model="linear", cv=2)
    model.fit(texts, [odd.get(label, label) for label in LABELS])
    with pytest.raises(NotSupportedError, match=r"SQL cannot write .*a NUL or half a surrogate pair; export JSON"):
        export_scoring(model, tmp_path / "m.sql")
    assert list(tmp_path.iterdir()) == []
    export_scoring(model, tmp_path / "m.json")
