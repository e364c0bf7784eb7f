"""Full texts: PDFs of included records, their text found in a process that is limited, and judged in a second stage."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from room_setup import make_pdf

from textbayes.app import judging, pdf_text
from textbayes.app.accounts import create_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.dashboard import disagreements
from textbayes.app.database import FullText
from textbayes.app.exports import read_project, write_project
from textbayes.app.full_texts import LARGEST_PDF, add_full_text, find_full_text, list_full_texts, remove_full_text
from textbayes.app.prisma import prisma_numbers
from textbayes.app.projects import NewProject, create_project, list_projects
from textbayes.app.records import show
from textbayes.app.stages import full_text_of
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings

pytest.importorskip("pypdf", reason="needs the extra app")
FULL = full_text_of("relevant")


def test_the_text_of_a_pdf_is_found():
    text = pdf_text.pdf_text(make_pdf("Green tea was brewed (twice)", "in the second trial"))
    assert text.split() == ["Green", "tea", "was", "brewed", "(twice)", "in", "the", "second", "trial"]
    assert pdf_text.pdf_text(make_pdf()) == ""


def test_what_is_no_pdf_or_damaged_is_refused():
    for content in (b"", b"PK\x03\x04", b"<html>%PDF", b" " * 5000 + b"%PDF-1.4"):
        with pytest.raises(InputError, match="is not a PDF"):
            pdf_text.pdf_text(content)
    for content in (b"%PDF-1.4 and nothing else", make_pdf("tea")[:60]):
        with pytest.raises(InputError, match="cannot be read"):
            pdf_text.pdf_text(content)


def test_a_pdf_that_would_fill_the_memory_is_refused():
    """A stream of a few megabytes that unpacks to more than a gigabyte."""
    spaces, n, checksum, packer = b" " * (1 << 24), 90, 1, zlib.compressobj(9)
    block = packer.compress(spaces) + packer.flush(zlib.Z_FULL_FLUSH)  # what follows does not depend on it
    for _ in range(n):
        checksum = zlib.adler32(spaces, checksum)
    packed = block[:2] + n * block[2:] + b"\x03\x00" + checksum.to_bytes(4, "big")
    assert len(packed) < 8 << 20
    unpacker = zlib.decompressobj()
    assert unpacker.decompress(packed, 1 << 20) == spaces[: 1 << 20]
    with pytest.raises(InputError, match="cannot be read"):
        pdf_text.pdf_text(make_pdf(packed=packed))


def test_few_pdfs_are_read_at_once(monkeypatch):
    """Each may take a gigabyte and a minute, and say without end what is wrong with it."""
    running, most, start = [], [], subprocess.run

    def run(command, **how):
        assert how["stderr"] == subprocess.DEVNULL
        running.append(command)
        most.append(len(running))
        try:
            return start([sys.executable, "-c", "import time; time.sleep(0.05)"], **how)
        finally:
            running.pop()

    monkeypatch.setattr(subprocess, "run", run)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(pdf_text.pdf_text, [make_pdf("tea")] * 8)) == [""] * 8
    assert max(most) == 2
    monkeypatch.setattr(pdf_text, "_SECONDS", 0.01)
    monkeypatch.setattr(pdf_text, "_AT_ONCE", threading.BoundedSemaphore(1))
    with pdf_text._AT_ONCE, pytest.raises(InputError, match="other PDFs are being read"):
        pdf_text.pdf_text(make_pdf("tea"))


def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(pdf_text, "_SECONDS", 0.005)
    with pytest.raises(InputError, match="takes more than"):
        pdf_text.pdf_text(make_pdf("tea"))


@pytest.fixture
def review(room, me, records):
    return room.review(create_project(room, me, NewProject("Tea", ScreenSettings(), prior="none"), records))


def test_included_records_are_read_in_the_second_stage(review, me):
    first, second = ReviewerQueue(me.id, "relevant"), ReviewerQueue(me.id, FULL)
    assert judging.queue(review, second) == []
    for k in range(8):
        judging.judge(review, first, f"r{k}", "relevant" if k % 4 == 0 else "irrelevant")
    assert add_full_text(review, me.id, "r4", "../../a paper\\of 2001.pdf", make_pdf("Kettles boil"))
    assert [(one.id, one.file) for one in list_full_texts(review, first)] == [("r0", ""), ("r4", "of 2001.pdf")]
    assert [one.id for one in judging.queue(review, second)] == ["r0", "r4"]
    assert "Kettles boil" in "".join(part.text for part in show(review, second, "r4").text)
    assert "Kettles boil" not in "".join(part.text for part in show(review, first, "r4").text)
    with pytest.raises(InputError, match="for a reason"):
        judging.judge(review, second, "r0", "irrelevant")
    judging.judge(review, second, "r0", "irrelevant", reason="wrong population")
    judging.judge(review, second, "r4", "relevant")
    listed = [(one.id, one.answer, one.excluded_for) for one in list_full_texts(review, first)]
    assert listed == [("r0", "irrelevant", "wrong population"), ("r4", "relevant", "")]
    with review.model() as screening:  # which learns from the first stage alone
        assert int((screening.topic().answers != 0).sum()) == 8
    assert judging.undo(review, second) == "r4"
    assert [one.id for one in judging.queue(review, second)] == ["r4"]
    judging.judge(review, first, "r4", "irrelevant")  # it leaves the second stage
    assert judging.queue(review, second) == []
    with pytest.raises(InputError, match="not included on title and abstract"):
        judging.judge(review, second, "r4", "relevant")


def test_a_full_text_that_was_put_aside_comes_again(review, me):
    first, second = ReviewerQueue(me.id, "relevant"), ReviewerQueue(me.id, FULL)
    for k in range(4):
        judging.judge(review, first, f"r{k}", "relevant")
    seen = []
    for _ in range(3):
        seen.append(judging.queue(review, second)[0].id)
        judging.skip(review, second, seen[-1]) if seen[-1] == "r1" else judging.judge(
            review, second, seen[-1], "relevant"
        )
    assert seen == ["r0", "r1", "r2"]
    judging.judge(review, second, judging.queue(review, second)[0].id, "relevant")
    assert [one.id for one in judging.queue(review, second)] == ["r1"]


@pytest.fixture
def by_two(room, me, records):
    """A project of which two people have included two records; Bob, and the queues of the full texts of both."""
    plan = NewProject("Tea", ScreenSettings(), double=True, prior="none")
    review, bob = room.review(create_project(room, me, plan, records)), create_user(room.store, "bob", None)
    set_role(room.store, me, review, "bob", "owner")
    for user in (me.id, bob.id):
        for id in ("r0", "r4"):
            judging.judge(review, ReviewerQueue(user, "relevant"), id, "relevant")
    return review, bob, ReviewerQueue(me.id, FULL), ReviewerQueue(bob.id, FULL)


def test_people_who_differ_on_a_full_text_are_in_conflict_until_it_is_settled(by_two, room, me):
    review, bob, mine, his = by_two
    judging.judge(review, mine, "r0", "irrelevant", reason="wrong outcome")
    judging.judge(review, his, "r0", "relevant")
    (listed,) = list_projects(room, me)
    assert (listed.progress.n_conflicts, listed.progress.n_waiting) == (1, 0)
    (conflict,) = disagreements(review, FULL).conflicts
    assert (conflict.id, conflict.reasons) == ("r0", {me.name: "wrong outcome"})
    judging.judge(review, ReviewerQueue(bob.id, "relevant"), "r0", "unsure")  # it is not included any more
    (listed,) = list_projects(room, me)
    assert listed.progress.n_conflicts == 1  # that of the first stage
    assert disagreements(review, FULL).conflicts == []
    judging.judge(review, ReviewerQueue(bob.id, "relevant"), "r0", "relevant")
    judging.settle(review, mine, "r0", "relevant")
    assert prisma_numbers(review, "relevant").n_included == 1


def test_the_second_reading_of_a_full_text_ends_with_its_inclusion(by_two):
    review, bob, mine, his = by_two
    judging.judge(review, mine, "r0", "relevant")
    judging.judge(review, ReviewerQueue(bob.id, "relevant"), "r0", "irrelevant")
    assert [one.id for one in judging.queue(review, his)] == ["r4"]  # an answer to r0 would be refused
    assert judging.undo(review, mine) == "r0"
    assert judging.queue(review, mine) == []  # r4 is with Bob


def test_another_file_takes_the_place_and_goes_with_the_project(review, me, room):
    judging.judge(review, ReviewerQueue(me.id, "relevant"), "r0", "relevant")
    for words in ("first", "second"):
        add_full_text(review, me.id, "r0", f"{words}.pdf", make_pdf(words))
        kept = find_full_text(review, "r0")
        assert (kept.name, kept.content) == (f"{words}.pdf", make_pdf(words))
        second = ReviewerQueue(me.id, FULL)
        judging.queue(review, second)
        assert words in "".join(part.text for part in show(review, second, "r0").text)
    assert kept.answer().headers["content-disposition"].startswith("attachment")
    remove_full_text(review, me.id, "r0")
    with pytest.raises(InputError, match="has no full text"):
        find_full_text(review, "r0")
    with pytest.raises(InputError, match="no record"):
        add_full_text(review, me.id, "elsewhere", "x.pdf", make_pdf())
    with pytest.raises(InputError, match="64 MB is the most"):
        add_full_text(review, me.id, "r0", "x.pdf", bytes(LARGEST_PDF + 1))
    with room.store.read() as session:
        assert session.get(FullText, (review.id, "r0")) is None


def test_full_texts_move_with_their_project(review, me, room):
    first = ReviewerQueue(me.id, "relevant")
    judging.change_lists(review, me.id, ["too old"], ["later"])
    judging.judge(review, first, "r0", "relevant")
    judging.judge(review, first, "r1", "irrelevant", reason="too old")
    judging.write_tags(review, me.id, "r0", ["later"])
    add_full_text(review, me.id, "r0", "kettles.pdf", make_pdf("Kettles boil"))
    judging.judge(review, first._replace(topic=FULL), "r0", "irrelevant", reason="too old")
    again = room.review(read_project(room, me, write_project(room, review, me.id)))
    assert prisma_numbers(again, "relevant") == prisma_numbers(review, "relevant")
    assert find_full_text(again, "r0").content == make_pdf("Kettles boil")
    shown = show(again, first._replace(topic=FULL), "r0")
    assert "Kettles boil" in "".join(part.text for part in shown.text)
    assert (shown.answer, shown.excluded_for, shown.tags) == ("irrelevant", "too old", ("later",))


@pytest.mark.parametrize(
    ("part", "content"),
    [("1.json", b"{}"), ("1.json", b"[1"), ("1.pdf", b"<script>"), ("2.json", b'{"id": "r0", "file": "", "text": ""}')],
)
def test_full_texts_of_a_file_are_not_believed(review, me, room, part, content):
    judging.judge(review, ReviewerQueue(me.id, "relevant"), "r0", "relevant")
    add_full_text(review, me.id, "r0", "kettles.pdf", make_pdf("Kettles boil"))
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(write_project(room, review, me.id))) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            if name != f"full texts/{part}":
                new.writestr(name, old.read(name))
        new.writestr(f"full texts/{part}", content)
    with pytest.raises(InputError, match="a full text is"):
        read_project(room, me, changed.getvalue())
