"""Decisions of other programs: taken out of what people see, and offered as answers with reasons and tags."""

from __future__ import annotations

import json
import re

import pytest

from textbayes.app.decisions import take_decisions
from textbayes.app.importing import read_records
from textbayes.core.types import Document

ASREVIEW = """record_id,title,abstract,included,asreview_ranking
1,Green tea for adults,Leaves,1,1
2,Iron ore of the north,Shafts,0,2
3,Black tea for adults,Kettles,,3
4,Copper of the south,Mines,-1,4
"""
RAYYAN = (
    "key,title,abstract,notes\n"
    '1,Green tea for adults,Leaves,"RAYYAN-INCLUSION: {""Ann""=>""Included"", ""Bob""=>""Included""} | '
    'RAYYAN-LABELS: trial,2019"\n'
    '2,Iron ore of the north,Shafts,"ask them | RAYYAN-INCLUSION: {""Ann""=>""Excluded""} | '
    'RAYYAN-EXCLUSION-REASONS: wrong population,foreign language"\n'
    '3,Black tea for adults,Kettles,"RAYYAN-INCLUSION: {""Ann""=>""Included"", ""Bob""=>""Excluded""}"\n'
    '4,Copper of the south,Mines,"RAYYAN-INCLUSION: {""Ann""=>""Maybe""} | USER-NOTES: {""Ann""=>[""later""]}"\n'
    "5,Silver of the east,Mines,seen at the meeting\n"
)
COVIDENCE = (
    "Title,Abstract,Covidence #,Notes,Tags\n"
    "Green tea for adults,Leaves,#1,,\nIron ore of the north,Shafts,#2,Exclusion reason: Wrong study design; ,old\n"
)
RIS = """TY  - JOUR
TI  - Green tea for adults
N1  - RAYYAN-INCLUSION: {"Ann"=>"Included"} | RAYYAN-LABELS: trial
ER  -
TY  - JOUR
TI  - Iron ore of the north
ER  -
"""


def read(text, name="x.csv"):
    return read_records(name, text.encode())


def test_columns_of_asreview():
    found = read(ASREVIEW)
    assert found.decisions.columns == ["included"]
    assert {id: one.answer for id, one in found.decisions.by_id.items()} == {"1": "relevant", "2": "irrelevant"}
    assert all("included" not in record.fields for record in found.records)
    assert "asreview_ranking" in found.records[0].fields


def test_notes_of_rayyan():
    found = read(RAYYAN)
    said = list(found.decisions.by_id.values())
    assert [one.answer for one in said] == ["relevant", "irrelevant", "unsure"]
    assert said[0].tags == ("trial", "2019")
    assert said[1].reason == "wrong population"
    assert found.decisions.n_contradicted == 1
    assert [record.fields["notes"] for record in found.records] == [
        "", "ask them", "", 'USER-NOTES: {"Ann"=>["later"]}', "seen at the meeting",
    ]  # fmt: skip
    assert "RAYYAN" not in str(found.records)


def test_notes_of_covidence_and_of_ris():
    (said,) = read(COVIDENCE).decisions.by_id.values()
    assert (said.answer, said.reason) == ("irrelevant", "Wrong study design")
    found = read(RIS, "x.ris")
    (said,) = found.decisions.by_id.values()
    assert (said.answer, said.tags) == ("relevant", ("trial",))
    assert "RAYYAN" not in str(found.records)


@pytest.mark.parametrize("name", ["reason", "label", "decision", "included", "notes"])
def test_columns_that_hold_something_else_stay(name):
    records = [Document("1", "Tea", (), {"title": "Tea", name: "brewed in 1"}), Document("2", "Ore", (), {name: "2"})]
    left, found = take_decisions(records)
    assert left == records
    assert not found.by_id
    assert not found.columns


@pytest.mark.parametrize("kind", ["csv", "ris"])
def test_own_exports_are_read_again(kind, team, records):
    ann = team("ann")
    at = "/api/v1/projects"
    ann.headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', ann.get("/account").text)[1]
    lines = "\n".join(json.dumps({"id": one.id, "title": one.text.split("\n")[0]}) for one in records[:8])
    id = ann.post(at, files={"file": ("x.jsonl", lines)}, data={"name": "Tea", "prior": "none"}).json()["id"]
    for k, answer in enumerate(["relevant", "irrelevant", "unsure"]):
        assert ann.post(f"{at}/{id}/judgements", json={"id": f"r{k}", "answer": answer}).status_code == 201
    content = ann.get(f"{at}/{id}/export.{kind}").content
    found = read_records(f"again.{kind}", content)
    assert {one: said.answer for one, said in found.decisions.by_id.items()} == {
        "r0": "relevant", "r1": "irrelevant", "r2": "unsure"
    }  # fmt: skip
    assert not any("relevant" in str(record.fields) for record in found.records)
    # Taken over, they are answers of who read the file; otherwise nobody sees them.
    for take in (True, False):
        sent = {"name": "Again", "prior": "none", "take_answers": str(take).lower()}
        again = ann.post(at, files={"file": (f"again.{kind}", content)}, data=sent).json()["id"]
        status = ann.get(f"{at}/{again}/status").json()
        assert (status["relevant"], status["unsure"]) == ((1, 1) if take else (0, 0))
        queue = ann.get(f"{at}/{again}/queue").json()
        assert not any("relevant" in str(one["fields"]) for one in queue)
    preview = ann.post("/uploads", files={"file": (f"again.{kind}", content)})
    assert "1 relevant, 1 not relevant, 1 unsure" in preview.text
