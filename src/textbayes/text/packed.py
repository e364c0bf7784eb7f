"""Many strings as two arrays: what kernels read, and what model files store."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.codec import ABSENT, Arrays, Field, Sizes
from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray, IntArray


class Packed(NamedTuple):
    """Strings as UTF-8 laid end to end (uint8) and the offsets between them (int64, one more than strings).

    Lone surrogates are kept as three bytes each, so that any str survives the round trip. The order of the bytes is
    the order of the strings.

    >>> strings = pack(["one", "zwölf"])
    >>> strings.offsets.tolist(), unpack(strings)
    ([0, 3, 9], ['one', 'zwölf'])
    """

    data: AnyArray
    offsets: AnyArray

    @property
    def n_strings(self) -> int:
        return len(self.offsets) - 1


def pack(strings: Iterable[str]) -> Packed:
    """Pack strings."""
    return pack_bytes([string.encode("utf-8", "surrogatepass") for string in strings])


def code_points(text: str) -> AnyArray:
    """The characters of a text as numbers."""
    return np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), dtype=np.uint32)


def pack_bytes(parts: list[bytes]) -> Packed:
    """Pack strings that are UTF-8 already; the arrays can be written to, as kernels' argument types have it."""
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=offsets[1:])
    return Packed(np.frombuffer(bytearray().join(parts), dtype=np.uint8), offsets)


def unpack_bytes(packed: Packed) -> list[bytes]:
    """The strings as UTF-8."""
    data, cuts = packed.data.tobytes(), packed.offsets.tolist()
    return [data[begin:end] for begin, end in pairwise(cuts)]


def unpack(packed: Packed) -> list[str]:
    """The strings."""
    text, cuts = packed.data.tobytes(), packed.offsets.tolist()
    if text.isascii():
        whole = text.decode("ascii")
        return [whole[begin:end] for begin, end in pairwise(cuts)]
    return [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(cuts)]


def take(packed: Packed, chosen: IntArray) -> Packed:
    """The chosen strings, in the order chosen."""
    begins = packed.offsets[:-1][chosen]
    return gather(packed.data, begins, packed.offsets[1:][chosen] - begins)


