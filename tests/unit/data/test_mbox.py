"""Mailboxes: the messages that Python's own mailbox module finds, one at a time."""

from __future__ import annotations

import contextlib
import io
import mailbox
from email.message import EmailMessage

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data import open_documents

BODIES = ["Leaves only.\n", "From here on it rains.\n>From there too.\n", "Grüße\n\nFrom x\n", ""]


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.mbox"
    box = mailbox.mbox(path)
    for number, body in enumerate(BODIES):
        message = EmailMessage()
        message["Subject"] = f"Message {number}"
        message["Message-ID"] = f"<{number}@example.org>"
        message.set_content(body, cte="quoted-printable")
        box.add(message)
    box.close()
    return path


def test_the_messages_of_the_standard_library(box):
    found = list(open_documents(box))
    with contextlib.closing(mailbox.mbox(box)) as known:
        expected = [message["Message-ID"].strip("<>") for message in known]
    assert [document.id for document in found] == expected
    assert [document.text.partition("\n")[0] for document in found] == [f"Message {i}" for i in range(4)]
    assert "From here on it rains." in found[1].text
    assert "Grüße" in found[2].text


def test_recognised_in_a_stream(box):
    assert len(list(open_documents(io.BytesIO(box.read_bytes())))) == 4


def test_messages_come_one_at_a_time(box):
    lines = box.read_bytes().splitlines(keepends=True)
    taken = []

    class Slow(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            taken.append(lines.pop(0) if lines else b"")
            buffer[: len(taken[-1])] = taken[-1]
            return len(taken[-1])

    documents = open_documents(Slow(), "mbox")
    assert next(documents).id == "0@example.org"
    assert b"<1@example.org>" not in b"".join(taken)
    assert len(list(documents)) == 3


def test_a_message_without_an_id_is_called_by_its_number():
    box = b"From a Mon\nSubject: a\n\nx\n\nFrom b Tue\nSubject: b\n\ny\n"
    assert [document.id for document in open_documents(io.BytesIO(box))] == ["1", "2"]


def test_raw():
    box = b"From a Mon\nSubject: a\n\nx\n"
    assert [document.text for document in open_documents(io.BytesIO(box), "mbox", part="raw")] == ["Subject: a\n\nx\n"]


def test_what_is_none():
    with pytest.raises(MalformedFileError, match="line 1: a mailbox begins with a line 'From …'"):
        list(open_documents(io.BytesIO(b"Subject: a\n\nx\n"), "mbox"))
    with pytest.raises(InputError, match="part='body' is not known"):
        list(open_documents(io.BytesIO(b"From a\n"), "mbox", part="body"))
    assert list(open_documents(io.BytesIO(b""), "mbox")) == []


def test_a_text_that_begins_with_from_is_no_mailbox():
    assert [document.text for document in open_documents(io.BytesIO(b"From here to there\nand back\n"))] == [
        "From here to there",
        "and back",
    ]
