"""Pages of the review room, made on the server; they work without script, and better with it."""

from __future__ import annotations

from fastapi import APIRouter

from textbayes.app.pages import account, categories, projects, review

page_router = APIRouter()
for part in (
    account.router,
    projects.router,
    review.router,
    categories.router,
    projects.settings_router,
    account.models_router,
    account.people_router,
):
    page_router.include_router(part)
