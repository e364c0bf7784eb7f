"""The settings of the review room."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from textbayes.core.atomic import make_private_folder
from textbayes.core.errors import InputError, MissingExtraError

_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2", "multipart", "matplotlib")
DATABASE = "room.sqlite3"
LOGIN, JOIN = "/login", "/join"
OPEN = (LOGIN, JOIN)  # where those send something whom nobody knows


@dataclass(frozen=True)
class AppSettings:
    """Where the room keeps its projects, and who may enter.

    Parameters
    ----------
    database : str
        ``sqlite:///path`` or ``postgresql://user:password@host/name``.
    team : bool
        Whether people log in by name and password; else one person enters by the link that is shown at the start.
    origin : str
        Scheme, host and port under which browsers reach it, such as ``https://review.example.org``; requests for any
        other host, or from pages of any other site, are refused.
    largest_upload : int
        Bytes of a request.
    cache : Path or None
        Folder for what can be computed again; None keeps nothing.
    """

    database: str
    team: bool = False
    origin: str = "http://127.0.0.1:8765"
    largest_upload: int = 256 << 20
    cache: Path | None = None

    def __post_init__(self) -> None:
        scheme, _, host = self.origin.partition("://")
        if scheme not in ("http", "https") or not host or "/" in host:
            raise InputError(
                f"origin={self.origin!r} is not usable; give scheme and host, such as https://review.example.org"
            )

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the Host header that are answered; one's own machine has two names."""
        host = self.origin.partition("://")[2].lower()
        name, _, port = host.partition(":")
        twins = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
        also = {f"{twins[name]}:{port}" if port else twins[name]} if name in twins else set()
        return frozenset({host} | also)

    @property
    def origins(self) -> frozenset[str]:
        """Values of the Origin header that may change anything."""
        scheme = self.origin.partition("://")[0]
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def https(self) -> bool:
        """Whether cookies are for encrypted connections only."""
        return self.origin.startswith("https://")


def data_folder() -> Path:
    """The user's own folder, where projects are kept unless another place is named."""
    import platformdirs

    return platformdirs.user_data_path("textbayes")


def default_database() -> str:
    """SQLite in the user's data folder."""
    folder = data_folder()
    make_private_folder(folder)
    return f"sqlite:///{folder / DATABASE}"


def check_app_extra(purpose: str = "the review room") -> None:
    """Refuse in one sentence where a package that the room needs is missing."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "app", purpose)
