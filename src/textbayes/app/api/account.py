"""One's own account; and all accounts, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from textbayes.app import accounts
from textbayes.app.access import Admin, AdminLooks, Registry, SignedIn, Writer
from textbayes.app.api.schemas import (
    AuditTold,
    Me,
    NewPerson,
    NewToken,
    PersonChange,
    PersonTold,
    TokenListed,
    TokenMade,
)
from textbayes.app.database import User

router = APIRouter(tags=["account"])


@router.get("/me")
def me(who: SignedIn) -> Me:
    """Say who asks."""
    return Me(name=who.user.name, administrator=who.user.admin)


@router.get("/tokens")
def tokens(registry: Registry, who: SignedIn) -> list[TokenListed]:
    """List one's tokens, without their secrets."""
    found = accounts.list_tokens(registry.store, who.user)
    return [TokenListed(id=one.id, name=one.name, created=one.created) for one in found]


@router.post("/tokens", status_code=201)
def make_token(registry: Registry, who: Writer, new: NewToken) -> TokenMade:
    """Make a token."""
    return TokenMade(name=new.name, token=accounts.create_token(registry.store, who.user, new.name))


@router.delete("/tokens/{token_id}", status_code=204)
def remove_token(registry: Registry, who: Writer, token_id: Annotated[int, Path(ge=1, lt=1 << 31)]) -> None:
    """Let a token open nothing any more."""
    accounts.remove_token(registry.store, who.user, token_id)


people_router = APIRouter(prefix="/people", tags=["people"])
UserId = Annotated[int, Path(ge=1, lt=1 << 31)]


@people_router.get("")
def list_people(registry: Registry, who: AdminLooks) -> list[PersonTold]:
    """List all accounts."""
    return [_told(one) for one in accounts.list_people(registry.store)]


@people_router.post("", status_code=201)
def make_account(registry: Registry, who: Admin, given: NewPerson) -> PersonTold:
    """Make an account."""
    made = accounts.create_user(registry.store, given.name, given.password, given.administrator, by=who.user.name)
    return _told(made)


@people_router.patch("/{user_id}", status_code=204)
def change(registry: Registry, who: Admin, user_id: UserId, given: PersonChange) -> None:
    """Lock or open an account, or give it a new password."""
    person = accounts.find_person(registry.store, user_id)
    if given.password is not None:
        accounts.set_password(registry.store, person.id, given.password, by=who.user.name)
    if given.active is not None:
        accounts.set_active(registry.store, who.user, person.id, given.active)


@people_router.get("/audit")
def audit(registry: Registry, who: AdminLooks) -> list[AuditTold]:
    """See what was done lately to accounts, tokens and projects."""
    found = accounts.audit_log(registry.store)
    return [AuditTold(time=one.time, user=one.user, action=one.action, what=one.what) for one in found]


def _told(user: User) -> PersonTold:
    return PersonTold(id=user.id, name=user.name, administrator=user.admin, active=user.active)
