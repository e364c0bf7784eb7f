"""Downloads of public corpus files: resumed where they were cut off, checked by SHA-256, bounded in size and time.

pooch keeps the cache and checks the checksum; it has no resume, so the transfer itself is done here: bytes go to
``<file>.part``, and a second attempt asks the server for the rest only (HTTP ranges, guarded by ``If-Range``).
A server is not believed: it may send no more than the file can have, not less than a trickle, and redirect to no place
that could send anything instead of the file.
"""

from __future__ import annotations

import io
import logging
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from textbayes.core.errors import CorpusNotFoundError, InputError
from textbayes.core.progress import Progress

_CHUNK = 1 << 16
_LONGEST_PAUSE = 300.0  # seconds that a busy server may ask for
_SILENCE = 30.0  # seconds without a byte after which a server is given up
_SLOWEST, _WINDOW = 4_096.0, 60.0  # bytes a second over so many seconds, below which it is given up too
_MOST_REDIRECTS = 5
LARGEST_AT_ADDRESS = 64_000_000  # bytes of what is fetched each time, such as a feed
LARGEST = 500_000_000  # bytes of a file of which nothing else is said; the largest of today's has 165 million


class RefusedDownloadError(OSError):
    """What a server sends is not taken; asking again would not change it."""


@dataclass(frozen=True)
class PublicFile:
    """A public file: the addresses it is at, first to last choice, its checksum, and how many bytes it has at most.

    ``sha256=None`` says that no published checksum is known: the one of the first download is then recorded beside
    the file (``<file>.sha256``), and every later use and download is checked against it. Such a file is not fetched by
    plain http, where anybody on the way could put another in its place.
    """

    filename: str
    urls: tuple[str, ...]
    sha256: str | None = None
    largest: int = LARGEST

    def expected(self, folder: Path) -> str | None:
        """The checksum that it must have: the published one, or the one recorded in the folder."""
        record = folder / f"{self.filename}.sha256"
        if self.sha256 is not None or not record.exists():
            return self.sha256
        return (record.read_text(encoding="utf-8").split() or [""])[0].lower() or None


def fetch(
    file: PublicFile, folder: Path, progress: Progress | None = None, attempts: int = 3, wait: float = 1.0
) -> Path:
    """Fetch a file into ``folder``, downloaded if it is not there yet; a copy with another checksum is refused.

    ``attempts`` per address, each going on where the last one stopped, ``wait`` seconds (doubling) in between.

    Parameters
    ----------
    file : PublicFile
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
    expected = file.expected(folder)
    for url in file.urls:
        part = folder / f"{file.filename}.part"
        downloader = ResumableDownloader(part, progress, attempts, wait, file.largest, checked=expected is not None)
        known = f"sha256:{expected}" if expected else None
        try:
            with _quiet(pooch.get_logger()):
                pooch.retrieve(url, known_hash=known, fname=file.filename, path=folder, downloader=downloader)
        except OSError as error:  # connection, HTTP and disk errors; requests' own are OSErrors too
            problems.append(f"{url}: {_sentence(error)}")
            continue
        except ValueError as error:  # pooch: the checksum differs
            again = "" if file.sha256 else f"; if it was changed on purpose, remove {_record(target)}"
            problems.append(f"{url}: what came is not the published file ({error}); it was deleted{again}")
            continue
        _record(target).write_text(f"{pooch.file_hash(str(target))}  {file.filename}\n", encoding="utf-8")
        return target
    raise CorpusNotFoundError(
        f"{file.filename} could not be downloaded. {'. '.join(problems)}. "
        "Try again (a broken download goes on where it stopped), or fetch the file by hand and give its path."
    )


def verify(file: PublicFile, folder: Path) -> None:
    """Refuse a downloaded file that has changed since; files that were not downloaded here are not looked at."""
    target = folder / file.filename
    if not (target.exists() and _record(target).exists()):
        return
    import pooch

    expected = file.expected(folder)
    found = pooch.file_hash(str(target))
    if found != expected:
        raise CorpusNotFoundError(
            f"{target} has SHA-256 {found} where {expected} is expected: it was changed or damaged; "
            "delete it and download it again"
        )


class Fetched(io.BytesIO):
    """What is at an address; ``name`` is the address."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def fetch_address(url: str, attempts: int = 3, wait: float = 1.0) -> Fetched:
    """What is at an address now, such as a feed; nothing is kept.

    Parameters
    ----------
    url : str
        By https; by plain http of this machine alone, since nothing says what should come.
    attempts : int
    wait : float
        Seconds between them, doubling.
    """
    import requests

    with tempfile.TemporaryDirectory() as folder:
        part, file = Path(folder, "address.part"), Path(folder, "address")
        try:
            downloader = ResumableDownloader(part, None, attempts, wait, LARGEST_AT_ADDRESS, checked=False)
            downloader(url, str(file), None)
        except (OSError, requests.RequestException) as error:
            raise InputError(f"{url} could not be fetched: {_sentence(error)}; try again, or give a file") from error
        return Fetched(file.read_bytes(), url)


