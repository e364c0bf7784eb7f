"""Records that are merged by hand: one paper is one record, with what was said of either, until they are separated."""

from __future__ import annotations

import io
import itertools
import json
import zipfile

import pytest

from textbayes.app import judging
from textbayes.app.accounts import create_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import Store
from textbayes.app.duplicates import list_duplicates, merge, unmerge
from textbayes.app.exports import export, read_project, write_project
from textbayes.app.full_texts import add_full_text
from textbayes.app.importing import read_records
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.app.prisma import prisma_numbers
from textbayes.app.projects import NewProject, add_records, create_project
from textbayes.app.records import list_records, show
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings
from textbayes.screen.status import table_rows

TOPIC = "relevant"


def rows(room, review, me) -> dict[str, dict[str, str]]:
    content = export(room, review, ReviewerQueue(me.id, TOPIC), "jsonl").content
    return {row["id"]: row for row in map(json.loads, content.decode().splitlines())}


def learnt(review) -> dict[str, int]:
    with review.model() as screening:
        answers = screening.topic().answers.tolist()
        return {id: answers[row] for id, row in screening.collection.row_of.items() if abs(answers[row]) == 1}


@pytest.fixture
def review(room, project):
    return room.review(project)


def test_a_merged_record_is_gone_and_its_answers_are_those_of_the_other(room, me, review, monkeypatch):
    monkeypatch.setattr("textbayes.app.full_texts.pdf_text", lambda content: "a paper on tea")
    place = ReviewerQueue(me.id, TOPIC)
    judging.change_lists(review, me.id, ["too old"], ["doubtful"])
    judging.judge(review, place, "r4", "irrelevant", reason="too old")
    judging.judge(review, place, "r8", "relevant")
    judging.write_note(review, me.id, "r4", "seen twice")
    judging.write_tags(review, me.id, "r4", ["doubtful"])
    add_full_text(review, me.id, "r4", "paper.pdf", b"%PDF-")
    before = prisma_numbers(review, TOPIC)
    merge(review, me, "r4", "r20")
    assert set(rows(room, review, me)) == {f"r{i}" for i in range(60)} - {"r4"}
    one = rows(room, review, me)["r20"]
    assert [one[name] for name in ("decision", "reason", "note", "tags")] == [
        "irrelevant",
        "too old",
        "seen twice",
        "doubtful",
    ]
    shown = show(review, place, "r20")
    assert (shown.file, shown.title, shown.fields["year"]) == ("paper.pdf", "Green tea for healthy adults 20", "2010")
    assert learnt(review) == {"r20": -1, "r8": 1}
    after = prisma_numbers(review, TOPIC)
    assert after.n_duplicates == before.n_duplicates + 1
    assert after.n_screened == before.n_screened == 2
    assert after.n_identified == before.n_identified
    with pytest.raises(InputError, match="r4"):
        judging.judge(review, place, "r4", "relevant")
    for id in ("r5", "r40", "r59"):  # those behind it are who they were
        found = show(review, place, id)
        assert found.title.endswith(f" {id[1:]}")
        listed = list_records(review, place, "all", find=found.title).records
        assert (id, found.title) in {(one.id, one.title) for one in listed}
    offered = set()
    while queue := judging.queue(review, place):
        offered.add(queue[0].id)
        judging.judge(review, place, queue[0].id, "irrelevant")
    assert offered == {f"r{i}" for i in range(60)} - {"r4", "r8", "r20"}


def test_separated_again_it_is_what_it_was(room, me, review):
    place = ReviewerQueue(me.id, TOPIC)
    judging.judge(review, place, "r4", "relevant")
    judging.judge(review, place, "r20", "irrelevant")
    merge(review, me, "r4", "r20")
    assert learnt(review) == {"r20": -1}, "an answer that is there stays"
    merge(review, me, "r20", "r7")
    (first, second) = list_duplicates(review).pairs
    assert {(one.duplicate.id, one.record.id, one.reason) for one in (first, second)} == {
        ("r4", "r7", "merged by hand"), ("r20", "r7", "merged by hand")}  # fmt: skip
    number = {one.duplicate.id: one.number for one in (first, second)}
    assert unmerge(review, me, number["r4"]) == "r4"
    assert learnt(review) == {"r4": 1, "r7": -1}
    assert show(review, place, "r4").title == "Green tea for healthy adults 4"
    assert unmerge(review, me, number["r20"]) == "r20"
    assert learnt(review) == {"r4": 1, "r7": -1, "r20": -1}
    assert len(rows(room, review, me)) == 60


