"""The string table and the token scan, against dictionaries and regular expressions."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.kernels.text import tokens
from textbayes.text.packed import Packed, StringIndex, _as_words, pack, pack_bytes, unpack
from textbayes.text.tokenize import tokenize

MASK = 2**64 - 1


def mix(h: int) -> int:
    """The kernel's step, in Python's integers."""
    h = ((h ^ (h >> 32)) * 0x9E3779B97F4A7C15) & MASK
    return h ^ (h >> 29)


def colliding(first: bytes, second: bytes, last: bytes) -> bytes:
    """Eight bytes which after ``second`` give the hash that ``last`` gives after ``first``."""
    word = mix(int.from_bytes(first, "little")) ^ int.from_bytes(last, "little") ^ mix(int.from_bytes(second, "little"))
    return word.to_bytes(8, "little")


def test_strings_with_one_hash_stay_apart() -> None:
    beginnings = [f"prefix{i:02}".encode() for i in range(50)]
    strings = [beginning + colliding(beginnings[0], beginning, b"the tail") for beginning in beginnings]
    assert len(set(strings)) == 50
    index = StringIndex()
    assert index.add(pack_bytes(strings)).tolist() == list(range(50))
    assert index.find(pack_bytes(strings[::-1])).tolist() == list(range(50))[::-1]
    hashes = {int(tokens._hash(_as_words(pack_bytes([s]).data), np.uint64(0), np.uint64(16))) for s in strings}
    assert hashes == {mix(mix(int.from_bytes(b"prefix00", "little")) ^ int.from_bytes(b"the tail", "little"))}


def test_zero_bytes_and_the_end_of_a_string_are_told_apart() -> None:
    strings = [b"", b"\0", b"\0\0", b"a", b"a\0", b"a" * 8, b"a" * 8 + b"\0", b"a" * 16]
    index = StringIndex()
    assert index.add(pack_bytes(strings)).tolist() == list(range(8))
    assert index.find(pack_bytes([*strings, b"b"])).tolist() == [*range(8), -1]


def test_the_table_grows_with_the_strings() -> None:
    words = [f"w{i}" for i in range(200_000)]
    index = StringIndex()
    for begin in range(0, len(words), 30_000):
        index.add(pack(words[begin : begin + 30_000]))
    assert unpack(index.strings()) == words
    assert index.find(pack(words[::1000])).tolist() == list(range(0, 200_000, 1000))


def test_the_scan_numbers_more_tokens_than_one_chunk_holds() -> None:
    words = [f"w{i % 150_000}" for i in range(200_000)]
    found = tokenize([" ".join(words), "w7 new"], r"\w+", lowercase=True)
    assert found.ids.tolist() == [*(i % 150_000 for i in range(200_000)), 7, 150_000]
    assert unpack(found.names) == [f"w{i}" for i in range(150_000)] + ["new"]


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(st.text(), max_size=5))
def test_the_scan_finds_what_re_finds(texts: list[str]) -> None:
    found = tokenize(texts, r"(?u)\b\w\w+\b", lowercase=True)
    names = unpack(found.names)
    for i, text in enumerate(texts):
        ids = found.ids[found.doc_starts[i] : found.doc_starts[i + 1]]
        assert [names[j] for j in ids] == re.findall(r"(?u)\b\w\w+\b", text.lower())


def test_one_compiled_version_serves_every_call() -> None:
    for texts in (["plain text"], ["Ünïcode", ""], [], ["x"]):
        for pattern in (r"\w+", r"\b[a-z]{2,}\b", r"\S+"):
            for lowercase in (True, False):
                tokenize(texts, pattern, lowercase)
    index = StringIndex()
    index.add(pack([]))
    index.add(pack(["a"]))
    index.add(Packed(np.array([98], dtype=np.uint8), np.array([0, 1])))
    index.find(pack(["b"]))
    for kernel in (tokens.scan_words, tokens.intern, tokens.find):
        assert len(kernel.signatures) == 1, kernel