class ResumableDownloader:
    """Downloads a URL for pooch by way of a partial file that survives failure.

    Called as pooch calls its downloaders: ``downloader(url, output_file, pooch)``.
    """

    def __init__(
        self,
        part: Path,
        progress: Progress | None = None,
        attempts: int = 3,
        wait: float = 1.0,
        largest: int = LARGEST,
        checked: bool = True,
    ) -> None:
        self.part, self.progress, self.attempts, self.wait = part, progress, attempts, wait
        self.largest, self.checked = largest, checked
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
        with self._ask(url, headers, requests) as response:
            resumed = response.status_code == requests.codes.partial_content
            wrong_place = resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            if wrong_place or response.status_code == requests.codes.requested_range_not_satisfiable:
                self.part.unlink(missing_ok=True)  # the next attempt starts over
                raise requests.exceptions.ChunkedEncodingError("the server cannot go on from the part at hand")
            response.raise_for_status()
            done = have if resumed else 0
            length = response.headers.get("Content-Length", "")
            total = done + int(length) if length.isdecimal() and len(length) <= 18 else None
            self._check_size(total or 0)
            # Without a validator a changed file could be glued to an old beginning: then start over next time.
            tag = response.headers.get("ETag", response.headers.get("Last-Modified"))
            if tag and not tag.startswith("W/"):
                self._validator.write_text(tag, encoding="utf-8")
            else:
                self._validator.unlink(missing_ok=True)
            with self.part.open("ab" if resumed else "wb") as out:
                for chunk in _arriving(response, requests):
                    done += len(chunk)
                    self._check_size(done)
                    out.write(chunk)
                    if self.progress is not None:
                        self.progress(self.part.name.removesuffix(".part"), done, total)
        if total is not None and done != total:
            raise requests.exceptions.ChunkedEncodingError(f"the transfer ended after {done:,} of {total:,} bytes")

    def _ask(self, url: str, headers: dict[str, str], requests: Any) -> Any:
        """The answer of a server, after redirects: each is looked at before it is followed, and none is read."""
        at = url
        for _ in range(_MOST_REDIRECTS + 1):
            self._check_address(at, url)
            with requests.Session() as session:
                session.resolve_redirects = lambda *_, **__: iter(())  # it would read the body, which may never end
                response = session.get(at, headers=headers, stream=True, timeout=_SILENCE, allow_redirects=False)
            if not response.is_redirect:
                return response
            response.close()
            at = urljoin(at, response.headers["Location"])
        raise RefusedDownloadError(f"the server redirects more than {_MOST_REDIRECTS} times")

    def _check_address(self, at: str, first: str) -> None:
        """Refuse what is no https; plain http will do where a checksum is known, and on this machine."""
        scheme = urlsplit(at).scheme.lower()
        own = all(urlsplit(one).hostname in ("127.0.0.1", "::1", "localhost") for one in (at, first))
        if scheme == "https" or (scheme == "http" and (self.checked or own)):
            return
        where = "it is" if at == first else f"the server redirects to {at[:200]}, which is"
        if scheme == "http":
            raise RefusedDownloadError(f"{where} at plain http, and no checksum is known by which to check what comes")
        raise RefusedDownloadError(f"{where} neither https nor http")

    def _check_size(self, size: int) -> None:
        if size > self.largest:
            self.part.unlink(missing_ok=True)  # there is nothing to go on with
            self._validator.unlink(missing_ok=True)
            raise RefusedDownloadError(
                f"the server sends more than {self.largest:,} bytes, which is the most it can have"
            )


def _arriving(response: Any, requests: Any) -> Iterator[bytes]:
    """What a server sends, as it comes; one that sends next to nothing is given up, and can be asked again later."""
    import urllib3

    # What has come, however little: a full chunk from a server that trickles would take hours. urllib3 1 lacks it.
    read = getattr(response.raw, "read1", None) or (lambda _: response.raw.read(512))
    begun, n_bytes = time.monotonic(), 0
    try:
        while chunk := read(_CHUNK):
            yield chunk
            n_bytes += len(chunk)
            seconds = time.monotonic() - begun
            if seconds >= _WINDOW:
                if n_bytes < _SLOWEST * seconds:
                    raise RefusedDownloadError(
                        f"the server is too slow ({n_bytes:,} bytes in {seconds:.0f} seconds); try again later"
                    )
                begun, n_bytes = time.monotonic(), 0
    except urllib3.exceptions.TimeoutError as error:
        raise requests.exceptions.ReadTimeout(str(error)) from error
    except (urllib3.exceptions.HTTPError, ConnectionError) as error:
        raise requests.exceptions.ChunkedEncodingError(str(error)) from error


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
