"""A model behind a REST interface: classify, explain, and learn from judgements."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from pydantic import BaseModel, Field

from textbayes._version import __version__
from textbayes.app.access import NotSignedInError
from textbayes.app.api import PROBLEMS
from textbayes.app.api.schemas import MOST_TEXTS, Body, Texts, ToExplain
from textbayes.app.model_answers import Classified, Explained, check_labels, classify_texts, explain_text, labels_of
from textbayes.app.settings import AppSettings
from textbayes.app.web import guard
from textbayes.categorizer import Scorer, TextCategorizer
from textbayes.categorizer.scorer import scorer_of
from textbayes.core.errors import InputError
from textbayes.store import SharedModel

_PROBLEMS = {code: PROBLEMS[code] for code in (400, 401, 413)}


class Judged(Body):
    """A text and the labels it has; of classes that exclude each other exactly one."""

    text: str
    labels: Annotated[list[str], Field(max_length=1_000)]


class Judgements(Body):
    """Texts whose labels are known."""

    documents: Annotated[list[Judged], Field(min_length=1, max_length=MOST_TEXTS)]


class Learnt(BaseModel):
    """How many texts were learnt; the model file has them when this is said."""

    n_learnt: int


class ModelTold(BaseModel):
    """What the model is."""

    kind: str
    labels: list[str]
    textbayes: str


class ServedModel(SharedModel):
    """A model file that is in use, by other processes too; what is learnt is written to it before anyone is told."""

    @property
    def scorer(self) -> Scorer | TextCategorizer:
        """What answers fastest as the model does: its scoring part, or itself where it has none."""
        model = self.model
        return scorer_of(model) or model

    @property
    def told(self) -> ModelTold:
        """What the model is."""
        model = self.model
        return ModelTold(kind=model.label_space_.kind, labels=labels_of(model), textbayes=__version__)

    def learn(self, documents: list[Judged]) -> int:
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
    def model() -> ModelTold:
        """Say what the model is."""
        return served.told

    @app.post("/api/v1/classify", **checked)
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

    guard(app, settings, knows, pages=False)
    return app
