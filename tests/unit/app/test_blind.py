"""Double screening is blind: before both have answered, no reply to anybody else depends on what the first one said.

Two rooms are the same but for the answers and notes of one person, which are the opposite: every route is asked in
both, and every reply must be the same.
"""

from __future__ import annotations

import functools
import json
import re
import types

import pytest
import twin_rooms
from twin_rooms import AT, ELSEWHERE, Room, looks, routes

from textbayes.app import judging
from textbayes.app.accounts import set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.dashboard import DRAWINGS
from textbayes.app.exports import KINDS, ONLY
from textbayes.app.full_texts import add_full_text
from textbayes.app.projects import NewProject, create_project
from textbayes.app.records import FILTERS, SORTS
from textbayes.app.stages import full_text_of
from textbayes.screen import ScreenSettings

pytest.importorskip("openpyxl", reason="needs the extra xlsx")
TOPIC = "relevant"
FIRST = ("r0", "r1", "r2", "r3", "r4", "r5")  # answered by Ann alone
# Answered by Ann as one that belongs and as one that does not, by both, and by nobody.
RECORDS = ("r0", "r1", "r20", "r40")
OPPOSITE = {"relevant": "irrelevant", "irrelevant": "relevant"}
NOTES = ("surely one of them", "never one of them")
TAGS, REASONS = ("doubtful", "clear"), ("too old", "no trial")
assert_same = functools.partial(twin_rooms.assert_same, hidden=NOTES)


class Twin(Room):
    """A room where Ann has answered, and others have not; the other one where she answered the opposite."""

    def __init__(self, folder, records, opposite, clocks, portal, learns):
        super().__init__(folder, clocks, portal)
        room, people = self.registry, self.people
        plan = NewProject(
            "Tea", ScreenSettings(questions={TOPIC: "green tea"}), double=True, prior="none", learns=learns
        )
        self.project = create_project(room, people["ann"], plan, records)
        review = room.review(self.project)
        for name, role in (("bob", "reviewer"), ("cid", "reader"), ("dan", "owner")):
            set_role(room.store, people["ann"], review, name, role)
        self.review = review
        judging.change_lists(review, self.ids["ann"], REASONS, TAGS)
        for id in ("r20", "r21", "r24", "r25"):  # both have answered these: there is something to see and to learn
            for name in ("ann", "bob"):
                said = "relevant" if id in ("r20", "r24") else "irrelevant"
                judging.judge(review, ReviewerQueue(self.ids[name], TOPIC), id, said)
        judging.queue(review, ReviewerQueue(self.ids["ann"], TOPIC))
        for k, id in enumerate(FIRST):
            said = "relevant" if k % 4 == 0 else "irrelevant"
            said = OPPOSITE[said] if opposite else said
            reason = REASONS[opposite] if said == "irrelevant" else ""
            judging.write_note(review, self.ids["ann"], id, NOTES[opposite])
            judging.write_tags(review, self.ids["ann"], id, [TAGS[opposite]])
            judging.judge(review, ReviewerQueue(self.ids["ann"], TOPIC), id, said, reason=reason)
        # From now on Ann has other records before her in each room, where the model learns from her answers alone.
        first = judging.queue(review, ReviewerQueue(self.ids["ann"], TOPIC))[0].id
        if learns == "own":
            judging.skip(review, ReviewerQueue(self.ids["ann"], TOPIC), first)
            judging.queue(review, ReviewerQueue(self.ids["ann"], TOPIC))
        for id in RECORDS:
            add_full_text(review, self.ids["ann"], id, f"{id}.pdf", b"%PDF-")
        full = full_text_of(TOPIC)
        judging.queue(review, ReviewerQueue(self.ids["ann"], full))
        judging.judge(
            review,
            ReviewerQueue(self.ids["ann"], full),
            "r20",
            "relevant" if opposite else "irrelevant",
            reason="" if opposite else REASONS[0],
        )


@pytest.fixture
def learns() -> str:
    return "settled"


@pytest.fixture
def twins(tmp_path, records, monkeypatch, portal, learns):
    clocks = []  # the last is that of the twin that is asked: the same is done at the same time in both
    for module in ("live", "judging", "exports"):
        monkeypatch.setattr(f"textbayes.app.{module}.time", types.SimpleNamespace(time=lambda: next(clocks[-1])))
    monkeypatch.setattr("textbayes.app.full_texts.pdf_text", lambda content: "the text of a paper on tea")
    made = [Twin(tmp_path / f"room{opposite}", records, opposite, clocks, portal, learns) for opposite in (False, True)]
    yield made
    for twin in made:
        twin.close()


