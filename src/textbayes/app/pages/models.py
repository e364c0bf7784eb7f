"""Pages of models: train, see the report, try a text, classify a file, take the model along."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app.access import Registry, SignedIn, Writer
from textbayes.app.accounts import Visitor
from textbayes.app.exports import Download
from textbayes.app.model_answers import classify_texts, explain_text, labels_of
from textbayes.app.pages.render import page
from textbayes.app.training import (
    TRAINING,
    Training,
    classify_file,
    find_model,
    list_models,
    opened,
    remove_model,
)
from textbayes.core.errors import InputError
from textbayes.report.texts import highlight

router = APIRouter(prefix="/models")
_LONGEST_TRIAL = 20_000  # characters


@router.get("")
def models_page(request: Request, registry: Registry, who: SignedIn) -> HTMLResponse:
    """All models of a person."""
    return page(request, "models.html.jinja", who, models=list_models(registry.store, who.user))


@router.post("")
def train(
    request: Request,
    who: Writer,
    file: Annotated[UploadFile, File()],
    name: Annotated[str, Form()] = "",
    label_field: Annotated[str, Form()] = "",
) -> Response:
    """Train a model of labelled texts."""
    file_name = file.filename or "texts"
    id = _training(request).begin(who.user, name or file_name, file_name, file.file.read(), label_field)
    return RedirectResponse(f"/models/{id}", 303)


@router.get("/{model_id}")
def model_page(request: Request, registry: Registry, who: SignedIn, model_id: str) -> HTMLResponse:
    """One model: how its training goes, or what can be done with it."""
    return _model(request, registry, who, model_id)


@router.post("/{model_id}/try")
def try_text(
    request: Request, registry: Registry, who: Writer, model_id: str, text: Annotated[str, Form()] = ""
) -> HTMLResponse:
    """Show what the model says of a text, and its words."""
    return _model(request, registry, who, model_id, text[:_LONGEST_TRIAL])


@router.post("/{model_id}/stop")
def stop(request: Request, registry: Registry, who: Writer, model_id: str) -> Response:
    """Stop a training."""
    find_model(registry.store, who.user, model_id)
    _training(request).stop(model_id)
    return RedirectResponse(f"/models/{model_id}", 303)


@router.post("/{model_id}/delete")
def delete(registry: Registry, who: Writer, model_id: str) -> Response:
    """Delete a model."""
    remove_model(registry.store, who.user, model_id)
    return RedirectResponse("/models", 303)


@router.get("/{model_id}/report")
def report(registry: Registry, who: SignedIn, model_id: str) -> HTMLResponse:
    """The report of the training, which is a page of its own."""
    found = find_model(registry.store, who.user, model_id)
    if found.report is None:
        raise InputError("there is no report yet; wait until the model is trained")
    return HTMLResponse(found.report)


@router.get("/{model_id}/model.tb")
def download(registry: Registry, who: SignedIn, model_id: str) -> Response:
    """The model as a file."""
    found = find_model(registry.store, who.user, model_id)
    if found.content is None:
        raise InputError("the model is not ready; wait until it is trained")
    return Download("model.tb", "application/octet-stream", found.content).answer()


@router.post("/{model_id}/classify")
def classify(registry: Registry, who: Writer, model_id: str, file: Annotated[UploadFile, File()]) -> Response:
    """Classify a file; the answer is a table."""
    model = opened(find_model(registry.store, who.user, model_id))
    content = classify_file(model, file.filename or "texts", file.file.read())
    return Download("classified.csv", "text/csv; charset=utf-8", content).answer()


def _training(request: Request) -> Training:
    training: Training = request.app.state.training
    return training


def _model(request: Request, registry: Registry, who: Visitor, model_id: str, text: str = "") -> HTMLResponse:
    found = find_model(registry.store, who.user, model_id)
    answer = why = None
    marked: list[object] = []
    labels: list[str] = []
    if found.content is not None:
        model = opened(found)
        labels = labels_of(model)
        if text.strip():
            (answer,) = classify_texts(model, [text])
            best = max(answer.probabilities, key=lambda name: answer.probabilities[name])
            why = explain_text(model, text, best)
            values = {one.word: one.log_odds / one.occurrences for one in why.words}
            marked = list(highlight(text, model.vectorizer_, values, _LONGEST_TRIAL))
    return page(
        request, "model.html.jinja", who, model=found, labels=labels, text=text, answer=answer, why=why, marked=marked,
        training=found.state == TRAINING, progress=_training(request).progress(model_id),
    )  # fmt: skip