def gather(data: AnyArray, begins: IntArray, lengths: IntArray) -> Packed:
    """The strings that begin at some places of the data."""
    offsets = np.zeros(len(begins) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    source = np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Packed(data[source], offsets)


def join(left: Packed, right: Packed) -> Packed:
    """The strings of the one and then those of the other."""
    offsets = np.concatenate([left.offsets, right.offsets[1:] + left.offsets[-1]])
    return Packed(np.concatenate([left.data, right.data]), offsets)


class Strings(Field):
    """Texts as two arrays, read as a list; ``length`` is the name of the size that is their number."""

    def __init__(self, length: str | None = None) -> None:
        self.length = length

    def takes(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        arrays[place], arrays[f"{place}.offsets"] = self.packed(value)
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        packed = checked(arrays.get(place), arrays.get(f"{place}.offsets"), f"the model's {place}")
        if self.length is not None and sizes.setdefault(self.length, packed.n_strings) != packed.n_strings:
            raise ModelFileError(f"the columns of the model's {place} differ in length; was the file altered?")
        return self.made(packed)

    def packed(self, value: Any) -> Packed:
        """The texts of a value."""
        return pack(value)

    def made(self, packed: Packed) -> Any:
        """A value of these texts."""
        return unpack(packed)


def checked(data: AnyArray | None, offsets: AnyArray | None, what: str) -> Packed:
    """Strings read from a file: refused unless they are there and a kernel can read them without leaving the arrays."""
    data, offsets = np.array(data), np.array(offsets)
    sound = (
        data.ndim == offsets.ndim == 1
        and data.dtype == np.uint8
        and offsets.dtype == np.int64
        and len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == len(data)
        and bool((np.diff(offsets) >= 0).all())
    )
    if sound:
        packed = Packed(data, offsets)
        try:
            unpack(packed)
        except UnicodeDecodeError:
            sound = False
    if not sound:
        raise ModelFileError(f"{what} cannot be read: its byte and offset arrays do not fit; save the model again")
    return packed


def sort_order(packed: Packed, n_rounds: int = 8) -> IntArray:
    """Order that sorts distinct strings by code point, as ``sorted`` does.

    Seven bytes at a time as one number: all strings by their first seven, then those still tied by the next, and what
    is tied after ``n_rounds`` by comparison. O(n log n) with n falling fast from round to round.
    """
    words = _as_words(packed.data)
    begins, lengths = packed.offsets[:-1], np.diff(packed.offsets)
    key = _seven_bytes(words, begins, lengths)
    order: IntArray = np.argsort(key)
    tied, group = _ties(np.arange(packed.n_strings), key[order])
    for depth in range(7, 7 * n_rounds, 7):
        if not len(tied):
            return order
        members = order[tied]
        key = _seven_bytes(words, begins[members] + depth, lengths[members] - depth)
        sort = np.lexsort((key, group))
        order[tied] = members[sort]
        tied, group = _ties(tied, group[sort], key[sort])
    strings = unpack_bytes(take(packed, order[tied]))
    order[tied] = order[tied][sorted(range(len(tied)), key=lambda i: (group[i], strings[i]))]
    return order


def _ties(places: IntArray, *keys: AnyArray) -> tuple[IntArray, IntArray]:
    """The places, of those sorted by the keys, that share all keys with another, and the group of each."""
    differs = np.ones(len(places) + 1, dtype=np.bool_)
    differs[1:-1] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    tied = ~(differs[:-1] & differs[1:])
    return places[tied], np.cumsum(differs[:-1], dtype=np.int64)[tied]


def _seven_bytes(words: AnyArray, begins: IntArray, lengths: IntArray) -> AnyArray:
    """The next seven bytes and then how many follow, 8 for more: a number that orders like the bytes.

    The count tells the end of a string from a NUL byte.
    """
    at, shift = begins >> 3, ((begins & 7) << 3).astype(np.uint64)
    next_eight = (words[at] >> shift) | ((words[at + 1] << np.uint64(1)) << (np.uint64(63) - shift))
    n_bits = (8 * np.minimum(lengths, 7)).astype(np.uint64)
    kept = next_eight & ((np.uint64(1) << n_bits) - np.uint64(1))
    return kept.astype("<u8").view(">u8").astype(np.uint64) | np.minimum(lengths, 8).astype(np.uint64)


class SortedStrings(Mapping[str, int]):
    """Places of strings that are in sorted order, found by bisection: nothing is made of those nobody asks for.

    Parameters
    ----------
    strings : Packed
        Sorted, none of them twice.

    Examples
    --------
    >>> places = SortedStrings(pack(["ore", "tea", "überall"]))
    >>> places["tea"], "coal" in places, len(places)
    (1, False, 3)
    """

    def __init__(self, strings: Packed) -> None:
        self._strings, self._n = strings, strings.n_strings

    def __getitem__(self, string: str) -> int:
        sought = string.encode("utf-8", "surrogatepass")
        place = bisect_left(range(self._n), sought, key=self._bytes)
        if place == self._n or self._bytes(place) != sought:
            raise KeyError(string)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(unpack(self._strings))

    def __len__(self) -> int:
        return self._n

    def _bytes(self, place: int) -> bytes:
        begin, end = self._strings.offsets[place : place + 2]
        return self._strings.data[begin:end].tobytes()


class StringIndex:
    """Numbers strings in order of first occurrence; a hash table over packed strings that kernels read."""

    def __init__(self) -> None:
        self._table = np.zeros(512, dtype=np.uint64)
        self._words = np.zeros(64, dtype=np.uint64)
        self._offsets = np.zeros(64, dtype=np.int64)
        self._n = 0

    def add(self, strings: Packed) -> AnyArray:
        """The numbers of the strings, new ones for those not seen before. Expected O(bytes)."""
        from textbayes.kernels.text.tokens import intern

        self._words = _longer(self._words, (int(self._offsets[self._n]) + len(strings.data)) // 8 + 2)
        self._offsets = _longer(self._offsets, self._n + strings.n_strings + 1)
        ids, self._table, self._n = intern(
            _as_words(strings.data), *_ends(strings), self._table, self._words, self._offsets, self._n
        )
        return ids

    def find(self, strings: Packed) -> AnyArray:
        """The numbers of the strings, −1 for those not seen before. Expected O(bytes)."""
        from textbayes.kernels.text.tokens import find

        return find(_as_words(strings.data), *_ends(strings), *self.arrays)

    @property
    def arrays(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The table, the strings and the offsets between them, as kernels read them."""
        return self._table, self._words, self._offsets

    def copy(self) -> StringIndex:
        """One that knows the same strings and can learn others."""
        other = StringIndex()
        other._table, other._words, other._offsets = (array.copy() for array in self.arrays)
        other._n = self._n
        return other

    def __len__(self) -> int:
        return self._n

    def strings(self, first: int = 0) -> Packed:
        """The distinct strings, by number, from a number on."""
        offsets = self._offsets[first : self._n + 1]
        return Packed(self._words.view(np.uint8)[offsets[0] : offsets[-1]].copy(), offsets - offsets[0])


def _ends(packed: Packed) -> tuple[AnyArray, AnyArray]:
    return packed.offsets[:-1], packed.offsets[1:]


def _as_words(data: AnyArray) -> AnyArray:
    words = np.zeros(len(data) // 8 + 2, dtype=np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words


def _longer(array: AnyArray, size: int) -> AnyArray:
    if size <= len(array):
        return array
    longer = np.zeros(2 * size, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
