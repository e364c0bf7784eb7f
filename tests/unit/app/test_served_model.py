"""``textbayes serve``: a model behind a REST interface."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN

from textbayes.app import AppSettings, served_model
from textbayes.app.served_model import CLASSIFY, create_model_app
from textbayes.categorizer import TextCategorizer
from textbayes.store import load_categorizer, save_model

TEXTS = ["wheat and corn", "corn harvest", "wheat prices", "bank rates", "the bank cuts rates", "loans of the bank"]
LABELS = ["grain"] * 3 + ["money"] * 3
TOKEN = {"authorization": "Bearer the-token"}


@pytest.fixture
def serve(tmp_path):
    def make(**parameters):
        path = tmp_path / "model.tb"
        labels = parameters.pop("labels", LABELS)
        save_model(TextCategorizer(**parameters).fit(TEXTS, labels), path)
        app = create_model_app(path, AppSettings(database="", origin=ORIGIN), "the-token")
        return path, TestClient(app, base_url=ORIGIN, headers=TOKEN)

    return make


def test_answers_are_those_of_the_model(serve):
    path, client = serve()
    assert client.get("/api/v1/model").json()["labels"] == ["grain", "money"]
    texts = ["corn and wheat", "rates of the bank", "zebra"]
    told = client.post("/api/v1/classify", json={"texts": texts}).json()
    model = load_categorizer(path)
    proba = model.predict_proba(texts)
    assert np.allclose([[one["probabilities"][name] for name in ("grain", "money")] for one in told], proba)
    assert [one["labels"] for one in told] == [["grain"], ["money"], []]
    why = client.post("/api/v1/explain", json={"text": "corn and wheat", "label": "grain"}).json()
    assert why["probability"] == pytest.approx(told[0]["probabilities"]["grain"])
    assert {word["word"] for word in why["words"]} <= {"corn", "and", "wheat"}


@pytest.mark.parametrize("model", ["linear:prior=gaussian", "counts"])
def test_a_label_tree_is_in_every_answer(serve, model):
    tree, lists = {"grain": "goods", "money": "goods"}, [["grain"], ["grain"], ["grain"], ["money"], [], ["money"]]
    path, client = serve(model=model, label_tree=tree, labels=lists)
    texts = ["corn and wheat", "rates of the bank", "corn and rates"]
    told = client.post("/api/v1/classify", json={"texts": texts}).json()
    loaded = load_categorizer(path)
    assert [tuple(one["labels"]) for one in told] == loaded.predict_labels(texts)
    for one, text in zip(told, texts, strict=True):
        p = one["probabilities"]
        assert p["goods"] >= max(p["grain"], p["money"])
        assert "goods" in one["labels"] or not one["labels"]
        why = client.post("/api/v1/explain", json={"text": text, "label": "goods"}).json()
        assert why["probability"] == pytest.approx(p["goods"])
    assert any("goods" in one["labels"] for one in told)


def test_a_model_that_can_learns_and_the_file_has_it(serve):
    path, client = serve(model="counts")
    before = client.post("/api/v1/classify", json={"texts": ["corn loans"]}).json()[0]["probabilities"]["money"]
    documents = [{"text": "corn loans and corn rates", "labels": ["money"]}] * 5
    assert client.post("/api/v1/learn", json={"documents": documents}).json() == {"n_learnt": 5}
    after = client.post("/api/v1/classify", json={"texts": ["corn loans"]}).json()[0]["probabilities"]["money"]
    assert after > before
    again = load_categorizer(path)
    assert again.predict_proba(["corn loans"])[0, 1] == pytest.approx(after)


def test_what_cannot_be_done_is_said(serve):
    _, client = serve()
    learn = client.post("/api/v1/learn", json={"documents": [{"text": "corn", "labels": ["grain"]}]})
    assert learn.status_code == 400
    assert "detail" in learn.json()
    for labels in (["zoo"], [], ["grain", "money"]):
        answer = client.post("/api/v1/learn", json={"documents": [{"text": "corn", "labels": labels}]})
        assert answer.status_code == 400, labels
    assert client.post("/api/v1/classify", json={"texts": []}).json() == []
    assert client.post("/api/v1/classify", json={"text": "corn"}).status_code == 422


def test_what_a_request_lacks_is_said(serve):
    _, client = serve()
    bare = client.post("/api/v1/classify", content='{"texts": ["corn"]}', headers={"content-type": "text/plain"})
    assert bare.status_code == 422
    assert bare.json()["detail"][0]["msg"] == "send Content-Type: application/json"
    client.headers.pop("authorization")
    told = client.post("/api/v1/classify", json={"texts": ["corn"]}).json()["detail"]
    assert told.startswith("send the token shown when `serve` started")
    assert told.endswith("Authorization: Bearer TOKEN")


@pytest.mark.parametrize("header", [{}, {"authorization": "Bearer x"}, {"authorization": "Basic the-token"}])
def test_without_the_token_nothing_is_answered(serve, header):
    _, client = serve()
    client.headers.pop("authorization")
    assert client.get("/api/v1/model", headers=header).status_code == 401
    assert client.get("/api/v1/model", headers={**TOKEN, "host": "evil.example"}).status_code == 421


def test_two_servers_of_one_file_know_what_either_has_learnt(serve):
    path, client = serve(model="counts")
    app = create_model_app(path, AppSettings(database="", origin=ORIGIN), "the-token")
    other = TestClient(app, base_url=ORIGIN, headers=TOKEN)
    for server in (client, other, client, other):
        given = {"documents": [{"text": "corn loans and corn rates", "labels": ["money"]}]}
        assert server.post("/api/v1/learn", json=given).json() == {"n_learnt": 1}
        told = [one.post("/api/v1/classify", json={"texts": ["corn loans"]}).json() for one in (client, other)]
        assert told[0] == told[1]
    assert int(load_categorizer(path).label_counts_.sum()) == len(TEXTS) + 4


def test_a_file_that_is_trained_anew_is_served(serve):
    path, client = serve()
    save_model(TextCategorizer().fit(TEXTS, ["food"] * 3 + ["bank"] * 3), path)
    assert client.get("/api/v1/model").json()["labels"] == ["bank", "food"]
    (told,) = client.post("/api/v1/classify", json={"texts": ["corn and wheat"]}).json()
    assert told["labels"] == ["food"]


def test_requests_are_answered_alike_whichever_way_they_take(serve, monkeypatch):
    """Valid requests take a short way, others that of FastAPI; with the short way closed, nothing else is said."""
    _, client = serve()
    texts = ["corn and wheat", "zebra", "", "b\0ank 😀"]
    bodies = [
        *(json.dumps(given) for given in ({"texts": texts}, {"texts": []}, {"texts": ["corn " * 20_000, "bank"]})),
        *(json.dumps(given) for given in ({"texts": [1]}, {"texts": "corn"}, {}, [], {"texts": texts, "more": 1})),
        '{"texts": ["lone \\ud800 surrogate"]}', '{"texts": ["corn"', "", "null",
    ]  # fmt: skip
    kinds = ("application/json", "application/json; charset=utf-8", "text/plain", "application/xml")

    def ask() -> list[tuple[int, object]]:
        answers = [
            client.post(CLASSIFY, content=body, headers={"content-type": kind}) for body in bodies for kind in kinds
        ]
        answers += [client.post(CLASSIFY, json={"texts": ["corn"]}, headers={"authorization": "Bearer x"})]
        answers += [client.get(CLASSIFY), client.put(CLASSIFY, json={"texts": texts})]
        return [(answer.status_code, answer.headers["content-type"], answer.content) for answer in answers]

    quick, again = ask(), ask()
    monkeypatch.setattr(served_model, "CLASSIFY", "/nowhere")
    assert quick == again == ask()
    assert [status for status, *_ in quick[:2]] == [200, 200]
    assert {status for status, *_ in quick} == {200, 401, 405, 422}


def test_a_request_that_grows_too_large_is_refused(tmp_path):
    path = tmp_path / "model.tb"
    save_model(TextCategorizer().fit(TEXTS, LABELS), path)
    app = create_model_app(path, AppSettings(database="", origin=ORIGIN, largest_upload=1_000), "the-token")
    client = TestClient(app, base_url=ORIGIN, headers={**TOKEN, "content-type": "application/json"})
    parts = [b'{"texts": ["', *[b"corn " * 20] * 8, b'"]}']
    assert client.post(CLASSIFY, content=iter(parts)).status_code == 200
    assert client.post(CLASSIFY, content=iter([*parts[:-1], *parts[1:]])).status_code == 413
