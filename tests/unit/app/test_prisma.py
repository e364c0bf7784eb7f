"""Reasons, tags and the numbers of a PRISMA diagram, followed from the file to the SVG."""

from __future__ import annotations

import json
import re

import pytest
from lxml import etree
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from textbayes.app.marks import NOT_RETRIEVED
from textbayes.app.stages import full_text_of

AT = "/api/v1/projects"
FULL = full_text_of("relevant")


@pytest.fixture
def review(team, records):
    """A project of sixty records of one file, of which one is there twice; Ann's client asks for its paths."""
    ann = team("ann")
    ann.headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', ann.get("/account").text)[1]
    twice = [*records, records[0]._replace(id="again")]
    lines = "\n".join(json.dumps({"id": one.id, "title": one.text.split("\n")[0]}) for one in twice)
    sent = {"name": "Tea & ore", "prior": "none"}
    id = ann.post(AT, files={"file": ("refs.jsonl", lines)}, data=sent).json()["id"]

    def ask(method, path, status=None, **more):
        reply = ann.request(method, f"{AT}/{id}{path}", **more)
        assert reply.status_code == status if status else reply.status_code < 300, reply.text
        return reply

    ask.page = lambda path: ann.get(f"/projects/{id}{path}").text
    ask.post = lambda path, sent: ann.post(f"/projects/{id}{path}", data=sent).text
    return ask


def say(review, id, answer, reason="", topic=None, status=None):
    sent = {"id": id, "answer": answer, "reason": reason, "topic": topic}
    return review("POST", "/judgements", status, json=sent)


def test_reasons_and_tags_are_of_the_list(review):
    refused = say(review, "r1", "irrelevant", "too old", status=400).json()["detail"]
    assert "an owner makes the list on the page Settings" in refused
    review("PUT", "/lists", json={"reasons": [" too  old ", "no trial", "too old"], "tags": ["to discuss"]})
    assert review("GET", "/lists").json() == {"reasons": ["too old", "no trial"], "tags": ["to discuss"]}
    say(review, "r1", "irrelevant", "too old")
    say(review, "r2", "relevant", "too old", status=400)
    assert review("GET", "/records/r1").json()["excluded_for"] == "too old"
    say(review, "r1", "irrelevant", "no trial")  # another reason is another answer
    assert review("GET", "/records/r1").json()["excluded_for"] == "no trial"
    say(review, "r1", "relevant")
    assert review("GET", "/records/r1").json()["excluded_for"] == ""
    review("PUT", "/records/r1/tags", 400, json={"tags": ["elsewhere"]})
    review("PUT", "/records/r1/tags", json={"tags": ["to discuss"]})
    listed = review("GET", "/records", params={"show": "tag: to discuss"}).json()["records"]
    assert [(one["id"], one["tags"]) for one in listed] == [("r1", ["to discuss"])]
    review("PUT", "/records/r1/tags", json={"tags": []})
    assert review("GET", "/records", params={"show": "tag: to discuss"}).json()["n_found"] == 0


def test_numbers_follow_the_answers(review):
    review("PUT", "/lists", json={"reasons": ["too old", "no trial"], "tags": []})
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_identified"], numbers["n_duplicates"], numbers["n_screened"]) == (61, 1, 0)
    assert numbers["sources"] == {"refs.jsonl": 61}
    for k in range(20):
        reason = "" if k % 4 == 0 else ["too old", "no trial", ""][k % 3]
        say(review, f"r{k}", "relevant" if k % 4 == 0 else "irrelevant", reason)
    say(review, "r20", "unsure")
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_screened"], numbers["n_unscreened"], numbers["n_excluded"]) == (21, 39, 15)
    assert numbers["excluded_for"] == {"too old": 5, "no trial": 5, "no reason given": 5}
    assert (numbers["n_undecided"], numbers["n_included"], numbers["uses_full_texts"]) == (1, 5, False)
    # Full texts: of five records one cannot be had, two are excluded, one is included.
    say(review, "r1", "relevant", topic=FULL, status=400)  # is not included
    assert "for a reason" in say(review, "r0", "irrelevant", topic=FULL, status=400).json()["detail"]
    say(review, "r0", "irrelevant", NOT_RETRIEVED, FULL)
    say(review, "r4", "irrelevant", "no trial", FULL)
    say(review, "r8", "irrelevant", "too old", FULL)
    say(review, "r12", "relevant", topic=FULL)
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_sought"], numbers["n_not_retrieved"], numbers["n_assessed"]) == (5, 1, 3)
    assert numbers["full_texts_excluded_for"] == {"too old": 1, "no trial": 1}
    assert (numbers["n_waiting"], numbers["n_included"]) == (1, 1)
    included = review("GET", "/export.jsonl?only=included").text.splitlines()
    assert [json.loads(line)["id"] for line in included] == ["r12"]
    assert review("GET", "/export.ris?only=included").text.count("TY  - ") == 1
    # A record that is not included any more leaves the second stage, and comes back with what was said there.
    say(review, "r12", "irrelevant", "too old")
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_sought"], numbers["n_included"], numbers["n_waiting"]) == (4, 0, 1)
    say(review, "r12", "relevant")
    assert review("GET", "/prisma").json()["n_included"] == 1


