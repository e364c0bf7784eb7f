"""Mutations of a model file that know its structure; checksums are right again afterwards.

Each says what it did and whether the result may be a model of its own (``fair``): a number or a name that became
another is one, an array with a wrong index is not. What is not fair must be refused, or change nothing.
"""

from __future__ import annotations

import copy
import json
import random
import struct
from typing import Any

import numpy as np

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 1000, 10**6, 2**31, 2**63, 10**400, 0.5, -0.5, 1e308, 1e-308, float("inf"),
    float("-inf"), float("nan"), "", "x", "auto", "a" * 5000, "\ud800", "\x00", "\u202e🂡", "English", "/dev/zero",
    "(a+)+$", r"(\w|\d)*!", "(.*a){25}", "[", "flip:base=" * 15, "skew_t:df=nan", [], {}, [[]], [1, 10**6], [2, 1],
    ["a", 1], {"a": 1}, {"rule": "unsure", "params": {}, "fitted": {}}, {"array": "fitted.0.coef.data"},
]  # fmt: skip
TYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "uint8", "uint64", "bool"]
VALUES = [0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31), 2**62, 0.5, 1e-300, 1e30, 1e300, np.nan, np.inf, -np.inf]
Path = tuple[Any, ...]
_FREE_LISTS = ("stop_words", "names", "arrays")  # what is taken out of them leaves a model


