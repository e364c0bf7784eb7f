"""One model file, several processes: each knows what the others have taught, and nothing that was taught is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError, ModelFileError
from textbayes.store import SharedModel, load_categorizer, save_model
from textbayes.store import lock as locks
from textbayes.store.lock import replacing

TEXTS = ["wheat and corn", "corn harvest", "wheat prices", "bank rates", "the bank cuts rates", "loans of the bank"]
LABELS = ["grain"] * 3 + ["money"] * 3
TEACH = """
import sys
from textbayes.store import SharedModel
shared = SharedModel(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    with shared.change(lambda: print("waiting", flush=True)) as model:
        model.update(["corn loans"], ["money"])
    print("learnt", flush=True)
"""


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.tb"
    save_model(TextCategorizer(model="counts", cv=2).fit(TEXTS, LABELS), found)
    return found


@pytest.fixture
def teacher(path):
    """Start a process that will teach the model; it begins when a line is written to it."""
    running = []

    def start(times: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", TEACH, str(path), str(times)]
        running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def n_texts(path) -> int:
    return int(load_categorizer(path).label_counts_.sum())


@pytest.mark.slow
def test_processes_that_teach_at_once_lose_nothing(path, teacher):
    both = [teacher(5), teacher(5)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.stdout.read() for process in both]
    assert [process.wait() for process in both] == [0, 0]
    assert [one.count("learnt") for one in told] == [5, 5]
    assert n_texts(path) == len(TEXTS) + 10
    assert os.listdir(path.parent) == ["model.tb"], "no lock is left"


def test_who_comes_second_waits_and_learns_on(path, teacher):
    other, shared = teacher(1), SharedModel(path)
    assert other.stdout.readline() == "ready\n"
    with shared.change() as model:
        other.stdin.write("go\n")
        other.stdin.flush()
        assert other.stdout.readline() == "waiting\n"
        model.update(["corn harvest", "wheat"], ["grain", "grain"])
    assert other.stdout.readline() == "learnt\n"
    assert n_texts(path) == len(TEXTS) + 3
    assert int(shared.model.label_counts_.sum()) == len(TEXTS) + 3, "what the other taught is known"
    np.testing.assert_array_equal(shared.model.predict_proba(TEXTS), load_categorizer(path).predict_proba(TEXTS))


@pytest.mark.slow
def test_a_killed_process_holds_no_lock(path, teacher):
    other = teacher(1)
    assert other.stdout.readline() == "ready\n"
    with SharedModel(path).change() as model:
        other.stdin.write("go\n")
        other.stdin.flush()
        assert other.stdout.readline() == "waiting\n"
        other.kill()
        other.wait()
        model.update(["corn"], ["grain"])
    (path.parent / ".model.tb.lock").touch()  # as one that is killed while it has the lock leaves it
    with SharedModel(path).change() as model:
        model.update(["corn"], ["grain"])
    assert n_texts(path) == len(TEXTS) + 2
    assert os.listdir(path.parent) == ["model.tb"]


def test_a_training_waits_for_who_changes_the_file(path):
    """Else the change, which knows nothing of the training, would be written over it."""
    newer = TextCategorizer(model="counts", cv=2).fit(TEXTS * 2, LABELS * 2)
    thread = threading.Thread(target=save_model, args=(newer, path))
    with SharedModel(path).change() as model:
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        model.update(["corn"], ["grain"])
    thread.join()
    assert n_texts(path) == 2 * len(TEXTS)


def test_an_error_in_the_block_changes_nothing(path):
    shared, before = SharedModel(path), path.read_bytes()
    with pytest.raises(InputError, match="zoo"), shared.change() as model:
        model.update(["corn"], ["grain"]).update(["lions"], ["zoo"])
    assert path.read_bytes() == before
    assert int(shared.model.label_counts_.sum()) == len(TEXTS)
    assert os.listdir(path.parent) == ["model.tb"]


def test_a_file_that_became_unreadable_is_not_forgotten(path, caplog):
    shared = SharedModel(path)
    path.write_bytes(b"no model")
    assert shared.model.predict(["corn"]).tolist() == ["grain"]
    assert "the model that was read before is in use" in caplog.text
    with pytest.raises(ModelFileError), shared.change():
        pass
    assert path.read_bytes() == b"no model"


def test_a_link_and_what_it_points_to_have_one_lock(path, tmp_path):
    link = tmp_path / "link.tb"
    link.symlink_to(path)
    busy = []

    def other() -> None:
        with replacing(link, lambda: busy.append("waiting")):
            busy.append("there")

    with replacing(path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.2)
        assert busy == ["waiting"]
    thread.join()
    assert busy == ["waiting", "there"]


def test_where_there_are_no_locks_changes_are_refused_and_plain_writing_is_not(path, monkeypatch):
    def unable(file: int, wait: bool) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(locks, "_lock", unable)
    shared = SharedModel(path)
    with pytest.raises(InputError, match=r"cannot be locked \(No locks available\).*use a copy"), shared.change():
        pass
    save_model(shared.model, path)
