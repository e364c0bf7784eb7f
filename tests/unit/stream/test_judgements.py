"""Judgements given to a state folder: by its inbox, a file or a pipe; each counts once, and bad ones are told once."""

from __future__ import annotations

import os

import pytest

from textbayes.core.errors import InputError
from textbayes.store.event_folder import read_log, snapshots
from textbayes.stream import FilterFolder, give_judgements, replay_log
from textbayes.stream.judgements import (
    FileSource,
    Judgement,
    PipeSource,
    open_source,
    parse_judgement,
    read_ledger,
    read_pending,
)
from textbayes.stream.run import run


def refuse(message):
    raise AssertionError(message)


def test_the_inbox_is_read_exactly_once(start, stream, filtered):
    path = start(threshold=0.0)
    filtered(path, stream[:10], by_labels=False)
    give_judgements(path, [Judgement(stream[0].id, "grain", True), Judgement(stream[1].id, "money", False)])
    for _ in range(3):
        with FilterFolder.open(path) as folder:
            folder.take_judgements(refuse)
            assert len(folder.filter.judgements) == 2
    kinds = [entry["kind"] for entry, _ in read_log(path / "log.jsonl")]
    assert kinds.count("judgement") == 2
    give_judgements(path, [Judgement(stream[0].id, "grain", False)])
    for place in snapshots(path / "snapshots")[1:]:
        place.unlink()
    with FilterFolder.open(path) as folder:
        folder.take_judgements(refuse)
        assert folder.filter.judgements[folder.filter.ids[stream[0].id], 0] is False
    assert replay_log(path).difference is None


def test_a_line_of_the_inbox_that_was_cut_short_is_not_read_and_does_not_spoil_the_next(start, stream, filtered):
    path = start(threshold=0.0)
    filtered(path, stream[:5], by_labels=False)
    give_judgements(path, [Judgement(stream[0].id, "grain", True)])
    with (path / "inbox.jsonl").open("ab") as inbox:
        inbox.write(b'{"id": "' + b"x" * 5000)
    with FilterFolder.open(path) as folder:
        folder.take_judgements(refuse)
        assert len(folder.filter.judgements) == 1
    give_judgements(path, [Judgement(stream[1].id, "grain", True)])
    with FilterFolder.open(path) as folder:
        folder.take_judgements(refuse)
        assert len(folder.filter.judgements) == 2
    assert len((path / "inbox.jsonl").read_bytes().splitlines()) == 2


def test_judgements_that_cannot_be_learnt_are_told_once(start, stream, filtered):
    path = start(threshold=0.0)
    filtered(path, stream[:2], by_labels=False)
    bad = [
        b'{"id": "zz", "topic": "grain", "relevant": true}',
        b'{"id": "d1000", "topic": "gran", "relevant": true}',
        b"not json",
        b'["d1000"]',
        b'{"id": "d1000", "topic": "grain"}',
        b'{"id": "d1000", "topic": "grain", "relevant": "perhaps"}',
        b'{"id": "d1000", "topic": "grain", "relevant": true, "text": 7}',
        b"\xff\xfe",
        b"",
    ]
    causes = ["not been delivered", "no topic 'gran'", "is not JSON", "not an object", "no usable 'relevant'"]
    causes += ["neither yes nor no", "text that is no string", "not UTF-8"]
    (path / "inbox.jsonl").write_bytes(b"\n".join(bad) + b'\n{"document": "d1000", "topic": "grain", "relevant": 1}\n')
    told = []
    for _ in range(2):
        with FilterFolder.open(path) as folder:
            folder.take_judgements(told.append)
            assert len(folder.filter.judgements) == 1
    assert len(told) == len(causes)
    for message, cause in zip(told, causes, strict=True):
        assert cause in message
        assert message.endswith("; this judgement is left out")
    assert replay_log(path).difference is None


def test_a_judgement_with_its_text(start):
    path = start()
    give_judgements(path, [Judgement("mine", "grain", True, "corn and sorghum")])
    with FilterFolder.open(path) as folder:
        folder.take_judgements(refuse)
        assert folder.filter.topics[0].examples[-1] == folder.filter.ids["mine"]
    assert "mine" in read_ledger(path).ids
    assert replay_log(path).difference is None


