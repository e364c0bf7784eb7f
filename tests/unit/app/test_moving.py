"""A project moves by its file: people are not strangers to themselves, and nobody reads twice under two names."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD

from textbayes.app import AppSettings, create_app
from textbayes.app.accounts import create_user
from textbayes.app.projects import NewProject, create_project
from textbayes.screen import ScreenSettings

AT = "/api/v1/projects"
READ = {"r1", "r2", "r3"}  # by Ann, before the project moved


class House:
    """A room of its own, with people."""

    def __init__(self, address, *people):
        self.app = create_app(AppSettings(database=address, team=True, origin=ORIGIN))
        self.people = {name: create_user(self.app.state.registry.store, name, PASSWORD) for name in people}
        self.clients = {}
        for name in people:
            self.clients[name] = client = TestClient(self.app, base_url=ORIGIN)
            client.post("/login", data={"name": name, "password": PASSWORD})
            client.headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', client.get("/account").text)[1]

    def __getitem__(self, name):
        return self.clients[name]

    def close(self):
        self.app.state.training.close()
        self.app.state.registry.close()


def answer(client, project, id, said):
    return client.post(f"{AT}/{project}/judgements", json={"id": id, "answer": said})


def offered(client, project):
    """All records that a person is given to read, one after the other."""
    seen = []
    while queue := client.get(f"{AT}/{project}/queue").json():
        assert answer(client, project, queue[0]["id"], "irrelevant").status_code == 201
        seen.append(queue[0]["id"])
    return set(seen)


@pytest.fixture
def moved(tmp_path, database, records):
    """A project that Ann and Bob began elsewhere, read again by Bob; Ann is called Anna here."""
    old = House(f"sqlite:///{tmp_path / 'old.sqlite3'}", "ann", "bob")
    plan = NewProject("Tea", ScreenSettings(questions={"relevant": "green tea"}), double=True, prior="none")
    project = create_project(old.app.state.registry, old.people["bob"], plan, records[:12])
    old["bob"].put(f"{AT}/{project}/members", json={"name": "ann", "role": "reviewer"})
    for id in sorted(READ):
        assert answer(old["ann"], project, id, "relevant").status_code == 201
    assert old["bob"].post(f"{AT}/{project}/unblind").status_code == 204, "only so Bob may take all answers along"
    content = old["bob"].get(f"{AT}/{project}/export.zip").content
    new = House(database, "anna", "bert", "cid")
    told = new["bert"].post(f"{AT}/import", files={"file": ("tea.zip", content)})
    assert told.status_code == 201
    moved = told.json()["id"]
    for name in ("anna", "cid"):
        new["bert"].put(f"{AT}/{moved}/members", json={"name": name, "role": "reviewer"})
    yield new, moved
    old.close()
    new.close()


def test_nobody_reads_again_what_somebody_unknown_has_read(moved):
    new, project = moved
    people = new["bert"].get(f"{AT}/{project}/people").json()
    assert {one["name"]: one["decided"] for one in people} == {"ann (from a file)": False, "bob (from a file)": False}
    refused = answer(new["anna"], project, "r1", "relevant")
    assert refused.status_code == 400
    assert "you may be the same person" in refused.json()["detail"]
    for name in ("anna", "cid"):
        assert not offered(new[name], project) & READ


def test_nobody_is_second_reader_of_what_they_read_under_another_name(moved):
    new, project = moved
    for name, account in (("ann (from a file)", "anna"), ("bob (from a file)", "")):
        said = new["bert"].put(f"{AT}/{project}/people", json={"name": name, "account": account})
        assert said.status_code == 204
    assert new["anna"].get(f"{AT}/{project}/records/r1").json()["answer"] == "relevant", "it is her own"
    refused = answer(new["anna"], project, "r1", "irrelevant")
    assert refused.status_code == 400
    assert not offered(new["anna"], project) & READ
    assert offered(new["cid"], project) >= READ
    again = new["bert"].get(f"{AT}/{project}/people").json()
    assert {one["name"]: one["account"] for one in again} == {"ann (from a file)": "anna", "bob (from a file)": ""}


def test_who_has_no_account_here_is_another_person(moved):
    new, project = moved
    new["bert"].put(f"{AT}/{project}/people", json={"name": "ann (from a file)", "account": ""})
    assert offered(new["anna"], project) >= READ


def test_only_owners_say_who_is_who_and_only_of_people_that_are_there(moved):
    new, project = moved
    good = {"name": "ann (from a file)", "account": "anna"}
    assert new["anna"].put(f"{AT}/{project}/people", json=good).status_code == 403
    for wrong, sentence in (
        ({**good, "name": "anna"}, "named nobody called 'anna'"),
        ({**good, "account": "nobody"}, "there is no account 'nobody'"),
        ({**good, "account": "bob (from a file)"}, "there is no account"),
    ):
        told = new["bert"].put(f"{AT}/{project}/people", json=wrong)
        assert told.status_code == 400
        assert sentence in told.json()["detail"]


def test_a_project_that_moves_on_names_people_by_their_accounts(moved):
    new, project = moved
    new["bert"].put(f"{AT}/{project}/people", json={"name": "ann (from a file)", "account": "anna"})
    new["bert"].post(f"{AT}/{project}/unblind")
    with zipfile.ZipFile(io.BytesIO(new["bert"].get(f"{AT}/{project}/export.zip").content)) as archive:
        events = [json.loads(line) for line in archive.read("events.jsonl").splitlines()]
    assert {event["user"] for event in events if event["body"]["kind"] == "judgement"} == {"anna"}
    assert not {"stranger", "person"} & {event["body"]["kind"] for event in events}


def test_the_page_asks_who_they_are_and_offers_the_same_name(tmp_path, records):
    """After a file was read, an owner sees the people it named."""
    old = House(f"sqlite:///{tmp_path / 'old.sqlite3'}", "Ann", "bob")
    project = create_project(
        old.app.state.registry, old.people["bob"], NewProject("Tea", ScreenSettings(), prior="none"), records
    )
    old["bob"].put(f"{AT}/{project}/members", json={"name": "Ann", "role": "reviewer"})
    answer(old["Ann"], project, "r1", "relevant")
    content = old["bob"].get(f"{AT}/{project}/export.zip").content
    new = House(f"sqlite:///{tmp_path / 'new.sqlite3'}", "ann", "bert")
    page = new["bert"].post("/uploads", files={"file": ("tea.zip", content)})
    assert page.url.path.endswith("/settings")
    assert re.search(r'name="account" value="ann"', page.text)
    form = {"name": "Ann (from a file)", "account": "ann"}
    after = new["bert"].post(page.url.path.replace("settings", "people"), data=form)
    assert "Ann (from a file): <strong>ann</strong>" in after.text
    old.close()
    new.close()


def test_a_new_project_opens_where_a_reviewer_goes_on(tmp_path):
    """After an import the first record is shown."""
    house = House(f"sqlite:///{tmp_path / 'room.sqlite3'}", "bert")
    table = "id,title,abstract\n" + "".join(f"{i},Green tea {i},Leaves\n" for i in range(8))
    look = house["bert"].post("/uploads", files={"file": ("tea.csv", table)})
    page = house["bert"].post(look.url.path, data={"name": "Tea", "questions": "green tea"})
    assert page.url.path.endswith("/judge")
    assert 'aria-keyshortcuts="R">Relevant' in page.text
    house.close()
