"""Accounts, sessions and tokens; the audit log; and who may do what in a project."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as DatabaseSession

from textbayes.app.database import FROM_FILE, ROLES, AccessToken, Audit, Membership, Session, Store, User, note_audit
from textbayes.app.live import LiveReview
from textbayes.app.projects import checked_name
from textbayes.app.throttle import Throttle, Try, forget_tries
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice

LOCAL_USER = "me"  # the one person of a room on one's own machine
_JOINERS = "\u200c\u200d"  # which some scripts cannot be written without
SHORTEST_PASSWORD, _LONGEST_PASSWORD = 10, 1_000
_SESSION_SECONDS = 14 * 86_400.0
_MOST_AN_HOUR = 2_000  # lines of the audit log, beyond which failed log-ins are not noted
_hasher = PasswordHasher()  # argon2id with the parameters of RFC 9106
_NOBODY = _hasher.hash(secrets.token_hex())  # verified where a name is unknown, so that it takes as long


class LoginError(InputError):
    """A name and a password that do not go together."""


class LoggedIn(NamedTuple):
    """What a browser gets that has logged in.

    Parameters
    ----------
    session : str
        The cookie that shows who asks.
    device : str
        The cookie by which the browser is known at the next log-in.
    """

    session: str
    device: str


class Visitor(NamedTuple):
    """Who asks.

    Parameters
    ----------
    user : User
    csrf : str or None
        What forms must carry; None for a token, which no browser sends by itself.
    """

    user: User
    csrf: str | None


def create_user(store: Store, name: str, password: str | None, admin: bool = False, by: str = "") -> User:
    """Make an account.

    Parameters
    ----------
    store : Store
    name : str
    password : str or None
        None for one that cannot log in by password.
    admin : bool
        Whether this person may make accounts.
    by : str
        Who makes it, for the audit log.
    """
    hashed = None if password is None else hash_password(password)
    with store.write() as session:
        return add_user(session, name, hashed, admin, by)


def add_user(session: DatabaseSession, name: str, hashed: str | None, admin: bool = False, by: str = "") -> User:
    """Add an account whose password is hashed already; else as :func:`create_user`."""
    tidy = checked_name(name)
    if any(unicodedata.category(one) == "Cf" and one not in _JOINERS for one in tidy):
        raise InputError("the name has characters that cannot be seen; choose one without them")
    looks = _looks(tidy)
    alike = next((one for one in session.scalars(select(User.name)) if _looks(one) == looks), None)
    if alike is not None:
        raise InputError(f"there is already an account called {alike!r}; choose another name")
    user = User(name=tidy, password=hashed, admin=admin, active=True)
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise InputError(f"there is already an account called {tidy!r}; choose another name") from None
    note_audit(session, by or tidy, "create account", tidy)
    return user


def _looks(name: str) -> str:
    """What names that are taken for one another have in common: all but capitals, joiners and forms of letters."""
    seen = "".join(one for one in name if one not in _JOINERS)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


def hash_password(password: str) -> str:
    """A password as it is kept; one that is too short is refused."""
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise InputError(f"the password has {len(password)} characters; give one of at least {SHORTEST_PASSWORD}")
    return _hasher.hash(password)


def set_password(store: Store, user_id: int, password: str, by: str) -> User:
    """Change a password; all sessions and tokens of the person end, and failed log-ins are forgotten."""
    hashed = hash_password(password)
    with store.write() as session:
        user = session.get_one(User, user_id)
        user.password = hashed
        session.execute(delete(Session).where(Session.user_id == user_id))
        session.execute(delete(AccessToken).where(AccessToken.user_id == user_id))
        forget_tries(session, user.name)
        note_audit(session, by, "change password", user.name)
    return user


def reset_password(store: Store, name: str, password: str, by: str) -> User:
    """Give a person a new password by name, as whoever has the database at hand may do.

    Parameters
    ----------
    store : Store
    name : str
    password : str
    by : str
        Who does it, for the audit log.
    """
    with store.read() as session:
        user = session.scalar(select(User).where(User.name == checked_name(name)))
        names = session.scalars(select(User.name).where(User.password.is_not(None)).order_by(User.name).limit(10)).all()
    if user is None or user.password is None:
        known = ", ".join(names) or "none"
        raise InputError(f"there is no account called {name!r} with a password; there are: {known}")
    return set_password(store, user.id, password, by)


def log_in(
    store: Store, throttle: Throttle, name: str, password: str, address: str, device: str | None = None
) -> LoggedIn:
    """Check a password; returns the cookies of a new session and of the browser.

    Parameters
    ----------
    store : Store
    throttle : Throttle
        Makes those wait who guess.
    name, password : str
    address : str
        Where the request came from.
    device : str, optional
        The cookie that the browser got at an earlier log-in: it is then not held up by guesses of others.
    """
    with store.read() as session:
        user = session.scalar(select(User).where(User.name == name.strip(), User.active.is_(True)))
    tried = Try(name, address, _known_device(user, device))
    kept = user.password if user is not None and user.password is not None else _NOBODY
    with throttle.turn(tried):
        throttle.attempt(tried)
        try:
            right = _hasher.verify(kept, password[:_LONGEST_PASSWORD]) and kept is not _NOBODY
        except (VerificationError, InvalidHashError):
            right = False
    if user is None or not right:
        note_failure(store, name, "failed login", address)
        raise LoginError("wrong name or password; check both")
    throttle.succeeded(tried)
    return LoggedIn(new_session(store, user), new_device(user))


def new_device(user: User) -> str:
    """A cookie by which a browser that has logged in is known again, until the password changes.

    It is signed with the hash of the password, which nobody outside knows: nothing more needs to be kept.
    """
    mark = secrets.token_urlsafe(16)
    return f"{mark}.{_signature(user, mark)}"


def _known_device(user: User | None, device: str | None) -> str | None:
    """The mark of a browser of this person; None if the cookie is not theirs."""
    mark, _, signature = (device or "").partition(".")
    if user is None or user.password is None or not signature:
        return None
    return mark if hmac.compare_digest(_signature(user, mark).encode(), signature.encode()) else None


def _signature(user: User, mark: str) -> str:
    return hmac.new(str(user.password).encode(), f"device {user.id} {mark}".encode(), "sha256").hexdigest()


def note_failure(store: Store, name: str, action: str, address: str) -> None:
    """Keep a try that failed, unless the audit log grows so fast that such tries would fill the disk."""
    with store.write() as session:
        past = session.scalar(select(Audit.time).order_by(Audit.id.desc()).offset(_MOST_AN_HOUR).limit(1))
        if past is None or past <= time.time() - 3_600.0:
            note_audit(session, name.strip()[:200].replace("\x00", ""), action, address)


def new_session(store: Store, user: User) -> str:
    """Log a person in; returns the cookie."""
    cookie = secrets.token_urlsafe(32)
    with store.write() as session:
        session.execute(delete(Session).where(Session.expires < time.time()))
        expires = time.time() + _SESSION_SECONDS
        session.add(Session(key=hash_secret(cookie), user_id=user.id, csrf=secrets.token_urlsafe(32), expires=expires))
        note_audit(session, user.name, "login", "")
    return cookie


def find_session(store: Store, cookie: str) -> Visitor | None:
    """Who has a cookie; None if nobody has any more."""
    found = (
        select(User, Session.csrf)
        .join(Session, Session.user_id == User.id)
        .where(Session.key == hash_secret(cookie), Session.expires > time.time(), User.active.is_(True))
    )
    with store.read() as session:
        row = session.execute(found).one_or_none()
    return None if row is None else Visitor(row[0], row[1])


def log_out(store: Store, cookie: str) -> None:
    """End a session."""
    with store.write() as session:
        session.execute(delete(Session).where(Session.key == hash_secret(cookie)))


def create_token(store: Store, user: User, name: str) -> str:
    """A new key to the REST interface; it is shown once, and cannot be found out again."""
    secret = f"tb_{secrets.token_urlsafe(32)}"
    with store.write() as session:
        n_tokens = (
            session.scalar(select(func.count()).select_from(AccessToken).where(AccessToken.user_id == user.id)) or 0
        )
        if n_tokens >= 100:
            raise InputError("you have 100 tokens, the maximum; remove one that you no longer use")
        tidy = checked_name(name)
        session.add(AccessToken(user_id=user.id, name=tidy, key=hash_secret(secret)))
        note_audit(session, user.name, "create token", tidy)
    return secret


def list_tokens(store: Store, user: User) -> list[AccessToken]:
    """The tokens of a person."""
    with store.read() as session:
        return list(session.scalars(select(AccessToken).where(AccessToken.user_id == user.id).order_by(AccessToken.id)))


def remove_token(store: Store, user: User, id: int) -> None:
    """Let a token open nothing any more."""
    with store.write() as session:
        session.execute(delete(AccessToken).where(AccessToken.id == id, AccessToken.user_id == user.id))
        note_audit(session, user.name, "remove token", str(id))


def find_token(store: Store, secret: str) -> Visitor | None:
    """Who has a token."""
    with store.read() as session:
        user = session.scalar(
            select(User)
            .join(AccessToken, AccessToken.user_id == User.id)
            .where(AccessToken.key == hash_secret(secret), User.active.is_(True))
        )
    return None if user is None else Visitor(user, None)


def local_user(store: Store) -> User:
    """The one person of a room on one's own machine; made at its first start."""
    with store.read() as session:
        found = session.scalar(select(User).where(User.name == LOCAL_USER))
    return found or create_user(store, LOCAL_USER, None, admin=True)


