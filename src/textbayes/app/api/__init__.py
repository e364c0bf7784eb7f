"""The REST interface, version 1: everything that the pages do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from textbayes.app.api import account, categories, projects
from textbayes.app.api.schemas import ErrorDetail

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorDetail, "description": "The request is not valid; the message says why."},
    401: {"model": ErrorDetail, "description": "No token, or one that is not valid."},
    403: {"model": ErrorDetail, "description": "Your role does not allow this, or the request came from another site."},
    404: {"model": ErrorDetail, "description": "Not found, or not shared with you."},
    413: {"model": ErrorDetail, "description": "Too large."},
}
api_router = APIRouter(responses=PROBLEMS)
for part in (
    account.router,
    account.people_router,
    projects.router,
    projects.judging_router,
    projects.full_texts_router,
    projects.team_router,
    categories.router,
    account.models_router,
):
    api_router.include_router(part)
