from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.streams import Bounded, Limits, open_input, peek_head, read_lines, read_text, source_label


def test_lines_are_the_same_in_every_compression(write_compressed):
    path = write_compressed("a.txt", "one\r\ntwo é\n\nfour".encode())
    assert list(read_lines(path)) == [(1, "one\r\n"), (2, "two é\n"), (3, "\n"), (4, "four")]
    assert read_text(path) == "one\r\ntwo é\n\nfour"


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path):
    path = tmp_path / "bom.txt"
    path.write_bytes(b"\xef\xbb\xbfid,text\n")
    assert read_text(path) == "id,text\n"
    assert list(read_lines(path, "utf-8-sig")) == [(1, "id,text\n")]


def test_standard_input_and_streams_stay_open(monkeypatch):
    standard = io.TextIOWrapper(io.BytesIO(gzip.compress(b"from a pipe\n")))
    monkeypatch.setattr(sys, "stdin", standard)
    assert list(read_lines("-")) == [(1, "from a pipe\n")]
    assert not standard.buffer.closed
    stream = io.BytesIO(b"x")
    assert read_text(stream) == "x"
    assert not stream.closed
    assert read_text(io.StringIO("é")) == "é"


@pytest.mark.parametrize(
    ("source", "label"),
    [("-", "standard input"), ("a/b.csv", "a/b.csv"), (Path("c"), "c"), (io.BytesIO(), "the stream")],
)
def test_messages_name_the_source(source, label):
    assert source_label(source) == label


def test_peeking_consumes_nothing():
    with open_input(io.BytesIO(b"first\nsecond\n")) as stream:
        assert peek_head(stream, 5) == b"first"
        assert stream.read() == b"first\nsecond\n"


def test_invalid_utf8_is_refused_with_its_line_and_column(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\nthe price \xa35\nfine\n")
    for read in (read_text, lambda p: list(read_lines(p))):
        with pytest.raises(
            MalformedFileError, match=r"latin\.txt, line 2: byte 0xa3 in column 11 is not valid UTF-8"
        ) as caught:
            read(path)
        assert caught.value.line == 2
        assert "encoding='cp1252' (files from Excel on Windows)" in str(caught.value)
    assert read_text(path, "latin-1").splitlines()[1] == "the price £5"
    assert read_text(path, errors="replace").splitlines()[1] == "the price �5"


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"text\nwith \x00 inside", "line 2: NUL bytes: this is binary data"),
        (b"%PDF-1.7 ...", "a PDF document, not text"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"SQLite format 3\x00", "an SQLite database"),
        ("wide".encode("utf-16"), "UTF-16 text: read it with encoding='utf-16'"),
    ],
)
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_binary_junk_is_refused(tmp_path, data, cause, errors):
    path = tmp_path / "junk"
    path.write_bytes(data)
    with pytest.raises(MalformedFileError, match=cause):
        read_text(path, errors=errors)
    with pytest.raises(MalformedFileError, match=cause):
        list(read_lines(path, errors=errors))


def test_wide_encodings_are_read_and_refused(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_bytes("eins\r\nzwei ä\n".encode("utf-16"))
    assert list(read_lines(path, "utf-16")) == [(1, "eins\r\n"), (2, "zwei ä\n")]
    path.write_bytes("eins".encode("utf-16") + b"\x00")
    with pytest.raises(MalformedFileError, match="not valid UTF-16"):
        list(read_lines(path, "utf-16"))


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_file_cut_short_is_refused(tmp_path, ending, compress):
    path = tmp_path / f"cut{ending}"
    whole = compress(bytes(range(32, 127)) * 4000)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MalformedFileError, match="cut short or damaged; fetch it again"):
        list(read_lines(path))
    with pytest.raises(MalformedFileError, match="cut short or damaged; fetch it again"):
        read_text(path)


def test_damage_in_the_middle_is_refused(tmp_path):
    path = tmp_path / "damaged.gz"
    data = bytearray(gzip.compress(b"some text\n" * 1000))
    data[20:30] = b"\xff" * 10
    path.write_bytes(data)
    with pytest.raises(MalformedFileError, match="damaged"):
        read_text(path)


def test_a_text_that_begins_like_bzip2_is_text():
    assert read_text(io.BytesIO(b"BZh9 is a name")) == "BZh9 is a name"


def test_paths_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*absent; check the path"):
        read_text(tmp_path / "absent")
    with pytest.raises(InputError, match="is a folder where a file is needed"):
        read_text(tmp_path)


def test_unknown_encoding_and_error_handling(tmp_path):
    with pytest.raises(InputError, match="encoding 'utf-9' is not known; try 'utf-8'"):
        read_text(io.BytesIO(b""), "utf-9")
    with pytest.raises(InputError, match="errors='maybe' is not known"):
        read_text(io.BytesIO(b""), errors="maybe")