def hash_secret(secret: str) -> str:
    """A secret as it is kept."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()  # secrets are random: no salt is needed


_MOST_LOGGED = 200  # lines of the audit log at a time


def list_people(store: Store) -> list[User]:
    """All accounts, by name."""
    with store.read() as session:
        return list(session.scalars(select(User).order_by(User.name)))


def names_of(store: Store) -> dict[int, str]:
    """The names of all people, also of those who cannot log in, by their numbers."""
    with store.read() as session:
        return {row.id: row.name for row in session.execute(select(User.id, User.name))}


def by_name(store: Store, said: Mapping[int, str]) -> dict[str, str]:
    """What people said, by their names."""
    people = names_of(store) if said else {}
    return {people.get(user, "?"): text for user, text in said.items()}


def audit_log(store: Store) -> list[Audit]:
    """What was done lately, newest first."""
    with store.read() as session:
        return list(session.scalars(select(Audit).order_by(Audit.id.desc()).limit(_MOST_LOGGED)))


def find_person(store: Store, user_id: int) -> User:
    """An account with a password."""
    with store.read() as session:
        found = session.get(User, user_id) if user_id < 1 << 31 else None
    if found is None or found.password is None:
        raise InputError("there is no such account")
    return found


def set_active(store: Store, by: User, user_id: int, active: bool) -> None:
    """Lock an account, or open it again; what the person did stays.

    Parameters
    ----------
    store : Store
    by : User
        Who does it.
    user_id : int
    active : bool
    """
    find_person(store, user_id)
    if user_id == by.id:
        raise InputError("you cannot lock your own account; ask another administrator")
    with store.write() as session:
        user = session.get_one(User, user_id)
        user.active = active
        session.execute(delete(Session).where(Session.user_id == user_id))
        note_audit(session, by.name, "open account" if active else "lock account", user.name)


@dataclass(frozen=True)
class ListedMember:
    """A member of a project: name and role."""

    name: str
    role: str


def list_members(store: Store, project_id: str) -> list[ListedMember]:
    """The members of a project, by name."""
    found = select(User.name, Membership.role).join(Membership, Membership.user_id == User.id)
    with store.read() as session:
        rows = session.execute(found.where(Membership.project_id == project_id).order_by(User.name)).all()
    return [ListedMember(name, role) for name, role in rows]


@dataclass(frozen=True)
class Stranger:
    """A person whom the file of a project named.

    Parameters
    ----------
    name : str
    account : str
        Who it is; empty where it is nobody of this room, or nobody has said yet.
    decided : bool
        Whether somebody has said who it is.
    offered : str
        An account of the same name, if there is one.
    """

    name: str
    account: str
    decided: bool
    offered: str


def list_strangers(store: Store, review: LiveReview) -> list[Stranger]:
    """The people whom the file of a project named, and who they are."""
    with review.looking() as assignments:
        found = {user: assignments.matched.get(user) for user in sorted({*assignments.unmatched, *assignments.matched})}
        unmatched = set(assignments.unmatched)
    if not found:
        return []
    with store.read() as session:
        people = list(session.scalars(select(User)))
    names = {one.id: one.name for one in people}
    accounts = {one.name.casefold(): one.name for one in people if one.active}
    return [
        Stranger(
            name=names.get(user, "?"),
            account=names.get(account or 0, ""),
            decided=user not in unmatched,
            offered=accounts.get(names.get(user, "").removesuffix(FROM_FILE).casefold(), ""),
        )
        for user, account in found.items()
    ]


def match_person(store: Store, by: User, review: LiveReview, name: str, account: str) -> None:
    """Say who a person is whom the file of a project named; nobody is then the second reader of what they read.

    Parameters
    ----------
    store : Store
    by : User
        Who says it.
    review : LiveReview
    name : str
        As :func:`list_strangers` has it.
    account : str
        Name of an account; empty for somebody who has none here.
    """
    numbers = {known: number for number, known in names_of(store).items()}
    stranger, found = numbers.get(name), numbers.get(account.strip())
    with review.looking() as assignments:
        known = stranger in assignments.unmatched or stranger in assignments.matched
        is_account = found is not None and found not in assignments.unmatched and found not in assignments.matched
    if stranger is None or not known:
        raise InputError(f"the file of this project named nobody called {name!r}")
    if account.strip() and not is_account:
        raise InputError(f"there is no account {account.strip()!r}; make it first, or leave it empty")
    entry = {"kind": "person", "user": stranger, "account": found if account.strip() else None}
    what = f"{name} is {account.strip() or 'nobody here'} in {review.name}"
    review.step(by.id, lambda assignments: [entry], lambda session: note_audit(session, by.name, "match person", what))


def set_role(store: Store, by: User, review: LiveReview, name: str, role: str) -> None:
    """Give somebody a role in a project, or take it (``"none"``); one owner must stay.

    Parameters
    ----------
    store : Store
    by : User
        Who does it.
    review : LiveReview
    name : str
    role : {"reader", "reviewer", "owner", "none"}
    """
    check_choice("role", role, (*ROLES, "none"))
    with store.write() as session:
        review.lock_project(session)
        user = session.scalar(select(User).where(User.name == name.strip(), User.active.is_(True)))
        if user is None:
            raise InputError(f"there is nobody called {name.strip()!r}; make an account first")
        members = session.scalars(select(Membership).where(Membership.project_id == review.id)).all()
        owners = [one.user_id for one in members if one.role == "owner"]
        if owners == [user.id] and role != "owner":
            raise InputError(f"{user.name} is the only owner of the project; make somebody else owner first")
        own = next((one for one in members if one.user_id == user.id), None)
        if own is not None and role == "none":
            session.delete(own)
        elif own is not None:
            own.role = role
        elif role != "none":
            session.add(Membership(project_id=review.id, user_id=user.id, role=role))
        note_audit(session, by.name, f"role {role}", f"{user.name} in {review.name}")
