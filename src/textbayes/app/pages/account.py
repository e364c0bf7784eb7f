"""Login, the link of a local room, one's own account and models; and the page of all accounts, for administrators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import accounts, invites
from textbayes.app.access import (
    COOKIE,
    Admin,
    AdminLooks,
    Registry,
    SignedIn,
    Writer,
    check_team,
    find_visitor,
    training_of,
)
from textbayes.app.accounts import Visitor
from textbayes.app.downloads import Download
from textbayes.app.importing import drop_upload, find_upload, keep_upload
from textbayes.app.models import (
    TRAINING,
    classified_file,
    classify_file,
    classify_texts,
    explain_text,
    find_model,
    labels_of,
    open_model,
    preview_table,
    remove_model,
)
from textbayes.app.pages.render import page
from textbayes.app.settings import JOIN, LOGIN
from textbayes.app.throttle import TooManyTriesError
from textbayes.core.errors import InputError
from textbayes.report.texts import highlight

router = APIRouter()
_DEVICE = "textbayes_device"  # the cookie by which a browser is known at the next log-in


@router.get(LOGIN)
def login_page(request: Request) -> Response:
    """Ask for name and password, or say where the link is."""
    if find_visitor(request) is not None:
        return RedirectResponse("/", 303)
    return page(request, "login.html.jinja", problem="")


@router.post(LOGIN)
def login(
    request: Request, registry: Registry, name: Annotated[str, Form()] = "", password: Annotated[str, Form()] = ""
) -> Response:
    """Log in by password."""
    try:
        cookies = _log_in(request, registry, name, password)
    except (accounts.LoginError, TooManyTriesError) as error:
        status = 429 if isinstance(error, TooManyTriesError) else 401
        return page(request, "login.html.jinja", http_status=status, problem=str(error))
    return _with_cookies(request, RedirectResponse("/", 303), cookies.session, cookies.device)


@router.get(JOIN)
def join_page(request: Request, registry: Registry, invite: str = "") -> HTMLResponse:
    """Ask one who was invited for a name and a password."""
    check_team(request)
    invites.check_open(registry.store, invite)
    return page(request, "join.html.jinja", find_visitor(request), invite=invite, name="", problem="")


@router.post(JOIN)
def join(
    request: Request,
    registry: Registry,
    invite: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
) -> Response:
    """Make the account of one who was invited, and log it in."""
    check_team(request)
    throttle, address = request.app.state.throttle, request.client.host if request.client else ""
    try:
        cookies, project = invites.join(registry.store, throttle, invite, name, password, address)
    except InputError as error:
        status = 429 if isinstance(error, TooManyTriesError) else 400
        return page(request, "join.html.jinja", http_status=status, invite=invite, name=name, problem=str(error))
    return _with_cookies(request, RedirectResponse(f"/projects/{project}/judge", 303), cookies.session, cookies.device)


@router.get("/favicon.ico")
def icon() -> Response:
    """Nothing: pages that are not ours, such as reports, have browsers ask for it."""
    return Response(status_code=204)


@router.get("/enter")
def enter(request: Request, registry: Registry, token: str = "") -> Response:
    """Let the one person of a local room in, who has a link that was not used yet."""
    if find_visitor(request) is not None:
        return RedirectResponse("/", 303)
    if request.app.state.settings.team or not request.app.state.launch.use_up(token):
        return RedirectResponse(LOGIN, 303)
    cookie = accounts.new_session(registry.store, accounts.local_user(registry.store))
    # No redirect: a browser that comes from a file sends no strict cookie until a page of ours asks for the next.
    return _with_cookies(request, page(request, "entered.html.jinja"), cookie)


@router.post("/logout")
def logout(request: Request, registry: Registry, who: Writer) -> Response:
    """End the session."""
    accounts.log_out(registry.store, request.cookies.get(COOKIE, ""))
    response = RedirectResponse(LOGIN, 303)
    response.delete_cookie(COOKIE)
    return response


@router.get("/account")
def account(request: Request, registry: Registry, who: SignedIn) -> HTMLResponse:
    """Tokens and password."""
    return _account(request, registry, who)


@router.post("/account/tokens")
def make_token(request: Request, registry: Registry, who: Writer, name: Annotated[str, Form()]) -> HTMLResponse:
    """Make a token and show it, once."""
    return _account(request, registry, who, secret=accounts.create_token(registry.store, who.user, name))


@router.post("/account/tokens/{token_id}/remove")
def remove_token(registry: Registry, who: Writer, token_id: int) -> Response:
    """Remove a token."""
    accounts.remove_token(registry.store, who.user, token_id)
    return RedirectResponse("/account", 303)


@router.post("/account/password")
def change_password(
    request: Request, registry: Registry, who: Writer, old: Annotated[str, Form()], new: Annotated[str, Form()]
) -> Response:
    """Change one's password; all sessions end, this one begins anew."""
    if who.user.password is None:
        raise InputError("this account has no password to change")
    _log_in(request, registry, who.user.name, old)
    user = accounts.set_password(registry.store, who.user.id, new, who.user.name)
    session, device = accounts.new_session(registry.store, user), accounts.new_device(user)
    return _with_cookies(request, RedirectResponse("/", 303), session, device)


