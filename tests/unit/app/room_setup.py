"""Databases to test with, SQLite in a file and a PostgreSQL server of our own, and a client for many requests."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal

ORIGIN = "http://127.0.0.1:8765"
PASSWORD = "correct horse battery"


class InLoop(httpx2.BaseTransport):
    """Hands requests to an application in the event loop of a portal.

    ``TestClient`` goes to and fro between threads for each request, which takes longer than most of them.

    Parameters
    ----------
    app : ASGI application
    portal : BlockingPortal
    raise_app_exceptions : bool
        Whether a fault of the application is raised here as well.
    """

    def __init__(self, app: Any, portal: BlockingPortal, raise_app_exceptions: bool = True) -> None:
        self._portal = portal
        self._inner = httpx2.ASGITransport(app, raise_app_exceptions=raise_app_exceptions)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._portal.call(self._answer, request, request.read())

    async def _answer(self, request: httpx2.Request, content: bytes) -> httpx2.Response:
        sent = httpx2.Request(request.method, request.url, headers=request.headers, content=content)
        reply = await self._inner.handle_async_request(sent)
        return httpx2.Response(reply.status_code, headers=reply.headers, content=await reply.aread())


def postgresql_programs() -> Path | None:
    """The folder of PostgreSQL's server programs."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


@contextlib.contextmanager
def postgresql_server() -> Iterator[str]:
    """A server that listens on a socket in a folder of its own; the address of its database ``postgres``."""
    programs = postgresql_programs()
    assert programs is not None
    user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="tb-pg-"))  # short: the path of a socket may have 107 characters
    if user is not None:
        shutil.chown(folder, user)
    options = {"user": user, "check": True, "capture_output": True, "cwd": folder}
    subprocess.run([programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "room"], **options)
    settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    control = [str(programs / "pg_ctl"), "-D", str(folder / "data"), "-w"]
    start = [*control, "-l", str(folder / "log"), "-o", settings, "start"]
    subprocess.run(start, **{**options, "capture_output": False})  # the server would keep a pipe open
    try:
        yield f"postgresql://room@/postgres?host={folder}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **options)
        shutil.rmtree(folder, ignore_errors=True)


def empty_postgresql(server: str) -> str:
    """The address of a new database of a server."""
    import sqlalchemy

    name = f"room_{uuid.uuid4().hex}"
    url = server.replace("postgresql:", "postgresql+psycopg:")
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


def make_pdf(*lines: str, packed: bytes | None = None) -> bytes:
    """A PDF of one page with lines of text, or with a stream that was packed by zlib."""
    escaped = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in lines]
    drawn = "BT /F1 12 Tf 14 TL 72 720 Td " + " ".join(f"({line}) Tj T*" for line in escaped) + " ET"
    stream = packed if packed is not None else drawn.encode("latin-1")
    filtered = b" /Filter /FlateDecode" if packed is not None else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(stream), filtered, stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    file, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(file)
    return file + b"xref\n0 6\n0000000000 65535 f \n" + table + end
