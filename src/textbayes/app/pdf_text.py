"""The text of a PDF, found by a process of its own with little time and memory: a file may be made to exhaust either.

Run as a program it reads a PDF from its standard input and writes the text to its standard output.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import threading

from textbayes.core.errors import InputError, MissingExtraError

_SECONDS = 60  # of computing time
_MEMORY = 1 << 30  # bytes
_MOST_PAGES, _MOST_CHARACTERS = 2_000, 2_000_000
_BEGINS_WITHIN = 1024  # bytes; some programs write something before the mark
_AT_ONCE = threading.BoundedSemaphore(2)  # each may take all its time and memory
_MISSING = 3  # exit status where pypdf is not installed


def pdf_text(content: bytes) -> str:
    """The text of a PDF; empty where it has none, as those that were scanned.

    Parameters
    ----------
    content : bytes
    """
    if b"%PDF-" not in content[:_BEGINS_WITHIN]:
        raise InputError("the file is not a PDF; save the paper as PDF and upload it again")
    if not _AT_ONCE.acquire(timeout=_SECONDS):
        raise InputError("other PDFs are being read, which take long; upload this one again later")
    command = [sys.executable, "-P", "-m", "textbayes.app.pdf_text"]
    try:
        # What it says of a damaged file can have no end: it is not kept.
        out, said = subprocess.PIPE, subprocess.DEVNULL
        done = subprocess.run(command, input=content, stdout=out, stderr=said, timeout=2 * _SECONDS)
    except subprocess.TimeoutExpired:
        raise InputError(
            f"reading the PDF takes more than {2 * _SECONDS} s; save it again with another program"
        ) from None
    finally:
        _AT_ONCE.release()
    if done.returncode == _MISSING:
        raise MissingExtraError("pypdf", "app", "reading PDF files")
    if done.returncode:
        raise InputError("the PDF cannot be read: it is damaged, encrypted, or too large; save it again as PDF")
    return done.stdout.decode("utf-8", "replace")


def _limit() -> None:
    """Have this process end where it computes for too long, takes too much memory, or writes a file."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on Windows; or the limits are lower already
        import resource

        for kind, most in ((resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, 0)):
            resource.setrlimit(kind, (most, most))


def _read(content: bytes) -> str:
    from pypdf import PdfReader

    size, parts = 0, []
    for page in PdfReader(io.BytesIO(content)).pages[:_MOST_PAGES]:
        text = page.extract_text().replace("\x00", "")
        parts.append(text)
        size += len(text)
        if size > _MOST_CHARACTERS:
            break
    return "\n\n".join(parts)[:_MOST_CHARACTERS].strip()


def main() -> int:
    """Read, and write what was found."""
    content = sys.stdin.buffer.read()
    try:
        import pypdf  # noqa: F401
    except ImportError:
        return _MISSING
    _limit()
    try:
        text = _read(content)
    except Exception:  # whatever a damaged file brings about: pypdf raises many kinds
        return 1
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
