"""The REST interface: a review from file to export, requests of all kinds by its description, files of all kinds."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import time

import numpy as np
import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN

from textbayes.app import AppSettings, create_app
from textbayes.app.accounts import create_token, local_user
from textbayes.app.importing import preview

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra xlsx")
schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis (extra dev)")
RIS = "\n".join(
    f"TY  - JOUR\nTI  - {'Green tea for healthy' if i % 4 == 0 else 'Iron ore of northern'} adults {i}\n"
    f"AB  - Part {i % 7}.\nDO  - 10.1/{i}\nER  -\n"
    for i in range(40)
)  # fmt: skip


@pytest.fixture
def app(database, tmp_path):
    made = create_app(AppSettings(database=database, origin=ORIGIN, cache=tmp_path / "cache"), "secret")
    yield made
    made.state.training.close()
    made.state.registry.close()


@pytest.fixture
def client(app):
    store = app.state.registry.store
    token = create_token(store, local_user(store), "test")
    return TestClient(app, base_url=ORIGIN, headers={"authorization": f"Bearer {token}"}, raise_server_exceptions=False)


def make(client, content=RIS, name="refs.ris", **form):
    given = {"name": "Tea", "questions": "green tea", "prior": "none", **form}
    return client.post("/api/v1/projects", data=given, files={"file": (name, content)})


def test_a_review_from_file_to_export(client):
    made = make(client, RIS + "TY  - JOUR\nTI  - Another\nDO  - doi:10.1/3\nER  -\n")
    assert made.status_code == 201
    assert made.json()["n_records"] == 40
    assert made.json()["merged"][0]["reason"] == "DOI 10.1/3"
    at = f"/api/v1/projects/{made.json()['id']}"
    (record, _) = client.get(f"{at}/queue").json()
    seen = []
    for _ in range(12):
        seen.append(record["id"])
        said = "relevant" if "tea" in record["title"] else "irrelevant"
        (record, *_) = client.post(f"{at}/judgements", json={"id": record["id"], "answer": said}).json()
    assert len(set(seen)) == 12
    status = client.get(f"{at}/status").json()
    assert (status["read"], status["relevant"]) == (12, 10)
    assert client.post(f"{at}/undo", json={}).json() == {"id": seen[-1]}
    assert client.post(f"{at}/words", json={"word": "ore", "direction": "against"}).status_code == 204
    assert client.get(f"{at}/words").json()["said"][0]["word"] == "ore"
    assert client.put(f"{at}/records/{seen[0]}/note", json={"text": "good"}).status_code == 204
    listed = client.get(f"{at}/records", params={"show": "noted"}).json()
    assert [(one["id"], one["note"], one["answer"]) for one in listed["records"]] == [(seen[0], "good", "relevant")]
    assert client.get(f"{at}/records", params={"find": "GREEN TEA"}).json()["n_found"] == 10
    assert client.patch(at, json={"strategy": "random"}).json()["strategy"] == "random"
    rows = [json.loads(line) for line in client.get(f"{at}/export.jsonl").text.splitlines()]
    assert [row["decision"] for row in rows].count("relevant") == 10
    book = openpyxl.load_workbook(io.BytesIO(client.get(f"{at}/export.xlsx").content), read_only=True).active
    header, *cells = book.iter_rows(values_only=True)
    assert [dict(zip(header, row, strict=True))["decision"] or "" for row in cells] == [row["decision"] for row in rows]
    assert client.get(f"{at}/figures/recall.png").content[:4] == b"\x89PNG"
    assert b"<svg" in client.get(f"{at}/figures/left.svg").content
    whole = client.get(f"{at}/export.zip").content
    again = client.post("/api/v1/projects/import", files={"file": ("tea.zip", whole)}).json()
    assert again["name"] == "Tea"
    new = client.get(f"/api/v1/projects/{again['id']}/export.jsonl").text.splitlines()
    assert [json.loads(line)["decision"] for line in new] == [row["decision"] for row in rows]
    assert client.delete(at).status_code == 204
    assert client.get(at).status_code == 404


def test_ids_of_references_come_back(client):
    given = "".join(f"TY  - JOUR\nID  - {id}\nTI  - {id} on tea\nER  - \n\n" for id in ("smith2", "jones"))
    at = f"/api/v1/projects/{make(client, given).json()['id']}"
    written = client.get(f"{at}/export.ris").text.splitlines()
    assert written[0] == "TY  - JOUR"
    assert {line for line in written if line.startswith("ID")} == {"ID  - smith2", "ID  - jones"}
    assert "PMID" not in client.get(f"{at}/export.nbib").text


def test_without_openpyxl_one_sentence_says_what_to_install(client, monkeypatch):
    at = f"/api/v1/projects/{make(client).json()['id']}"
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    answer = client.get(f"{at}/export.xlsx")
    assert answer.status_code == 400
    assert answer.json()["detail"] == (
        "writing XLSX files needs openpyxl, which is not installed: pip install 'textbayes[xlsx]'"
    )


def test_several_topics_are_apart(client):
    made = make(client, questions=json.dumps({"tea": "green tea", "ore": "iron ore"}))
    at = f"/api/v1/projects/{made.json()['id']}"
    assert client.get(f"{at}/queue").status_code == 400, "no topic is named"
    for topic, word in (("tea", "tea"), ("ore", "ore")):
        first = client.get(f"{at}/queue", params={"topic": topic}).json()[0]
        assert word in first["title"]
        client.post(f"{at}/judgements", json={"id": first["id"], "answer": "relevant", "topic": topic})
        assert client.get(f"{at}/status", params={"topic": topic}).json()["read"] == 1


def test_accounts_are_made_locked_and_logged(client):
    person = {"name": "bob", "password": "a long password"}
    made = client.post("/api/v1/people", json=person).json()
    assert made["active"]
    assert client.post("/api/v1/people", json=person).status_code == 400
    assert client.patch(f"/api/v1/people/{made['id']}", json={"active": False}).status_code == 204
    assert [one["active"] for one in client.get("/api/v1/people").json() if one["name"] == "bob"] == [False]
    assert client.get("/api/v1/people/audit").json()[0]["action"] == "lock account"


def test_a_model_is_trained_and_answers(client):
    words = {"grain": "wheat corn harvest", "money": "bank rates loans"}
    rows = [
        json.dumps({"text": f"{text} part {i}", "labels": label}) for i in range(8) for label, text in words.items()
    ]
    sent = {"file": ("texts.jsonl", "\n".join(rows))}
    at = f"/api/v1/models/{client.post('/api/v1/models', data={'name': 'Topics'}, files=sent).json()['id']}"
    while client.get(at).json()["state"] == "training":
        time.sleep(0.1)
    assert client.get(at).json()["state"] == "ready"
    (answer,) = client.post(f"{at}/classify", json={"texts": ["corn harvest"]}).json()
    assert answer["labels"] == ["grain"]
    why = client.post(f"{at}/explain", json={"text": "corn harvest", "label": "grain"}).json()
    assert why["probability"] == pytest.approx(answer["probabilities"]["grain"])
    assert client.get(f"{at}/model.tb").content[:2] == b"PK"
    assert "<html" in client.get(f"{at}/report").text
    assert client.delete(at).status_code == 204
    assert client.get("/api/v1/models").json() == []


SPOILT = [
    ("x.csv", b""),
    ("x.csv", b"a,b\n1"),
    ("x.csv", b"text\n\xff\xfe\n"),
    ("x.ris", b"TY  - "),
    ("x.bib", b"@article{a, title = {"),
    ("x.xml", b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><xml>&b;</xml>"),
    ("x.xlsx", b"PK\x03\x04nothing"),
    ("x.jsonl", b'{"text": 1}'),
    ("x.jsonl", b"[" * 100_000),
    ("x.zip", b"PK"),
    ("x.tar.gz", b"\x1f\x8b"),
    ("../../etc/passwd", b"root"),
    ("\x00", b"\x00"),
    ("x.svm", b"1 1:2\n"),
    ("x.pdf", b"%PDF-1.4"),
]


def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(client):
    for name, content in SPOILT:
        answer = make(client, content, name)
        assert answer.status_code in (201, 400, 422), (name, answer.text)
        if answer.status_code == 400:
            assert "/tmp" not in answer.json()["detail"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
def test_tables_of_any_spreadsheet_are_read(encoding):
    """What Excel saves as CSV is not UTF-8 in most of the world, and nobody is asked for an encoding here."""
    dash = "–" if encoding != "latin-1" else "-"
    content = f"title;abstract\nThé vert {dash} naïve;Überall\nOre;x\n".encode(encoding)
    seen = preview("refs.csv", content)
    assert seen.records[0].text == f"Thé vert {dash} naïve\nÜberall"
    assert seen.encoding == ("utf-8" if encoding == "utf-8-sig" else encoding)
    assert preview("refs.csv", gzip.compress(content)).records[0].text == seen.records[0].text
    ris = "TY  - JOUR\nTI  - Thé vert\nER  - \n".encode(encoding)
    assert preview("refs.ris", ris).records[0].text.startswith("Thé vert")


@pytest.mark.parametrize("names", ["c{}", "text,c{}"])
@pytest.mark.parametrize("place", ["/uploads", "/models"])
def test_tables_of_far_too_many_columns_are_refused(client, names, place):
    """A page would list them nine times."""
    header = ",".join(names.format(0) if i == 0 else f"c{i}" for i in range(20_000))
    sent = client.post(place, files={"file": ("x.csv", header + "\n" + "a," * (header.count(",")) + "b\n")})
    assert sent.status_code == 400
    assert re.search(r"x.csv has 20,00\d columns, more than the 16,384 of a spreadsheet", sent.text)
    assert len(sent.text) < 20_000


def test_the_preview_says_what_was_taken_from_where_and_is_changed(client):
    """Title, text, id and links; where the text alone is chosen the title stays what it was."""
    file = "study,title,Abstract,notes,DOI,Year\na1,Green tea,Brewed.,Kettles boil,10.1000/a,1999\n"
    sent = client.post("/uploads", files={"file": ("x.csv", file)}, follow_redirects=False)
    at = sent.headers["location"]

    def taken(**fields):
        page = client.post(at, data={"name": "x", "action": "look", **fields}) if fields else client.get(at)
        told = re.search(r'<p class="muted taken">(.*?)</p>', page.text, re.DOTALL)[1]
        first = re.search(
            r'<ol class="preview">\s*<li><strong>(.*?)</strong><br><span class="muted">(.*?)</span>', page.text
        )
        return re.sub("<[^>]*>", "", told), first.groups()

    assert taken() == (
        "Title: title. Text: Abstract. Id: numbers. DOI link: DOI. Shown with each record: study, notes, Year.",
        ("Green tea", "Brewed."),
    )
    assert taken(text_field="notes", id_field="study") == (
        "Title: title. Text: notes. Id: study. DOI link: DOI. Shown with each record: Abstract, Year.",
        ("Green tea", "Kettles boil"),
    )
    assert taken(title_field="notes")[1] == ("Kettles boil", "")
    made = client.post(at, data={"name": "x", "text_field": "notes", "id_field": "study"}, follow_redirects=False)
    records = client.get(made.headers["location"].replace("/projects", "/api/v1/projects").replace("judge", "records"))
    assert [(one["id"], one["title"]) for one in records.json()["records"]] == [("a1", "Green tea")]


def test_mutated_files_are_read_or_refused(client):
    random = np.random.default_rng(0)
    sound = client.get(f"/api/v1/projects/{make(client).json()['id']}/export.zip").content
    for name, content in (("refs.ris", RIS.encode()[:600]), ("project.zip", sound)):
        for _ in range(25):
            spoilt = bytearray(content)
            for place in random.integers(0, len(spoilt), 4):
                spoilt[place] = random.integers(0, 256)
            at = "/api/v1/projects" + ("/import" if name.endswith("zip") else "")
            answer = client.post(at, data={"name": "x"}, files={"file": (name, io.BytesIO(spoilt))})
            assert answer.status_code in (201, 400, 422), answer.text


@pytest.fixture
def described(tmp_path, monkeypatch):
    """A room on SQLite with a project, described; nothing is trained."""
    monkeypatch.setattr("textbayes.app.models.Training._train", lambda *_: None)
    app = create_app(AppSettings(database=f"sqlite:///{tmp_path / 'r.sqlite3'}", origin=ORIGIN), "secret")
    store = app.state.registry.store
    token = create_token(store, local_user(store), "test")
    client = TestClient(app, base_url=ORIGIN, headers={"authorization": f"Bearer {token}"})
    project = make(client).json()["id"]
    yield app, token, project
    app.state.training.close()
    app.state.registry.close()


def test_requests_of_all_kinds_are_answered_as_described(described):
    """Requests that schemathesis makes of the description, sound and unsound: never a fault of ours."""
    from hypothesis import HealthCheck, Phase, given, settings

    app, token, project = described
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers={"host": ORIGIN[7:]})
    n_tried = 0
    for operation in schema.get_all_operations():
        one = operation.ok()

        @given(case=one.as_strategy())
        @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
        def ask(case):
            if "project_id" in (case.path_parameters or {}) and case.method != "DELETE":
                case.path_parameters["project_id"] = project
            headers = {"host": ORIGIN[7:], "authorization": f"Bearer {token}"}
            answer = case.call(headers=headers)
            assert answer.status_code < 500, (case.method, case.path, case.body, answer.text)

        ask()
        n_tried += 1
    assert n_tried > 20
