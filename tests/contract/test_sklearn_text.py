"""scikit-learn's estimator checks for estimators that take texts.

``parametrize_with_checks`` leaves out every check for an estimator that takes no numbers, so those that need no data
are named here; the others feed arrays of numbers, which an estimator of texts refuses. What they look at is tested
with texts in tests/unit (test_categorizer.py, text/test_vectorize.py, text/test_hashing.py). TermWeighting, which takes
numbers, runs all checks in text/test_weight.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks, get_tags

from textbayes import HashingTextVectorizer, TextCategorizer, TextVectorizer

ESTIMATORS = [TextVectorizer(), HashingTextVectorizer(), TextCategorizer()]
WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", WITHOUT_DATA)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learn_estimator_checks(estimator: Any, name: str) -> None:
    # Not all releases have every check; those that a release has must pass.
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_tags_say_that_the_input_is_text(estimator: Any) -> None:
    tags = get_tags(estimator)
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.requires_fit == (not isinstance(estimator, HashingTextVectorizer))
