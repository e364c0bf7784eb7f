"""The driver of cross-validation: order, workers, progress, checkpoints, interruption; results as of a plain loop."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from textbayes.core.cross_validation import Folds, out_of_fold, over_folds
from textbayes.core.errors import InputError
from textbayes.core.executor import as_worker, spread, using
from textbayes.core.folds import stratified_folds
from textbayes.scale import make_executor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, 3))
Y = RNG.random((23, 2)) < 0.4
FOLDS = Folds.stratified(Y, 4)


def scores(scale, k, X, folds):
    """Something that depends on the training documents, the test documents and the task, (2, n_test, 3)."""
    train, test = folds.split(k)
    return scale * np.stack([X[test] - X[train].mean(axis=0), X[test] * X[train].std(axis=0)])


def by_plain_loop(scale, folds):
    found = np.full((2, len(X), 3), np.nan)
    for k in range(folds.n):
        test = folds.number == k
        found[:, test] = scores(scale, k, X, folds)
    return found[:, folds.held_out]


class Memory:
    """A checkpoint that stores results by name."""

    def __init__(self, results=()):
        self.results, self.finished = dict(results), []

    def recall(self, fold):
        return self.results.get(fold)

    def finish(self, fold, result):
        self.results[fold] = result
        self.finished.append(fold)


def test_folds_are_those_of_stratified_folds():
    np.testing.assert_array_equal(FOLDS.number, stratified_folds(Y, 4, 0))
    assert (FOLDS.n, FOLDS.n_cut) == (4, 4)
    assert FOLDS.held_out.all()
    train, test = FOLDS.split(2)
    np.testing.assert_array_equal(test, FOLDS.number == 2)
    np.testing.assert_array_equal(train, ~test)


def test_there_are_no_more_folds_than_documents_groups_or_different_texts():
    assert Folds.stratified(Y[:3], 20).n == 3
    assert Folds.stratified(Y, 5, groups=np.arange(23) % 3).n == 3
    assert Folds.stratified(Y, 5, copies=np.arange(23) % 3).n == 3


def test_some_folds_may_be_held_out_and_the_others_only_trained_on():
    folds = Folds.stratified(Y, 4, n_held_out=2)
    assert (folds.n, folds.n_cut) == (2, 4)
    np.testing.assert_array_equal(folds.number, np.where(FOLDS.number < 2, FOLDS.number, -1))
    train, test = folds.split(1)
    assert train[FOLDS.number >= 2].all()
    assert not train[test].any()
    np.testing.assert_array_equal(FOLDS.holding_out(2).number, folds.number)


def test_a_number_of_folds_leaves_out_documents_that_do_not_count():
    counted = np.arange(23) % 5 > 0
    folds = Folds.of(4, Y, 3, counted=counted)
    np.testing.assert_array_equal(folds.held_out, counted)
    np.testing.assert_array_equal(folds.number[counted], stratified_folds(Y[counted], 4, 3))


def test_documents_of_one_group_share_a_fold():
    groups, counted = np.arange(23) % 8, np.arange(23) % 7 > 0
    folds = Folds.of(5, Y, 0, groups, counted)
    np.testing.assert_array_equal(folds.held_out, counted)
    for k in range(5):
        train, test = folds.split(k)
        assert test.any()
        assert not set(groups[train & counted]) & set(groups[test])


def test_folds_are_passed_on():
    assert Folds.of(FOLDS, Y) is FOLDS


@pytest.mark.parametrize(("share", "held_out"), [(0.25, 25), (0.33, 34), (0.3, 30), (0.001, 5), (0.999, 95)])
def test_a_share_is_a_validation_set_with_its_part_of_every_label(share, held_out):
    indicator = np.arange(100)[:, None] % np.array([2, 10]) == 0
    folds = Folds.of(share, indicator, 1)
    assert folds.n == 1
    train, test = folds.split(0)
    assert abs(test.sum() - held_out) <= 1
    assert (train == ~test).all()
    for label in (0, 1):
        assert abs(indicator[test, label].sum() - held_out / 100 * indicator[:, label].sum()) <= 1
    groups = np.arange(100) // 4
    grouped = Folds.of(share, indicator, 1, groups).split(0)[1]
    assert all(len(set(grouped[groups == group])) == 1 for group in range(25))
    counted = np.arange(100) >= 40
    assert not Folds.of(share, indicator, 1, counted=counted).split(0)[1][:40].any()
    copies = np.where(np.arange(100) % 2, np.arange(100) - 1, np.arange(100))
    together = Folds.stratified(indicator, share, 1, copies=copies).held_out
    assert (together[::2] == together[1::2]).all()


def test_fold_numbers_may_have_gaps():
    number = np.arange(23) % 3 * 2 - 2  # −2, 0, 2
    folds = Folds.of(number, Y)
    np.testing.assert_array_equal(folds.number, np.arange(23) % 3 - 1)
    assert folds.n == 2


@pytest.mark.parametrize(
    "cv", [KFold(4), KFold(3, shuffle=True, random_state=0), ShuffleSplit(1, test_size=0.3, random_state=0)]
)
def test_a_splitter_makes_the_folds(cv):
    folds = Folds.of(cv, Y)
    for k, (train, test) in enumerate(cv.split(X)):
        for mask, rows in zip(folds.split(k), (train, test), strict=True):
            np.testing.assert_array_equal(np.flatnonzero(mask), np.sort(rows))


def test_training_parts_need_not_be_all_other_documents():
    pairs = list(TimeSeriesSplit(3).split(X))
    folds = Folds.of(pairs, Y)
    for k, (train, test) in enumerate(pairs):
        np.testing.assert_array_equal(np.flatnonzero(folds.split(k)[0]), train)
        np.testing.assert_array_equal(np.flatnonzero(folds.split(k)[1]), test)


def test_a_splitter_is_given_groups_documents_and_target():
    groups = ["a", "b", "c"] * 7 + ["a", "b"]
    number = Folds.of(GroupKFold(3), Y, groups=groups).number
    assert len(set(zip(groups, number.tolist(), strict=True))) == len(set(number)) == 3

    class Asked(KFold):
        def split(self, X, y=None, groups=None):
            self.X, self.y = X, y
            return super().split(X, y, groups)

    asked = Asked(3)
    Folds.of(asked, Y, X=X, y=Y)
    assert asked.X is X
    assert asked.y is Y


def test_unusable_folds_are_refused():
    with pytest.raises(InputError, match="pass 2 folds or more"):
        Folds.of(1, Y)
    with pytest.raises(InputError, match="22 fold numbers for 23 documents"):
        Folds.of(np.zeros(22, dtype=int), Y)
    for cv in (RepeatedKFold(n_splits=3, n_repeats=2), [], [(np.arange(5), [])], np.full(23, -1)):
        with pytest.raises(InputError, match="test parts of cv overlap or are empty"):
            Folds.of(cv, Y)
    with pytest.raises(InputError, match="a document twice"):
        Folds.of([(np.array([0, 0, 1]), np.array([2, 3]))], Y)


def test_results_come_task_by_task_and_fold_by_fold():
    found = [(task, k) for task, k, _ in over_folds(scores, FOLDS, (1.0, 2.0), (X, FOLDS))]
    assert found == [(task, k) for task in (1.0, 2.0) for k in range(4)]


@pytest.mark.parametrize("address", [None, "serial", "processes:2"])
@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"in_turn": True}])
@pytest.mark.parametrize("folds", [FOLDS, FOLDS.holding_out(2)])
def test_results_are_those_of_a_plain_loop(address, how, folds):
    with using(None if address is None else make_executor(address)):
        found = out_of_fold(scores, folds, (1.0, -0.5), (X, folds), **how)
    assert [task for task, _ in found] == [1.0, -0.5]
    for task, array in found:
        np.testing.assert_array_equal(array, by_plain_loop(task, folds))


def test_the_executor_in_use_does_the_folds_unless_they_are_in_turn():
    class Noting:
        asked = 0

        def map(self, function, items, *shared):
            self.asked += 1
            return (function(item, *shared) for item in items)

    executor = Noting()
    with using(executor):
        out_of_fold(scores, FOLDS, (1.0,), (X, FOLDS))
        assert executor.asked == 1
        out_of_fold(scores, FOLDS, (1.0,), (X, FOLDS), in_turn=True)
        assert executor.asked == 1
        out_of_fold(scores, FOLDS, (1.0,), (X, FOLDS), n_jobs=2)
        assert executor.asked == 2


def test_folds_run_on_as_many_threads_as_asked_for_and_on_one_in_a_worker():
    together = threading.Barrier(2)

    def meets_another(_, k):
        together.wait(timeout=30)
        return np.full((int((FOLDS.number == k).sum()), 1), float(k))

    [(_, found)] = out_of_fold(meets_another, FOLDS, n_jobs=2)
    np.testing.assert_array_equal(found[:, 0], FOLDS.number)

    def where(_, k):
        return threading.get_ident()

    def in_worker():
        return {ident for _, _, ident in over_folds(where, FOLDS, n_jobs=4)}

    assert len(as_worker(in_worker)) == 1


def test_folds_of_a_task_begin_before_the_next_task_is_known():
    seen = []

    def tasks():
        for task in (1.0, 2.0):
            seen.append(task)
            yield task

    for task, k, _ in over_folds(scores, FOLDS, tasks(), (X, FOLDS)):
        seen.append((task, k))
    assert seen[:6] == [1.0, (1.0, 0), (1.0, 1), (1.0, 2), (1.0, 3), 2.0]


@pytest.mark.parametrize("address", ["serial", "processes:2"])
def test_tasks_may_come_from_work_of_the_same_executor(address):
    with using(make_executor(address)):
        found = out_of_fold(scores, FOLDS, spread(abs, [-1.0, -2.0]), (X, FOLDS))
    assert [task for task, _ in found] == [1.0, 2.0]
    np.testing.assert_array_equal(found[1][1], by_plain_loop(2.0, FOLDS))


def test_progress_is_reported_before_the_first_and_after_each():
    told = []

    def report(*args):
        told.append(args)

    out_of_fold(scores, FOLDS.holding_out(2), (1.0, 2.0), (X, FOLDS), report=report, stage="scales")
    assert told == [("scales", done, 4) for done in range(5)]
    told.clear()
    out_of_fold(scores, FOLDS, iter([1.0]), (X, FOLDS), report=report)
    assert told[-1] == ("cross-validation", 4, None)
    out_of_fold(scores, FOLDS, iter([1.0]), (X, FOLDS), report=report, total=4)
    assert told[-1] == ("cross-validation", 4, 4)


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"in_turn": True}])
@pytest.mark.parametrize("known", [[], [0], [1, 2], [3], [0, 1, 2, 3]])
def test_finished_folds_are_recalled_and_not_computed(how, known):
    names = [f"fold {k + 1} of 4" for k in range(4)]
    checkpoint = Memory({names[k]: 10.0 + scores(1.0, k, X, FOLDS) for k in known})
    computed = []

    def noted(task, k):
        computed.append(k)
        return scores(1.0, k, X, FOLDS)

    [(_, found)] = out_of_fold(noted, FOLDS, checkpoint=checkpoint, **how)
    others = [k for k in range(4) if k not in known]
    assert sorted(computed) == others
    assert checkpoint.finished == [names[k] for k in others]
    for k in range(4):
        test = FOLDS.number == k
        np.testing.assert_array_equal(found[:, test], scores(1.0, k, X, FOLDS) + 10.0 * (k in known))


def test_folds_of_several_tasks_have_names_of_their_own():
    class Named:
        name = "words"

    checkpoint = Memory()
    list(over_folds(lambda task, k: np.zeros(1), FOLDS.holding_out(1), ("prior at 1", Named()), checkpoint=checkpoint))
    assert checkpoint.finished == ["prior at 1, fold 1 of 1", "words, fold 1 of 1"]


def interrupted(error):
    """Scores, with Ctrl-C in the second fold of the second task."""

    def function(task, k):
        if (task, k) == (2.0, 1):
            raise error
        return scores(task, k, X, FOLDS)

    return function


def by_kernel():
    error = SystemError("a kernel")
    error.__cause__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), by_kernel()])
@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"in_turn": True}])
def test_an_interrupt_may_leave_the_tasks_that_are_complete(error, how):
    [(task, found)] = out_of_fold(interrupted(error), FOLDS, (1.0, 2.0, 3.0), keep_partial=True, **how)
    assert task == 1.0
    np.testing.assert_array_equal(found, by_plain_loop(1.0, FOLDS))
    for tasks, keep_partial in (((1.0, 2.0), False), ((2.0, 3.0), True)):
        with pytest.raises(type(error)):
            out_of_fold(interrupted(error), FOLDS, tasks, keep_partial=keep_partial, **how)


def test_other_errors_are_not_interrupts():
    for error in (ValueError("a fault"), SystemError("a fault")):
        with pytest.raises(type(error), match="a fault"):
            out_of_fold(interrupted(error), FOLDS, (1.0, 2.0), keep_partial=True)


def test_an_interrupted_cross_validation_is_resumed():
    checkpoint = Memory()
    with pytest.raises(KeyboardInterrupt):
        out_of_fold(interrupted(KeyboardInterrupt()), FOLDS, (1.0, 2.0), checkpoint=checkpoint)
    assert len(checkpoint.finished) == 5
    found = out_of_fold(scores, FOLDS, (1.0, 2.0), (X, FOLDS), checkpoint=checkpoint)
    assert len(checkpoint.finished) == 8
    np.testing.assert_array_equal(found[1][1], by_plain_loop(2.0, FOLDS))


def test_results_are_put_where_they_are_allocated(tmp_path):
    made = []

    def allocate(shape, dtype):
        made.append(np.memmap(tmp_path / f"{len(made)}.bin", dtype, "w+", shape=shape))
        return made[-1]

    def single(*args):
        return scores(*args).astype(np.float32)

    found = out_of_fold(single, FOLDS, (1.0, 2.0), (X, FOLDS), allocate=allocate)
    assert [array is own for (_, array), own in zip(found, made, strict=True)] == [True, True]
    assert made[0].dtype == np.float32
    np.testing.assert_array_equal(made[1], by_plain_loop(2.0, FOLDS).astype(np.float32))
