"""The application: routes, guards, and what is said when something cannot be done."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from textbayes._version import __version__
from textbayes.app.access import AuthMiddleware, ForbiddenError, Guards, Knows, LaunchTokens, NotSignedInError, may_send
from textbayes.app.accounts import LoginError, local_user
from textbayes.app.api import api_router
from textbayes.app.database import Store, said_of
from textbayes.app.live import MissingProjectError, ReviewCache, ReviewRegistry
from textbayes.app.models import Training
from textbayes.app.pages import page_router
from textbayes.app.pages.render import error_page
from textbayes.app.settings import LOGIN, AppSettings
from textbayes.app.simulation import ReviewSimulations
from textbayes.app.throttle import Throttle, TooManyTriesError
from textbayes.core.errors import TextBayesError

_STATIC = Path(__file__).parent / "pages" / "static"
_NOT_STORABLE = (DataError, OverflowError)  # a NUL, or a number of twenty digits: neither names anything
_DESCRIPTION = """Everything that the pages of the review room do. Send a token of your account page with every request:
`Authorization: Bearer tb_…`."""


def create_app(settings: AppSettings, launch_token: str | None = None) -> FastAPI:
    """The review room as an ASGI application.

    Parameters
    ----------
    settings : AppSettings
    launch_token : str, optional
        What lets the one person of a local room in, once; see ``textbayes app``.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.training.close()
        app.state.simulations.close()
        app.state.registry.close()

    app = FastAPI(
        title="textbayes review room",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # it would fetch scripts from elsewhere
        redoc_url=None,
    )
    store = Store(settings.database)
    app.state.settings, app.state.throttle = settings, Throttle(store)
    app.state.launch = LaunchTokens(*([] if launch_token is None else [launch_token]))
    app.state.registry, app.state.training = ReviewRegistry(store, ReviewCache(settings.cache)), Training(store)
    app.state.simulations = ReviewSimulations()
    if not settings.team:
        local_user(store)
    app.router.routes.extend(_routes())
    app.mount("/static", StaticFiles(directory=_STATIC))
    guard(app, settings, may_send)
    return app


@functools.cache
def _routes() -> list[BaseRoute]:
    """The routes of every room of this process, as tests make many: FastAPI takes some 0.2 s to prepare them."""
    router = APIRouter()
    router.include_router(api_router, prefix="/api/v1")
    router.include_router(page_router, include_in_schema=False)
    return router.routes


def guard(app: FastAPI, settings: AppSettings, knows: Knows, pages: bool = True) -> None:
    """Have an application say in one sentence what is wrong, and let nothing in that must not come in.

    Parameters
    ----------
    app : FastAPI
    settings : AppSettings
    knows : callable
        Whether the sender of a request may send something.
    pages : bool
        Whether there are pages for people; else whatever is wrong is returned as JSON.
    """
    app.state.pages = pages
    ours = (TextBayesError, NotSignedInError, ForbiddenError)
    for kind in (*ours, RequestValidationError, HTTPException, *_NOT_STORABLE, OperationalError, Exception):
        app.add_exception_handler(kind, _tell)
    app.add_middleware(AuthMiddleware, knows=knows, refuse=lambda request: _tell(request, NotSignedInError()))
    app.add_middleware(Guards, settings=settings)


def _tell(request: Request, error: Exception) -> Response:
    """Say in one sentence what is wrong: as JSON to programs, on a page to people."""
    status, sentence, more = _status_of(error)
    if isinstance(error, NotSignedInError) and not request.app.state.pages:
        sentence = "send the token shown when `serve` started, or that of TEXTBAYES_TOKEN: Authorization: Bearer TOKEN"
    if isinstance(error, RequestValidationError) and "json" not in request.headers.get("content-type", ""):
        for fault in more:
            if fault["type"] in ("model_attributes_type", "dict_type"):  # the body was read as plain text
                fault["msg"] = "send Content-Type: application/json"
    if request.url.path.startswith("/api/") or not request.app.state.pages:
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        return JSONResponse({"detail": more if more is not None else sentence}, status, headers)
    if status == 401 and request.method == "GET":
        return RedirectResponse(LOGIN, 303)
    return error_page(request, status, sentence)


def _status_of(error: Exception) -> tuple[int, str, Any]:
    if isinstance(error, NotSignedInError):
        return 401, "you are not logged in; log in again", None
    if isinstance(error, ForbiddenError):
        return 403, str(error), None
    if isinstance(error, MissingProjectError):
        return 404, str(error), None
    if isinstance(error, (TooManyTriesError, LoginError)):
        return 429 if isinstance(error, TooManyTriesError) else 401, str(error), None
    if isinstance(error, TextBayesError):
        return 400, str(error), None
    if isinstance(error, _NOT_STORABLE):
        return 400, "the request holds characters or numbers that are not allowed; check it", None
    if isinstance(error, OperationalError):  # no fault of who asks, nor of ours
        logging.getLogger("textbayes.app").error("the database %s", said_of(error.orig))
        return 503, "the database is not responding; try again later, or ask the administrator", None
    if isinstance(error, RequestValidationError):
        faults = [{"loc": list(one["loc"]), "msg": one["msg"], "type": one["type"]} for one in error.errors()]
        first = faults[0]
        return 422, f"{first['loc'][-1] if first['loc'] else 'the request'}: {first['msg']}", faults
    if isinstance(error, HTTPException) and error.status_code == 404:
        return 404, "there is no page at this address; /api/v1/openapi.json lists the REST API", None
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail).lower(), None
    logging.getLogger("textbayes.app").error("unhandled error", exc_info=error)
    return 500, "this is a bug in textbayes; please report it with the traceback in the log of the server", None
