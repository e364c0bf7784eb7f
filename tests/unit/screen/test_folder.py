"""Folders of screenings: what is opened again is what was left, by whichever process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from references.killing import killed_at_every_step
from textbayes.cli.main import cli
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import Document
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.screen import ScreenFolder, ScreenSettings
from textbayes.screen import folder as folders
from textbayes.screen.folder import replay
from textbayes.screen.screening import Screening
from textbayes.screen.status import table_rows
from textbayes.store.container import read_container, write_container
from textbayes.store.event_folder import snapshots


@pytest.fixture
def made(tmp_path, review):
    ids, texts, _ = review
    records = [
        Document(id, text, (), {"title": text[:10], "doi": f"10.1/{id}"}) for id, text in zip(ids, texts, strict=True)
    ]
    settings = ScreenSettings(questions={"relevant": "green tea"}, strategy="likely=0.9,random=0.1")
    ScreenFolder.create(tmp_path / "review", records, settings)
    return tmp_path / "review"


def read_on(folder, relevant, n):
    for _ in range(n):
        pick = folder.next_records(1)[0]
        folder.judge(f"r{pick.row}", "relevant" if relevant[pick.row] else "irrelevant")


def states(screening):
    meta, arrays = screening.to_state()
    return json.dumps(meta), {name: array.tobytes() for name, array in arrays.items()}


def test_what_is_opened_again_is_what_was_left(made, review, monkeypatch):
    monkeypatch.setattr(folders, "_SNAPSHOT_ENTRIES", 7)
    one = ScreenFolder.open(made)
    read_on(one, review[2], 15)
    one.favour("kettle", "for")
    left = states(one.screening)
    assert states(ScreenFolder.open(made).screening) == left  # the newest snapshot and the log after it
    assert states(replay(one)) == left
    for place in (made / "snapshots").iterdir():
        place.write_bytes(b"damaged")
    assert states(ScreenFolder.open(made).screening) == left


def test_a_snapshot_saves_learning_again(made, review, monkeypatch):
    one = ScreenFolder.open(made)
    read_on(one, review[2], 6)
    left = states(one.screening)
    one.close()
    applied = []
    monkeypatch.setattr(Screening, "apply", lambda self, entry: applied.append(entry))
    assert states(ScreenFolder.open(made).screening) == left
    assert applied == []


ALTERED = {
    "an answer that is none": ("1.answers", lambda answers: answers + 7),
    "learnt from nothing": ("1.a", lambda a: a + 1.0),
    "a weight that is none": ("1.E", lambda E: E * np.nan),
    "another shape": ("1.y", lambda y: y[:-1]),
    "gone": ("1.read_predictors", None),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_snapshot_is_not_believed_not_even_in_part(name, tmp_path, review):
    """The second topic is the altered one: the first must not be taken from the snapshot and learnt again besides."""
    ids, texts, relevant = review
    records = [Document(id, text) for id, text in zip(ids, texts, strict=True)]
    folder = ScreenFolder.create(tmp_path / "two", records, ScreenSettings(topics=("tea", "ore")))
    for row in range(8):
        for topic in ("tea", "ore"):
            folder.judge(ids[row], "relevant" if relevant[row] == (topic == "tea") else "irrelevant", topic)
    left = states(folder.screening)
    folder.close()
    (place,) = snapshots(tmp_path / "two" / "snapshots")
    meta, arrays = read_container(place, folders.SCREEN_FILE)
    key, change = ALTERED[name]
    if change is None:
        del arrays[key]
    else:
        arrays[key] = change(arrays[key])
    write_container(place, folders.SCREEN_FILE, meta, arrays)
    again = ScreenFolder.open(tmp_path / "two")
    assert states(again.screening) == left
    assert states(replay(again)) == left


@pytest.mark.parametrize(
    ("part", "value"), [("X.indices", -1), ("X.indices", 10**6), ("X.data", np.nan), ("X.indptr", -5)]
)
def test_an_altered_matrix_of_records_is_refused(made, part, value):
    path = made / "words.tbw"
    meta, arrays = read_container(path, folders.SCREEN_FILE)
    arrays[part] = arrays[part].copy()
    arrays[part][1] = value
    write_container(path, folders.SCREEN_FILE, meta, arrays)
    with pytest.raises(ModelFileError, match="is a damaged screening file") as refused:
        _ = ScreenFolder.open(made).screening
    assert "not foreseen" not in str(refused.value)


def test_several_at_once_share_the_work(made, review):
    one, other = ScreenFolder.open(made), ScreenFolder.open(made)
    picked = [pick.row for folder in (one, other, one, other) for pick in folder.next_records(3)]
    assert len(set(picked)) == 12
    one.judge(f"r{picked[0]}", "relevant")
    other.judge(f"r{picked[1]}", "irrelevant")
    assert states(one.screening) == states(other.screening)


def test_an_entry_cut_short_is_dropped(made, review):
    one = ScreenFolder.open(made)
    read_on(one, review[2], 3)
    before = states(one.screening)
    with (made / "log.jsonl").open("ab") as stream:
        stream.write(b'{"sequence":7,"kind":"judg')
    again = ScreenFolder.open(made)
    assert states(again.screening) == before
    read_on(again, review[2], 1)
    assert states(replay(again)) == states(again.screening)


def test_records_are_added_and_everything_is_learnt_again_with_them(made, review, tmp_path):
    ids, texts, relevant = review
    one, other = ScreenFolder.open(made), ScreenFolder.open(made)
    read_on(one, relevant, 8)
    other.judge("r140", "relevant")
    other.close()  # with a snapshot, of fewer records
    more = [Document("r3", "oolong tea in cups"), Document("new", texts[5] + " oolong", (), {"doi": "10.1/R5"})]
    merged = one.add(more)
    assert [(told.id, told.into) for told in merged] == [("new", "r5")]
    for folder in (one, other, ScreenFolder.open(made)):
        assert folder.screening.collection.ids == (*ids, "r3-2")
        assert folder.screening.collection.has_word("oolong")
    whole = [Document(told["id"], told["text"], (), told["fields"]) for told in one.records()]
    afresh = ScreenFolder.create(tmp_path / "afresh", whole, one.settings)
    for entry in one.log():
        if entry["kind"] != "added":
            afresh._step(lambda _, entry=entry: entry)
    assert states(one.screening) == states(other.screening) == states(afresh.screening) == states(replay(one))
    assert [entry["records"] for entry in one.log() if entry["kind"] == "added"] == [["r3-2"]]


def test_what_is_known_of_words_is_known_of_added_records(tmp_path):
    records = [Document(f"r{i}", f"tea {i} pots" if i % 2 else f"ore {i} shaft") for i in range(6)]
    table = WordPriors([WordPrior("kettle", "*", 3.0)])
    folder = ScreenFolder.create(tmp_path / "review", records, prior=table)
    folder.add([Document("k", "a kettle")])
    assert folder.next_records(1)[0].row == 6


# Forks of a process of its own, never of this one: a forked child that fails would go on as a second test runner.
_READ_ON = """
import os, sys
from textbayes.screen import ScreenFolder

