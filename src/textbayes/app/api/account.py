"""Oneself and one's tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from textbayes.app import accounts
from textbayes.app.access import RoomOf, SignedIn, Writer
from textbayes.app.api.schemas import Me, NewToken, TokenListed, TokenMade

router = APIRouter(tags=["account"])


@router.get("/me")
def me(who: SignedIn) -> Me:
    """Say who asks."""
    return Me(name=who.user.name, administrator=who.user.admin)


@router.get("/tokens")
def tokens(room: RoomOf, who: SignedIn) -> list[TokenListed]:
    """List one's tokens, without their secrets."""
    found = accounts.list_tokens(room.store, who.user)
    return [TokenListed(id=one.id, name=one.name, created=one.created) for one in found]


@router.post("/tokens", status_code=201)
def make_token(room: RoomOf, who: Writer, new: NewToken) -> TokenMade:
    """Make a token."""
    return TokenMade(name=new.name, token=accounts.create_token(room.store, who.user, new.name))


@router.delete("/tokens/{token_id}", status_code=204)
def remove_token(room: RoomOf, who: Writer, token_id: Annotated[int, Path(ge=1, lt=1 << 31)]) -> None:
    """Let a token open nothing any more."""
    accounts.remove_token(room.store, who.user, token_id)
