"""Two rooms that differ in what one person said alone: whoever else asks must get the same replies from both."""

from __future__ import annotations

import io
import itertools
import re
import zipfile

import httpx2
from room_setup import ORIGIN, PASSWORD, InLoop

from textbayes.app import AppSettings, create_app
from textbayes.app.accounts import create_user

AT = ("/api/v1/projects/{project_id}", "/projects/{project_id}")
PEOPLE = ("ann", "bob", "cid", "dan")
ELSEWHERE = (
    "/models",
    "/account",
    "/tokens",
    "/people",
    "/uploads",
    "/login",
    "/logout",
    "/enter",
    "/join",
    "/favicon.ico",
    "/me",
)


class Room:
    """A room with four people, and a way to ask it for anything as one of them. A test makes ``project``.

    Parameters
    ----------
    folder : Path
        Where its database is.
    clocks : list
        The last is the clock of the room that is asked: the same is done at the same time in both.
    portal : BlockingPortal
        Where it runs.
    """

    project: str

    def __init__(self, folder, clocks, portal):
        folder.mkdir()
        self.clock, self.clocks = itertools.count(1.0e9, 10.0), clocks
        clocks.append(self.clock)
        settings = AppSettings(database=f"sqlite:///{folder / 'room.sqlite3'}", team=True, origin=ORIGIN)
        self.app, self.clients = create_app(settings), {}
        self.transport = InLoop(self.app, portal)
        self.registry = self.app.state.registry
        self.people = {name: create_user(self.registry.store, name, PASSWORD) for name in PEOPLE}
        self.ids = {name: user.id for name, user in self.people.items()}

    def close(self):
        self.app.state.training.close()
        self.registry.close()

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = httpx2.Client(transport=self.transport, base_url=ORIGIN, follow_redirects=True)
            self.clients[name].post("/login", data={"name": name, "password": PASSWORD})
            page = self.clients[name].get("/account").text
            self.clients[name].headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', page)[1]
        return self.clients[name]

    def ask(self, name, method, path, **more):
        """A reply, without what differs between any two rooms: the number of the project, secrets and times."""
        client = self.client(name)
        self.clocks.append(self.clock)
        reply = client.request(method, path.replace("{project_id}", self.project), **more)
        told = reply.content
        if told[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(told)) as archive:
                told = b"\n".join(name.encode() + archive.read(name) for name in sorted(archive.namelist()))
        told = told.replace(self.project.encode(), b"PROJECT")
        told = told.replace(client.headers["x-csrf-token"].encode(), b"SECRET")
        told = re.sub(rb'"(created|time)": ?[0-9.]+', rb'"\1":TIME', told)
        told = re.sub(rb"invite=[\w.-]+|invites/\w+", b"INVITE", told)
        told = re.sub(rb"(<dc(terms)?:(created|modified|date)[^>]*>)[^<]*", rb"\1TIME", told)
        return reply.status_code, told


def routes(app):
    """Methods and paths of all routes, and of each what it asks for."""
    for included in app.routes:
        for route in getattr(included, "effective_route_contexts", lambda one=included: [one])():  # FastAPI >= 0.130
            if hasattr(route, "dependant"):
                for method in route.methods:
                    yield method, route.path, [one.alias for one in route.dependant.query_params]


def looks(app, parts, left_out=()):
    """Every page and every reply that can be looked at, with all that ``parts`` of paths and questions may be.

    Where three or more of these have a choice, half of all combinations are asked: those in which any two values, and
    any three of four, still stand together. A page is asked the one half, the REST interface the other one.
    """
    for method, path, asks in routes(app):
        if method != "GET" or path.removeprefix("/api/v1").startswith(ELSEWHERE) or (method, path) in left_out:
            continue
        names = re.findall(r"{(\w+)}", path)
        if "figures" in path:
            names = ["project_id", "figure", "format"]
            path = re.sub(r"{(kind|figure)}", "{figure}", path)
        choices = [parts[name] for name in (*names, *asks)]
        halved = sum(len(one) > 1 for one in choices) > 2
        for places in itertools.product(*(range(len(one)) for one in choices)):
            if halved and sum(places) % 2 != path.startswith("/api/"):
                continue
            chosen = [one[place] for one, place in zip(choices, places, strict=True)]
            address = path
            for name, part in zip(names, chosen, strict=False):
                address = address.replace(f"{{{name}}}", part)
            yield address, dict(zip(asks, chosen[len(names) :], strict=True))


def assert_same(twins, name, method, path, hidden=(), **more):
    """Ask both, and compare; none of the ``hidden`` texts may be there."""
    (code, one), (other_code, other) = (twin.ask(name, method, path, **more) for twin in twins)
    assert code == other_code < 500, (name, method, path)
    assert one == other, (name, method, path, more)
    assert not any(text.encode() in one for text in hidden), (name, method, path)
    return code, one