def paths(value: Any, here: Path = ()) -> list[Path]:
    """The places of a JSON value, all but the top."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, one in inner:
        if isinstance(one, list) and len(one) > 50:
            found += [(*here, key), *((*here, key, i) for i in (0, 1, len(one) - 1))]
        else:
            found += [(*here, key), *paths(one, (*here, key))]
    return found


def mutate_description(rng: random.Random, meta: Any) -> tuple[str, bool]:
    """Change one place of the description."""
    path = rng.choice(paths(meta))
    inside = meta
    for key in path[:-1]:
        inside = inside[key]
    key, where = path[-1], ".".join(map(str, path))
    old = inside[key]
    free = any(name in path for name in _FREE_LISTS)
    act = rng.choice(
        ["odd", "odd", "odd", "delete", "wrap", "text", "number", "double", "order", "extra", "from", "deep"]
    )
    if act == "odd":
        inside[key] = copy.deepcopy(rng.choice(ODD))
    elif act == "delete":
        del inside[key]
        return f"{where} deleted", free
    elif act == "wrap":
        inside[key] = rng.choice([[old], {"value": old}])
    elif act == "text":
        inside[key] = str(old)
    elif act == "number" and isinstance(old, int | float) and not isinstance(old, bool):
        inside[key] = rng.choice([-old, old + 1, old - 1, old * 1.001, old * 1000])
    elif act == "double" and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(old))
        return f"{where} doubled", free
    elif act == "order" and isinstance(inside, list):
        rng.shuffle(inside)
        return f"{where} shuffled", free
    elif act == "extra" and isinstance(inside, dict):
        inside[rng.choice(["extra", "", f"{key}_", "__class__", "\ud800"])] = copy.deepcopy(old)
        return f"extra key beside {where}", False
    elif act == "from":
        other = meta
        for step in rng.choice(paths(meta)):
            other = other[step]
        inside[key] = copy.deepcopy(other)
    elif act == "deep":
        for _ in range(rng.choice([40, 200])):
            inside[key] = [inside[key]]
    return f"{where} = {ascii(inside[key])[:60]}", free or _kind(old) == _kind(inside[key]) or None in (
        old,
        inside[key],
    )


def _kind(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def mutate_arrays(rng: random.Random, arrays: dict[str, Any]) -> tuple[str, bool]:
    """Change one array."""
    name = rng.choice(sorted(arrays))
    old = arrays[name]
    act = rng.choice(
        ["value", "value", "value", "value", "type", "shape", "cut", "longer", "order", "swap", "gone", "near"]
    )
    fair = False
    with np.errstate(all="ignore"):
        if act == "value" and old.size:
            array, at = old.copy(), rng.choice([0, -1, rng.randrange(old.size)])
            value = rng.choice([*VALUES, *array.reshape(-1)[:3].tolist()])
            array.reshape(-1)[at] = np.array(value).astype(old.dtype)
            what, fair = f"{name}[{at}] = {value}", True
        elif act == "type":
            array = old.astype(rng.choice(TYPES))
            what = f"{name} as {array.dtype}"
        elif act == "shape":
            array = rng.choice(
                [old[:, None], old[None], old.reshape(-1), old.reshape(-1)[:0], old.reshape(-1)[:1, None, None]]
            )
            what = f"{name} of shape {array.shape}"
        elif act == "cut":
            array, what = old[: rng.randrange(max(len(old), 1))], f"{name} cut"
        elif act == "longer":
            array = np.concatenate([old, old[-1:] if len(old) else np.zeros((1, *old.shape[1:]), old.dtype)])
            what = f"{name} longer"
        elif act == "order":
            order = rng.sample(range(len(old)), len(old))
            array, what, fair = old[order], f"{name} shuffled", True
        elif act == "swap":
            other = rng.choice(sorted(arrays))
            array, what, fair = arrays[other], f"{name} is {other}", True
        elif act == "gone":
            del arrays[name]
            if rng.random() < 0.5:
                arrays[rng.choice(["extra", name + ".", "coef", "\x00"])] = old
            return f"{name} gone or renamed", False
        else:
            array, what, fair = (old * np.float64(1.001)).astype(old.dtype), f"{name} a little larger", True
    arrays[name] = np.ascontiguousarray(array)
    return what, fair


def mutate_json_text(rng: random.Random, text: str) -> tuple[str, bytes]:
    """Change the text of a JSON member."""
    at = rng.randrange(len(text))
    act = rng.choice(["twice", "huge", "deep", "cut", "byte", "bom", "utf-16", "tail", "many", "exponent"])
    if act == "twice":
        return "a key twice", text.replace("{", '{"link": "logit", "link": "probit", ', 1).encode()
    if act in ("huge", "exponent"):
        digits = "9" * rng.choice([400, 6000]) if act == "huge" else "1e999"
        first = next((i for i, c in enumerate(text[at:], at) if c.isdigit()), 0)
        return f"number {act}", (text[:first] + digits + text[first + 1 :]).encode()
    if act == "deep":
        depth = rng.choice([50, 1000, 200_000])
        return f"nested {depth} deep", text.replace(": [", ": " + "[" * depth, 1).encode()
    if act == "many":
        return "many values", (text[:-1] + ', "x": [' + "[]," * 3_000_000 + "0]}").encode()
    if act == "byte":
        return f"byte {at}", text[:at].encode() + bytes([rng.randrange(256)]) + text[at + 1 :].encode()
    return act, {
        "cut": text[:at].encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "utf-16": text.encode("utf-16"),
        "tail": text.encode() + b"{}",
    }[act]


def mutate_tensors(rng: random.Random, content: bytes) -> tuple[str, bytes]:
    """Change the bytes of the arrays: their header, its length, or what follows."""
    length = struct.unpack("<Q", content[:8])[0]
    header, data = content[8 : 8 + length], content[8 + length :]
    act = rng.choice(["length", "header", "entry", "byte", "cut", "tail"])
    if act == "length":
        return "header length", struct.pack("<Q", rng.choice([0, 1, length - 1, length + 1, 2**31, 2**63])) + content[
            8:
        ]
    if act == "byte":
        at = rng.randrange(len(header))
        header = header[:at] + bytes([rng.randrange(256)]) + header[at + 1 :]
    elif act == "cut":
        data = data[: rng.randrange(len(data))]
    elif act == "tail":
        data += b"\0" * rng.choice([1, 8, 10**6])
    else:
        told = json.loads(header)
        entry = told[rng.choice(sorted(told))]
        if act == "entry":
            field = rng.choice(["dtype", "shape", "data_offsets"])
            entry[field] = rng.choice([None, 0, [], [-1, 8], [0, 2**62], [2**62], "F64", "F16", "U64", "C64", [[]], {}])
        else:
            mutate_description(rng, told)
        header = json.dumps(told).encode("utf-8", "surrogatepass")
    return f"arrays: {act}", struct.pack("<Q", len(header)) + header + data
