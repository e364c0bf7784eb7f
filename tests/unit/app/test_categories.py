"""Projects of categories: labels that change on the way, answers, guesses, accuracy, exports, models of the answers."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import time
import zipfile

import numpy as np
import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD

from textbayes.app import AppSettings, categories, create_app, judging
from textbayes.app.accounts import create_token, create_user, local_user, set_role
from textbayes.app.assignments import Assignments, ReviewerQueue
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.database import Store
from textbayes.app.exports import export, read_project, write_project
from textbayes.app.labelling import TOPIC, Labels
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.app.records import list_records, show
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.evaluate.intervals import draw_weights
from textbayes.store import load_categorizer

WORDS = {
    "grain": ["corn", "wheat", "barley", "harvest", "farm", "crop"],
    "money": ["bank", "rate", "loan", "credit", "bond", "market"],
    "sport": ["goal", "match", "coach", "league", "team", "striker"],
}
NUMBER = {"grain": "1", "money": "2", "sport": "3"}


def made_texts(n=90):
    rng = np.random.default_rng(0)
    kinds = [list(WORDS)[i % 3] for i in range(n)]
    texts = [
        " ".join([*rng.choice(WORDS[kind], 4), *rng.choice(["today", "news", "people", "city"], 2), f"part{i % 11}"])
        for i, kind in enumerate(kinds)
    ]
    return [Document(f"t{i}", text, (), {"year": str(1990 + i % 30)}) for i, text in enumerate(texts)], kinds


TEXTS, KINDS = made_texts()
TRUTH = {text.id: kind for text, kind in zip(TEXTS, KINDS, strict=True)}


@pytest.fixture
def topics(room, me):
    plan = NewCategories("Topics", {"grain": "corn and wheat", "money": "bank, loan", "sport": ""})
    return create_categories(room, me, plan, TEXTS)


@pytest.fixture
def client(database, tmp_path):
    app = create_app(AppSettings(database=database, origin=ORIGIN, cache=tmp_path / "cache"), "secret")
    token = create_token(app.state.registry.store, local_user(app.state.registry.store), "test")
    client = TestClient(app, base_url=ORIGIN, headers={"Authorization": f"Bearer {token}"})
    yield client
    app.state.training.close()
    app.state.registry.close()


def answer_on(review, place, n):
    """Label truly what is asked; the ids in order."""
    seen = []
    for _ in range(n):
        first = judging.queue(review, place)[0]
        judging.judge(review, place, first.id, NUMBER[TRUTH[first.id]])
        seen.append(first.id)
    return seen


def state(review):
    with review.labelling() as labelling:
        session = labelling.session()
        return session.names, None if session.proba is None else session.proba.tolist(), session.labelled.tolist()


def test_guesses_begin_with_names_and_become_right(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    first = show(review, place, next(one.id for one in TEXTS if {"corn", "wheat"} <= set(one.text.split())))
    assert first.guesses[0][0] == "grain"
    assert {"corn", "wheat"} & set(list(first.words)[:2])
    assert {"corn", "wheat"} & {part.text for part in first.heading if part.level > 0}
    seen = answer_on(review, place, 40)
    assert len(set(seen)) == 40
    with review.labelling() as labelling:
        guesses = [labelling.guess(row).labels[0][0] for row in range(len(TEXTS))]
    assert np.mean([guess == kind for guess, kind in zip(guesses, KINDS, strict=True)]) > 0.9
    stands = categories.standing(review)
    assert sum(n for _, n in stands.labels) == stands.n_answered == 40
    assert stands.share.low < stands.share.value <= stands.share.high
    assert stands.growth.sizes.tolist()[-1] == 240


def test_half_of_the_first_texts_are_drawn_at_random_and_weighted(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    seen = answer_on(review, place, 30)
    with review.looking() as assignments:
        reasons = assignments.reasons(place)
    at_random = [reasons[id] == "random" for id in seen]
    assert 10 <= sum(at_random) <= 16
    with review.labelling() as labelling:
        session = labelling.session()
        drawn = [session._drawn[int(i)] for i in session.labelled]
    assert drawn == at_random
    assert draw_weights(drawn, len(TEXTS)).sum() == pytest.approx(1.0)
    assert categories.standing(review).n_at_random == sum(at_random)
    judging.judge(review, place, seen[at_random.index(True)], "unsure")
    assert categories.standing(review).n_at_random == sum(at_random) - 1


def test_another_process_has_the_same_state(room, me, topics, database):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    answer_on(review, place, 12)
    categories.change_label(review, me.id, 2, "finance", "banks")
    judging.undo(review, place)
    categories.add_label(review, me.id, "other")
    other = ReviewRegistry(Store(database), ReviewCache(None))
    assert state(other.review(topics)) == state(review)
    with other.review(topics).looking() as theirs, review.looking() as ours:
        assert theirs.held == ours.held
        assert theirs.labels.in_use == ours.labels.in_use
    other.close()


def test_a_renamed_label_keeps_its_answers(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    answer_on(review, place, 12)
    before = dict(categories.standing(review).labels)
    categories.change_label(review, me.id, 3, "Sports and games")
    after = {label.number: (label.name, n) for label, n in categories.standing(review).labels}
    assert after == {
        label.number: ("Sports and games" if label.number == 3 else label.name, n) for label, n in before.items()
    }
    assert state(review)[0] == ["Sports and games", "grain", "money"]
    with pytest.raises(InputError, match="there is a label 'grain' already"):
        categories.change_label(review, me.id, 3, "GRAIN")


def test_a_merged_label_counts_as_the_other(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    answer_on(review, place, 12)
    counts = {label.name: n for label, n in categories.standing(review).labels}
    categories.merge_labels(review, me.id, 3, 1)
    merged = {label.name: n for label, n in categories.standing(review).labels}
    assert merged == {"grain": counts["grain"] + counts["sport"], "money": counts["money"]}
    judging.judge(review, place, judging.queue(review, place)[0].id, "3")  # sent before the merge was seen
    assert {label.name: n for label, n in categories.standing(review).labels}["grain"] == merged["grain"] + 1
    with pytest.raises(InputError, match="no label 3"):
        categories.merge_labels(review, me.id, 1, 3)
    with pytest.raises(InputError, match="cannot be merged into itself"):
        categories.merge_labels(review, me.id, 1, 1)


def test_texts_of_a_removed_label_are_asked_about_again(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    seen = answer_on(review, place, 12)
    gone = {id for id in seen if TRUTH[id] == "sport"}
    assert gone
    categories.remove_label(review, me.id, 3)
    assert categories.standing(review).n_answered == 12 - len(gone)
    asked = set()
    for _ in range(len(gone)):
        first = judging.queue(review, place)[0].id
        asked.add(first)
        judging.judge(review, place, first, "2")
    assert asked == gone
    with pytest.raises(InputError, match=r"names a label that is not there; the labels are: 1 \(grain\), 2 \(money\)"):
        judging.judge(review, place, judging.queue(review, place)[0].id, "3")


def test_several_labels_or_none(room, me):
    project = create_categories(room, me, NewCategories("Tags", {"corn": "", "bank": ""}, several=True), TEXTS)
    review, place = room.review(project), ReviewerQueue(me.id, TOPIC)
    ids = []
    for given in ("2 1", "none", "1", "unsure"):
        ids.append(judging.queue(review, place)[0].id)
        judging.judge(review, place, ids[-1], given)
    with review.looking() as assignments:
        said = [assignments.answer(TOPIC, id) for id in ids]
        assert said == ["1 2", "none", "1", "unsure"]
        assert [assignments.labels.shown(one) for one in said] == ["corn, bank", "no label", "corn", "unsure"]
    categories.merge_labels(review, me.id, 2, 1)
    with review.looking() as assignments:
        assert assignments.labels.names("1 2") == ("corn",)
    assert {one.id for one in list_records(review, place, "1").records} == {ids[0], ids[2]}
    assert [one.id for one in list_records(review, place, "none").records] == [ids[1]]
    with review.labelling() as labelling:
        assert len(labelling.session().labelled) == 3, "one who is unsure teaches nothing"


def test_one_label_where_one_is_wanted(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    id = judging.queue(review, place)[0].id
    for given, problem in (("1 2", "give one number"), ("none", "not there"), ("7", "not there"), ("", "not there"),
                           ("relevant", "not there"), ("1 1 9", "not there")):  # fmt: skip
        with pytest.raises(InputError, match=problem):
            judging.judge(review, place, id, given)
    with pytest.raises(InputError, match="belongs to projects that screen"), review.model():
        pass


def test_the_guess_can_be_hidden(room, me):
    project = create_categories(room, me, NewCategories("Blind", {"corn": "", "bank": ""}, show_guess=False), TEXTS)
    review, place = room.review(project), ReviewerQueue(me.id, TOPIC)
    shown = judging.queue(review, place)[0]
    assert shown.guesses == []
    assert shown.words == {}
    assert not any(part.level for part in (*shown.heading, *shown.text))
    assert show(review, place, "t5").guesses == []


def test_two_people_never_get_the_same_text(room, me, topics):
    review, places = room.review(topics), [ReviewerQueue(me.id, TOPIC), ReviewerQueue(me.id + 1, TOPIC)]
    seen = [id for _ in range(8) for place in places for id in answer_on(review, place, 1)]
    assert len(seen) == len(set(seen))


def test_exports_and_import(room, me, topics, tmp_path):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    seen = answer_on(review, place, 10)
    categories.change_label(review, me.id, 3, "games")
    unsure = judging.queue(review, place)[0].id
    judging.judge(review, place, unsure, "unsure")
    content = export(room, review, place, "csv").content.decode("utf-8-sig")
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(content))}
    renamed = {"grain": "grain", "money": "money", "sport": "games"}
    assert {id: row["label"] for id, row in rows.items() if row["status"] == "answered"} == {
        id: renamed[TRUTH[id]] for id in seen
    }
    assert rows[unsure]["status"] == "unsure"
    assert len(rows) == len(TEXTS)
    assert all(row["year"] and row["guess"] and 0.0 < float(row["guess_probability"]) <= 1.0 for row in rows.values())
    lines = [json.loads(line) for line in export(room, review, place, "jsonl").content.splitlines()]
    assert [line["label"] for line in lines if line["id"] == seen[0]] == [renamed[TRUTH[seen[0]]]]
    assert all(line["label"] is None for line in lines if line["id"] not in seen)
    with pytest.raises(InputError, match="ris"):
        export(room, review, place, "ris")
    again = room.review(read_project(room, me, write_project(room, review, me.id)))
    assert state(again) == state(review)
    assert again.settings == review.settings


def test_a_file_that_was_altered_is_refused(room, me, topics):
    review, place = room.review(topics), ReviewerQueue(me.id, TOPIC)
    answer_on(review, place, 2)
    import zipfile

    content = write_project(room, review, me.id)
    for old, new in ((b'"answer": "', b'"answer": "x'), (b'"kind": "label"', b'"kind": "libel"')):
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as altered:
            for name in source.namelist():
                altered.writestr(name, source.read(name).replace(old, new))
        with pytest.raises(InputError, match="an event is not usable"):
            read_project(room, me, target.getvalue())


def test_labels_that_a_file_merges_in_a_circle_end():
    labels = Labels(several=True)
    for number in (1, 2, 3):
        labels.apply({"kind": "label", "label": number, "name": f"n{number}", "description": ""})
    for number, into in ((1, 2), (2, 1), (3, 3), (1, 3)):
        labels.apply({"kind": "merge_label", "label": number, "into": into})
    assert labels.numbers("1 2 3") == ()


def test_from_a_file_to_a_model_by_the_rest_interface(client, tmp_path):
    table = "text,year\n" + "".join(f"{one.text},{one.fields['year']}\n" for one in TEXTS)
    form = {"name": "Topics", "kind": "categories", "labels": "grain: corn and wheat\nmoney\n"}
    made = client.post("/api/v1/projects", data=form, files={"file": ("texts.csv", table)})
    at = f"/api/v1/projects/{made.json()['id']}"
    assert client.post(f"{at}/labels", json={"name": "sport"}).status_code == 204
    assert client.put(f"{at}/labels/2", json={"name": "finance"}).status_code == 204
    queue = client.get(f"{at}/queue").json()
    kind_of = {one.text: kind for one, kind in zip(TEXTS, KINDS, strict=True)}
    for _ in range(24):
        kind = kind_of[queue[0]["title"]]
        given = {"id": queue[0]["id"], "answer": NUMBER[kind]}
        queue = client.post(f"{at}/judgements", json=given).json() or client.get(f"{at}/queue").json()
    found = client.get(f"{at}/labels").json()
    assert [label["name"] for label in found["labels"]] == ["grain", "finance", "sport"]
    assert found["answered"] == 24
    assert found["accuracy"] is None or 0.0 <= found["accuracy"]["low"] <= found["accuracy"]["high"] <= 1.0
    assert client.get(at).json()["kind"] == "categories"
    for refused in (f"{at}/words", f"{at}/status", f"{at}/figures/recall.svg", f"{at}/export.ris"):
        assert client.get(refused).status_code == 400
    model = client.post(f"{at}/train").json()
    for _ in range(1_200):
        if client.get(f"/api/v1/models/{model['id']}").json()["state"] != "training":
            break
        time.sleep(0.1)
    (tmp_path / "model.tb").write_bytes(client.get(f"/api/v1/models/{model['id']}/model.tb").content)
    trained = load_categorizer(tmp_path / "model.tb")
    assert list(trained.predict(["corn wheat barley", "bank loan credit", "goal match coach"])) == [
        "grain", "finance", "sport"
    ]  # fmt: skip
    assert client.delete(f"{at}/labels/1").status_code == 204
    assert client.post(f"{at}/labels/2/merge", json={"into": 3}).status_code == 204
    assert [label["name"] for label in client.get(f"{at}/labels").json()["labels"]] == ["sport"]


def test_pages_work_without_script(room, me, topics, database):
    app = create_app(AppSettings(database=database, origin=ORIGIN), "secret")
    client = TestClient(app, base_url=ORIGIN)
    client.get("/enter?token=secret")
    page = client.get(f"/projects/{topics}").text
    csrf, at = re.search(r'data-csrf="([^"]+)"', page)[1], f"/projects/{topics}"
    assert re.findall(r'value="(\d)" class="choice" aria-keyshortcuts="(\d)"', page) == [
        ("1", "1"),
        ("2", "2"),
        ("3", "3"),
    ]
    id = re.search(r'data-id="([^"]+)"', page)[1]
    answered = client.post(f"{at}/judge", data={"csrf": csrf, "id": id, "answer": "2"}).text
    assert '<span id="n-read">1</span>' in answered
    client.post(f"{at}/labels", data={"csrf": csrf, "name": "odd <b>ones</b>", "back": "judge"})
    assert "odd &lt;b&gt;ones&lt;/b&gt;" in client.get(f"{at}/labels").text
    assert "money" in client.get(f"{at}/record?id={id}").text
    assert client.post(f"{at}/undo", data={"csrf": csrf}).status_code == 200
    for path in ("dashboard", "records?show=2", "settings", "labels"):
        assert client.get(f"{at}/{path}").status_code == 200
    refused = client.get(f"{at}/words")
    assert refused.status_code == 400
    assert "sorts texts into categories" in refused.text
    assert client.get(f"{at}/export.csv").content.startswith(b"\xef\xbb\xbf")
    app.state.training.close()
    app.state.registry.close()


@pytest.mark.parametrize("texts", [["one text"], ["!!!", "???"], ["same words"] * 3])
def test_few_and_odd_texts_are_no_fault(room, me, texts):
    documents = [Document(f"t{i}", text, (), {}) for i, text in enumerate(texts)]
    review = room.review(create_categories(room, me, NewCategories("Odd", {"one": "", "two": ""}), documents))
    place = ReviewerQueue(me.id, TOPIC)
    shown = judging.queue(review, place)
    if shown:
        judging.judge(review, place, shown[0].id, "1")
        judging.queue(review, place)
    assert categories.standing(review).share is None


@pytest.mark.parametrize("double", [False, True])
def test_who_answers_a_gold_question_cannot_tell_it_from_others(room, me, double, monkeypatch):
    """Bob and Cid are asked; what Bob said of gold questions is nowhere, and Cid's own look like other answers."""
    gold = {"t5", "t50", "t70"}
    project = create_categories(room, me, NewCategories("Topics", dict.fromkeys(WORDS, ""), double=double), TEXTS)
    review = room.review(project)
    for id in sorted(gold):
        judging.set_gold(review, ReviewerQueue(me.id, TOPIC), id, NUMBER[TRUTH[id]])
    places, asked, counts = {}, {}, {}
    for name, seed in (("bob", 1), ("cid", 2)):
        monkeypatch.setattr(judging, "_chance", random.Random(seed))
        user = create_user(room.store, name, PASSWORD)
        set_role(room.store, me, review, name, "reviewer")
        place = places[name] = ReviewerQueue(user.id, TOPIC)
        asked[name], counts[name] = {}, []
        for _ in range(25):
            first = judging.queue(review, place)[0]
            asked[name][first.id] = first.reason
            judging.judge(review, place, first.id, NUMBER[TRUTH[first.id]])
            stands = categories.standing(review, place.user, look_ahead=False)
            counts[name].append((stands.n_answered, stands.n_waiting))
    assert len(gold & asked["bob"].keys()) > 1
    both = gold & asked["bob"].keys() & asked["cid"].keys()
    assert both
    steps = np.diff([sum(one) for one in counts["bob"]])
    assert set(steps) == {1}, "every answer is counted"
    if double:
        assert {asked["cid"][id] for id in both} <= {"second reading"}, "as the texts around them"
    rows = {
        row["id"]: row
        for row in csv.DictReader(io.StringIO(export(room, review, places["cid"], "csv").content.decode("utf-8-sig")))
    }
    for id in gold:
        own, row = id in asked["cid"], rows[id]
        assert row["status"] == ("" if not own else "waiting" if double else "answered")
        assert row["label"] == (TRUTH[id] if own and not double else "")
        assert bool(row["asked"]) == own
        assert not row.get("answer of bob")
    with zipfile.ZipFile(io.BytesIO(export(room, review, places["cid"], "zip").content)) as archive:
        events = [json.loads(line) for line in archive.read("events.jsonl").splitlines()]
    assert {one["user"] for one in events if one["body"]["kind"] == "handed_out"} == {"bob", "cid"}
    assert not any(id in json.dumps(one) for one in events if one["user"] != "cid" for id in (f'"{g}"' for g in gold))
    labelled, _ = categories.training_texts(room, review, places["cid"].user)
    assert (gold & {text.id for text in labelled}) == (set() if double else gold & asked["cid"].keys())


def test_gold_questions_come_at_any_place_and_once_in_ten(room, me, monkeypatch):
    monkeypatch.setattr(judging, "_chance", random.Random(5))
    assignments = Assignments()
    for k in range(2000):
        assignments.apply(1, 0.0, {"kind": "gold", "topic": "t", "id": f"g{k}", "answer": "1"})
    reviewer, places = ReviewerQueue(2, "t"), []
    for k in range(4000):
        ((_, entry),) = judging._handed_out(assignments, {reviewer: 1}, [(f"t{k}", "doubtful")])
        (id,), (reason,) = entry["records"], entry["records"].values()
        assert reason == "doubtful"
        places += [k] if id.startswith("g") else []
        assignments.held[reviewer].clear()
    # Binomial with n = 4000 and p = 1/10: standard deviation 19; each of the ten places of a ten: 400, 6.
    assert abs(len(places) - 400) < 4 * 19
    assert all(abs(n - 40) < 5 * 6.0 for n in np.bincount(np.mod(places, 10), minlength=10))
    assert judging._handed_out(assignments, {reviewer: 1}, []) == [], "alone it would be known"
