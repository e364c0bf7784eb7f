"""Requests that no page and no description of the interface would make are answered, and never by a fault of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, InLoop

from textbayes.app import AppSettings, create_app
from textbayes.app.accounts import create_token, local_user
from textbayes.app.api import api_router
from textbayes.app.pages import page_router
from textbayes.app.projects import NewProject, create_project
from textbayes.app.served_model import create_model_app
from textbayes.categorizer import TextCategorizer
from textbayes.screen import ScreenSettings
from textbayes.store import save_model

JSON, FORM, FILE = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
BODIES = [
    (b"", ""),
    (b"{}", "text/plain"),
    (b"{", JSON),
    (b"null", JSON),
    (b"NaN", JSON),
    (b'{"texts": [NaN], "text": Infinity, "seconds": 1e999, "name": 1e999}', JSON),
    (b"9" * 5_000, JSON),
    (b"[" * 50_000, JSON),
    (b"\xff\xfe\x00", JSON),
    (b"{}", "application/json; charset=utf-16"),
    (b'{"id": "\\ud800", "answer": "\\u0000", "name": "\\ud800", "text": "\\ud800", "label": "\\ud800"}', JSON),
    (b'{"texts": ["\\ud800\\u0000"]}', JSON),
    (b'{"documents": [{"text": "\\ud800", "labels": ["\\ud800"]}]}', JSON),
    (b"name=%ff%00&csrf=%ff&id=%ed%a0%80&word=%00&text=%ff&role=x&prior=%00&questions=%ff", FORM),
    (b'--x\r\nContent-Disposition: form-data; name="file"; filename="\xff\x00.csv"\r\n\r\n\xff\x00\r\n--x--', FILE),
    (b"--x\r\nbroken", FILE),
    (b"x", "multipart/form-data"),
    (b"x", "é/é"),
]
FOR_PAGES = [(body, kind) for body, kind in BODIES if kind != JSON or body in (b"{", b"null")]  # they take forms
QUERY = "?topic=%ff&start=NaN&limit=999999999999999999999999&id=%00&q=%ed%a0%80&part=%00&kind=%ff"
ODD = ["/docs", "/redoc", "/nowhere", "/api", "/api/v1/nowhere", "//", "/%00", "/%ff", "/static/%00", "/static/../x"]


def paths_of(router, before: str = "") -> Iterator[str]:
    """The paths of a router and of those within it."""
    for route in router.routes:
        if hasattr(route, "methods"):
            yield before + route.path
        else:
            yield from paths_of(route.original_router, before + (route.include_context.prefix or ""))


def served(tmp_path):
    texts = ["wheat and corn", "corn harvest", "wheat prices", "bank rates", "the bank cuts rates", "loans of the bank"]
    save_model(TextCategorizer(model="counts").fit(texts, ["grain"] * 3 + ["money"] * 3), tmp_path / "model.tb")
    app = create_model_app(tmp_path / "model.tb", AppSettings(database="", origin=ORIGIN), "the-token")
    return app, "the-token", list(app.openapi()["paths"]), "none"


def room(tmp_path, records):
    settings = AppSettings(database=f"sqlite:///{tmp_path / 'r.sqlite3'}", origin=ORIGIN, cache=tmp_path / "cache")
    app = create_app(settings, "secret")
    me = local_user(app.state.registry.store)
    plan = NewProject("Tea", ScreenSettings(questions={"relevant": "green tea"}), prior="none")
    project = create_project(app.state.registry, me, plan, records)
    paths = [*(f"/api/v1{path}" for path in paths_of(api_router)), *paths_of(page_router)]
    return app, create_token(app.state.registry.store, me, "test"), paths, project


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE", "BREW", "PUT", "PATCH", "POST", "DELETE"])
@pytest.mark.parametrize("which", ["serve", "room"])
def test_nothing_that_is_sent_is_a_fault_of_ours(which, method, tmp_path, records, portal):
    app, token, paths, project = served(tmp_path) if which == "serve" else room(tmp_path, records)
    assert len(set(paths)) > (3 if which == "serve" else 60)
    client = httpx2.Client(transport=InLoop(app, portal, raise_app_exceptions=False), base_url=ORIGIN)
    for path in sorted({"/", *paths, *ODD}):
        sends = method == "POST" or (method in ("PUT", "PATCH") and "/api/" in path)
        bodies = (BODIES if "/api/" in path else FOR_PAGES) if sends else BODIES[:1]
        filled = re.sub(r"\{[^}]*\}", "1", path.replace("{project_id}", project))
        if method in ("DELETE", "POST") and path.endswith(("{project_id}", "/delete")):
            continue  # the others are asked of it
        for query in ("", QUERY):
            for body, kind in bodies if not query else bodies[:1]:
                headers = {"authorization": f"Bearer {token}", **({"content-type": kind.encode()} if kind else {})}
                answer = client.request(method, filled + query, content=body, headers=headers, follow_redirects=False)
                assert answer.status_code < 500, (method, path, query, body[:60], kind, answer.text)
                if answer.status_code == 405:  # no body is read
                    break
    if which == "room":
        app.state.training.close()
        app.state.registry.close()


@pytest.mark.parametrize("path", ["/", "/docs", "/login", "/favicon.ico", "/static/room.css"])
def test_a_model_has_no_pages_and_says_so(path, tmp_path):
    app, token, _, _ = served(tmp_path)
    for headers in ({}, {"authorization": f"Bearer {token}"}):
        answer = TestClient(app, base_url=ORIGIN).get(path, headers=headers, follow_redirects=False)
        assert answer.status_code == 404
        assert "/api/v1/openapi.json" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("which", "path", "kind", "start"),
    [
        ("serve", "/api/v1/classify", JSON, b'{"texts": ["'),
        ("serve", "/api/v1/learn", JSON, b"{"),
        ("room", "/api/v1/tokens", JSON, b'{"name": "'),
        ("room", "/api/v1/projects", FORM, b"name="),
        ("room", "/uploads", FORM, b"name="),
        ("room", "/uploads", FILE, b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'),
        ("room", "/api/v1/projects", FILE, b"--x\r\nbroken: "),
        ("room", "/login", FORM, b"name="),
    ],
)
def test_a_body_in_pieces_that_is_too_large_is_refused_as_that(
    which, path, kind, start, tmp_path, records, monkeypatch
):
    """Whatever reads it: what it makes of a body that is cut off is not said."""
    monkeypatch.setattr("textbayes.app.access.Guards._most", lambda *_: 1 << 16)
    app, token, *_ = served(tmp_path) if which == "serve" else room(tmp_path, records)
    client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
    headers = {"authorization": f"Bearer {token}", "content-type": kind}
    answer = client.post(path, content=iter([start, *[b"a" * (1 << 13)] * 20]), headers=headers)
    assert answer.status_code == 413
    assert "larger than" in answer.json()["detail"]
    if which == "room":
        app.state.training.close()
        app.state.registry.close()


@pytest.mark.parametrize("length", ["9" * 5_000, "-1", "1e3", "²", "99999999999999999999"])
def test_a_length_that_is_none_is_refused(length, tmp_path):
    app, token, _, _ = served(tmp_path)
    client = TestClient(app, base_url=ORIGIN)
    headers = {"authorization": f"Bearer {token}".encode(), "content-length": length.encode(), "content-type": JSON}
    assert client.post("/api/v1/classify", content=b"{}", headers=headers).status_code == 413
