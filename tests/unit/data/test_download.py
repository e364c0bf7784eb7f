from __future__ import annotations

import contextlib
import hashlib
import itertools
import threading
import time
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from textbayes.core.errors import CorpusNotFoundError
from textbayes.data import download, load_corpus
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo
from textbayes.data.download import PublicFile, fetch

DATA = bytes(i * 7 % 256 for i in range(400_000))
SHA256 = hashlib.sha256(DATA).hexdigest()


def pieces(content: bytes) -> Iterator[bytes]:
    yield from (content[i : i + 1000] for i in range(0, len(content), 1000))


class Server(ThreadingHTTPServer):
    """Serves DATA on 127.0.0.1; knobs for ranges, the tag, the status and where to break off."""

    ranges, tag, status, cut_after, claims_length = True, '"v1"', 200, 0, True
    busy_for, pause = 0, "0"  # requests answered 429, and the seconds that they are asked to wait
    claimed, location = "", ""  # a length that is not that of the body; where to look instead
    endless, trickle = False, 0.0  # whether the body never ends; seconds between its pieces of 1,000 bytes

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[str | None] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, start, status = self.server, 0, self.server.status
        wanted = self.headers.get("Range")
        server.requests.append(wanted)
        if wanted and server.ranges and self.headers.get("If-Range") == server.tag:
            start, status = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
            if start >= len(DATA):
                status = 416
        if len(server.requests) <= server.busy_for:
            status = 429
        if server.location and self.path == "/data.bin":
            status = 302
        self.send_response(status)
        if server.tag:
            self.send_header("ETag", server.tag)
        if status == 429:
            self.send_header("Retry-After", server.pause)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(DATA) - 1}/{len(DATA)}")
        if status == 302:
            self.send_header("Location", server.location)
        if server.claims_length:
            self.send_header("Content-Length", server.claimed or str(len(DATA) - start if status < 300 else 0))
        self.end_headers()
        if server.endless or server.trickle:
            # "Endless" is 400 MB: a client that does not stop must fail the test, not fill the disk.
            self.send_pieces(itertools.repeat(DATA, 1000) if server.endless else pieces(DATA[start:]))
        elif status < 300:
            end = min(len(DATA), start + server.cut_after) if server.cut_after else len(DATA)
            self.wfile.write(DATA[start:end])
            server.sent += end - start

    def send_pieces(self, sent: Iterable[bytes]) -> None:
        with contextlib.suppress(OSError):  # whoever asked has gone
            for piece in sent:
                self.wfile.write(piece)
                self.server.sent += len(piece)
                time.sleep(self.server.trickle)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server, folder, sha256=SHA256, attempts=1, progress=None):
    return fetch(PublicFile("data.bin", (server.url,), sha256), folder, progress, attempts, wait=0)


def test_a_file_arrives_whole_with_progress(server, tmp_path):
    calls = []
    path = get(server, tmp_path / "new", progress=lambda *call: calls.append(call))
    assert path.read_bytes() == DATA
    assert calls[-1] == ("data.bin", len(DATA), len(DATA))
    assert sorted(file.name for file in path.parent.iterdir()) == ["data.bin", "data.bin.sha256"]
    get(server, tmp_path / "new")
    assert len(server.requests) == 1  # the second time it was there


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(CorpusNotFoundError, match=r"the connection broke off before the end.*goes on where it stopped"):
        get(server, tmp_path)
    assert (tmp_path / "data.bin.part").stat().st_size == 131_072
    assert not (tmp_path / "data.bin").exists()
    server.cut_after = 0
    assert get(server, tmp_path).read_bytes() == DATA
    assert server.requests == [None, "bytes=131072-"]
    assert server.sent == len(DATA)


def test_attempts_go_on_by_themselves(server, tmp_path):
    server.cut_after = 131_072
    assert get(server, tmp_path, attempts=4).read_bytes() == DATA
    assert server.requests == [None, "bytes=131072-", "bytes=262144-", "bytes=393216-"]