# What parts of paths and questions may be; a route with another part must be added here.
PARTS = {
    "project_id": ("{project_id}",), "record_id": RECORDS, "id": RECORDS, "kind": KINDS, "figure": tuple(DRAWINGS),
    "format": ("svg", "png"), "show": (*FILTERS, f"tag: {TAGS[0]}", f"tag: {TAGS[1]}"),
    "topic": (TOPIC, full_text_of(TOPIC)), "find": ("", "tea"), "start": (0,), "sort": SORTS, "only": ONLY,
    "scanned": ("",), "ahead": (2,),
}  # fmt: skip
CHANGES = {
    # What Bob may do before he answers what Ann has answered; in this order.
    ("POST", "/api/v1/projects/{project_id}/judgements"): {"json": {"id": "r41", "answer": "irrelevant"}},
    ("POST", "/projects/{project_id}/judge"): {"data": {"id": "r44", "answer": "relevant"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/note"): {"json": {"text": "Bob's own"}},
    ("POST", "/projects/{project_id}/note"): {"data": {"id": "r2", "text": "Bob's own too"}},
    ("POST", "/api/v1/projects/{project_id}/undo"): {"json": {}},
    ("POST", "/projects/{project_id}/undo"): {"data": {}},
    ("POST", "/api/v1/projects/{project_id}/words"): {"json": {"word": "leaves", "direction": "for"}},
    ("POST", "/projects/{project_id}/words"): {"data": {"word": "ore", "direction": "against"}},
    ("POST", "/projects/{project_id}/protocol"): {"data": {"text": "green tea leaves"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/tags"): {"json": {"tags": ["clear"]}},
    ("POST", "/projects/{project_id}/tags"): {"data": {"id": "r2", "tag": "doubtful"}},
    ("PUT", "/api/v1/projects/{project_id}/lists"): {"json": {"reasons": ["too new"], "tags": list(TAGS)}},
    ("POST", "/projects/{project_id}/lists"): {"data": {"reasons": "too new\ntoo old", "tags": "doubtful\nclear"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/full-text"): {"files": {"file": ("r1.pdf", b"%PDF-")}},
    ("DELETE", "/api/v1/projects/{project_id}/records/r1/full-text"): {},
    ("POST", "/projects/{project_id}/full-texts"): {"data": {"id": "r1"}, "files": {"file": ("r1.pdf", b"%PDF-")}},
    ("POST", "/projects/{project_id}/full-texts/remove"): {"data": {"id": "r1"}},
    ("POST", "/api/v1/projects/{project_id}/skips"): {"json": {"id": "r0"}},
    ("POST", "/api/v1/projects/{project_id}/conflicts"): {"json": {"id": "r0", "answer": "relevant"}},
    ("POST", "/projects/{project_id}/conflicts"): {"data": {"id": "r0", "answer": "relevant"}},
    ("PATCH", "/api/v1/projects/{project_id}"): {"json": {"strategy": "likely=0.5,random=0.5"}},
    ("POST", "/projects/{project_id}/simulation"): {"data": {}},
    ("POST", "/projects/{project_id}/release"): {"data": {}},
    ("POST", "/api/v1/projects/{project_id}/queue/release"): {"json": {}},
    ("POST", "/projects/{project_id}/strategy"): {"data": {"strategy": "likely"}},
    ("POST", "/api/v1/projects/{project_id}/records"): {"files": {"file": ("x.csv", "id,text\nx1,Green tea pots\n")}},
    ("POST", "/projects/{project_id}/records"): {"files": {"file": ("x.csv", "id,text\nx2,Iron shafts and ore\n")}},
    ("PUT", "/api/v1/projects/{project_id}/goal"): {"json": {"target": 0.8, "confidence": 0.7}},
    ("POST", "/projects/{project_id}/goal"): {"data": {"target": "90", "confidence": "80"}},
    ("POST", "/api/v1/projects/{project_id}/judgements/many"): {"json": {"ids": ["r42", "r45"], "answer": "unsure"}},
    ("POST", "/projects/{project_id}/answers"): {"data": {"id": ["r46", "r47"], "answer": "irrelevant"}},
    ("POST", "/projects/{project_id}/duplicates"): {"data": {"number": "1"}},
    ("POST", "/api/v1/projects/{project_id}/duplicates/1/separate"): {},
    ("POST", "/api/v1/projects/{project_id}/duplicates"): {"json": {"id": "r3", "into": "r48"}},
    ("POST", "/projects/{project_id}/duplicates/merge"): {"data": {"id": "r4", "into": "r49"}},
    ("PUT", "/api/v1/projects/{project_id}/members"): {"json": {"name": "cid", "role": "reader"}},
    ("POST", "/projects/{project_id}/members"): {"data": {"name": "cid", "role": "reader"}},
    ("POST", "/api/v1/projects/{project_id}/invites"): {"json": {"uses": 2}},
    ("POST", "/projects/{project_id}/invites"): {"data": {"role": "reader"}},
    ("DELETE", "/api/v1/projects/{project_id}/invites/none"): {},
    ("POST", "/projects/{project_id}/invites/none/withdraw"): {},
    ("PUT", "/api/v1/projects/{project_id}/people"): {"json": {"name": "ann"}},
    ("POST", "/projects/{project_id}/people"): {"data": {"name": "ann"}},
}  # fmt: skip
NOT_ASKED = {
    ("POST", "/api/v1/projects/{project_id}/unblind"), ("POST", "/projects/{project_id}/unblind"),  # tested below
    ("DELETE", "/api/v1/projects/{project_id}"), ("POST", "/projects/{project_id}/delete"),
    ("POST", "/api/v1/projects"), ("POST", "/api/v1/projects/import"),
}  # fmt: skip
OF_CATEGORIES = {  # projects of another kind, which refuse reviews
    *((method, f"{at}/labels") for at in AT for method in ("GET", "POST")),
    *(("POST", f"{at}/{path}") for at in AT for path in ("labels/{label}/merge", "train", "gold")),
    ("PUT", f"{AT[0]}/labels/{{label}}"), ("DELETE", f"{AT[0]}/labels/{{label}}"),
    ("POST", f"{AT[1]}/labels/{{label}}/remove"),
}  # fmt: skip
LABEL = {"name": "n", "description": "", "into": 2, "id": "r1", "answer": "1"}


def look_again(twins, name):
    for look in ("queue", "status", "words", "export.jsonl"):
        assert_same(twins, name, "GET", f"{AT[0]}/{look}")


@pytest.mark.parametrize(
    ("name", "learns"),
    [("bob", "settled"), ("dan", "settled"), ("cid", "settled"), ("bob", "own"), ("dan", "own")],
)
def test_no_reply_tells_what_the_first_one_said(twins, name):
    """Bob reviews, Dan is an owner who reviews too, Cid looks on."""
    app = twins[0].app
    n_asked = 0
    for path, asked in looks(app, PARTS, OF_CATEGORIES):
        if "figures" in path and name != "bob":
            continue  # they take long, and are the same for all
        code, _ = assert_same(twins, name, "GET", path, params=asked, follow_redirects=False)
        assert code in (200, 303) or path.endswith("/invites") or (name == "cid" and path.endswith("/queue")), (
            path,
            code,
        )
        n_asked += 1
    assert n_asked > 50
    for (method, path), sent in CHANGES.items():
        code, _ = assert_same(twins, name, method, path, follow_redirects=False, **sent)
        if code < 400:
            look_again(twins, name)
    look_again(twins, name)  # what was refused has changed nothing, for either
    for method, path in OF_CATEGORIES:
        sent = {"json" if path.startswith("/api") else "data": LABEL} if method != "GET" else {}
        code, _ = assert_same(twins, name, method, path.replace("{label}", "1"), **sent)
        assert code in (400, 403, 422), path
    known = {"{record_id}": "r1", "{number}": "1", "{invite_id}": "none"}
    changing = {
        (method, re.sub(r"{(record_id|number|invite_id)}", lambda one: known[one[0]], path))
        for method, path, _ in routes(app)
        if method != "GET"
    }
    elsewhere = {one for one in changing if one[1].removeprefix("/api/v1").startswith(ELSEWHERE)}
    assert changing - elsewhere - OF_CATEGORIES == CHANGES.keys() | NOT_ASKED, "a route is not asked here"


def test_the_description_names_no_route_that_is_not_asked(twins):
    described = json.loads(twins[0].ask("bob", "GET", "/api/v1/openapi.json")[1])["paths"]
    assert set(described) <= {path for _, path, _ in routes(twins[0].app)}


def test_all_is_seen_when_both_have_answered(twins):
    """The twins would be told apart by any of these: the comparison above can fail."""
    at = "/api/v1/projects/{project_id}"
    paths = (f"{at}/records/r0", f"{at}/records", f"{at}/status", f"{at}/words", f"{at}/export.csv", f"{at}/export.zip",
             f"{at}/export.tb", "/projects/{project_id}/record?id=r0", "/projects/{project_id}/dashboard")  # fmt: skip
    for twin in twins:
        for id in FIRST:
            judging.judge(twin.review, ReviewerQueue(twin.ids["bob"], TOPIC), id, "relevant")
    for path in paths:
        (_, one), (_, other) = (twin.ask("bob", "GET", path) for twin in twins)
        assert one != other, path
    for twin, note in zip(twins, NOTES, strict=True):
        assert note.encode() in twin.ask("bob", "GET", f"{at}/records/r0")[1]


@pytest.mark.parametrize("learns", ["own"])
def test_a_model_of_own_answers_shows_them_to_their_person_alone(twins):
    """Ann's queue and probabilities differ between the rooms, so that those of others can be told to be the same."""
    at = "/api/v1/projects/{project_id}"
    for path in (f"{at}/queue", f"{at}/words", f"{at}/records?sort=probability", f"{at}/export.zip"):
        (_, one), (_, other) = (twin.ask("ann", "GET", path) for twin in twins)
        assert one != other, path
    held = [twin.review._assignments.held[ReviewerQueue(twin.ids["ann"], TOPIC)] for twin in twins]
    assert held[0].keys() != held[1].keys()
    for _ in range(12):  # Bob reads on: not even records that Ann has before her come otherwise
        _, told = assert_same(twins, "bob", "GET", f"{at}/queue")
        id = next(one["id"] for one in json.loads(told))
        if id in FIRST:
            break  # both have answered then, and may know
        assert_same(twins, "bob", "POST", f"{at}/judgements", json={"id": id, "answer": "irrelevant"})


def test_one_sees_what_one_said_oneself(twins):
    at = "/api/v1/projects/{project_id}"
    seen = json.loads(twins[0].ask("ann", "GET", f"{at}/records/r0")[1])
    assert (seen["answer"], seen["note"], seen["notes"], seen["tags"]) == ("relevant", NOTES[0], {}, ["doubtful"])
    rows = [json.loads(line) for line in twins[0].ask("ann", "GET", f"{at}/export.jsonl")[1].splitlines()]
    (row,) = [row for row in rows if row["id"] == "r0"]
    assert (row["decision"], row["answer of ann"], row["note"]) == ("", "relevant", NOTES[0])
    status = json.loads(twins[0].ask("ann", "GET", f"{at}/status")[1])
    assert (status["read"], status["relevant"], status["waiting"]) == (4, 2, len(FIRST))


def test_an_owner_who_asks_sees_all_and_reads_no_more(twins):
    at, twin = "/api/v1/projects/{project_id}", twins[0]
    assert twin.ask("bob", "POST", f"{at}/unblind")[0] == 403
    assert json.loads(twin.ask("dan", "GET", f"{at}/records/r0")[1])["answer"] is None
    assert twin.ask("dan", "POST", f"{at}/judgements", json={"id": "r41", "answer": "unsure"})[0] == 201
    assert twin.ask("dan", "POST", f"{at}/unblind")[0] == 204
    assert json.loads(twin.ask("dan", "GET", f"{at}/records/r0")[1])["answer"] == "relevant"
    assert NOTES[0].encode() in twin.ask("dan", "GET", f"{at}/export.zip")[1]
    for method, path, sent in (
        ("GET", "queue", {}),
        ("POST", "judgements", {"json": {"id": "r0", "answer": "unsure"}}),
        ("POST", "undo", {"json": {}}),
    ):
        code, told = twin.ask("dan", method, f"{at}/{path}", **sent)
        assert code == 400
        assert b"you chose to see all answers" in told
    assert twin.ask("dan", "GET", "/projects/{project_id}")[0] == 200
    assert json.loads(twin.ask("bob", "GET", f"{at}/records/r0")[1])["answer"] is None
