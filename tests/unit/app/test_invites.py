"""Invitations: who has the link makes an account and joins, so often and so long as it says; nobody guesses one."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD
from sqlalchemy import select
from test_logins import csrf_of, visitor

from textbayes.app import AppSettings, accounts, create_app, invites
from textbayes.app.database import Audit, Invite, Membership, Project, User
from textbayes.app.projects import NewProject, create_project
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings


@pytest.fixture
def ann(team, records):
    """The owner of a project, whose number she knows."""
    client = team("ann")
    store = team.app.state.registry.store
    with store.read() as session:
        user = session.scalar(select(User).where(User.name == "ann"))
    client.headers["x-csrf-token"] = csrf_of(client)
    plan = NewProject("Tea", ScreenSettings(questions={"relevant": "tea"}), prior="none")
    client.project = create_project(team.app.state.registry, user, plan, records)
    return client


def invite(ann, **more) -> str:
    answer = ann.post(f"/api/v1/projects/{ann.project}/invites", json=more)
    assert answer.status_code == 201, answer.text
    assert answer.json()["link"].startswith(f"{ORIGIN}/join?invite=")
    return answer.json()["link"].partition("=")[2]


def join(client, link: str, name: str, password: str = PASSWORD):
    form = {"invite": link, "name": name, "password": password}
    return client.post("/join", data=form, follow_redirects=False)


def roles(team) -> dict[str, str]:
    with team.app.state.registry.store.read() as session:
        return dict(session.execute(select(User.name, Membership.role).join(Membership)).all())


def test_a_link_makes_an_account_that_joins_the_project_once(team, ann):
    link = invite(ann, role="reader")
    new = visitor(team)
    assert f'value="{link}"' in new.get("/join", params={"invite": link}).text
    answer = join(new, link, " bob ")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/projects/{ann.project}/judge")
    assert new.get("/api/v1/me").json() == {"name": "bob", "administrator": False}
    assert roles(team) == {"ann": "owner", "bob": "reader"}
    again = visitor(team)
    assert again.post("/login", data={"name": "bob", "password": PASSWORD}, follow_redirects=False).status_code == 303
    late = join(visitor(team), link, "cid")
    assert late.status_code == 400
    assert "was used, withdrawn, or has expired; ask whoever sent it" in late.text
    assert visitor(team).get("/join", params={"invite": link}).status_code == 400
    with team.app.state.registry.store.read() as session:
        log = [(one.user, one.action, one.what) for one in session.scalars(select(Audit).order_by(Audit.id))]
        assert not any(
            link.partition(".")[2] in "".join(map(str, vars(one).values())) for one in session.scalars(select(Invite))
        )
    assert ("ann", "invite", "reader in Tea, 1 person, 7 days") in log
    assert ("bob", "join by invitation", "reader in Tea") in log
    assert ("cid", "failed invitation", "10.0.0.1") in log


def test_a_link_lets_as_many_in_as_it_says(team, ann):
    link = invite(ann, uses=2)
    assert [join(visitor(team), link, name).status_code for name in ("bob", "cid", "dan")] == [303, 303, 400]
    assert roles(team).keys() == {"ann", "bob", "cid"}


def test_a_link_expires_is_withdrawn_and_ends_with_its_owner(team, ann, monkeypatch):
    store = team.app.state.registry.store
    first, second, third = (invite(ann, uses=3) for _ in range(3))
    listed = ann.get(f"/api/v1/projects/{ann.project}/invites").json()
    assert {one["id"] for one in listed} == {one.partition(".")[0] for one in (first, second, third)}
    at = f"/projects/{ann.project}"
    page = ann.post(f"{at}/invites/{first.partition('.')[0]}/withdraw", data={"csrf": csrf_of(ann)})
    assert page.text.count("/withdraw") == 2
    assert ann.delete(f"/api/v1{at}/invites/{first.partition('.')[0]}").status_code == 400
    assert join(visitor(team), first, "bob").status_code == 400
    assert join(visitor(team), second, "bob").status_code == 303
    with monkeypatch.context() as later:
        later.setattr(invites.time, "time", lambda real=invites.time.time: real() + 7.01 * 86_400)
        assert join(visitor(team), second, "cid").status_code == 400
    with store.write() as session:
        session.scalar(select(Membership).where(Membership.role == "owner")).role = "reviewer"
    assert join(visitor(team), third, "cid").status_code == 400
    assert roles(team) == {"ann": "reviewer", "bob": "reviewer"}


def test_guesses_wait_as_those_of_passwords_do_and_keep_no_other_link_out(team, ann):
    link, other = invite(ann), invite(ann)
    number = link.partition(".")[0]
    eve = visitor(team)
    codes = [join(eve, f"{number}.guess{k}", "eve").status_code for k in range(8)]
    assert codes[:6] == [400] * 6
    assert codes[7] == 429
    assert join(eve, link, "eve").status_code == 429
    assert join(visitor(team), other, "bob").status_code == 303, "from the same address, by another link"
    assert join(visitor(team, "10.0.0.2"), link, "cid").status_code == 303


def test_names_that_are_taken_and_short_passwords_are_told_and_use_nothing_up(team, ann):
    link = invite(ann)
    taken = join(visitor(team), link, "ann")
    assert taken.status_code == 400
    assert "already an account called &#39;ann&#39;" in taken.text
    assert "at least 10" in join(visitor(team), link, "bob", "short").text
    assert join(visitor(team), link, "bob").status_code == 303


@pytest.mark.parametrize("name", ["ANN", "a\u200dnn", "ａｎｎ", "\u202enna", "a\u200bnn", "\u2067ann\u2069"])
def test_nobody_joins_under_a_name_that_is_taken_for_another(team, ann, name):
    link = invite(ann)
    refused = join(visitor(team), link, name)
    assert refused.status_code == 400
    assert "already an account called &#39;ann&#39;" in refused.text or "cannot be seen" in refused.text
    assert roles(team) == {"ann": "owner"}
    assert join(visitor(team), link, "نمی\u200cخواهم").status_code == 303, "a joiner that Persian needs"


def test_only_owners_invite_and_only_in_a_room_for_a_team(team, ann, tmp_path):
    link = invite(ann, uses=2)
    bob = visitor(team)
    join(bob, link, "bob")
    bob.headers["x-csrf-token"] = csrf_of(bob)
    at = f"/api/v1/projects/{ann.project}/invites"
    assert [bob.get(at).status_code, bob.post(at, json={}).status_code] == [403, 403]
    assert bob.delete(f"{at}/{link.partition('.')[0]}").status_code == 403
    assert "Invitations" not in bob.get(f"/projects/{ann.project}/settings").text
    without = TestClient(team.app, base_url=ORIGIN, cookies=ann.cookies)
    assert without.post(at, json={}).status_code == 403, "a page of another site knows no secret"
    other = visitor(team)
    assert other.post("/join", data={"invite": link}, headers={"origin": "https://evil.example"}).status_code == 403
    assert ann.post(at, json={"days": 1000}).status_code == 422
    local = create_app(AppSettings(database=f"sqlite:///{tmp_path / 'x.sqlite3'}", origin=ORIGIN), "secret")
    me = TestClient(local, base_url=ORIGIN)
    assert me.get("/join?invite=x.y").status_code == 403
    assert me.post("/join", data={"invite": "x.y"}).status_code == 403
    local.state.registry.close()


def test_the_page_shows_the_link_once(team, ann):
    at = f"/projects/{ann.project}"
    made = ann.post(f"{at}/invites", data={"csrf": csrf_of(ann), "role": "owner", "days": "1", "uses": "3"}).text
    link = re.search(r"/join\?invite=([\w.-]+)", made)[1]
    assert "owner, 3 people, until" in made
    assert link.partition(".")[2] not in ann.get(f"{at}/settings").text
    assert join(visitor(team), link, "bob").status_code == 303
    assert roles(team)["bob"] == "owner"


def test_the_server_invites_without_an_account(team, ann):
    store = team.app.state.registry.store
    with store.read() as session:
        assert invites.project_called(store, "Tea") == session.scalar(select(Project.id)) == ann.project
    with pytest.raises(InputError, match=r"no project is called 'Coffee'; give the id of one: Tea \("):
        invites.project_called(store, "Coffee")
    link = invites.make_invite(store, None, ann.project).partition("=")[2]
    assert join(visitor(team), link, "bob").status_code == 303
    invites.make_invite(store, None, ann.project)
    assert invites.withdraw(store, None, ann.project) == 1, "one that was used up is gone with the next"
    assert accounts.audit_log(store)[0].user == "command line"