def _account(request: Request, registry: Registry, who: SignedIn, secret: str = "") -> HTMLResponse:
    tokens = accounts.list_tokens(registry.store, who.user)
    return page(request, "account.html.jinja", who, tokens=tokens, secret=secret)


def _log_in(request: Request, registry: Registry, name: str, password: str) -> accounts.LoggedIn:
    address = request.client.host if request.client else ""
    known = request.cookies.get(_DEVICE)
    return accounts.log_in(registry.store, request.app.state.throttle, name, password, address, known)


def _with_cookies(request: Request, response: Response, session: str, device: str | None = None) -> Response:
    # Strict: no link on another site opens a page here in one's own name.
    kept: dict[str, Any] = {"httponly": True, "secure": request.app.state.settings.https, "samesite": "strict"}
    response.set_cookie(COOKIE, session, max_age=14 * 86_400, **kept)
    if device is not None:  # stays when one logs out: it shows that somebody has logged in here, and opens nothing
        response.set_cookie(_DEVICE, device, max_age=400 * 86_400, **kept)
    return response


people_router = APIRouter(prefix="/people")


@people_router.get("")
def people_page(request: Request, registry: Registry, who: AdminLooks) -> HTMLResponse:
    """All accounts, and what was done lately."""
    found, logged = accounts.list_people(registry.store), accounts.audit_log(registry.store)
    return page(request, "people.html.jinja", who, people=found, logged=logged)


@people_router.post("")
def make_account(
    registry: Registry,
    who: Admin,
    name: Annotated[str, Form()],
    password: Annotated[str, Form()],
    administrator: Annotated[bool, Form()] = False,
) -> Response:
    """Make an account."""
    accounts.create_user(registry.store, name, password, administrator, by=who.user.name)
    return RedirectResponse("/people", 303)


@people_router.post("/{user_id}/password")
def reset_password(registry: Registry, who: Admin, user_id: int, password: Annotated[str, Form()]) -> Response:
    """Give somebody a new password."""
    person = accounts.find_person(registry.store, user_id)
    accounts.set_password(registry.store, person.id, password, by=who.user.name)
    return RedirectResponse("/people", 303)


@people_router.post("/{user_id}/active")
def set_active(registry: Registry, who: Admin, user_id: int, active: Annotated[bool, Form()] = False) -> Response:
    """Lock an account, or open it again."""
    accounts.set_active(registry.store, who.user, user_id, active)
    return RedirectResponse("/people", 303)


models_router = APIRouter(prefix="/models")
_LONGEST_TRIAL = 20_000  # characters


@models_router.get("")
def models_page(request: Request, who: SignedIn) -> HTMLResponse:
    """All models of a person."""
    return page(request, "models.html.jinja", who, models=training_of(request).list_models(who.user))


@models_router.post("")
def send_table(registry: Registry, who: Writer, file: Annotated[UploadFile, File()]) -> Response:
    """Take a table of texts, some of which have labels; it is looked at before a model is trained."""
    id = keep_upload(registry.store, who.user, file.filename or "texts", file.file.read())
    return RedirectResponse(f"/models/new/{id}", 303)


@models_router.get("/new/{upload_id}")
def look(request: Request, registry: Registry, who: SignedIn, upload_id: str) -> HTMLResponse:
    """Show what a table holds."""
    return _look(request, registry, who, upload_id)


