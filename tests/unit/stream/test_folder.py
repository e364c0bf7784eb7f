"""State folders: what is opened again is what was left, whatever happened in between."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from references.killing import killed_at_every_step
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import Document
from textbayes.store import event_folder
from textbayes.store.container import read_container, write_container
from textbayes.store.event_folder import read_log, snapshots
from textbayes.stream import FilterFolder, give_judgements, replay_log
from textbayes.stream import folder as folders
from textbayes.stream.judgements import FILTER_FILE, FileSource, Judgement, read_ledger
from textbayes.stream.run import run
from textbayes.stream.state import filter_state


def states(filter):
    meta, arrays = filter_state(filter)
    return json.dumps(meta), {name: array.tobytes() for name, array in arrays.items()}


# -- killed at every step ----------------------------------------------------------------------------------------------
def test_killed_while_a_filter_is_made(make, tmp_path):
    made = make()
    *killed, let_through = killed_at_every_step(
        lambda folder: FilterFolder.create(folder, made), tmp_path / "nowhere", tmp_path / "k"
    )
    with FilterFolder.open(let_through) as folder:
        whole = states(folder.filter)
    for place in killed:
        if not place.exists():
            FilterFolder.create(place, made)
        with FilterFolder.open(place) as folder:
            assert states(folder.filter) == whole


def test_killed_while_it_filters_and_learns(start, stream, tmp_path, monkeypatch, filtered):
    """What is there after a kill is a state that the run went through, and the rest of the run ends as it did."""
    monkeypatch.setattr(folders, "_SNAPSHOT_JUDGEMENTS", 2)
    path = start()
    filtered(path, stream[:20])
    delivered = [entry["id"] for entry, _ in read_log(path / "log.jsonl") if entry.get("delivered")]
    assert len(delivered) >= 3
    through = []

    def learn(folder, see=lambda held: None):
        with FilterFolder.open(folder) as held:
            see(held)
            for document in delivered[:3]:
                for topic in ("grain", "money"):
                    held.judge(document, topic, True)
                    see(held)

    shutil.copytree(path, tmp_path / "watched")
    learn(tmp_path / "watched", lambda held: through.append(states(held.filter)))
    *killed, let_through = killed_at_every_step(learn, path, tmp_path / "k")
    assert len(killed) > 20
    for place in killed:
        with FilterFolder.open(place) as folder:
            assert states(folder.filter) in through
        replay_log(place)
    with FilterFolder.open(let_through) as folder:
        assert states(folder.filter) == through[-1]


def test_killed_while_judgements_are_left(start, tmp_path):
    path = start()
    first, more = Judgement("a", "grain", True, "corn"), Judgement("b", "grain", False, "bank")
    give_judgements(path, [first])
    *killed, let_through = killed_at_every_step(lambda folder: give_judgements(folder, [more]), path, tmp_path / "k")
    whole = (let_through / "inbox.jsonl").read_bytes()
    assert whole.count(b"\n") == 2
    for place in killed:
        left = [line for line, _ in FileSource(place / "inbox.jsonl", "inbox.jsonl").lines(0)]
        assert left in (whole.splitlines()[:1], whole.splitlines())
        give_judgements(place, [more])
        assert (place / "inbox.jsonl").read_bytes().splitlines() == [*left, whole.splitlines()[1]]


# -- opening again ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance", ["full", "low_rank", "diagonal"])
def test_what_is_opened_again_is_what_was_left(start, stream, covariance, filtered):
    path = start(covariance=covariance)
    filtered(path, stream[:100])
    with FilterFolder.open(path) as folder:
        left = states(folder.filter)
    for place in snapshots(path / "snapshots")[1:]:
        place.unlink()  # all from the log
    with FilterFolder.open(path) as folder:
        assert states(folder.filter) == left
        assert folder.notes == []


def test_a_run_in_pieces_is_the_run_in_one(make, stream, tmp_path, filtered):
    FilterFolder.create(tmp_path / "one", make(explore="constant:rate=0.02"))
    FilterFolder.create(tmp_path / "pieces", make(explore="constant:rate=0.02"))
    whole = filtered(tmp_path / "one", stream, batch=64)
    parts = [delivery for i in range(0, 200, 37) for delivery in filtered(tmp_path / "pieces", stream[i : i + 37])]
    assert parts == whole
    with FilterFolder.open(tmp_path / "one") as one, FilterFolder.open(tmp_path / "pieces") as other:
        assert states(one.filter) == states(other.filter)


def test_a_snapshot_now_and_then_changes_nothing(make, stream, tmp_path, monkeypatch, filtered):
    FilterFolder.create(tmp_path / "seldom", make())
    FilterFolder.create(tmp_path / "often", make())
    first = filtered(tmp_path / "seldom", stream[:100])
    monkeypatch.setattr(folders, "_SNAPSHOT_JUDGEMENTS", 3)
    assert filtered(tmp_path / "often", stream[:100]) == first
    assert len(snapshots(tmp_path / "often" / "snapshots")) == 3  # the start and the newest two
    assert replay_log(tmp_path / "often").snapshots == 2


def test_a_crash_at_any_byte_of_the_log_loses_only_the_unfinished_entry(start, stream, filtered):
    path = start()
    filtered(path, stream[:40])
    whole = (path / "log.jsonl").read_bytes()
    for place in snapshots(path / "snapshots")[1:]:
        place.unlink()
    ends = [0, *(position.offset for _, position in read_log(path / "log.jsonl"))]
    rng = np.random.default_rng(0)
    for length in sorted(rng.integers(0, len(whole), 12).tolist()):
        (path / "log.jsonl").write_bytes(whole[:length])
        with FilterFolder.open(path) as folder:
            assert bool(folder.notes) == (length not in ends)
        shown = (path / "log.jsonl").read_bytes()
        assert shown == whole[: max(end for end in ends if end <= length)]


def test_an_interrupt_while_learning_writes_no_snapshot_of_half_a_state(start, stream, monkeypatch, filtered):
    path = start(threshold=0.0)
    filtered(path, stream[:3], by_labels=False)
    before = snapshots(path / "snapshots")
    folder = FilterFolder.open(path)
    monkeypatch.setattr(folder.filter, "judge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        folder.judge(stream[0].id, "grain", True)
    folder.close()
    assert snapshots(path / "snapshots") == before
    with FilterFolder.open(path) as folder:  # the judgement was in the log: it is learnt now
        assert len(folder.filter.judgements) == 1
    assert replay_log(path).difference is None


def test_settings_may_change_between_runs_and_replay(start, stream, filtered):
    path = start()
    filtered(path, stream[:30])
    with FilterFolder.open(path) as folder:
        folder.begin("more", {"threshold": 0.0, "ask": "never"})
        delivered = list(run(folder, [stream[30:40]], by_labels=True))
        assert {delivery.reason for delivery in delivered} == {"relevant"}
        assert len(delivered) == 20
        with pytest.raises(InputError, match="was started with 'full', which cannot be changed later"):
            folder.begin("more", {"covariance": "diagonal"})
    with FilterFolder.open(path) as folder:
        assert folder.filter.settings.threshold == 0.0
    assert replay_log(path).difference is None


def test_how_far_an_input_has_been_read(start, stream, filtered):
    path = start()
    filtered(path, stream[:30], name="a")
    filtered(path, stream[30:35], name="b")
    filtered(path, stream[:10], name="a")  # from its start, and not to where it was
    with FilterFolder.open(path) as folder:
        assert folder.begin("a", go_on=True) == 30
        assert folder.begin("b", go_on=True) == 5
        assert folder.begin("c", go_on=True) == 0
        assert folder.begin("a") == 0
    for place in snapshots(path / "snapshots")[1:]:
        place.unlink()  # all from the log
    with FilterFolder.open(path) as folder:
        assert folder.state.inputs == {"a": 30, "b": 5, "c": 0}
    assert replay_log(path).difference is None


# -- what is wrong ----------------------------------------------------------------------------------------------------
def test_a_folder_is_made_whole_or_not_at_all(make, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(event_folder, "write_container", fail)
    with pytest.raises(InputError, match="No space left on device"):
        FilterFolder.create(tmp_path / "state", make())
    assert os.listdir(tmp_path) == []


def test_folders_that_cannot_be_made(make, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(InputError, match="exists already"):
        FilterFolder.create(tmp_path / "taken", make())
    with pytest.raises(InputError, match="there is no folder"):
        FilterFolder.create(tmp_path / "no" / "state", make())
    (tmp_path / "empty").mkdir()
    FilterFolder.create(tmp_path / "empty", make())
    assert (tmp_path / "empty" / "config.json").exists()


def test_folders_that_are_none(tmp_path, start):
    with pytest.raises(InputError, match="is not the folder of a filter; start one"):
        FilterFolder.open(tmp_path / "nothing")
    path = start()
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, "format_version": 99}))
    with pytest.raises(ModelFileError, match="has format version 99"):
        FilterFolder.open(path)
    (path / "config.json").write_text("{}")
    with pytest.raises(ModelFileError, match="is not a textbayes filter file"):
        FilterFolder.open(path)
    (path / "config.json").write_text("{")
    with pytest.raises(ModelFileError, match="cannot be read"):
        FilterFolder.open(path)


def test_one_process_at_a_time(start):
    path = start()
    with FilterFolder.open(path):
        with pytest.raises(InputError, match=f"is in use by another filter.*textbayes judge.*process {os.getpid()}"):
            FilterFolder.open(path)
        give_judgements(path, [])
    FilterFolder.open(path).close()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_snapshot_is_passed_over(start, stream, damage, filtered):
    path = start()
    filtered(path, stream[:60])
    with FilterFolder.open(path) as folder:
        left = states(folder.filter)
    newest = snapshots(path / "snapshots")[-1]
    whole = newest.read_bytes()
    half = len(whole) // 2
    flipped = whole[:half] + bytes([whole[half] ^ 8]) + whole[half + 1 :]
    newest.write_bytes({"cut": whole[:half], "flip": flipped, "empty": b""}[damage])
    with FilterFolder.open(path) as folder:
        assert states(folder.filter) == left
        assert len(folder.notes) == 1
        assert "is truncated or altered" in folder.notes[0]
    for place in snapshots(path / "snapshots"):
        place.write_bytes(b"")
    for _ in range(2):  # the lock is let go of
        with pytest.raises(ModelFileError, match="no snapshot can be read"):
            FilterFolder.open(path)


ALTERED = {
    "a word beyond the lexicon": ("full", "words", lambda words: np.append(words[:-1], 10**6)),
    "a word twice": ("low_rank", "words", lambda words: np.append(words[:-1], words[0])),
    "a mean that is none": ("diagonal", "mean", lambda mean: mean * np.nan),
    "no covariance": ("full", "cov", lambda cov: cov + np.eye(len(cov), k=1)),
    "another shape": ("gp", "alpha", lambda alpha: alpha[:, None]),
}


@pytest.mark.parametrize("name", ALTERED)
def test_a_snapshot_whose_numbers_do_not_belong_together_is_refused(name, start):
    """Kernels read arrays by the words of a topic: a wrong one would be a place outside of them."""
    covariance, part, change = ALTERED[name]
    path = start(covariance=covariance, deferred=False)
    (place,) = snapshots(path / "snapshots")
    meta, arrays = read_container(place, FILTER_FILE)
    key = f"topic0.posterior.{part}"
    write_container(place, FILTER_FILE, meta, {**arrays, key: change(arrays[key])})
    with pytest.raises(ModelFileError, match="is a damaged filter file"):
        FilterFolder.open(path)


PARTS = {
    "a word before the lexicon": ("topic0.words", lambda words: np.append(words[:-1], -1)),
    "a word before the lexicon, with a weight": (
        "topic0.words topic0.posterior.words",
        lambda words: np.append(words[:-1], -1),
    ),
    "a word that another topic's weights have": ("topic0.words", lambda words: words[::-1].copy()),
    "an example that is not kept": ("topic0.examples", lambda examples: examples + 10**6),
    "a count before the lexicon": ("topic0.relevant.columns", lambda columns: columns - 10**6),
    "more relevant documents with a word than documents": ("topic0.relevant.counts", lambda counts: counts + 1000),
    "less than no document": ("topic0.later.counts", lambda counts: counts - 1000),
    "a covariance that is none": ("topic0.posterior.base", lambda base: base * np.nan),
    "a kept document's word before the lexicon": ("kept.columns", lambda columns: columns - 1),
    "a kept document's word no times": ("kept.counts", lambda counts: counts * 0),
    "more documents with a word than documents": ("document_frequency", lambda frequency: frequency + 10**6),
    "another type": ("topic0.words", lambda words: words.astype(np.float64)),
}


@pytest.mark.parametrize("name", PARTS)
def test_every_array_of_a_snapshot_is_checked(name, start, stream, filtered):
    path = start()
    filtered(path, stream[:60])
    place = snapshots(path / "snapshots")[-1]
    meta, arrays = read_container(place, FILTER_FILE)
    with FilterFolder.open(path) as folder:
        left = states(folder.filter)
    key, change = PARTS[name]
    write_container(place, FILTER_FILE, meta, {**arrays, **{part: change(arrays[part]) for part in key.split()}})
    with FilterFolder.open(path) as folder:  # by an older snapshot and the log
        assert states(folder.filter) == left
        assert "is a damaged filter file" in folder.notes[0]
        assert "not foreseen" not in folder.notes[0]


FIELDS = {
    "a judgement of no document": lambda told: told["judgements"].append([10**6, 0, True]),
    "a judgement for no topic": lambda told: told["judgements"].append([0, 7, True]),
    "a judgement of neither yes nor no": lambda told: told["judgements"].append([0, 0, 2]),
    "a document that is not kept": lambda told: told["ids"].update(other=10**6),
    "two topics of one name": lambda told: told["topics"][0].update(name="money"),
    "a pattern that takes for ever": lambda told: told["settings"]["text"].update(token_pattern="(a+)+$"),
    "a stemmer that nobody knows": lambda told: told["settings"]["text"].update(stemmer="klingon"),
    "a threshold that is no number": lambda told: told["settings"].update(threshold="high"),
    "no settings": lambda told: told.pop("settings"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_snapshot_is_checked(name, start, stream, filtered):
    path = start()
    filtered(path, stream[:60])
    *_, place = snapshots(path / "snapshots")
    meta, arrays = read_container(place, FILTER_FILE)
    FIELDS[name](meta["filter"])
    for older in snapshots(path / "snapshots"):
        older.unlink()
    write_container(place, FILTER_FILE, meta, arrays)
    with pytest.raises(ModelFileError, match="is a damaged filter file") as refused:
        FilterFolder.open(path)
    assert "not foreseen" not in str(refused.value)


def test_the_ledger_believes_no_snapshot_either(start, stream, filtered):
    path = start()
    filtered(path, stream[:60])
    place = snapshots(path / "snapshots")[-1]
    before = read_ledger(path)
    meta, arrays = read_container(place, FILTER_FILE)
    meta["filter"]["judgements"].append([10**6, 0, True])
    write_container(place, FILTER_FILE, meta, arrays)
    assert read_ledger(path) == before


def test_a_filter_that_could_not_be_opened_again_is_not_made(make, tmp_path):
    filter = make()
    slow = replace(filter.settings.text, token_pattern=r"(\w|\d)+!")
    filter.settings = replace(filter.settings, text=slow)
    with pytest.raises(InputError, match="may take for ever"):
        FilterFolder.create(tmp_path / "state", filter)
    assert not (tmp_path / "state").exists()


# -- what was seen before ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("keep", ["all", "delivered"])
def test_a_stream_that_comes_again_changes_nothing(start, stream, filtered, keep):
    path = start(keep=keep, budget="3/20", explore="constant:rate=0.02")
    assert filtered(path, stream[:80])
    with FilterFolder.open(path) as folder:
        left = states(folder.filter)
    assert filtered(path, stream[:80]) == []
    for place in snapshots(path / "snapshots")[1:]:  # all from the log, too
        with FilterFolder.open(path) as folder:
            assert states(folder.filter) == left
            assert folder.filter.n_seen == 80
        place.unlink(missing_ok=True)
    changed = [document._replace(text=f"{document.text} again") for document in stream[:3]]
    filtered(path, changed)
    with FilterFolder.open(path) as folder:
        assert folder.filter.n_seen == 83  # other texts under these ids are other documents
    assert replay_log(path).difference is None


def test_a_document_judged_before_it_came_is_counted_when_it_comes(start, filtered):
    path = start()
    with FilterFolder.open(path) as folder:
        folder.judge("x", "grain", True, "corn wheat")
    for _ in range(2):
        assert filtered(path, [Document("x", "corn wheat")]) == []
        with FilterFolder.open(path) as folder:
            assert folder.filter.n_seen == 1
    assert replay_log(path).difference is None


def test_documents_seen_before_can_be_counted_again(start, stream, filtered):
    path = start(skip_seen=False)
    for _ in range(2):
        filtered(path, stream[:40])
    with FilterFolder.open(path) as folder:
        assert folder.filter.n_seen == 80
        assert not folder.filter.seen
    assert replay_log(path).difference is None


# -- replay -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("keep", ["all", "delivered"])
def test_replay_is_identical(start, stream, keep, filtered):
    path = start(keep=keep, explore="constant:rate=0.02", budget="3/20")
    delivered = filtered(path, [*stream[:150], *stream[:20], Document("d1000", "another text corn")])
    found = replay_log(path)
    assert found.difference is None
    assert found.deliveries == len(delivered) == found.judgements
    assert found.documents + sum(entry["kind"] == "repeated" for entry, _ in read_log(path / "log.jsonl")) == 171
    assert (found.unchecked > 0) == (keep == "delivered")


def test_replay_names_the_first_difference(start, stream, monkeypatch, filtered):
    path = start()
    filtered(path, stream[:50])
    entries = [entry for entry, _ in read_log(path / "log.jsonl")]
    place = next(i for i, entry in enumerate(entries) if entry["kind"] == "document" and entry["delivered"])
    told = entries[place]["delivered"][0]
    told["probability"] = np.nextafter(told["probability"], 1.0)
    log = event_folder.EventLog(path / "log.jsonl", event_folder.LogPosition())
    for entry in entries:
        log.append(entry, durable=False)
    log.close()
    difference = replay_log(path).difference
    assert difference.startswith(f"entry {place + 1} of the log: document {entries[place]['id']!r}, topic ")
    assert "probability was" in difference


def test_replay_notices_a_snapshot_with_other_bits(start, stream, filtered):
    path = start()
    filtered(path, stream[:50])
    with FilterFolder.open(path) as folder:
        folder.filter.topics[0].posterior.mean[1] = np.nextafter(folder.filter.topics[0].posterior.mean[1], 9.0)
        folder.snapshot()
    assert "topic0.posterior.mean has other bits" in replay_log(path).difference


def test_replay_needs_the_start(start):
    path = start()
    snapshots(path / "snapshots")[0].unlink()
    with pytest.raises(ModelFileError, match="has lost the snapshot of its start"):
        replay_log(path)


def test_a_large_state_is_written_less_often(make, stream, tmp_path, monkeypatch, filtered):
    """What a document costs does not depend on the size of the state."""
    written, write = [], FilterFolder.snapshot
    monkeypatch.setattr(FilterFolder, "snapshot", lambda folder: written.append(write(folder)))
    monkeypatch.setattr(folders, "_SNAPSHOT_JUDGEMENTS", 1)

    def count(name, bytes_per_judgement):
        monkeypatch.setattr(folders, "_BYTES_PER_JUDGEMENT", bytes_per_judgement)
        FilterFolder.create(tmp_path / name, make())
        written.clear()
        return len(filtered(tmp_path / name, stream[:60])), len(written)

    n_judged, n_written = count("often", 10**9)
    assert n_judged > 10
    assert n_judged <= n_written <= n_judged + 1  # and one at the end
    size = max(place.stat().st_size for place in (tmp_path / "often" / "snapshots").iterdir())
    n_judged, n_written = count("seldom", size // 10)  # a judgement pays for a tenth of one
    assert n_written <= n_judged // 5
