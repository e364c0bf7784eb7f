"""Pages of the review room, made on the server; they work without script, and better with it."""

from __future__ import annotations

from fastapi import APIRouter

from textbayes.app.pages import dashboard, entry, home, judge, manage, models, people, records, words

page_router = APIRouter()
for part in (entry, home, judge, words, dashboard, records, manage, models, people):
    page_router.include_router(part.router)