def test_every_process_and_every_start_sees_the_same(database, room, me, review, tmp_path):
    """Also one that has what it learnt from before on disk, and one that has the project open."""
    place, cache = ReviewerQueue(me.id, TOPIC), tmp_path / "second"
    other = ReviewRegistry(Store(database), ReviewCache(cache))
    for k in (0, 1, 4, 9):
        judging.judge(review, place, f"r{k}", "relevant" if k % 4 == 0 else "irrelevant")
    other.review(review.id).snapshot(at_least=1)
    merge(review, me, "r4", "r20")
    theirs = other.review(review.id)
    assert not theirs.stale
    judging.judge(theirs, place, "r30", "irrelevant")
    with pytest.raises(InputError, match="r4"):
        judging.judge(theirs, place, "r4", "relevant")
    expected = {"r0": 1, "r1": -1, "r9": -1, "r20": 1, "r30": -1}
    third = ReviewRegistry(Store(database), ReviewCache(cache))
    for registry in (room, other, third):
        opened = registry.review(review.id)
        assert learnt(opened) == expected
        registry.review(review.id)
        assert not opened.stale, "it is read once"
        with opened.model() as screening:
            given = [{"id": id, "text": "", "fields": {}} for id in screening.collection.ids]
            assert len(table_rows(screening, given, TOPIC)) == 59
    stale = other.review(review.id)
    unmerge(room.review(review.id), me, list_duplicates(review).pairs[0].number)
    assert learnt(other.review(review.id)) == {**expected, "r4": 1}
    assert stale is other.review(review.id)
    for registry in (other, third):
        registry.close()


def test_an_answer_by_one_who_has_not_heard_of_it_is_refused(database, room, me, review):
    other = ReviewRegistry(Store(database), ReviewCache(None))
    theirs = other.review(review.id)
    merge(review, me, "r4", "r20")
    with pytest.raises(InputError, match="record 'r4' was merged into another one meanwhile; reload the page"):
        judging.judge(theirs, ReviewerQueue(me.id, TOPIC), "r4", "relevant")
    other.close()


def test_two_readers_of_one_paper_have_both_read_it(room, me, records):
    """In double screening the answers to either record are those of the paper, of no more than two people."""
    people = [create_user(room.store, name, None) for name in ("bob", "cid")]
    plan = NewProject("Tea", ScreenSettings(questions={TOPIC: "green tea"}), double=True, prior="none")
    review = room.review(create_project(room, me, plan, records))
    for one in people:
        set_role(room.store, me, review, one.name, "reviewer")
    mine, bobs, cids = (ReviewerQueue(one.id, TOPIC) for one in (me, *people))
    judging.judge(review, mine, "r0", "relevant")
    judging.judge(review, bobs, "r4", "irrelevant")
    judging.judge(review, mine, "r4", "irrelevant")
    judging.judge(review, cids, "r8", "relevant")
    merge(review, me, "r4", "r0")
    with review.looking() as assignments:
        assert assignments.opinions[TOPIC]["r0"] == {me.id: "relevant", people[0].id: "irrelevant"}
        assert assignments.answer(TOPIC, "r0") == "conflict"
    merge(review, me, "r8", "r0")
    with review.looking() as assignments:
        assert set(assignments.opinions[TOPIC]["r0"]) == {me.id, people[0].id}
    judging.settle(review, mine, "r0", "relevant")
    merge(review, me, "r0", "r12")
    with review.looking() as assignments:
        assert assignments.answer(TOPIC, "r12") == "relevant", "what was settled stays so"