@models_router.post("/new/{upload_id}")
def train(
    request: Request,
    registry: Registry,
    who: Writer,
    upload_id: str,
    name: Annotated[str, Form()] = "",
    text_field: Annotated[list[str] | None, Form()] = None,
    label_field: Annotated[str, Form()] = "",
    action: Annotated[str, Form()] = "train",
) -> Response:
    """Train a model of a table and classify all its rows, or look at it again with other columns."""
    text = list(dict.fromkeys(one for one in text_field or [] if one))
    if action == "look":
        return _look(request, registry, who, upload_id, text, label_field, name)
    sent = find_upload(registry.store, who.user, upload_id)
    id = training_of(request).begin(who.user, name or sent.name, sent.name, sent.content, label_field, text)
    drop_upload(registry.store, upload_id)
    return RedirectResponse(f"/models/{id}", 303)


def _look(
    request: Request,
    registry: Registry,
    who: Visitor,
    upload_id: str,
    text: Sequence[str] = (),
    label: str = "",
    name: str = "",
) -> HTMLResponse:
    sent = find_upload(registry.store, who.user, upload_id)
    seen = preview_table(sent.name, sent.content, text, label)
    return page(
        request, "table.html.jinja", who, upload_id=upload_id, seen=seen, name=name or sent.name.rpartition(".")[0],
        texts=seen.text,
    )  # fmt: skip


@models_router.get("/{model_id}")
def model_page(request: Request, registry: Registry, who: SignedIn, model_id: str) -> HTMLResponse:
    """One model: how its training goes, or what can be done with it."""
    return _model(request, registry, who, model_id)


@models_router.post("/{model_id}/try")
def try_text(
    request: Request, registry: Registry, who: Writer, model_id: str, text: Annotated[str, Form()] = ""
) -> HTMLResponse:
    """Show what the model says of a text, and its words."""
    return _model(request, registry, who, model_id, text[:_LONGEST_TRIAL])


@models_router.post("/{model_id}/stop")
def stop(request: Request, registry: Registry, who: Writer, model_id: str) -> Response:
    """Stop a training."""
    find_model(registry.store, who.user, model_id)
    training_of(request).stop(model_id)
    return RedirectResponse(f"/models/{model_id}", 303)


@models_router.post("/{model_id}/delete")
def delete(registry: Registry, who: Writer, model_id: str) -> Response:
    """Delete a model."""
    remove_model(registry.store, who.user, model_id)
    return RedirectResponse("/models", 303)


@models_router.get("/{model_id}/report")
def report(registry: Registry, who: SignedIn, model_id: str) -> HTMLResponse:
    """The report of the training, which is a page of its own."""
    found = find_model(registry.store, who.user, model_id)
    if found.report is None:
        raise InputError("there is no report yet; wait until the model is trained")
    return HTMLResponse(found.report)


@models_router.get("/{model_id}/model.tb")
def download(registry: Registry, who: SignedIn, model_id: str) -> Response:
    """The model as a file."""
    found = find_model(registry.store, who.user, model_id)
    if found.content is None:
        raise InputError("the model is not ready; wait until it is trained")
    return Download("model.tb", "application/octet-stream", found.content).answer()


@models_router.get("/{model_id}/classified")
def classified(registry: Registry, who: SignedIn, model_id: str) -> Response:
    """The table that the model was trained on, classified."""
    return classified_file(find_model(registry.store, who.user, model_id)).answer()


@models_router.post("/{model_id}/classify")
def classify(registry: Registry, who: Writer, model_id: str, file: Annotated[UploadFile, File()]) -> Response:
    """Classify a file; the answer is a table."""
    model = open_model(find_model(registry.store, who.user, model_id))
    return classify_file(model, file.filename or "texts", file.file.read()).answer()


def _model(request: Request, registry: Registry, who: Visitor, model_id: str, text: str = "") -> HTMLResponse:
    found = find_model(registry.store, who.user, model_id)
    answer = why = None
    marked: list[object] = []
    labels: list[str] = []
    if found.content is not None:
        model = open_model(found)
        labels = labels_of(model)
        if text.strip():
            (answer,) = classify_texts(model, [text])
            best = max(answer.probabilities, key=lambda name: answer.probabilities[name])
            why = explain_text(model, text, best)
            values = {one.word: one.log_odds / one.occurrences for one in why.words}
            marked = list(highlight(text, model.vectorizer_, values, _LONGEST_TRIAL))
    return page(
        request, "model.html.jinja", who, model=found, labels=labels, text=text, answer=answer, why=why, marked=marked,
        training=found.state == TRAINING, progress=training_of(request).progress(model_id),
    )  # fmt: skip