def test_a_server_without_ranges_sends_all_again(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(CorpusNotFoundError):
        get(server, tmp_path)
    server.cut_after, server.ranges = 0, False
    assert get(server, tmp_path).read_bytes() == DATA
    assert server.requests == [None, "bytes=131072-"]


@pytest.mark.parametrize("tag", ['"v2"', ""])
def test_a_part_of_an_older_file_is_not_continued(server, tmp_path, tag):
    (tmp_path / "data.bin.part").write_bytes(b"old" * 1000)
    (tmp_path / "data.bin.part.etag").write_text('"v1"')
    server.tag = tag
    assert get(server, tmp_path).read_bytes() == DATA


def test_a_part_that_is_complete_or_too_long_starts_over(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(DATA)
    (tmp_path / "data.bin.part.etag").write_text(server.tag)
    assert get(server, tmp_path, attempts=2).read_bytes() == DATA
    assert server.requests == [f"bytes={len(DATA)}-", None]


def test_a_transfer_that_ends_early_without_a_stated_length_is_caught_by_the_checksum(server, tmp_path):
    server.cut_after, server.claims_length = 1000, False
    with pytest.raises(CorpusNotFoundError, match="what came is not the published file"):
        get(server, tmp_path)
    assert not list(tmp_path.iterdir())


def test_another_checksum_is_refused_and_nothing_stays(server, tmp_path):
    with pytest.raises(CorpusNotFoundError, match=r"what came is not the published file .*it was deleted"):
        get(server, tmp_path, sha256="0" * 64)
    assert not list(tmp_path.iterdir())


def test_an_unknown_checksum_is_recorded_and_verified_from_then_on(server, tmp_path):
    path = get(server, tmp_path, sha256=None)
    assert (tmp_path / "data.bin.sha256").read_text().split() == [SHA256, "data.bin"]
    get(server, tmp_path, sha256=None)
    path.write_bytes(DATA[:-1])
    with pytest.raises(CorpusNotFoundError, match="was changed or damaged; delete it and download it again"):
        get(server, tmp_path, sha256=None)


def test_an_answer_of_the_server_is_told_and_not_asked_for_again(server, tmp_path):
    server.status = 404
    with pytest.raises(CorpusNotFoundError, match="the server answered 404 Not Found"):
        get(server, tmp_path, attempts=3)
    assert len(server.requests) == 1


def test_a_busy_server_is_asked_again_when_it_says(server, tmp_path):
    server.busy_for = 2
    assert get(server, tmp_path, attempts=3).read_bytes() == DATA
    assert len(server.requests) == 3


@pytest.mark.parametrize("pause", ["86400", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_server_that_is_busy_for_long_is_told(server, tmp_path, pause):
    server.busy_for, server.pause = 9, pause
    with pytest.raises(CorpusNotFoundError, match="the server answered 429 Too Many Requests"):
        get(server, tmp_path, attempts=3)
    assert len(server.requests) == 1


def test_offline_is_told_in_a_sentence(tmp_path):
    with Server() as gone:
        url = gone.url
    with pytest.raises(CorpusNotFoundError, match=r"no connection could be made .*fetch the file by hand"):
        fetch(PublicFile("data.bin", (url,)), tmp_path, attempts=2, wait=0)


def test_the_second_address_is_tried(server, tmp_path):
    with Server() as gone:
        url = gone.url
    file = PublicFile("data.bin", (url, server.url), SHA256)
    assert fetch(file, tmp_path, attempts=1).read_bytes() == DATA


def test_a_folder_that_cannot_be_made_is_told(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CorpusNotFoundError, match=r"data\.bin could not be downloaded"):
        get(server, tmp_path / "file" / "sub")


def test_load_corpus_downloads_on_request_only(server, tmp_path, monkeypatch):
    def load(path):
        return Corpus("served", ["1"], [("x",)], [str((path / "data.bin").stat().st_size)])

    info = CorpusInfo(
        name="served",
        title="t",
        homepage=server.url,
        licence="none",
        load=load,
        expected={"documents": 1},
        files=("data.bin",),
        obtain="ask",
        downloads=(PublicFile("data.bin", (server.url,)),),
    )
    CORPORA.names()
    monkeypatch.setitem(CORPORA._members, "served", info)
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    with pytest.raises(CorpusNotFoundError, match="pass download=True, or ask"):
        load_corpus("served")
    with pytest.warns(UserWarning, match=rf"data.bin is unchecked: .*Its SHA-256 is {SHA256}, recorded in"):
        assert load_corpus("served", download=True).texts == [str(len(DATA))]
    assert load_corpus("served", download=True).texts == [str(len(DATA))]
    assert load_corpus("served").texts == [str(len(DATA))]
    assert len(server.requests) == 1
    (tmp_path / "served" / "data.bin").write_bytes(b"changed")
    with pytest.raises(CorpusNotFoundError, match="was changed or damaged"):
        load_corpus("served")


@pytest.mark.parametrize("claimed", [True, False])
def test_a_body_that_does_not_end_is_cut_off(server, tmp_path, claimed):
    server.endless, server.claims_length = True, claimed
    server.claimed = str(10**15)
    with pytest.raises(CorpusNotFoundError, match="sends more than 1,000,000 bytes, which is the most it can have"):
        fetch(PublicFile("data.bin", (server.url,), largest=10**6), tmp_path, attempts=3, wait=0)
    assert len(server.requests) == 1, "it is not asked again"
    assert not list(tmp_path.iterdir())


def test_the_rest_of_a_file_counts_with_its_beginning(server, tmp_path):
    server.cut_after = 131_072
    with pytest.raises(CorpusNotFoundError, match="broke off"):
        get(server, tmp_path)
    server.cut_after = 0
    with pytest.raises(CorpusNotFoundError, match="sends more than 399,999 bytes"):
        fetch(PublicFile("data.bin", (server.url,), SHA256, largest=len(DATA) - 1), tmp_path, attempts=1)
    assert not list(tmp_path.iterdir())
    assert fetch(PublicFile("data.bin", (server.url,), SHA256, largest=len(DATA)), tmp_path).read_bytes() == DATA


@pytest.mark.parametrize("claimed", [True, False])
def test_a_server_that_trickles_is_given_up_and_goes_on_later(server, tmp_path, monkeypatch, claimed):
    monkeypatch.setattr(download, "_WINDOW", 0.2)
    monkeypatch.setattr(download, "_SLOWEST", 10**9)
    server.trickle, server.claims_length = 0.01, claimed
    with pytest.raises(CorpusNotFoundError, match=r"the server is too slow \([\d,]+ bytes in 0 seconds\); try again"):
        get(server, tmp_path, attempts=3)
    assert len(server.requests) == 1
    have = (tmp_path / "data.bin.part").stat().st_size
    assert 0 < have < len(DATA)
    server.trickle = 0.0
    assert get(server, tmp_path).read_bytes() == DATA
    assert server.requests[1:] == [f"bytes={have}-"]


def test_a_server_that_falls_silent_is_given_up_and_goes_on_later(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_SILENCE", 0.2)
    server.trickle = 2.0
    with pytest.raises(CorpusNotFoundError, match="the server did not answer in time"):
        get(server, tmp_path)
    server.trickle = 0.0
    assert get(server, tmp_path).read_bytes() == DATA
    assert server.requests == [None, "bytes=1000-"]


@pytest.mark.parametrize("claimed", ["500000", "1000", "nonsense", "9" * 5000])
def test_a_length_that_is_wrong_is_noticed(server, tmp_path, claimed):
    server.claimed = claimed
    if len(claimed) > 6:  # as if none were said
        assert get(server, tmp_path).read_bytes() == DATA
        return
    with pytest.raises(CorpusNotFoundError, match=r"could not be downloaded\. http://127\.0\.0\.1.*: .+"):
        get(server, tmp_path)
    assert not (tmp_path / "data.bin").exists()


@pytest.mark.parametrize(
    ("location", "sha256", "told"),
    [
        ("file:///etc/passwd", SHA256, "redirects to file:///etc/passwd, which is neither https nor http"),
        ("ftp://127.0.0.1/data.bin", SHA256, "neither https nor http"),
        ("http://mirror.invalid/data.bin", None, "at plain http, and no checksum is known"),
        ("/data.bin", SHA256, "redirects more than 5 times"),
    ],
)
def test_a_redirect_to_where_anything_may_come_from_is_not_followed(server, tmp_path, location, sha256, told):
    server.location, server.endless, server.claims_length = location, True, False
    with pytest.raises(CorpusNotFoundError, match=told):
        get(server, tmp_path, sha256)
    assert not list(tmp_path.glob("data.bin*"))


def test_other_redirects_are_followed(server, tmp_path):
    server.location = "/elsewhere.bin"
    assert get(server, tmp_path).read_bytes() == DATA


def test_plain_http_without_a_checksum_is_not_asked(tmp_path):
    with pytest.raises(CorpusNotFoundError, match="it is at plain http, and no checksum is known"):
        fetch(PublicFile("data.bin", ("http://example.invalid/data.bin",)), tmp_path)


def test_a_checksum_that_was_put_there_before_is_held_to(server, tmp_path):
    (tmp_path / "data.bin.sha256").write_text(f"{'0' * 64}  data.bin\n", encoding="utf-8")
    with pytest.raises(CorpusNotFoundError, match=r"not the published file .*; if it was changed on purpose, remove"):
        get(server, tmp_path, sha256=None)
    (tmp_path / "data.bin.sha256").write_text(SHA256.upper(), encoding="utf-8")
    assert get(server, tmp_path, sha256=None).read_bytes() == DATA
