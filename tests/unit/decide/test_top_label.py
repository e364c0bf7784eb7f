"""One label per document, or none below a level."""

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.decide import TopLabel


def test_exactly_one_label_and_the_first_of_equals():
    proba = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    assert TopLabel().decide(proba).tolist() == [[False, True, False], [True, False, False]]


def test_leaves_out_documents_below_the_level():
    decisions = TopLabel(min_probability=0.5).decide([[0.5, 0.3, 0.2], [0.49, 0.31, 0.2]])
    assert decisions.any(axis=1).tolist() == [True, False]


def test_needs_labels_to_choose_among():
    with pytest.raises(InputError, match="one column; use rule 'fixed'"):
        TopLabel().decide([0.5, 0.7])
    with pytest.raises(InputError, match="min_probability"):
        TopLabel(2.0).decide([[0.5, 0.5]])