def test_steps_add_up_and_are_drawn(review):
    review(
        "PUT",
        "/lists",
        json={"reasons": ["a reason that is so long that no box has room for all of it <&>"], "tags": []},
    )
    for k in range(12):
        say(review, f"r{k}", ["relevant", "irrelevant", "unsure"][k % 3])
    say(review, "r0", "irrelevant", review("GET", "/lists").json()["reasons"][0], FULL)
    n = review("GET", "/prisma").json()
    assert n["n_identified"] - n["n_duplicates"] == n["n_screened"] + n["n_unscreened"]
    assert n["n_screened"] == n["n_excluded"] + n["n_undecided"] + n["n_sought"]
    assert n["n_sought"] == n["n_not_retrieved"] + n["n_assessed"] + n["n_waiting"]
    assert n["n_assessed"] == sum(n["full_texts_excluded_for"].values()) + n["n_included"]
    drawn = etree.fromstring(review("GET", "/prisma.svg").content)
    lines = ["".join(one.itertext()) for one in drawn.iter("{*}text")]
    expected = ("Records identified (n = 61)", "Duplicates (n = 1)", "Records screened (n = 12)",
                "Not screened yet (n = 48)", "Reports sought for retrieval (n = 4)",
                "Reports included in the review (n = 0)")  # fmt: skip
    assert set(expected) <= set(lines)
    assert "<&>" in " ".join(lines)
    rects = [one for one in drawn.iter("{*}rect") if one.get("x")]  # without the white page
    boxes = [{k: float(one.get(k)) for k in ("x", "y", "width", "height")} for one in rects]
    for k, one in enumerate(boxes):
        for other in boxes[k + 1 :]:
            apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
            assert apart or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
    assert "<svg" in review.page("/prisma")


def test_names_of_groups_fit_beside_their_boxes(review):
    """At the width of DejaVu Sans, which is wider than the fonts that the diagram asks for."""
    say(review, "r0", "relevant")
    for full_texts in (False, True):
        if full_texts:
            say(review, "r0", "relevant", topic=FULL)
        parts = list(etree.fromstring(review("GET", "/prisma.svg").content))
        places = [k for k, one in enumerate(parts) if "rotate" in one.get("transform", "")]
        assert [parts[k].text for k in places] == ["Identification", "Screening", "Included"]
        for k in places:
            size, font = float(parts[k].get("font-size")), FontProperties(weight="bold")
            length = TextPath((0, 0), parts[k].text, size, prop=font).get_extents().width
            assert length < float(parts[k - 1].get("height"))  # of the field below the name


def test_what_is_listed_by_probability_is_in_the_order_shown(review):
    """With answered records, whose probability is another than that of records without an answer."""
    for k in range(24):
        say(review, f"r{k}", "relevant" if k % 4 == 0 else "irrelevant")
    listed = review("GET", "/records", params={"sort": "probability"}).json()["records"]
    shown = [one["probability"] for one in listed]
    assert {bool(one["answer"]) for one in listed} == {True, False}
    assert shown == sorted(shown, reverse=True)


