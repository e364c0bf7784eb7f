"""Log-ins: those who guess wait, nobody is kept out by the guesses of others, and links to a room work once."""

from __future__ import annotations

import itertools
import re
import stat
import threading
import webbrowser

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD
from sqlalchemy import func, select

from textbayes.app import accounts
from textbayes.app import throttle as throttling
from textbayes.app.access import LaunchTokens
from textbayes.app.accounts import create_user, log_in, new_device, reset_password
from textbayes.app.database import AccessToken, Audit, Session, Store, User
from textbayes.app.run import open_browser
from textbayes.app.throttle import Throttle, TooManyTriesError, Try
from textbayes.core.errors import InputError


@pytest.fixture
def store(database):
    made = Store(database)
    yield made
    made.close()


@pytest.fixture
def now() -> list[float]:
    return [1e9]


@pytest.fixture
def throttle(store, now):
    return Throttle(store, clock=lambda: now[0])


def visitor(team, address: str = "10.0.0.1") -> TestClient:
    return TestClient(team.app, base_url=ORIGIN, client=(address, 5000))


def enter(client, name: str, password: str = PASSWORD) -> int:
    return client.post("/login", data={"name": name, "password": password}, follow_redirects=False).status_code


def guess_until_refused(client, name: str) -> None:
    codes = [enter(client, name, "wrong") for _ in range(7)]
    assert codes[-1] == 429


def csrf_of(client) -> str:
    return re.search(r'data-csrf="([^"]+)"', client.get("/account").text)[1]


def test_guessing_a_password_is_slowed_down_and_noted(team):
    team("ann")
    eve = visitor(team)
    codes = [enter(eve, "ann", "wrong") for _ in range(8)]
    assert codes[:6] == [401] * 6
    assert codes[7] == 429
    assert enter(eve, "ann") == 429
    with team.app.state.registry.store.read() as session:
        assert len(session.scalars(select(Audit).where(Audit.action == "failed login")).all()) == 6


def test_guesses_of_others_keep_nobody_out(team):
    """Neither from a browser that was used before, though the address is everybody's, nor from another place."""
    team("ann")
    at_home = visitor(team)
    assert enter(at_home, "ann") == 303
    eve = visitor(team)
    guess_until_refused(eve, "ann")
    assert enter(at_home, "ann") == 303, "a known browser behind the same gateway"
    assert enter(visitor(team, "10.0.0.2"), "ann") == 303, "a new browser elsewhere"
    assert enter(eve, "ann") == 429


def test_wrong_names_keep_no_address_out(team):
    team("ann")
    eve = visitor(team)
    for k in range(40):
        assert enter(eve, f"nobody {k}", "wrong") == 401
    assert enter(visitor(team), "ann") == 303


def test_a_browser_is_known_for_its_person_alone(team):
    """A cookie of one account, an invented one, or one from before the password changed makes nobody known."""
    ann = team("ann")
    team("bob")
    device = ann.cookies["textbayes_device"]
    with team.app.state.registry.store.read() as session:
        old = new_device(session.scalar(select(User).where(User.name == "bob")))
    reset_password(team.app.state.registry.store, "bob", "another long password", "test")
    for k, cookie in enumerate((device, "x.y", "x", "", old, device.partition(".")[0] + ".é")):
        eve = visitor(team, f"10.0.1.{k}")
        header = {"cookie": f"textbayes_device={cookie}".encode()}
        codes = [
            eve.post("/login", data={"name": "bob", "password": "wrong"}, headers=header).status_code for _ in range(8)
        ]
        assert codes[7] == 429
        unknown = visitor(team, f"10.0.1.{k}")
        assert enter(unknown, "bob", "another long password") == 429, "it was counted with those who are not known"


def test_a_known_browser_that_guesses_waits_too(team):
    ann = team("ann")
    codes = [enter(ann, "ann", "wrong") for _ in range(8)]
    assert codes[7] == 429
    assert enter(visitor(team), "ann") == 303, "it alone is counted"


def test_a_browser_stays_known_when_its_password_is_changed(team):
    ann = team("ann")
    form = {"csrf": csrf_of(ann), "old": PASSWORD, "new": "a new long password"}
    assert ann.post("/account/password", data=form).status_code == 200
    eve = visitor(team, "testclient")
    guess_until_refused(eve, "ann")
    assert enter(ann, "ann", "a new long password") == 303


def test_guessing_takes_longer_and_longer_whichever_process_is_asked(database, now):
    stores = [Store(database), Store(database)]
    ask = itertools.cycle([Throttle(store, clock=lambda: now[0]) for store in stores])
    for _ in range(6):
        next(ask).attempt(Try("Eve", "10.0.0.1"))
    waits = []
    for _ in range(11):
        with pytest.raises(TooManyTriesError) as told:
            next(ask).attempt(Try("eve ", "10.0.0.1"))
        waits.append(int(re.search(r"wait (\d+) seconds", str(told.value))[1]))
        now[0] += waits[-1] - 0.5
        with pytest.raises(TooManyTriesError):
            next(ask).attempt(Try("eve", "10.0.0.1"))
        now[0] += 0.5
        next(ask).attempt(Try("eve", "10.0.0.1"))
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    next(ask).attempt(Try("ann", "10.0.0.1"))
    next(ask).succeeded(Try("eve", "10.0.0.1"))
    next(ask).attempt(Try("eve", "10.0.0.1"))
    for store in stores:
        store.close()


