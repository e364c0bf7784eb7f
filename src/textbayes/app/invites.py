"""Links by which people without an account make one and join a project: for some days and so many people.

A link has two parts: the number of the invitation, by which tries are counted as those of a name at log-in, and a
secret, of which the hash is kept. It says nothing of the project to those who have only the number.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from textbayes.app import accounts
from textbayes.app.database import ROLES, Invite, Membership, Project, Store, User, note_audit
from textbayes.app.settings import JOIN
from textbayes.app.throttle import Throttle, Try
from textbayes.core.errors import InputError, plural
from textbayes.core.validation import check_choice

DAYS, LONGEST_DAYS, MOST_USES = 7.0, 90.0, 1_000
_MOST_OPEN = 100  # of a project
_DAY = 86_400.0
_ENDED = "the invitation does not exist, was used, withdrawn, or has expired; ask whoever sent it for another"


@dataclass(frozen=True)
class ListedInvite:
    """An invitation that can be used: its number, the role it gives, how often it still can, and until when."""

    id: str
    role: str
    uses: int
    expires: float


def make_invite(
    store: Store, by: User | None, project_id: str, role: str = "reviewer", days: float = DAYS, uses: int = 1
) -> str:
    """Make an invitation to a project; returns the part of the link after the address of the room, shown this once.

    Parameters
    ----------
    store : Store
    by : User or None
        Who invites: it ends with their account, and when they do not own the project any more. None for the command
        line.
    project_id : str
    role : {"reader", "reviewer", "owner"}
    days : float
        Until it expires.
    uses : int
        How many people it lets in.
    """
    check_choice("role", role, ROLES)
    if not 0.0 < days <= LONGEST_DAYS or not 1 <= uses <= MOST_USES:
        raise InputError(
            f"days={days:g} and uses={uses} are not usable; give up to {LONGEST_DAYS:g} days and {MOST_USES:,} uses"
        )
    id, secret, now = secrets.token_hex(8), secrets.token_urlsafe(32), time.time()
    with store.write() as session:
        project = session.get_one(Project, project_id)
        session.execute(delete(Invite).where((Invite.expires < now) | (Invite.uses < 1)))
        there = session.scalar(select(func.count()).select_from(Invite).where(Invite.project_id == project_id)) or 0
        if there >= _MOST_OPEN:
            raise InputError(f"the project has {there} invitations, the most; withdraw some")
        user_id, expires = None if by is None else by.id, now + days * _DAY
        key = accounts.hash_secret(secret)
        invite = Invite(id=id, project_id=project_id, user_id=user_id, key=key, role=role, uses=uses, expires=expires)
        session.add(invite)
        what = (
            f"{role} in {project.name}, {plural(uses, 'person', 'people')}, {days:g} {'day' if days == 1 else 'days'}"
        )
        note_audit(session, by.name if by else "command line", "invite", what)
    return f"{JOIN}?invite={id}.{secret}"


def list_invites(store: Store, project_id: str) -> list[ListedInvite]:
    """The invitations to a project that can be used, the newest first."""
    usable = Invite.project_id == project_id, Invite.expires > time.time(), Invite.uses > 0
    with store.read() as session:
        found = session.scalars(select(Invite).where(*usable).order_by(Invite.created.desc(), Invite.id))
        return [ListedInvite(one.id, one.role, one.uses, one.expires) for one in found]


def withdraw(store: Store, by: User | None, project_id: str, id: str | None = None) -> int:
    """Let an invitation, or all of a project, open nothing any more; returns how many there were."""
    which = [Invite.project_id == project_id, *([] if id is None else [Invite.id == id])]
    with store.write() as session:
        gone = len(session.scalars(delete(Invite).where(*which).returning(Invite.id)).all())
        if id is not None and not gone:
            raise InputError("there is no such invitation; it may have been used or withdrawn already")
        name = session.get_one(Project, project_id).name
        note_audit(session, by.name if by else "command line", "withdraw invitation", f"{gone} to {name}")
    return gone


def check_open(store: Store, given: str) -> None:
    """Refuse the link of an invitation that has ended; whether its secret is right is not looked at."""
    with store.read() as session:
        if _found(session, given) is None:
            raise InputError(_ENDED)


def join(
    store: Store, throttle: Throttle, given: str, name: str, password: str, address: str
) -> tuple[accounts.LoggedIn, str]:
    """Make an account by an invitation, and let it into the project; returns its cookies and the project's id.

    Parameters
    ----------
    store : Store
    throttle : Throttle
        Makes those wait who guess secrets, or names that are taken.
    given : str
        Both parts of the invitation.
    name, password : str
    address : str
        Where the request came from.
    """
    number, _, secret = given.partition(".")
    tried = Try(f"invitation {number}", address)
    with throttle.turn(tried):
        throttle.attempt(tried)
        with store.read() as session:
            right = _is_right(_found(session, given), secret)
        hashed = accounts.hash_password(password) if right else ""
    with store.write() as session:
        invite = _found(session, given, lock=True)
        if invite is not None and _is_right(invite, secret) and hashed:
            user = accounts.add_user(session, name, hashed)
            session.flush()
            session.add(Membership(project_id=invite.project_id, user_id=user.id, role=invite.role))
            invite.uses -= 1
            project = session.get_one(Project, invite.project_id)
            note_audit(session, user.name, "join by invitation", f"{invite.role} in {project.name}")
        else:
            user = None
    if user is None:
        accounts.note_failure(store, name, "failed invitation", address)
        raise InputError(_ENDED)
    throttle.succeeded(tried)
    return accounts.LoggedIn(accounts.new_session(store, user), accounts.new_device(user)), project.id


def _is_right(invite: Invite | None, secret: str) -> bool:
    return invite is not None and hmac.compare_digest(invite.key, accounts.hash_secret(secret))


def _found(session: Session, given: str, lock: bool = False) -> Invite | None:
    """The invitation of a number that can be used: whoever made it may still let people in."""
    number = given.partition(".")[0].replace("\x00", "")
    asked = select(Invite).where(Invite.id == number, Invite.expires > time.time(), Invite.uses > 0)
    invite = session.scalar(asked.with_for_update() if lock else asked)
    if invite is None or invite.user_id is None:
        return invite
    owner = (
        select(User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(User.id == invite.user_id, User.active.is_(True), Membership.project_id == invite.project_id)
        .where(Membership.role == "owner")
    )
    return None if session.scalar(owner) is None else invite


def project_called(store: Store, given: str) -> str:
    """The id of a project, by its id or its name."""
    with store.read() as session:
        found = session.execute(select(Project.id, Project.name).order_by(Project.created)).all()
    named = [one.id for one in found if given in (one.id, one.name)]
    if len(named) != 1:
        known = ", ".join(f"{one.name} ({one.id})" for one in found[:10]) or "none"
        several = f"{len(named)} projects are" if named else "no project is"
        raise InputError(f"{several} called {given!r}; give the id of one: {known}")
    return str(named[0])