def test_links_and_search(team):
    ann = team("ann")
    ann.headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', ann.get("/account").text)[1]
    file = "title,abstract,DOI,pmid\nGreen tea,It was BREWED & drunk.,doi:10.1000/a<b.,1234567\nIron ore,Dug.,none,\n"
    id = ann.post(AT, files={"file": ("x.csv", file)}, data={"name": "Tea", "prior": "none"}).json()["id"]
    found = {one["title"]: ann.get(f"{AT}/{id}/records/{one['id']}").json()["links"]
             for one in ann.get(f"{AT}/{id}/records").json()["records"]}  # fmt: skip
    assert found == {
        "Green tea": {"DOI": "https://doi.org/10.1000/a%3Cb", "PubMed": "https://pubmed.ncbi.nlm.nih.gov/1234567/"},
        "Iron ore": {},
    }
    page = ann.get(f"/projects/{id}/records?find=brewed%20%26").text
    assert '<mark class="hit">BREWED &amp;</mark> drunk' in page
    assert "1 found" in page
    for answer, record in (("relevant", "1"), ("irrelevant", "2")):
        ann.post(f"{AT}/{id}/judgements", json={"id": record, "answer": answer})
    listed = ann.get(f"{AT}/{id}/records?sort=probability").json()["records"]
    assert listed[0]["title"] == "Green tea"
    assert listed[0]["probability"] > listed[1]["probability"]


def test_a_duplicate_can_be_separated_again(review):
    (pair,) = review("GET", "/duplicates").json()["duplicates"]
    assert (pair["id"], pair["into"], pair["reason"]) == ("again", "r0", "the same title")
    assert "Duplicate: again" in review.page("/duplicates")
    say(review, "r0", "relevant")
    assert review("POST", f"/duplicates/{pair['number']}/separate").json() == {"id": "again"}
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_identified"], numbers["n_duplicates"], numbers["n_unscreened"]) == (61, 0, 60)
    assert review("GET", "/records/r0").json()["answer"] == "relevant"
    assert review("GET", "/records/again").json()["answer"] is None
    assert "No duplicates" in review.page("/duplicates")
    review("POST", f"/duplicates/{pair['number']}/separate", 400)
    say(review, "again", "irrelevant")


def test_the_goal_can_be_changed(review):
    for k in range(24):
        say(review, f"r{k}", "relevant" if k % 4 == 0 else "irrelevant")
    asked = {}
    for target in (0.5, 0.95):
        review("PUT", "/goal", json={"target": target, "confidence": 0.8})
        status = review("GET", "/status").json()
        assert (status["target"], status["confidence"]) == (target, 0.8)
        asked[target] = status["advice"][0]["probability"]
        assert f"at least {round(100 * target)}% of the relevant records" in review.page("/dashboard")
    assert asked[0.5] > asked[0.95]
    for wrong in ({"target": 0.0, "confidence": 0.8}, {"target": 0.9, "confidence": 1.0}):
        review("PUT", "/goal", 422, json=wrong)


def test_the_first_records_follow_the_words(review):
    def first():
        return re.findall(r"<li><a[^>]*>([^<]*)</a>", review.page("/words").partition('id="first"')[2])

    for word in ("tea", "ore"):
        for one, direction in (
            ("tea", "for" if word == "tea" else "against"),
            ("ore", "for" if word == "ore" else "against"),
        ):
            review("POST", "/words", json={"word": one, "direction": direction})
        assert all(word in title.lower() for title in first()[:10])


def test_several_records_are_answered_at_once_and_that_is_undone(review):
    say(review, "r1", "relevant")
    sent = {"ids": ["r1", "r2", "r3", "r2"], "answer": "irrelevant"}
    assert review("POST", "/judgements/many", json=sent).json() == {"ids": ["r2", "r3"]}
    numbers = review("GET", "/prisma").json()
    assert (numbers["n_screened"], numbers["n_excluded"]) == (3, 2)
    undone = review("POST", "/judgements/many", json={"ids": ["r2", "r3", "r4"], "answer": "withdrawn"})
    assert undone.json() == {"ids": ["r2", "r3"]}
    assert review("GET", "/records", params={"show": "unread"}).json()["n_found"] == 59
    assert review("GET", "/records/r1").json()["answer"] == "relevant"
    review("POST", "/judgements/many", 400, json={"ids": ["nowhere"], "answer": "unsure"})
    review("POST", "/judgements/many", 400, json={"ids": ["r1"], "answer": "irrelevant", "topic": FULL})
    page = review.page("/records")
    assert page.count('type="checkbox" form="many"') == 49  # of fifty on the page one has an answer
    answered = review.post("/answers", {"id": ["r5", "r6"], "answer": "unsure"})
    assert "2 records answered: unsure" in answered
    assert "1 record answered: unsure" in review.post("/answers", {"id": ["r7"], "answer": "unsure"})
    assert "1 answer removed" in review.post("/answers", {"id": ["r7"], "answer": "withdrawn"})
    assert "2 answers removed" in review.post("/answers", {"id": ["r5", "r6"], "answer": "withdrawn"})
