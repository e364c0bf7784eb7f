"""Changes of bytes at random: flips, cuts, doubled blocks, tokens of a format put in, up to a megabyte of one."""

from __future__ import annotations

import random

_ANY = [*b"\0 \xff \x97 \r \n \xef\xbb\xbf \xff\xfe \xed\xa0\x80 1e999".split(b" "), b"\n\n", b" ", b"9" * 5000]


def mutated(rng: random.Random, data: bytes, tokens: list[bytes]) -> tuple[str, bytes]:
    """One to three changes of some bytes."""
    names = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        change = rng.choice(_CHANGES)
        names.append(change.__name__.strip("_"))
        data = change(rng, data, tokens)
    return " and ".join(names), data


def _flip(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8, 64))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _drop(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    start, end = _block(rng, data)
    return data[:start] + data[end:]


def _double(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    start, end = _block(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _swap(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    start, end = _block(rng, data)
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[start:end] + data[place:]


def _insert(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(tokens + _ANY) * rng.choice((1, 1, 2, 30)) + data[place:]


def _repeat(rng: random.Random, data: bytes, tokens: list[bytes]) -> bytes:
    """Up to a megabyte of one token, or of two in turn: what is nested, and what never ends."""
    token = b"".join(rng.choice(tokens + _ANY) for _ in range(rng.choice((1, 1, 2))))
    place = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    size = rng.choice((1 << 12,) * 7 + (1 << 16, 1 << 16, 1 << 20))
    # A million documents of one line end each take seconds by right.
    return data[:place] + token * min(size // len(token), 200_000) + data[place:]


_CHANGES = (_flip, _cut, _drop, _double, _swap, _insert, _repeat)


def _block(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 4, 30, 300)))
