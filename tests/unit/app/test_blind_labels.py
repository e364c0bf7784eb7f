"""Two people who label every text are blind, and nobody finds the answer to a gold question before answering it.

Two rooms are the same but for the labels that Ann gave alone, and for the answers to gold questions that Dan knows:
every route is asked in both, and every reply must be the same.
"""

from __future__ import annotations

import functools
import json
import types

import pytest
import twin_rooms
from twin_rooms import AT, Room, looks

from textbayes.app import judging
from textbayes.app.accounts import set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.exports import CATEGORY_KINDS
from textbayes.app.labelling import TOPIC
from textbayes.app.records import LABEL_FILTERS

pytest.importorskip("openpyxl", reason="needs the extra xlsx")
LABELS = {"tea": "green tea and leaves", "ore": "iron, shafts and mines"}
FIRST, GOLD = ("r0", "r1", "r2", "r3"), ("r30", "r31")  # answered by Ann alone; known to Dan
RECORDS = ("r0", "r20", "r30", "r40")
OPPOSITE = {"1": "2", "2": "1"}
NOTES = ("surely about tea", "surely about ore")
assert_same = functools.partial(twin_rooms.assert_same, hidden=NOTES)
PARTS = {
    "project_id": ("{project_id}",), "record_id": RECORDS, "id": RECORDS, "kind": CATEGORY_KINDS, "figure": (),
    "format": ("svg",), "show": (*LABEL_FILTERS, "1", "2"), "topic": (TOPIC,), "find": ("", "tea"), "start": (0,),
    "sort": ("file",), "only": ("all",), "scanned": ("",), "ahead": (2,),
}  # fmt: skip
CHANGES = (
    ("POST", f"{AT[0]}/judgements", {"json": {"id": "r41", "answer": "1"}}),
    ("POST", f"{AT[1]}/judge", {"data": {"id": "r44", "answer": "2"}}),
    ("POST", f"{AT[0]}/judgements", {"json": {"id": "r30", "answer": "1"}}),  # a gold question, rightly or wrongly
    ("PUT", f"{AT[0]}/records/r1/note", {"json": {"text": "Bob's own"}}),
    ("POST", f"{AT[0]}/undo", {"json": {}}),
    ("POST", f"{AT[1]}/labels", {"data": {"name": "coffee"}}),
    ("POST", f"{AT[0]}/conflicts", {"json": {"id": "r0", "answer": "1"}}),
    ("POST", f"{AT[1]}/conflicts", {"data": {"id": "r30", "answer": "labels", "label": "2"}}),
    ("POST", f"{AT[0]}/gold", {"json": {"id": "r30", "answer": "2"}}),
    ("POST", f"{AT[1]}/gold", {"data": {"id": "r31", "answer": "withdrawn"}}),
    ("POST", f"{AT[1]}/labels/3/merge", {"data": {"into": "1"}}),
    ("POST", f"{AT[1]}/release", {"data": {}}),
)


class LabelTwin(Room):
    """A room where Ann has labelled and Dan knows gold questions; the other one with the opposite labels."""

    def __init__(self, folder, records, opposite, clocks, portal):
        super().__init__(folder, clocks, portal)
        plan = NewCategories("Kinds", LABELS, double=True)
        self.project = create_categories(self.registry, self.people["ann"], plan, records)
        review = self.review = self.registry.review(self.project)
        for name, role in (("bob", "reviewer"), ("cid", "reader"), ("dan", "owner")):
            set_role(self.registry.store, self.people["ann"], review, name, role)
        for id in ("r20", "r21", "r24", "r25"):  # both have answered these
            for name in ("ann", "bob"):
                judging.judge(review, self.queue_of(name), id, "1" if id in ("r20", "r24") else "2")
        judging.queue(review, self.queue_of("ann"))
        for k, id in enumerate(FIRST):
            said = str(1 + k % 2)
            judging.write_note(review, self.ids["ann"], id, NOTES[opposite])
            judging.judge(review, self.queue_of("ann"), id, OPPOSITE[said] if opposite else said)
        for k, id in enumerate(GOLD):
            said = str(1 + k % 2)
            judging.set_gold(review, self.queue_of("dan"), id, OPPOSITE[said] if opposite else said)
            judging.write_note(review, self.ids["dan"], id, NOTES[opposite])

    def queue_of(self, name):
        return ReviewerQueue(self.ids[name], TOPIC)


@pytest.fixture
def twins(tmp_path, records, monkeypatch, portal):
    clocks = []
    monkeypatch.setattr(judging, "_chance", types.SimpleNamespace(random=lambda: 1.0))  # the same in both rooms
    for module in ("live", "judging", "exports"):
        monkeypatch.setattr(f"textbayes.app.{module}.time", types.SimpleNamespace(time=lambda: next(clocks[-1])))
    made = [LabelTwin(tmp_path / f"room{opposite}", records, opposite, clocks, portal) for opposite in (False, True)]
    yield made
    for twin in made:
        twin.close()


@pytest.mark.parametrize("name", ["bob", "cid"])
def test_no_reply_tells_a_label_that_one_person_gave(twins, name):
    """Bob labels, Cid looks on; what Dan and Ann know of each other is in the test below."""
    n_asked = sum(
        assert_same(twins, name, "GET", path, params=asked, follow_redirects=False)[0] == 200
        for path, asked in looks(twins[0].app, PARTS)
    )
    assert n_asked > 40
    for method, path, sent in CHANGES:
        assert_same(twins, name, method, path, follow_redirects=False, **sent)
        for look in ("queue", "labels", "export.jsonl", "records/r30", "records/r0"):
            assert_same(twins, name, "GET", f"{AT[0]}/{look}")


def test_the_owner_who_made_a_gold_question_knows_it_and_another_owner_does_not(twins):
    for twin in twins:
        assert b"This is a gold question" in twin.ask("dan", "GET", f"{AT[1]}/record?id=r30")[1]
        assert b"This is a gold question" not in twin.ask("ann", "GET", f"{AT[1]}/record?id=r30")[1]
    (_, one), (_, other) = (twin.ask("dan", "GET", f"{AT[0]}/records/r30") for twin in twins)
    assert one != other
    assert_same(twins, "dan", "GET", f"{AT[0]}/records/r0")


def test_all_is_seen_when_both_have_labelled(twins):
    """The twins would be told apart by any of these: the comparison above can fail."""
    for twin in twins:
        for id in FIRST:
            judging.judge(twin.review, twin.queue_of("bob"), id, "1")
    for path in ("records/r1", "export.csv", "export.zip", "conflicts"):
        (_, one), (_, other) = (twin.ask("bob", "GET", f"{AT[0]}/{path}") for twin in twins)
        assert one != other, path
    found = json.loads(twins[0].ask("bob", "GET", f"{AT[0]}/conflicts")[1])
    assert found["conflicts"] == [
        {"id": id, "answers": {"ann": "ore", "bob": "tea"}, "reasons": {}} for id in ("r1", "r3")
    ]
