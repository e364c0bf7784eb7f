"""Projects in which each person's records come from a model of their own answers."""

from __future__ import annotations

import pytest
from test_logins import csrf_of

from textbayes.app import judging, own_models
from textbayes.app.accounts import create_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import Store
from textbayes.app.exports import read_project, write_project
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.app.projects import NewProject, create_project, delete_project
from textbayes.app.records import list_records, show
from textbayes.app.stages import full_text_of
from textbayes.app.words import say
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings

TOPIC = "relevant"


@pytest.fixture
def people(room, me):
    return [me, *(create_user(room.store, name, None) for name in ("bob", "cid"))]


@pytest.fixture
def review(room, me, people, records):
    plan = NewProject("Tea", ScreenSettings(), double=True, prior="none", learns="own")
    review = room.review(create_project(room, me, plan, records))
    for one in people[1:]:
        set_role(room.store, me, review, one.name, "reviewer")
    return review


def place(user) -> ReviewerQueue:
    return ReviewerQueue(user.id, TOPIC)


def ranked(review, user) -> list[tuple[str, float]]:
    found = list_records(review, place(user), "all", sort="probability").records
    return [(one.id, round(one.probability, 9)) for one in found]


def answer_some(review, people):
    """The first two mean the opposite by relevant."""
    for k in range(12):
        tea = k % 4 == 0
        judging.judge(review, place(people[0]), f"r{k}", "relevant" if tea else "irrelevant")
        judging.judge(review, place(people[1]), f"r{k + 12}", "irrelevant" if tea else "relevant")


def test_each_is_shown_what_their_own_answers_ask_for(review, people):
    answer_some(review, people)
    (mine, bobs, cids) = (judging.queue(review, place(one)) for one in people)
    assert [one.title[:5] for one in (*mine, *bobs)] == ["Green"] * 2 + ["Iron "] * 2
    assert len(cids) == 2
    tea, iron = ([show(review, place(one), id).probability for one in people[:2]] for id in ("r40", "r41"))
    assert tea[0] > iron[0]
    assert tea[1] < iron[1]
    before = ranked(review, people[2])
    judging.judge(review, place(people[0]), "r41", "irrelevant")
    say(review, place(people[1]), "leaves", "against")
    assert ranked(review, people[2]) == before, "nothing that others say"


def test_every_process_and_every_start_shows_the_same(database, room, me, review, people, tmp_path, monkeypatch):
    monkeypatch.setattr(own_models, "_MOST", 1)  # they go out and in, by snapshots
    answer_some(review, people)
    expected = [ranked(review, one) for one in people]
    assert len({str(one) for one in expected}) == 3
    for cache in (ReviewCache(None), ReviewCache(tmp_path / "own"), ReviewCache(tmp_path / "own")):
        other = ReviewRegistry(Store(database), cache)
        assert [ranked(other.review(review.id), one) for one in people] == expected
        other.close()
    kept = sorted(path.name for path in (tmp_path / "own").glob("*.state.tbw"))
    assert len([name for name in kept if name.count(".") == 3]) == 2, "of those who have said something"
    other = ReviewRegistry(Store(database), ReviewCache(tmp_path / "own"))
    delete_project(other, other.review(review.id), me)
    assert not list((tmp_path / "own").iterdir())
    other.close()


def test_two_people_read_every_record_and_no_third(review, people):
    given = {one.id: set() for one in people}
    left = list(people)
    while left:
        for one in list(left):
            shown = judging.queue(review, place(one))
            if not shown:
                left.remove(one)
                continue
            given[one.id].add(shown[0].id)
            judging.judge(review, place(one), shown[0].id, "relevant" if shown[0].title[0] == "G" else "irrelevant")
    with review.looking() as assignments:
        said = assignments.opinions[TOPIC]
        assert len(said) == 60
        assert all(len(one) >= 2 for one in said.values())
        assert sum(len(one) > 2 for one in said.values()) <= 6, "only where a third had it before them already"
    some = next(id for id, one in said.items() if len(one) == 2 and people[0].id not in one)
    with pytest.raises(InputError, match="has the answers of two others"):
        judging.judge(review, place(people[0]), some, "relevant")


def test_what_is_put_aside_comes_again_at_the_end(review, people):
    bob = place(people[1])
    first = judging.queue(review, bob)[0].id
    judging.skip(review, bob, first)
    seen = []
    while shown := judging.queue(review, bob):
        seen.append(shown[0].id)
        judging.judge(review, bob, shown[0].id, "irrelevant")
    assert (len(seen), seen[-1]) == (60, first)


def test_the_choice_is_kept_and_needs_two_readers(room, me, review, people):
    answer_some(review, people)
    copy = room.review(read_project(room, me, write_project(room, review, me.id)))
    assert copy.alone
    assert ranked(copy, me) == ranked(review, me)
    with pytest.raises(InputError, match="two people read every record"):
        create_project(room, me, NewProject("Tea", ScreenSettings(), learns="own"), [])
    with pytest.raises(InputError, match="learns"):
        create_project(room, me, NewProject("Tea", ScreenSettings(), double=True, learns="all"), [])


def test_full_texts_are_shown_with_the_own_model_and_all_is_seen_with_that_of_all(review, people):
    answer_some(review, people)
    for one in people[:2]:
        judging.judge(review, place(one), "r40", "relevant")
    (shown,) = judging.queue(review, ReviewerQueue(people[1].id, full_text_of(TOPIC)))
    assert (shown.id, shown.probability) == ("r40", show(review, place(people[1]), "r40").probability)
    own = ranked(review, people[0])
    judging.unblind(review, people[0].id)
    with review.model() as screening:
        predictors = screening.topic().predictors.copy()
        best = screening.collection.ids[int(predictors.argmax())]
    assert ranked(review, people[0]) != own
    assert ranked(review, people[0])[0][0] == best


def test_the_choice_is_made_with_the_project(team, records):
    ann = team("ann")
    ann.headers["x-csrf-token"] = csrf_of(ann)
    file = {"file": ("x.csv", "id,text\n" + "\n".join(f"{one.id},{one.text.splitlines()[0]}" for one in records))}
    made = [
        ann.post("/api/v1/projects", files=file, data={"name": "Tea", "double": double, "learns": learns})
        for double, learns in (("true", "own"), ("true", "settled"), ("false", "own"))
    ]
    assert [one.status_code for one in made] == [201, 201, 400]
    told = [ann.get(f"/api/v1/projects/{one.json()['id']}").json()["learns"] for one in made[:2]]
    assert told == ["own", "settled"]
    sent = ann.post("/uploads", files=file, data={"csrf": csrf_of(ann)}, follow_redirects=False).headers["location"]
    page = ann.get(sent).text
    assert "For large projects with many reviewers" in page
    form = {"csrf": csrf_of(ann), "name": "Tea", "double": "true", "learns": "own"}
    project = ann.post(sent, data=form, follow_redirects=False).headers["location"].split("/")[2]
    assert "ranking learns from each reviewer’s own answers" in ann.get(f"/projects/{project}/settings").text
