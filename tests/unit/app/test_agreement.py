"""Kappa beside scikit-learn's, alpha beside Krippendorff's examples; intervals beside standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from textbayes.app.agreement import alpha, kappa

NAMES = np.array(["relevant", "irrelevant", "unsure"])
TABLES = {
    "good": [[0.2, 0.02, 0.01], [0.03, 0.7, 0.01], [0.01, 0.01, 0.01]],
    "middling": [[0.25, 0.1, 0.0], [0.15, 0.5, 0.0], [0.0, 0.0, 0.0]],
}


def draw(table, n, generator):
    cells = generator.choice(9, size=n, p=np.ravel(table))
    return list(zip(NAMES[cells // 3].tolist(), NAMES[cells % 3].tolist(), strict=True))


def kappa_of(table):
    p = np.asarray(table)
    by_chance = p.sum(axis=0) @ p.sum(axis=1)
    return (np.trace(p) - by_chance) / (1.0 - by_chance)


@pytest.mark.parametrize("name", TABLES)
def test_the_value_is_scikit_learns(name):
    for seed in range(5):
        pairs = draw(TABLES[name], 60, np.random.default_rng(seed))
        assert kappa(pairs).value == pytest.approx(cohen_kappa_score(*map(list, zip(*pairs, strict=True))))


@pytest.mark.parametrize("name", TABLES)
def test_of_many_records_the_interval_is_that_of_the_standard_error(name):
    """Fleiss, Cohen and Everitt (1969), equation 13."""
    n, p = 4_000, np.asarray(TABLES[name])
    pairs = draw(p, n, np.random.default_rng(1))
    q = np.zeros((3, 3))
    for one, other in pairs:
        q[NAMES.tolist().index(one), NAMES.tolist().index(other)] += 1 / n
    rows, columns, found = q.sum(axis=1), q.sum(axis=0), kappa(pairs)
    by_chance, value = rows @ columns, found.value
    same = sum(q[i, i] * (1 - (rows[i] + columns[i]) * (1 - value)) ** 2 for i in range(3))
    other = sum(q[i, j] * (columns[i] + rows[j]) ** 2 for i in range(3) for j in range(3) if i != j)
    rest = (value - by_chance * (1 - value)) ** 2
    error = np.sqrt((same + (1 - value) ** 2 * other - rest) / n) / (1 - by_chance)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n", [20, 80])
def test_the_interval_has_the_true_value_as_often_as_it_says(name, n):
    true, generator, n_rounds = kappa_of(TABLES[name]), np.random.default_rng(7), 200
    found = [one for one in (kappa(draw(TABLES[name], n, generator)) for _ in range(n_rounds)) if one is not None]
    inside = sum(one.low <= true <= one.high for one in found)
    assert inside >= (0.95 - 3 * np.sqrt(0.95 * 0.05 / n_rounds)) * len(found)


def test_all_the_same_answers_are_not_certainty():
    found = kappa([("relevant", "relevant")] * 3 + [("irrelevant", "irrelevant")] * 3)
    assert found.value == 1.0
    assert found.low < 0.8
    assert kappa([("relevant", "relevant")] * 9) is None


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [("0100000010", "1110010000", 0.095), ("aabbdcccedda", "babbbccceddd", 0.692)],
)
def test_alpha_of_single_labels_is_as_krippendorff_prints_it(one, other, value):
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability, sections A and B."""
    pairs = [(frozenset(first), frozenset(second)) for first, second in zip(one, other, strict=True)]
    found = alpha(pairs)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.low < found.value < found.high


def test_alpha_of_sets_is_its_definition():
    """Mean distance within texts over mean distance of all values, each pair counted."""
    rng = np.random.default_rng(0)
    sets = [frozenset(label for label in "abc" if rng.random() < 0.4) for _ in range(40)]
    pairs = list(zip(sets[:20], sets[20:], strict=True))

    def apart(one, other):
        return len(one ^ other) / len(one | other) if one | other else 0.0

    within = np.mean([apart(*pair) for pair in pairs])
    between = np.mean([apart(sets[i], sets[j]) for i in range(40) for j in range(40) if i != j])
    assert alpha(pairs).value == pytest.approx(1.0 - within / between)
    same = frozenset("a")
    assert alpha([(same, same)] * 3) is None


def test_alpha_interval_holds_the_truth():
    """People who copy the truth with probability .8 and else draw at random, 300 times."""
    rng, kinds = np.random.default_rng(1), [frozenset("a"), frozenset("b"), frozenset("ab"), frozenset()]

    def say(truth):
        return kinds[truth if rng.random() < 0.8 else rng.integers(4)]

    def pairs(n):
        return [(say(truth), say(truth)) for truth in rng.integers(4, size=n)]

    true, covered = alpha(pairs(20_000)).value, 0
    for _ in range(300):
        found = alpha(pairs(60))
        covered += found.low <= true <= found.high
    assert 0.91 <= covered / 300 <= 0.99  # 3 standard errors of .95 are .038
