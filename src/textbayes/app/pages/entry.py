"""Coming in and going out: login, the link of a local room, one's own account."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import accounts
from textbayes.app.access import COOKIE, RoomOf, SignedIn, Writer, find_visitor
from textbayes.app.pages.render import page
from textbayes.app.settings import LOGIN
from textbayes.app.throttle import TooManyTriesError
from textbayes.core.errors import InputError

router = APIRouter()


@router.get(LOGIN)
def login_page(request: Request) -> Response:
    """Ask for name and password, or say where the link is."""
    if find_visitor(request) is not None:
        return RedirectResponse("/", 303)
    return page(request, "login.html.jinja", problem="")


@router.post(LOGIN)
def login(
    request: Request, room: RoomOf, name: Annotated[str, Form()] = "", password: Annotated[str, Form()] = ""
) -> Response:
    """Log in by password."""
    address = request.client.host if request.client else ""
    try:
        cookie = accounts.log_in(room.store, request.app.state.throttle, name, password, address)
    except (accounts.LoginError, TooManyTriesError) as error:
        status = 429 if isinstance(error, TooManyTriesError) else 401
        return page(request, "login.html.jinja", http_status=status, problem=str(error))
    return _welcome(request, cookie)


@router.get("/favicon.ico")
def icon() -> Response:
    """Nothing: pages that are not ours, such as reports, have browsers ask for it."""
    return Response(status_code=204)


@router.get("/enter")
def enter(request: Request, room: RoomOf, token: str = "") -> Response:
    """Let the one person of a local room in, who has the link that the terminal showed."""
    expected = request.app.state.launch_token
    if expected is None or not secrets.compare_digest(token.encode(), expected.encode()):
        return RedirectResponse(LOGIN, 303)
    return _welcome(request, accounts.new_session(room.store, accounts.local_user(room.store)))


@router.post("/logout")
def logout(request: Request, room: RoomOf, who: Writer) -> Response:
    """End the session."""
    accounts.log_out(room.store, request.cookies.get(COOKIE, ""))
    response = RedirectResponse(LOGIN, 303)
    response.delete_cookie(COOKIE)
    return response


@router.get("/account")
def account(request: Request, room: RoomOf, who: SignedIn) -> HTMLResponse:
    """Tokens and password."""
    return _account(request, room, who)


@router.post("/account/tokens")
def make_token(request: Request, room: RoomOf, who: Writer, name: Annotated[str, Form()]) -> HTMLResponse:
    """Make a token and show it, once."""
    return _account(request, room, who, secret=accounts.create_token(room.store, who.user, name))


@router.post("/account/tokens/{token_id}/remove")
def remove_token(room: RoomOf, who: Writer, token_id: int) -> Response:
    """Remove a token."""
    accounts.remove_token(room.store, who.user, token_id)
    return RedirectResponse("/account", 303)


@router.post("/account/password")
def change_password(
    request: Request, room: RoomOf, who: Writer, old: Annotated[str, Form()], new: Annotated[str, Form()]
) -> Response:
    """Change one's password; all sessions end, this one begins anew."""
    throttle, address = request.app.state.throttle, request.client.host if request.client else ""
    if who.user.password is None:
        raise InputError("this account has no password to change")
    accounts.log_in(room.store, throttle, who.user.name, old, address)
    accounts.set_password(room.store, who.user.id, new, who.user.name)
    return _welcome(request, accounts.new_session(room.store, who.user))


def _account(request: Request, room: RoomOf, who: SignedIn, secret: str = "") -> HTMLResponse:
    tokens = accounts.list_tokens(room.store, who.user)
    return page(request, "account.html.jinja", who, tokens=tokens, secret=secret)


def _welcome(request: Request, cookie: str) -> Response:
    response = RedirectResponse("/", 303)
    # Strict: no link on another site opens a page here in one's own name.
    secure = request.app.state.settings.https
    response.set_cookie(COOKIE, cookie, max_age=14 * 86_400, httponly=True, secure=secure, samesite="strict")
    return response