@pytest.mark.parametrize("double", [False, True])
def test_who_has_a_record_that_gets_answers_by_a_merge_does_not_read_it(room, me, records, double):
    """Two answers come to it, or one where one person reads a record: nobody else's is wanted."""
    plan = NewProject("Tea", ScreenSettings(), double=double, prior="none")
    review = room.review(create_project(room, me, plan, records))
    people = [me, *(create_user(room.store, name, None) for name in ("bob", "cid"))]
    for one in people[1:]:
        set_role(room.store, me, review, one.name, "reviewer")
    held = judging.queue(review, ReviewerQueue(people[2].id, "relevant"))[0].id
    (other, *_) = (one.id for one in records if one.id != held)
    for one in people[: 2 if double else 1]:
        judging.judge(review, ReviewerQueue(one.id, "relevant"), other, "relevant", replace=True)
    merge(review, me, other, held)
    assert held not in [one.id for one in judging.queue(review, ReviewerQueue(people[2].id, "relevant"))]
    with pytest.raises(InputError, match="your answer was not kept"):
        judging.judge(review, ReviewerQueue(people[2].id, "relevant"), held, "irrelevant")


def test_a_project_takes_its_duplicates_along(room, me, review, records):
    place = ReviewerQueue(me.id, TOPIC)
    more = b"id,title,year\nnew,Green tea for healthy adults 8,1998\nagain,Green tea for healthy adults 12,2002\n"
    add_records(review, me, read_records("more.csv", more))
    judging.judge(review, place, "r4", "relevant")
    merge(review, me, "r4", "r20")
    found = {(one.duplicate.id, one.record.id, one.reason) for one in list_duplicates(review).pairs}
    assert len(found) == 3
    copy = room.review(read_project(room, me, write_project(room, review, me.id)))
    there = list_duplicates(copy)
    assert {(one.duplicate.id, one.record.id, one.reason) for one in there.pairs} == found
    assert learnt(copy) == {"r20": 1}
    assert prisma_numbers(copy, TOPIC) == prisma_numbers(review, TOPIC)
    assert not room.review(copy.id).stale
    by_name = {one.duplicate.id: one for one in there.pairs}
    assert by_name["r4"].duplicate.fields == {"year": "1994"}
    for name in ("r4", "again"):
        assert unmerge(copy, me, by_name[name].number) == name
    assert learnt(copy) == {"r20": 1, "r4": 1}


def test_what_was_merged_by_hand_is_known_when_it_comes_again(room, me, review, records):
    merge(review, me, "r4", "r20")
    more = f"id,title\nr4,{records[4].text.splitlines()[0]}\nr4b,Ore\n".encode()
    added = add_records(review, me, read_records("more.csv", more))
    assert added.n_added == 1
    assert [(one.into, one.reason) for one in added.merged] == [("r20", "the same title")]
    assert "r4" not in review.collection.row_of


def test_records_that_cannot_be_merged_are_refused(room, me, review):
    for one, other, told in (("r4", "r4", "named twice"), ("r4", "zzz", "zzz"), ("zzz", "r4", "zzz")):
        with pytest.raises(InputError, match=told):
            merge(review, me, one, other)
    assert list_duplicates(review).n_found == 0


def test_damaged_duplicates_of_a_file_are_refused(room, me, review):
    merge(review, me, "r4", "r20")
    content = write_project(room, review, me.id)
    good = {"id": "x", "into": "r20", "reason": "merged by hand", "text": "x", "fields": {}}
    bad = [{**good, "id": "r20"}, {**good, "into": "zzz"}, {**good, "id": 7}, {**good, "text": "\x00"}, [], {"id": "x"}]
    for line in itertools.chain(map(json.dumps, bad), ["{", json.dumps(good) + "\n" + json.dumps(good)]):
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
            for name in old.namelist():
                new.writestr(name, line if name == "duplicates.jsonl" else old.read(name))
        with pytest.raises(InputError, match="not a project that textbayes wrote"):
            read_project(room, me, target.getvalue())