def test_guesses_from_many_addresses_are_slowed_down_with_short_waits(throttle, now):
    for k in range(51):
        throttle.attempt(Try("ann", f"10.0.{k}.1"))
    waits = []
    for k in range(8):
        with pytest.raises(TooManyTriesError) as told:
            throttle.attempt(Try("ann", f"10.1.{k}.1"))
        waits.append(int(re.search(r"wait (\d+) seconds", str(told.value))[1]))
        now[0] += waits[-1]
        throttle.attempt(Try("ann", f"10.1.{k}.1"))
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]
    throttle.attempt(Try("ann", "10.0.0.1", device="hers"))
    throttle.attempt(Try("bob", "10.0.0.1"))


def test_addresses_of_one_network_are_one(throttle):
    """A machine has a whole network of IPv6 addresses; IPv4 ones that are written so are apart."""
    for k in range(6):
        throttle.attempt(Try("ann", f"2001:db8::{k}"))
        throttle.attempt(Try("bob", f"::ffff:10.0.0.{k}"))
    with pytest.raises(TooManyTriesError):
        throttle.attempt(Try("ann", "2001:db8::ffff"))
    throttle.attempt(Try("ann", "2001:db8:0:1::1"))
    throttle.attempt(Try("bob", "::ffff:10.0.0.7"))


def test_guesses_at_once_count_one_by_one(store):
    """Many at the same time are not let in before the first of them has failed."""
    throttle, refused = Throttle(store), []

    def guess():
        try:
            throttle.attempt(Try("eve", "10.0.0.1"))
        except TooManyTriesError:
            refused.append(1)

    threads = [threading.Thread(target=guess) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 6


def test_few_passwords_are_checked_at_a_time_and_known_browsers_do_not_wait(store, monkeypatch):
    """Each takes memory and time: a flood of names costs no more than a few, and those beyond are told at once."""
    ann, throttle = create_user(store, "ann", PASSWORD), Throttle(store)
    go_on, at_work, most, refused = threading.Event(), [0], [0], []
    lock, verify = threading.Lock(), accounts._hasher.verify

    class Slow:
        def verify(self, kept, password):
            if password == PASSWORD:
                return verify(kept, password)
            with lock:
                at_work[0] += 1
                most[0] = max(most[0], at_work[0])
            go_on.wait(30)
            with lock:
                at_work[0] -= 1
            return verify(kept, password)

    monkeypatch.setattr(accounts, "_hasher", Slow())

    def guess(k):
        try:
            log_in(store, throttle, f"nobody {k}", "wrong", f"10.0.0.{k}")
        except TooManyTriesError:
            refused.append(k)
            go_on.set()  # the queue is full
        except InputError:
            pass

    threads = [threading.Thread(target=guess, args=(k,)) for k in range(40)]
    for thread in threads:
        thread.start()
    log_in(store, throttle, "ann", PASSWORD, "10.0.0.1", new_device(ann))
    for thread in threads:
        thread.join()
    assert refused
    assert most[0] <= throttling._AT_ONCE


def test_a_flood_of_guesses_does_not_fill_the_audit_log(store, monkeypatch):
    monkeypatch.setattr(accounts, "_MOST_AN_HOUR", 20)
    throttle = Throttle(store)
    for k in range(40):
        with pytest.raises(InputError):
            log_in(store, throttle, f"nobody {k}", "wrong", "10.0.0.1")
    with store.read() as session:
        assert session.scalar(select(func.count()).select_from(Audit)) == 21


def test_an_administrator_who_is_alone_gets_a_new_password(team):
    admin = team("ann", admin=True)
    store = team.app.state.registry.store
    token = re.search(r"tb_[\w-]+", admin.post("/account/tokens", data={"name": "x", "csrf": csrf_of(admin)}).text)[0]
    eve = visitor(team)
    guess_until_refused(eve, "ann")
    reset_password(store, " ann", "a new long password", "command line")
    assert enter(visitor(team), "ann") == 401
    assert enter(visitor(team), "ann", "a new long password") == 303, "guesses before it are forgotten"
    assert admin.get("/", follow_redirects=False).headers["location"] == "/login"
    assert eve.get("/api/v1/me", headers={"authorization": f"Bearer {token}"}).status_code == 401
    with store.read() as session:
        log = session.scalars(select(Audit).where(Audit.action == "change password")).all()
        assert [(one.user, one.what) for one in log] == [("command line", "ann")]
        assert session.scalar(select(func.count()).select_from(AccessToken)) == 0
        assert session.scalar(select(func.count()).select_from(Session)) == 1
    with pytest.raises(InputError, match="there is no account called 'zoe' with a password; there are: ann"):
        reset_password(store, "zoe", "a new long password", "command line")
    with pytest.raises(InputError, match="at least 10"):
        reset_password(store, "ann", "short", "command line")


def test_launch_tokens_work_once_and_not_for_long():
    now = [0.0]
    tokens = LaunchTokens("printed", clock=lambda: now[0])
    short = tokens.new(60.0)
    assert tokens.use_up(short)
    assert not tokens.use_up(short)
    late = tokens.new(60.0)
    now[0] = 61.0
    assert not tokens.use_up(late)
    assert not any(tokens.use_up(given) for given in ("", "é", "printe", "printed "))
    assert tokens.use_up("printed")
    assert not tokens.use_up("printed")
    assert not LaunchTokens().use_up("")


def test_the_browser_is_given_a_file_that_its_owner_alone_can_read(tmp_path, monkeypatch):
    opened, done = [], threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda url: (opened.append(url), done.set()))
    (tmp_path / "room").mkdir(mode=0o755)
    path = open_browser(ORIGIN, "the-secret", tmp_path / "room")
    assert done.wait(10)
    assert opened == [path.as_uri()]
    assert "the-secret" not in opened[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert f"{ORIGIN}/enter?token=the-secret" in path.read_text(encoding="utf-8")