def test_a_file_that_grows_and_one_that_shrinks(start, stream, tmp_path, filtered):
    path, given = start(threshold=0.0), tmp_path / "given.jsonl"
    filtered(path, stream[:5], by_labels=False)
    line = '{"id": "%s", "topic": "grain", "relevant": "yes"}\n'
    for n in range(3):
        with FilterFolder.open(path) as folder:
            folder.listen(open_source(str(given)))
            folder.take_judgements(refuse)
            assert len(folder.filter.judgements) == n
            with given.open("a") as file:
                file.write(line % stream[n].id)
            folder.take_judgements(refuse)
            assert len(folder.filter.judgements) == n + 1
    given.write_text("")
    with FilterFolder.open(path) as folder:
        folder.listen(FileSource(given))
        with pytest.raises(InputError, match="shorter than what was read of it before"):
            folder.take_judgements(refuse)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe(start, stream, tmp_path, filtered):
    path, pipe = start(threshold=0.0), tmp_path / "pipe"
    filtered(path, stream[:5], by_labels=False)
    os.mkfifo(pipe)
    source = open_source(str(pipe))
    assert isinstance(source, PipeSource)
    with FilterFolder.open(path) as folder:
        folder.listen(source)
        folder.take_judgements(refuse)
        writer = os.open(pipe, os.O_WRONLY)
        os.write(writer, b'{"id": "d1000", "topic": "grain", "relevant": true}\n{"id": "d1001", ')
        folder.take_judgements(refuse)
        assert len(folder.filter.judgements) == 1
        os.write(writer, b'"topic": "grain", "relevant": true}\n')
        os.close(writer)
        folder.take_judgements(refuse)
        assert len(folder.filter.judgements) == 2
    os.close(source._file)


def test_a_last_line_without_an_end(tmp_path):
    """It counts once it is whole, and once only: in a file that may grow, and at the end of a pipe."""
    whole, last = b'{"id": 1, "topic": "a", "relevant": true}', b'{"id": 2, "topic": "a", "relevant": false}'
    given = tmp_path / "judged.jsonl"
    source, offset, seen = FileSource(given), 0, []
    for content in (whole + b"\n" + last[:-9], whole + b"\n" + last, whole + b"\n" + last + b"\n" + whole):
        given.write_bytes(content)
        for line, end in source.lines(offset):
            seen += [line] if line else []
            offset = end
    assert seen == [whole, last, whole]
    read, write = os.pipe()
    os.write(write, whole + b"\n" + last)
    pipe = PipeSource(read, "pipe")
    assert [line for line, _ in pipe.lines(0)] == [whole]
    os.close(write)
    assert [line for line, _ in pipe.lines(0)] == [last]
    assert list(pipe.lines(0)) == []
    os.close(read)


def test_sources_that_are_none(tmp_path):
    with pytest.raises(InputError, match="is a folder where a file of judgements is needed"):
        open_source(str(tmp_path))
    with pytest.raises(InputError, match="there is no folder"):
        open_source(str(tmp_path / "no" / "file"))


def test_judgements_as_users_write_them():
    assert parse_judgement(b'{"id": 7, "topic": "t", "relevant": "No"}') == Judgement("7", "t", False)
    assert parse_judgement(b'{"document": "x", "topic": "t", "relevant": 1, "text": "a"}').text == "a"


def test_the_ledger_knows_what_the_filter_knows(start, stream):
    path = start()
    with FilterFolder.open(path) as folder:
        folder.begin("stream")
        for n, delivery in enumerate(run(folder, [stream[:80]])):
            if n % 3 == 0:
                folder.judge(delivery.id, delivery.topic, True)
        names = {number: name for name, number in folder.filter.ids.items()}
        judged = {(names[n], folder.filter.topics[k].name): y for (n, k), y in folder.filter.judgements.items()}
        ledger = read_ledger(path)  # while it is open
        assert ledger.ids == set(folder.filter.ids)
        assert ledger.judgements == judged
        assert ledger.topics == ["grain", "money"]
        n_delivered = sum(topic.delivered for topic in folder.filter.topics)
    assert read_ledger(path) == ledger
    pending = list(read_pending(path))
    assert len(pending) == n_delivered - len(judged)
    assert {(row["id"], row["topic"]) for row in pending}.isdisjoint(judged)
