"""The benchmark of few labels: what is drawn, the tests, and that an interrupted run goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import bench_few_labels as few
from _tasks import Task


def task(exclusive: bool) -> Task:
    names = ["a", "b", "c"]
    labels = [names[i % 3] if exclusive else tuple(names[: 1 + i % 3]) for i in range(90)]
    return Task([f"text {i}" for i in range(90)], labels, [(np.arange(60), np.arange(60, 90))])


@pytest.mark.parametrize("exclusive", [True, False])
def test_texts_of_a_draw_are_labelled_or_not_or_asked(exclusive):
    drawn = few.draw_texts(task(exclusive), 7, 0, 20, 25)
    parts = [set(drawn.labelled), set(drawn.unlabelled), set(drawn.test)]
    assert [len(part) for part in parts] == [7, 20, 25]
    assert len(set.union(*parts)) == 52
    assert all(int(text.split()[1]) >= 60 for text in drawn.test)
    assert drawn.Y.any(axis=0).all()
    if exclusive:
        assert (drawn.Y.sum(axis=0) >= 2).all()
    again = few.draw_texts(task(exclusive), 7, 0, 20, 25)
    assert again.labelled == drawn.labelled != few.draw_texts(task(exclusive), 7, 1, 20, 25).labelled


def test_p_values_are_corrected_as_by_holm():
    assert few.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert few.holm([0.5, 0.9]).tolist() == [1.0, 1.0]


def test_only_a_loss_that_is_sure_is_worse():
    assert few.worse(np.array([-0.1, -0.11, -0.09])) < 0.01
    assert few.worse(np.array([0.1, 0.11, 0.09])) > 0.99
    assert few.worse(np.zeros(3)) == 1.0
    assert few.worse(np.array([-1.0])) == 1.0


def test_the_verdict_names_what_is_missed(capsys):
    figures = {("bbc", 30): np.array([[0.8, 0.5], [0.96, 0.1]]), ("spam", 30): np.array([[0.9, 0.2], [0.7, 0.6]])}
    gains = {("bbc", 30): np.array([[0.16, 0.4]] * 3) + np.arange(3)[:, None] * 0.01}
    with pytest.raises(SystemExit) as left:
        few.judge(gains, {key: one for key, one in figures.items() if key in gains}, [30])
    assert left.value.code == 0
    gains["spam", 30] = np.array([[-0.2, -0.4]] * 3) + np.arange(3)[:, None] * 0.001
    with pytest.raises(SystemExit) as left:
        few.judge(gains, figures, [30])
    assert left.value.code == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert "spam at 30 is worse in accuracy" in last
    assert last.endswith("2 tasks, 3 draws: FAIL")


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(few.platformdirs, "user_cache_path", lambda name: tmp_path)
    monkeypatch.setattr(few.Memory, "_known", {})
    few.Memory(own=False).keep("one", (0.5, 0.7))
    [file] = (tmp_path / "benchmarks").iterdir()
    with file.open("a") as stream:
        stream.write('\n["two", 0.1')  # cut off
    few.Memory._known.clear()
    assert few.Memory(own=False).recall("one") == (0.5, 0.7)
    assert few.Memory(own=False).recall("two") is None
    few.Memory(own=False).keep("two", (0.2, 0.3))
    few.Memory._known.clear()
    assert few.Memory(own=False).recall("two") == (0.2, 0.3)


def test_a_run_of_more_draws_begins_where_one_of_fewer_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(few.platformdirs, "user_cache_path", lambda name: tmp_path)
    monkeypatch.setattr(few.Memory, "_known", {})
    monkeypatch.setattr(few, "task_of", lambda name: task(True))
    asked: list[str] = []

    def half(drawn):
        asked.append(drawn.labelled[0])
        return np.full(drawn.Y_test.shape, 1.0 / 3.0), drawn.Y_test

    monkeypatch.setitem(few.METHODS, "with", half)
    first = few.answer("bbc", 7, 0, "with", 20, 25)
    assert first[1] == pytest.approx(np.log(3.0))
    assert few.answer("bbc", 7, 0, "with", 20, 25) == first
    few.answer("bbc", 7, 1, "with", 20, 25)
    assert len(asked) == 2


def test_only_code_that_training_reads_makes_figures_old(tmp_path, monkeypatch):
    package = tmp_path / "textbayes"
    (package / "categorizer").mkdir(parents=True)
    (package / "cli").mkdir()
    files = [package / "categorizer" / "train.py", package / "categorizer" / "asking.py", package / "cli" / "ask.py"]
    monkeypatch.setattr(few.textbayes, "__file__", str(package / "__init__.py"))
    monkeypatch.setattr(few.platformdirs, "user_cache_path", lambda name: tmp_path)

    def place() -> Path:
        monkeypatch.setattr(few.Memory, "_digests", {})
        return few.Memory(own=True)._file

    for file in files:
        file.write_text("1")
    before = place()
    files[1].write_text("2")
    files[2].write_text("2")
    assert place() == before
    files[0].write_text("2")
    assert place() != before
