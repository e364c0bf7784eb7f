"""Downloads of public corpus files: resumed where they were cut off, checked by SHA-256.

pooch keeps the cache and checks the checksum; it has no resume, so the transfer itself is done here: bytes go to
``<file>.part``, and a second attempt asks the server for the rest only (HTTP ranges, guarded by ``If-Range``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textbayes.core.errors import CorpusNotFoundError
from textbayes.core.progress import Progress

_CHUNK = 1 << 16
_LONGEST_PAUSE = 300.0  # seconds that a busy server may ask for


@dataclass(frozen=True)
class Download:
    """A public file: the addresses it is at, first to last choice, and its checksum.

    ``sha256=None`` says that no published checksum is known: the one of the first download is then recorded beside
    the file, and every later use is checked against it.
    """

    filename: str
    urls: tuple[str, ...]
    sha256: str | None = None


def fetch(file: Download, folder: Path, progress: Progress | None = None, attempts: int = 3, wait: float = 1.0) -> Path:
    """Fetch a file into ``folder``, downloaded if it is not there yet; a copy with another checksum is refused.

    ``attempts`` per address, each going on where the last one stopped, ``wait`` seconds (doubling) in between.

    Parameters
    ----------
    file : Download
    folder : Path
    progress : function of (file name, bytes so far, bytes in all or None), optional
    attempts : int
    wait : float

    Returns
    -------
    Path
        The file.
    """
    import pooch  # with requests a quarter of a second: only when used

    target = folder / file.filename
    if target.exists():
        verify(file, folder)
        return target
    problems = []
    for url in file.urls:
        downloader = ResumableDownloader(folder / f"{file.filename}.part", progress, attempts, wait)
        known = f"sha256:{file.sha256}" if file.sha256 else None
        try:
            with _quiet(pooch.get_logger()):
                pooch.retrieve(url, known_hash=known, fname=file.filename, path=folder, downloader=downloader)
        except OSError as error:  # connection, HTTP and disk errors; requests' own are OSErrors too
            problems.append(f"{url}: {_sentence(error)}")
            continue
        except ValueError as error:  # pooch: the checksum differs
            problems.append(f"{url}: what came is not the published file ({error}); it was deleted")
            continue
        _record(target).write_text(f"{pooch.file_hash(str(target))}  {file.filename}\n", encoding="utf-8")
        return target
    raise CorpusNotFoundError(
        f"{file.filename} could not be downloaded. {'. '.join(problems)}. "
        "Try again (a broken download goes on where it stopped), or fetch the file by hand and give its path."
    )


def verify(file: Download, folder: Path) -> None:
    """Refuse a downloaded file that has changed since; files that were not downloaded here are not looked at."""
    target = folder / file.filename
    if not (target.exists() and _record(target).exists()):
        return
    import pooch

    expected = file.sha256 or _record(target).read_text(encoding="utf-8").split()[0]
    found = pooch.file_hash(str(target))
    if found != expected:
        raise CorpusNotFoundError(
            f"{target} has SHA-256 {found} where {expected} is expected: it was changed or damaged; "
            "delete it and download it again"
        )


class ResumableDownloader:
    """Downloads a URL for pooch by way of a partial file that survives failure.

    Called as pooch calls its downloaders: ``downloader(url, output_file, pooch)``.
    """

    def __init__(self, part: Path, progress: Progress | None = None, attempts: int = 3, wait: float = 1.0) -> None:
        self.part, self.progress, self.attempts, self.wait = part, progress, attempts, wait
        self._validator = part.with_name(part.name + ".etag")

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        import requests

        for attempt in range(1, self.attempts + 1):
            try:
                self._transfer(url, requests)
                break
            except requests.HTTPError as error:
                pause = _pause_asked_for(error)
                if pause is None or attempt == self.attempts:
                    raise  # the server's answer will not change by asking again
                time.sleep(pause)
            except requests.RequestException:
                if attempt == self.attempts:
                    raise
                time.sleep(self.wait * 2 ** (attempt - 1))
        self.part.replace(output_file)
        self._validator.unlink(missing_ok=True)

    def _transfer(self, url: str, requests: Any) -> None:
        have = self.part.stat().st_size if self.part.exists() else 0
        # identity: byte ranges and lengths must be those of the file, not of a compressed transfer
        headers = {"Accept-Encoding": "identity"}
        if have and self._validator.exists():
            headers |= {"Range": f"bytes={have}-", "If-Range": self._validator.read_text(encoding="utf-8")}
        with requests.get(url, headers=headers, stream=True, timeout=30) as response:
            resumed = response.status_code == requests.codes.partial_content
            wrong_place = resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            if wrong_place or response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink(missing_ok=True)  # the next attempt starts over
                raise requests.exceptions.ChunkedEncodingError("the server cannot go on from the part at hand")
            response.raise_for_status()
            done = have if resumed else 0
            length = response.headers.get("Content-Length")
            total = done + int(length) if length is not None else None
            # Without a validator a changed file could be glued to an old beginning: then start over next time.
            tag = response.headers.get("ETag", response.headers.get("Last-Modified"))
            if tag and not tag.startswith("W/"):
                self._validator.write_text(tag, encoding="utf-8")
            else:
                self._validator.unlink(missing_ok=True)
            with self.part.open("ab" if resumed else "wb") as out:
                for chunk in response.iter_content(_CHUNK):
                    out.write(chunk)
                    done += len(chunk)
                    if self.progress is not None:
                        self.progress(self.part.name.removesuffix(".part"), done, total)
        if total is not None and done != total:
            raise requests.exceptions.ChunkedEncodingError(f"the transfer ended after {done:,} of {total:,} bytes")


def _record(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _pause_asked_for(error: Any) -> float | None:
    """Seconds after which a busy server wants to be asked again (429, 503); None if it does not say, or not soon."""
    asked = error.response.headers.get("Retry-After", "") if error.response.status_code in (429, 503) else ""
    return float(asked) if asked.isdecimal() and float(asked) <= _LONGEST_PAUSE else None


def _sentence(error: OSError) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off before the end"
    if isinstance(error, requests.ConnectionError):
        return "no connection could be made (offline, or the server is down)"
    return str(error)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    # pooch tells users to paste an unknown checksum into their code; here it is recorded for them
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
