"""The REST interface, version 1: everything that the pages do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from textbayes.app.api import account, judging, models, people, projects, team
from textbayes.app.api.schemas import Problem

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What was sent cannot be used; the sentence says why."},
    401: {"model": Problem, "description": "No token, or one that opens nothing."},
    403: {"model": Problem, "description": "Not with this role, or from a page of another site."},
    404: {"model": Problem, "description": "Not there, or not shared with you."},
    413: {"model": Problem, "description": "Too large."},
}
api_router = APIRouter(responses=PROBLEMS)
for part in (account, people, projects, judging, team, models):
    api_router.include_router(part.router)
