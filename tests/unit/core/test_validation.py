"""Settings of the wrong type are refused in a sentence, whichever rule, prior or estimator is given them."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from textbayes import BayesLinearClassifier, TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.validation import as_numbers, is_number
from textbayes.decide import make_rule, rules
from textbayes.priors import priors

PROBA = np.linspace(0.05, 0.95, 60).reshape(20, 3)
TRUTH = np.array([0.3, 0.5, 0.7]) < PROBA
TEXTS, LABELS = ["corn wheat", "corn maize", "bank loan", "bank rate"] * 5, ["grain", "grain", "money", "money"] * 5


def parameters(factory: type) -> list[str]:
    """Names of parameters, as far as a class has an __init__ of its own."""
    if factory.__init__ is object.__init__:
        return []
    return [name for name, p in inspect.signature(factory).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]


RULES = [(name, parameter) for name in rules.names() for parameter in parameters(type(make_rule(name)))]
PRIORS = [(name, parameter) for name in priors.names() for parameter in parameters(priors.get(name))]


@pytest.mark.parametrize(("value", "shape"), [(3, ()), ("3", ()), ([1, 2.5], (2,)), (np.ones((2, 3), int), (2, 3))])
def test_numbers_become_float_arrays(value, shape):
    found = as_numbers(value, "scale")
    assert found.shape == shape
    assert found.dtype == np.float64


@pytest.mark.parametrize("value", ["x", ["a", "b"], {"a": 1}, [[1], [1, 2]], object()])
def test_what_is_no_number_is_named(value):
    with pytest.raises(InputError, match=r"^scale=.* is not usable; pass a number or an array of numbers"):
        as_numbers(value, "scale")


def test_one_number():
    assert all(map(is_number, (1, 0.5, np.float32(1), np.int64(1), Fraction(1, 2))))
    assert not any(map(is_number, ("1", None, [1.0], np.ones(1), 1j, Decimal("0.5"))))


@pytest.mark.parametrize("value", ["x", {"a": 1}, [[1.0, 2.0], [3.0]]])
@pytest.mark.parametrize(("name", "parameter"), RULES)
def test_rules_refuse_parameters_of_the_wrong_type(name, parameter, value):
    with pytest.raises(InputError, match=parameter):
        type(make_rule(name))(**{parameter: value}).fit(PROBA, TRUTH)


@pytest.mark.parametrize("value", ["x", {"a": 1}])
@pytest.mark.parametrize(("name", "parameter"), PRIORS)
def test_priors_refuse_parameters_of_the_wrong_type(name, parameter, value):
    with pytest.raises(InputError):
        priors.get(name)(**{parameter: value})


@pytest.mark.parametrize("parameter", ["scale", "mean", "sign", "intercept_scale"])
def test_the_classifier_refuses_settings_of_the_wrong_type(parameter):
    with pytest.raises(InputError, match=r"='x' is not usable; pass a number"):
        BayesLinearClassifier(**{parameter: "x"}).fit(PROBA, LABELS)


@pytest.mark.parametrize(
    ("parameter", "value"), [("weighting", 3), ("random_state", "x"), ("random_state", -1), ("vectorizer", 3)]
)
def test_the_categorizer_refuses_settings_of_the_wrong_type(parameter, value):
    with pytest.raises(InputError, match=parameter):
        TextCategorizer(**{parameter: value}).fit(TEXTS, LABELS)
