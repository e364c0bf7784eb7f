"""One's own account, tokens and models; and all accounts, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Path, Request, Response, UploadFile

from textbayes.app import accounts
from textbayes.app.access import Admin, AdminLooks, Registry, SignedIn, Writer, training_of
from textbayes.app.api.schemas import (
    AuditLine,
    Me,
    NewPerson,
    NewToken,
    PersonChange,
    PersonListed,
    Texts,
    ToExplain,
    TokenListed,
    TokenMade,
)
from textbayes.app.database import User
from textbayes.app.models import (
    Classified,
    Explained,
    ListedModel,
    classified_file,
    classify_texts,
    explain_text,
    find_model,
    open_model,
    remove_model,
)
from textbayes.core.errors import InputError

router = APIRouter(tags=["account"])


@router.get("/me")
def me(who: SignedIn) -> Me:
    """Say who asks."""
    return Me(name=who.user.name, administrator=who.user.admin)


@router.get("/tokens")
def tokens(registry: Registry, who: SignedIn) -> list[TokenListed]:
    """List one's tokens, without their secrets."""
    found = accounts.list_tokens(registry.store, who.user)
    return [TokenListed.model_validate(one) for one in found]


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
def list_people(registry: Registry, who: AdminLooks) -> list[PersonListed]:
    """List all accounts."""
    return [_listed(one) for one in accounts.list_people(registry.store)]


@people_router.post("", status_code=201)
def make_account(registry: Registry, who: Admin, given: NewPerson) -> PersonListed:
    """Make an account."""
    made = accounts.create_user(registry.store, given.name, given.password, given.administrator, by=who.user.name)
    return _listed(made)


@people_router.patch("/{user_id}", status_code=204)
def change(registry: Registry, who: Admin, user_id: UserId, given: PersonChange) -> None:
    """Lock or open an account, or give it a new password."""
    person = accounts.find_person(registry.store, user_id)
    if given.password is not None:
        accounts.set_password(registry.store, person.id, given.password, by=who.user.name)
    if given.active is not None:
        accounts.set_active(registry.store, who.user, person.id, given.active)


@people_router.get("/audit")
def audit(registry: Registry, who: AdminLooks) -> list[AuditLine]:
    """See what was done lately to accounts, tokens and projects."""
    found = accounts.audit_log(registry.store)
    return [AuditLine.model_validate(one) for one in found]


def _listed(user: User) -> PersonListed:
    return PersonListed(id=user.id, name=user.name, administrator=user.admin, active=user.active)


models_router = APIRouter(prefix="/models", tags=["models"])
ModelId = Annotated[str, Path(max_length=64)]


@models_router.get("")
def list_models(request: Request, who: SignedIn) -> list[ListedModel]:
    """List your models."""
    return training_of(request).list_models(who.user)


@models_router.post("", status_code=202)
def train(
    request: Request,
    registry: Registry,
    who: Writer,
    file: Annotated[UploadFile, File(description="Labelled texts: CSV, TSV, XLSX or JSON lines.")],
    name: Annotated[str, Form(max_length=200)],
    label_field: Annotated[str, Form(description="Guessed if empty.")] = "",
    text_field: Annotated[str, Form(description="Several with commas; guessed if empty.")] = "",
) -> ListedModel:
    """Train a model of the rows that have labels; when its state is ready, all rows are classified as well."""
    content, texts = file.file.read(), [one.strip() for one in text_field.split(",") if one.strip()]
    id = training_of(request).begin(who.user, name, file.filename or "texts", content, label_field, texts)
    return training_of(request).listed(find_model(registry.store, who.user, id))


@models_router.get("/{model_id}")
def model(request: Request, registry: Registry, who: SignedIn, model_id: ModelId) -> ListedModel:
    """See how a training goes."""
    return training_of(request).listed(find_model(registry.store, who.user, model_id))


@models_router.post("/{model_id}/stop", status_code=204)
def stop(request: Request, registry: Registry, who: Writer, model_id: ModelId) -> None:
    """Stop a training."""
    training_of(request).stop(find_model(registry.store, who.user, model_id).id)


@models_router.delete("/{model_id}", status_code=204)
def remove(registry: Registry, who: Writer, model_id: ModelId) -> None:
    """Delete a model."""
    remove_model(registry.store, who.user, model_id)


@models_router.get("/{model_id}/report", response_class=Response)
def report(registry: Registry, who: SignedIn, model_id: ModelId) -> Response:
    """Read the report of the training, an HTML page."""
    found = find_model(registry.store, who.user, model_id)
    if found.report is None:
        raise InputError("there is no report yet; wait until the model is trained")
    return Response(found.report, media_type="text/html")


@models_router.get("/{model_id}/model.tb", response_class=Response)
def download(registry: Registry, who: SignedIn, model_id: ModelId) -> Response:
    """Take the model along."""
    found = find_model(registry.store, who.user, model_id)
    if found.content is None:
        raise InputError("the model is not ready; wait until it is trained")
    return Response(found.content, media_type="application/octet-stream")


@models_router.get("/{model_id}/classified", response_class=Response)
def classified(registry: Registry, who: SignedIn, model_id: ModelId) -> Response:
    """Take along the table that the model was trained on, with what it says of every row."""
    return classified_file(find_model(registry.store, who.user, model_id)).answer()


@models_router.post("/{model_id}/classify")
def classify(registry: Registry, who: Writer, model_id: ModelId, given: Texts) -> list[Classified]:
    """Give texts labels and probabilities."""
    return classify_texts(open_model(find_model(registry.store, who.user, model_id)), given.texts)


@models_router.post("/{model_id}/explain")
def explain(registry: Registry, who: Writer, model_id: ModelId, given: ToExplain) -> Explained:
    """Show the words behind a label."""
    found = open_model(find_model(registry.store, who.user, model_id))
    return explain_text(found, given.text, given.label)
