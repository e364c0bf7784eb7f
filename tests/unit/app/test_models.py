"""Models that are trained in the room: progress, report, trying, classifying, stopping."""

from __future__ import annotations

import csv
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
    given = {"csrf": client.csrf, "name": "Topics", "label_field": "kind", **form}
    return client.post("/models", data=given, files={"file": ("topics.csv", content)}, follow_redirects=False)


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
