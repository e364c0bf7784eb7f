"""Files that were sent and wait to be taken."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import delete, select

from textbayes.app.database import Upload, User
from textbayes.app.store import Store
from textbayes.core.errors import InputError

_SECONDS = 86_400.0
_MOST = 5  # of one person at a time


def keep_upload(store: Store, user: User, name: str, content: bytes) -> str:
    """Keep a file for a day; returns its id. Of one person the newest few are kept.

    Parameters
    ----------
    store : Store
    user : User
    name : str
        As the sender calls it.
    content : bytes
    """
    if not content:
        raise InputError("the file is empty; choose one with records")
    id = secrets.token_urlsafe(16)
    with store.write() as session:
        session.execute(delete(Upload).where(Upload.created < time.time() - _SECONDS))
        own = session.scalars(
            select(Upload.id).where(Upload.user_id == user.id).order_by(Upload.created.desc()).offset(_MOST - 1)
        ).all()
        session.execute(delete(Upload).where(Upload.id.in_(own)))
        session.add(Upload(id=id, user_id=user.id, name=name.replace("\x00", "")[-200:], content=content))
    return id


def find_upload(store: Store, user: User, id: str) -> Upload:
    """A file that this person sent."""
    with store.read() as session:
        found = session.scalar(select(Upload).where(Upload.id == id, Upload.user_id == user.id))
    if found is None:
        raise InputError("the uploaded file has expired; upload it again")
    return found


def drop_upload(store: Store, id: str) -> None:
    """Forget a file that was taken."""
    with store.write() as session:
        session.execute(delete(Upload).where(Upload.id == id))
