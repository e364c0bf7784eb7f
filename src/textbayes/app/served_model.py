"""A model behind a REST interface: classify, explain, and learn from judgements."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textbayes._version import __version__
from textbayes.app.access import NotSignedInError
from textbayes.app.api import PROBLEMS
from textbayes.app.api.schemas import MOST_TEXTS, Body, Texts, ToExplain
from textbayes.app.models import Classified, Explained, check_labels, classify_texts, explain_text, labels_of
from textbayes.app.settings import AppSettings
from textbayes.app.web import guard
from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.categorizer.scorer import scorer_of
from textbayes.core.errors import InputError
from textbayes.store import SharedModel

CLASSIFY = "/api/v1/classify"
_FEW_CHARACTERS = 1 << 16  # of texts that are scored at once: some milliseconds
_ANSWER = TypeAdapter(list[Classified])
_PROBLEMS = {code: PROBLEMS[code] for code in (400, 401, 413)}


class TextWithLabels(Body):
    """A text and the labels it has; of classes that exclude each other exactly one."""

    text: str
    labels: Annotated[list[str], Field(max_length=1_000)]


class Judgements(Body):
    """Texts whose labels are known."""

    documents: Annotated[list[TextWithLabels], Field(min_length=1, max_length=MOST_TEXTS)]


class Learnt(BaseModel):
    """How many texts were learnt; the model file has them when this is said."""

    n_learnt: int


class ModelDescription(BaseModel):
    """What the model is."""

    kind: str
    labels: list[str]
    textbayes: str


class ServedModel(SharedModel):
    """A model file in use, by other processes too; what is learnt is written to it before the answer is sent."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._ready: tuple[TextCategorizer, Scorer] | None = None

    @property
    def scorer(self) -> Scorer | TextCategorizer:
        """What answers fastest as the model does: its scoring part, or itself where it has none."""
        model = self.model
        scorer = scorer_of(model)
        self._ready = None if scorer is None else (model, scorer)
        return scorer or model

    @property
    def ready(self) -> Scorer | None:
        """What scores a few texts within milliseconds; None where there is no such, or a file has to be read first."""
        return self._ready[1] if self._ready is not None and self.is_newest(self._ready[0]) else None

    @property
    def description(self) -> ModelDescription:
        """What the model is."""
        model = self.model
        return ModelDescription(kind=model.label_space_.kind, labels=labels_of(model), textbayes=__version__)

    def learn(self, documents: list[TextWithLabels]) -> int:
        """Learn texts whose labels are known, as far as the model can; kinds that cannot say so."""
        with self.change() as model:
            for document in documents:
                check_labels(model, document.labels)
            many = model.label_space_.kind == "multilabel"
            if not many and any(len(document.labels) != 1 for document in documents):
                raise InputError("the labels of this model exclude each other; give every text exactly one")
            by_name = {str(name): name for name in model.classes_.tolist()}
            typed = [[by_name[name] for name in document.labels] for document in documents]
            model.update([document.text for document in documents], typed if many else [one[0] for one in typed])
        return len(documents)


class QuickClassify:
    """ASGI middleware that classifies: what FastAPI does for this route takes longer than to score a text.

    Requests that are anything but valid go on to FastAPI as they came, which says what is wrong with them. Few texts
    are scored at once, more of them in a thread, so that others need not wait.

    Parameters
    ----------
    app : ASGI application
    served : ServedModel
    """

    def __init__(self, app: ASGIApp, served: ServedModel) -> None:
        self._app, self._served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["path"] != CLASSIFY or scope["method"] != "POST" or not _is_json(scope):
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body", False):
            messages.append(await receive())
        try:
            texts = Texts.model_validate_json(b"".join([message["body"] for message in messages])).texts
        except (ValidationError, KeyError):  # or the client is gone
            await self._app(scope, _again(messages, receive), send)
            return
        ready = self._served.ready if sum(map(len, texts)) <= _FEW_CHARACTERS else None
        body = self._answer(texts, ready) if ready else await run_in_threadpool(self._answer, texts)
        headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, texts: list[str], scorer: Scorer | None = None) -> bytes:
        return _ANSWER.dump_json(classify_texts(scorer or self._served.scorer, texts))


def _is_json(scope: Scope) -> bool:
    return [value for name, value in scope["headers"] if name == b"content-type"] == [b"application/json"]


def _again(messages: list[Message], receive: Receive) -> Receive:
    """What was received, and then what comes."""
    waiting = iter(messages)

    async def received() -> Message:
        return next(waiting, None) or await receive()

    return received


def check_token(given: str) -> str:
    """A token as it is compared, without spaces around it; one that no header can carry is refused."""
    token = given.strip()
    if not all("!" <= char <= "~" for char in token):
        raise InputError("TEXTBAYES_TOKEN has spaces or letters with accents; give letters, digits and signs of ASCII")
    return token


def create_model_app(path: Path, settings: AppSettings, token: str) -> FastAPI:
    """A model file as an ASGI application.

    Parameters
    ----------
    path : Path
    settings : AppSettings
        Of which only the origin and the size of requests count.
    token : str
        What every request must carry.
    """
    app = FastAPI(
        title="textbayes model", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/v1/openapi.json", description="Send `Authorization: Bearer …` with every request.",
    )  # fmt: skip
    served = ServedModel(path)

    async def knows(request: Request) -> bool:  # async: it waits for nothing, so it needs no thread
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), token.encode())

    async def check(request: Request) -> None:
        if not await knows(request):
            raise NotSignedInError

    checked: dict[str, Any] = {"dependencies": [Depends(check)], "responses": _PROBLEMS}

    @app.get("/api/v1/model", **checked)
    def model() -> ModelDescription:
        """Say what the model is."""
        return served.description

    @app.post(CLASSIFY, **checked)  # described here; QuickClassify answers what is valid
    def classify(given: Texts) -> list[Classified]:
        """Give texts labels and probabilities, many at once."""
        return classify_texts(served.scorer, given.texts)

    @app.post("/api/v1/explain", **checked)
    def explain(given: ToExplain) -> Explained:
        """Show the words behind a label."""
        return explain_text(served.model, given.text, given.label)

    @app.post("/api/v1/learn", **checked)
    def learn(given: Judgements) -> Learnt:
        """Learn texts whose labels are known; the model file has them when this returns."""
        return Learnt(n_learnt=served.learn(given.documents))

    app.add_middleware(QuickClassify, served=served)  # within the guards, which are added last
    guard(app, settings, knows, pages=False)
    return app
