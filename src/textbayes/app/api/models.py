"""Models: train, look, try, classify, take along."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Path, Request, Response, UploadFile

from textbayes.app import training
from textbayes.app.access import Registry, SignedIn, Writer
from textbayes.app.api.schemas import ModelListed, Texts, ToExplain
from textbayes.app.database import Model
from textbayes.app.model_answers import Classified, Explained, classify_texts, explain_text
from textbayes.core.errors import InputError

router = APIRouter(prefix="/models", tags=["models"])
ModelId = Annotated[str, Path(max_length=64)]


@router.get("")
def models(request: Request, registry: Registry, who: SignedIn) -> list[ModelListed]:
    """List your models."""
    progress = request.app.state.training.progress
    found = training.list_models(registry.store, who.user)
    return [ModelListed(**one._asdict(), progress=progress(one.id)) for one in found]


@router.post("", status_code=202)
def train(
    request: Request,
    registry: Registry,
    who: Writer,
    file: Annotated[UploadFile, File(description="Labelled texts: CSV, TSV, XLSX or JSON lines.")],
    name: Annotated[str, Form(max_length=200)],
    label_field: Annotated[str, Form(description="Guessed if empty.")] = "",
) -> ModelListed:
    """Train a model; it is there when its state is ready."""
    id = request.app.state.training.begin(who.user, name, file.filename or "texts", file.file.read(), label_field)
    return _told(request, training.find_model(registry.store, who.user, id))


@router.get("/{model_id}")
def model(request: Request, registry: Registry, who: SignedIn, model_id: ModelId) -> ModelListed:
    """See how a training goes."""
    return _told(request, training.find_model(registry.store, who.user, model_id))


@router.post("/{model_id}/stop", status_code=204)
def stop(request: Request, registry: Registry, who: Writer, model_id: ModelId) -> None:
    """Stop a training."""
    request.app.state.training.stop(training.find_model(registry.store, who.user, model_id).id)


@router.delete("/{model_id}", status_code=204)
def remove(registry: Registry, who: Writer, model_id: ModelId) -> None:
    """Delete a model."""
    training.remove_model(registry.store, who.user, model_id)


@router.get("/{model_id}/report", response_class=Response)
def report(registry: Registry, who: SignedIn, model_id: ModelId) -> Response:
    """Read the report of the training, an HTML page."""
    found = training.find_model(registry.store, who.user, model_id)
    if found.report is None:
        raise InputError("there is no report yet; wait until the model is trained")
    return Response(found.report, media_type="text/html")


@router.get("/{model_id}/model.tb", response_class=Response)
def download(registry: Registry, who: SignedIn, model_id: ModelId) -> Response:
    """Take the model along."""
    found = training.find_model(registry.store, who.user, model_id)
    if found.content is None:
        raise InputError("the model is not ready; wait until it is trained")
    return Response(found.content, media_type="application/octet-stream")


@router.post("/{model_id}/classify")
def classify(registry: Registry, who: Writer, model_id: ModelId, given: Texts) -> list[Classified]:
    """Give texts labels and probabilities."""
    return classify_texts(training.opened(training.find_model(registry.store, who.user, model_id)), given.texts)


@router.post("/{model_id}/explain")
def explain(registry: Registry, who: Writer, model_id: ModelId, given: ToExplain) -> Explained:
    """Show the words behind a label."""
    found = training.opened(training.find_model(registry.store, who.user, model_id))
    return explain_text(found, given.text, given.label)


def _told(request: Request, found: Model) -> ModelListed:
    progress = request.app.state.training.progress(found.id)
    return ModelListed(
        id=found.id, name=found.name, state=found.state, message=found.message, created=found.created, progress=progress
    )
