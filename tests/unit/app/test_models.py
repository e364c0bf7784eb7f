"""Models that are trained in the room: progress, report, trying, classifying, stopping."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN

from textbayes.app import AppSettings, create_app
from textbayes.app.database import Model
from textbayes.app.models import Training
from textbayes.store import load_categorizer

WORDS = {"grain": ("wheat", "corn", "harvest", "barley"), "money": ("bank", "rates", "loans", "credit")}
ROWS = [
    (label, " ".join([*words[i % 4 :], *words[: i % 3], "prices"])) for label, words in WORDS.items() for i in range(12)
]
TABLE = "kind,text\n" + "".join(f"{label},{text}\n" for label, text in ROWS)


@pytest.fixture
def room(database, tmp_path):
    app = create_app(AppSettings(database=database, origin=ORIGIN), "secret")
    client = TestClient(app, base_url=ORIGIN)
    client.get("/enter?token=secret")
    client.csrf = re.search(r'data-csrf="([^"]+)"', client.get("/models").text)[1]
    yield client, app
    app.state.training.close()
    app.state.registry.close()


def train(client, content=TABLE, **form):
    """Send a table, and train a model of it."""
    given = {"csrf": client.csrf, "name": "Topics", "label_field": "kind", **form}
    sent = {"file": ("topics.csv", content)}
    at = client.post("/models", data={"csrf": client.csrf}, files=sent, follow_redirects=False).headers["location"]
    return client.post(at, data=given, follow_redirects=False)


def wait(client, at):
    for _ in range(600):
        page = client.get(at).text
        if "The model is being trained" not in page:
            return page
        time.sleep(0.1)
    raise AssertionError("it takes too long")


def test_from_a_labelled_file_to_a_model_that_answers(room, tmp_path):
    client, _ = room
    at = train(client).headers["location"]
    page = wait(client, at)
    assert "Try a text" in page
    assert "Topics" in client.get(f"{at}/report").text
    (tmp_path / "model.tb").write_bytes(client.get(f"{at}/model.tb").content)
    model = load_categorizer(tmp_path / "model.tb")
    assert list(model.predict(["corn harvest", "bank loans"])) == ["grain", "money"]
    tried = client.post(f"{at}/try", data={"csrf": client.csrf, "text": "Corn <b>harvest</b>"}).text
    assert "<strong>grain</strong>" in tried
    assert re.search(r'<mark class="for l\d"[^>]*>Corn</mark>', tried)
    assert "&lt;" in tried
    texts = {"file": ("new.csv", 'id,text,year\n7,"corn, wheat",1999\n8,=bank,2000\n')}
    answer = client.post(f"{at}/classify", data={"csrf": client.csrf}, files=texts)
    rows = list(csv.DictReader(answer.content.decode("utf-8-sig").splitlines()))
    assert [(row["id"], row["year"], row["labels"]) for row in rows] == [("7", "1999", "grain"), ("8", "2000", "money")]
    assert rows[1]["text"] == "'=bank", "a spreadsheet must not compute it"
    assert client.post(f"{at}/delete", data={"csrf": client.csrf}).status_code == 200
    assert client.get(at).status_code == 400


def test_a_training_can_be_stopped(room):
    client, _ = room
    first, second = (train(client).headers["location"] for _ in range(2))
    client.post(f"{second}/stop", data={"csrf": client.csrf})  # it waits for the first
    assert "the training was stopped" in wait(client, second)
    assert "Try a text" in wait(client, first)


def test_what_cannot_be_trained_is_said(room):
    client, app = room
    assert "no field &#39;zoo&#39;" in train(client, label_field="zoo").text
    assert "at least 4" in train(client, "kind,text\na,b\n").text
    assert client.get("/models/nothing").status_code == 400
    with app.state.registry.store.write() as session:
        session.add(Model(id="lost", user_id=1, name="Lost", state="training", message=""))
    Training(app.state.registry.store).close()
    assert "the server was stopped" in client.get("/models/lost").text


def test_a_table_with_some_labels_comes_back_with_all(room):
    """Columns of anybody's names; a workbook comes back as one."""
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra xlsx")
    client, _ = room
    book = openpyxl.Workbook()
    book.active.append(["What, in short", "Remark", "Kind"])
    for k, (label, text) in enumerate(ROWS):
        book.active.append([text, f"row {k}", label if k % 3 else None])
    stream = io.BytesIO()
    book.save(stream)
    sent = {"file": ("survey of 2024.xlsx", stream.getvalue())}
    at = client.post("/models", data={"csrf": client.csrf}, files=sent, follow_redirects=False).headers["location"]
    page = client.get(at).text
    assert "24 rows, 16 with a label: grain (8), money (8)." in page
    assert "<option selected>What, in short</option>" in page
    assert "<option selected>Kind</option>" in page
    other = client.post(at, data={"csrf": client.csrf, "action": "look", "text_field": ["Remark", "Kind"]}).text
    assert "row 0" in other
    given = {"csrf": client.csrf, "name": "Survey", "text_field": ["What, in short", ""], "label_field": "Kind"}
    at = client.post(at, data=given, follow_redirects=False).headers["location"]
    assert "Your spreadsheet, classified" in wait(client, at)
    answer = client.get(f"{at}/classified")
    assert 'filename="survey-of-2024-classified.xlsx"' in answer.headers["content-disposition"]
    rows = list(openpyxl.load_workbook(io.BytesIO(answer.content)).active.iter_rows(values_only=True))
    rows = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    assert [row["Remark"] for row in rows] == [f"row {k}" for k in range(24)]
    assert [row["in_training"] == "yes" for row in rows] == [bool(k % 3) for k in range(24)]
    assert [row["labels"] for row in rows] == [label for label, _ in ROWS]
    again = client.post(f"{at}/classify", data={"csrf": client.csrf}, files={"file": ("more.xlsx", stream.getvalue())})
    assert again.headers["content-disposition"].endswith('"more-classified.xlsx"')


def test_trainings_of_one_person_are_bounded(room):
    client, app = room
    with app.state.registry.store.write() as session:
        session.add_all(Model(id=f"m{k}", user_id=1, name="M", state="training", message="") for k in range(5))
    assert "5 of your trainings are not done yet" in train(client).text