def test_abandoned_readers_close_their_files(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\n")
    lines = read_lines(path)
    next(lines)
    lines.close()  # type: ignore[attr-defined]  # warnings are errors: an open file would fail the test


# -- encodings --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "encoding", "byte"),
    [
        ("A — B", "cp1252", "0x97"),
        ("don’t", "cp1252", "0x92"),
        ("“quoted”", "cp1252", "0x93"),
        ("café", "cp1252", "0xe9"),
    ],
)
def test_the_likely_encoding_is_named_and_right(tmp_path, data, encoding, byte):
    path = tmp_path / "a.txt"
    path.write_bytes(data.encode("cp1252"))
    with pytest.raises(MalformedFileError, match=rf"byte {byte} in column .*for example encoding='{encoding}'"):
        read_text(path)
    assert read_text(path, encoding) == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_wide_text_is_recognised(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\r\n1,tea\r\n".encode(encoding))
    with pytest.raises(MalformedFileError, match=rf"read it with encoding='{encoding}'"):
        list(read_lines(path))
    assert [line for _, line in read_lines(path, encoding)] == ["id,text\r\n", "1,tea\r\n"]


# -- damage and bounds ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress], ids=["gz", "xz", "bz2"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_damage_is_refused_in_every_compression_and_encoding(tmp_path, compress, encoding):
    path = tmp_path / "a.csv"
    whole = compress("".join(f"{i * i} words\n" for i in range(50_000)).encode(encoding))
    for damage in (whole[: len(whole) // 2], whole[:500] + b"\xff" * 50 + whole[550:], whole[:-3]):
        path.write_bytes(damage)
        for read in (read_text, lambda *given: list(read_lines(*given))):
            with pytest.raises(MalformedFileError, match=r"a\.csv.*cut short or damaged; fetch it again"):
                read(path, encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_may_not_be_longer_than_the_bound(encoding):
    stream = io.BytesIO("one\nfour and more\n".encode(encoding))
    assert len(list(read_lines(Bounded(stream, Limits(max_record=40)), encoding))) == 2
    stream.seek(0)
    with pytest.raises(MalformedFileError, match="line 2: the line that begins here is longer than 5 bytes"):
        list(read_lines(Bounded(stream, Limits(max_record=5)), encoding))


def test_texts_compress_by_any_ratio_up_to_the_bound():
    data = gzip.compress(b"the same again\n" * 1_000_000)  # 15 MB, 300 to 1
    assert sum(1 for _ in read_lines(io.BytesIO(data))) == 1_000_000
    with pytest.raises(MalformedFileError, match="unpacks to more than 1,000,000 bytes"):
        list(read_lines(Bounded(io.BytesIO(data), Limits(max_unpacked=1_000_000))))


# -- special files ----------------------------------------------------------------------------------------------------
@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev")
def test_devices_are_refused_and_the_empty_one_is_empty():
    with pytest.raises(InputError, match="/dev/zero is a device; give a file, a folder or a pipe with texts"):
        list(open_documents("/dev/zero"))
    assert list(open_documents(os.devnull)) == []


def test_sockets_are_refused(tmp_path, monkeypatch):
    socket = pytest.importorskip("socket")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(InputError, match=r"s cannot be opened .*give a file with texts"):
            list(open_documents("s"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_a_pipe_that_is_named_is_read_without_losing_a_byte(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(b"id,text\n7,tea\n"))
    writer.start()
    documents = list(open_documents(path))
    writer.join()
    assert documents == [Document("7", "tea")]


@pytest.mark.parametrize("module", [gzip, lzma, bz2], ids=lambda module: module.__name__)
def test_what_follows_a_compressed_stream_is_read_or_refused(module):
    """Several streams are one text; what is damaged or no stream at all is not passed over."""
    tea, rye = module.compress(b"tea\n" * 50_000), module.compress(b"rye\n")

    def read(data):
        return "".join(line for _, line in read_lines(io.BytesIO(data)))

    whole = "tea\n" * 50_000
    assert read(tea + rye) == whole + "rye\n"
    assert read(tea + rye + module.compress(b"") + tea) == whole + "rye\n" + whole
    assert read(tea + bytes(8)) == whole
    assert read(tea + bytes(40_000) + rye) == whole + "rye\n"
    for more in (b"rye\n", b"X" + rye[1:], rye[:1], rye[:-1], bytes(8) + b"rye\n", rye + b"rye"):
        with pytest.raises(MalformedFileError, match="the file is cut short or damaged; fetch it again"):
            read(tea + more)