made, told = sys.argv[1:3]
relevant = set(sys.argv[3].split(","))
for _ in sys.stdin:  # a line for each process that is to read on
    child = os.fork()
    if child == 0:
        break
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
folder = ScreenFolder.open(made)
with open(told, "ab", buffering=0) as stream:
    while True:
        for pick in folder.next_records(1):
            name = f"r{pick.row}"
            folder.judge(name, "relevant" if name in relevant else "irrelevant")
            stream.write(f"{name}\\n".encode())
"""


def test_killed_at_any_moment(made, review):
    random = np.random.default_rng(0)
    told = made.parent / "told"
    told.touch()
    relevant = ",".join(f"r{row}" for row in np.flatnonzero(review[2]))
    command = [sys.executable, "-c", _READ_ON, str(made), str(told), relevant]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        for _ in range(4):
            heard = told.stat().st_size
            print(file=parent.stdin, flush=True)
            child = int(parent.stdout.readline())
            until = time.monotonic() + 60
            while told.stat().st_size == heard and time.monotonic() < until:
                time.sleep(0.002)
            time.sleep(random.random() * 0.02)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            assert int(parent.stdout.readline()) == -signal.SIGKILL, "it ended by itself"
    folder = ScreenFolder.open(made)
    judged = [entry["id"] for entry in folder.log() if entry["kind"] == "judgement"]
    acknowledged = told.read_text().split()
    assert len(acknowledged) >= 4
    assert set(acknowledged) <= set(judged)
    assert len(set(judged)) == len(judged)
    assert states(replay(folder)) == states(folder.screening)


def contents(folder):
    """What a screening holds: its records, its state, and what was added to it."""
    opened = ScreenFolder.open(folder)
    screening, records = opened.screening, list(opened.records())
    assert [record["id"] for record in records] == list(screening.collection.ids)
    assert states(replay(opened)) == states(screening)
    added = [entry["records"] for entry in opened.log() if entry["kind"] == "added"]
    return records, states(screening), added


def test_killed_while_records_are_added(made, review, tmp_path, monkeypatch):
    """All is as before or as after, at every step; and every command goes on from there."""
    monkeypatch.setattr(folders, "_SNAPSHOT_ENTRIES", 7)
    one = ScreenFolder.open(made)
    read_on(one, review[2], 5)
    one.close()
    known = Document("new", review[1][5], (), {"doi": "10.1/R5", "year": "1999"})
    more = [Document("r3", "oolong tea in cups", (), {"doi": "10.1/new"}), known]
    before = contents(made)
    *killed, let_through = killed_at_every_step(
        lambda folder: ScreenFolder.open(folder).add(more), made, tmp_path / "k"
    )
    after = contents(let_through)
    assert after[2] == [["r3-2"]]
    found = [contents(folder) for folder in killed]
    assert all(state in (before, after) for state in found)
    assert found[0] == before
    for folder, state in zip(killed, found, strict=True):
        n_records = len(state[0])
        for command in (["export", str(folder), "-o", str(folder / "table.csv")], ["next", str(folder)]):
            run = CliRunner().invoke(cli, ["screen", *command])
            assert run.exit_code == 0, run.output
        assert len((folder / "table.csv").read_text().splitlines()) == 1 + n_records
        again = ScreenFolder.open(folder)
        again.judge("r3", "relevant")
        again.add(more)
        assert again.screening.collection.n_records == len(after[0])
        contents(folder)
    leftovers = {file.name for file in killed[-1].iterdir() if file.name.startswith((".", "records", "words"))}
    assert len(leftovers) <= 4  # of the records as they are and as they were before


def test_killed_while_a_screening_is_made(review, tmp_path):
    """There is a whole folder, or none that stands in the way of making it."""
    records = [Document(id, text) for id, text in zip(*review[:2], strict=True)]
    prior = WordPriors([WordPrior("kettle", "*", 3.0)])

    def make(folder):
        return ScreenFolder.create(folder, records, prior=prior)

    *killed, let_through = killed_at_every_step(make, tmp_path / "nowhere", tmp_path / "k")
    whole = contents(let_through)
    for folder in killed:
        if not folder.exists():
            make(folder)
        assert contents(folder) == whole


def test_records_added_while_others_are_exported(made):
    """The records that go with a screening are those that it has read, whatever was added since."""
    one = ScreenFolder.open(made)
    screening = one.screening
    ScreenFolder.open(made).add([Document("later", "oolong tea in cups")])
    assert [record["id"] for record in one.records()] == list(screening.collection.ids)
    assert len(table_rows(screening, one.records(), None)) == screening.collection.n_records


def test_what_is_no_screening_is_refused(tmp_path, made):
    with pytest.raises(InputError, match="is not the folder of a screening"):
        ScreenFolder.open(tmp_path)
    with pytest.raises(InputError, match="exists already"):
        ScreenFolder.create(made, [Document("a", "tea")])
