"""The log: every cut of it is seen for what it is, and nothing that was altered goes unnoticed."""

from __future__ import annotations

import json
import os

import pytest

from textbayes.core.errors import ModelFileError
from textbayes.store.event_folder import EventLog, LogPosition, read_log

ENTRIES = [
    {"kind": "run", "input": "ä\u2028"},
    {"kind": "document", "p": 0.1 + 0.2},
    {"kind": "x", "words": {"\ud800": 1}},
]


@pytest.fixture
def path(tmp_path):
    log = EventLog(tmp_path / "log.jsonl", LogPosition())
    for entry in ENTRIES:
        log.append(entry, durable=False)
    log.sync()
    log.close()
    return tmp_path / "log.jsonl"


def test_entries_come_back_to_the_last_bit(path):
    found = list(read_log(path))
    assert [entry for entry, _ in found] == ENTRIES
    assert [position.sequence for _, position in found] == [1, 2, 3]
    assert found[-1][1].offset == path.stat().st_size
    for line in path.read_bytes().decode("utf-8", "surrogatepass").split("\n")[:-1]:
        assert list(json.loads(line))[-1] == "check"


def test_reading_goes_on_from_any_entry(path):
    found = list(read_log(path))
    for i, (_, position) in enumerate(found):
        assert list(read_log(path, position)) == found[i + 1 :]


def test_every_cut_leaves_the_whole_entries_before_it(path):
    whole, found = path.read_bytes(), list(read_log(path))
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        kept = [item for item in found if item[1].offset <= length]
        assert list(read_log(path)) == kept
        position = kept[-1][1] if kept else LogPosition()
        log = EventLog(path, position)
        assert log.cut_off == length - position.offset
        log.append({"kind": "after"}, durable=True)
        log.close()
        assert [entry for entry, _ in read_log(path)] == [*(entry for entry, _ in kept), {"kind": "after"}]


def test_blocks_that_were_never_written_read_as_a_cut(path):
    whole, found = path.read_bytes(), list(read_log(path))
    path.write_bytes(whole[: found[1][1].offset + 5] + bytes(4096))
    assert list(read_log(path)) == found[:2]


def test_every_altered_byte_is_noticed(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        if place == len(whole) - 1:  # the very last line end: what stands there may have been cut short
            assert [entry for entry, _ in read_log(path)] == ENTRIES[:2]
        else:
            with pytest.raises(ModelFileError, match=r"is damaged .*restore the folder from a copy, or cut the file"):
                list(read_log(path))


def test_entries_that_are_lost_doubled_or_moved_are_noticed(path):
    one, two, three = path.read_bytes().splitlines(keepends=True)
    for lines in ([two, three], [one, three], [one, one, two, three], [one, two, two, three], [two, one, three]):
        path.write_bytes(b"".join(lines))
        with pytest.raises(ModelFileError, match="is damaged"):
            list(read_log(path))


def test_a_log_that_is_gone_or_shorter_than_it_was(path):
    *_, (_, position) = read_log(path)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ModelFileError, match="is shorter than when it was last written"):
        list(read_log(path, position))
    path.unlink()
    with pytest.raises(ModelFileError, match="is missing; restore the folder"):
        list(read_log(path))


def test_a_disk_that_is_full_leaves_whole_entries(path, monkeypatch):
    *_, (_, position) = read_log(path)
    log = EventLog(path, position)
    write = os.write

    def full(file, data):
        if len(data) < 10:
            raise OSError(28, "No space left on device")
        return write(file, data[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        log.append({"kind": "long", "text": "x" * 95}, durable=False)
    monkeypatch.undo()
    assert path.stat().st_size == position.offset
    log.append({"kind": "short"}, durable=False)
    log.close()
    assert [entry for entry, _ in read_log(path)] == [*ENTRIES, {"kind": "short"}]
