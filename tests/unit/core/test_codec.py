"""States by declared fields: what is written comes back, and what a file cannot say is refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.array_fields import Array, Column, Csr, Dense, Hyper, Table
from textbayes.core.codec import (
    Choice,
    Flag,
    List,
    Named,
    Null,
    Number,
    Record,
    Row,
    Text,
    Unread,
    Whole,
    read,
    written,
)
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.registry import Registry
from textbayes.core.state import Part, fields_of, from_state, to_state
from textbayes.text.packed import Strings

shapes: Registry[type] = Registry("shape", "textbayes.core")


@shapes.register("circle")
class Circle:
    name: ClassVar[str] = "circle"

    def __init__(self, radius=1.0, filled=False, colour="red", corners=0):
        self.radius, self.filled, self.colour, self.corners = radius, filled, colour, corners


@dataclass
class Everything:
    number: float
    rank: int
    words: np.ndarray
    matrix: np.ndarray
    factor: np.ndarray
    rows: sparse.csr_matrix
    scale: object
    names: list
    mode: str
    shape: Circle
    note: str | None = None

    fields: ClassVar = {
        "number": Number(0.0, 1.0),
        "words": Array(np.int64, ("n_words",), least=0, most=lambda sizes: sizes["n_features"] - 1),
        "matrix": Array(np.float64, ("n_words", "n_words"), least=0.0),
        "factor": Array(np.float64, (lambda sizes: 2 * sizes["rank"],)),
        "rows": Csr((None, "n_words")),
        "scale": Hyper(above=0.0, infinite=True),
        "rank": Whole(1, 10),
        "names": List(Text(5), most=3),
        "mode": Choice("fast", "slow"),
        "shape": Part(shapes),
        "note": Text() | Null(),
    }


def everything(**changes):
    given = {
        "number": 0.5,
        "rank": 2,
        "words": np.array([3, 1]),
        "matrix": np.eye(2),
        "factor": np.arange(4.0),
        "rows": sparse.csr_matrix([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]]),
        "scale": np.array([1.0, np.inf]),
        "names": ["a", "b"],
        "mode": "slow",
        "shape": Circle(radius=np.inf, filled=True),
        "note": None,
    }
    return Everything(**given | changes)


def saved(value):
    meta, arrays = to_state(value, "it")
    return json.loads(json.dumps(meta)), arrays


def test_what_is_written_comes_back():
    meta, arrays = saved(everything())
    assert set(arrays) == {f"it.{name}" for name in ("words", "matrix", "factor", "scale")} | {
        f"it.rows.{part}" for part in ("data", "indices", "indptr")
    }
    back = from_state(Everything, meta, arrays, "the thing", "it", n_features=4)
    np.testing.assert_array_equal(back.words, [3, 1])
    np.testing.assert_array_equal(back.rows.toarray(), everything().rows.toarray())
    np.testing.assert_array_equal(back.scale, [1.0, np.inf])
    assert (back.number, back.rank, back.names, back.mode, back.note) == (0.5, 2, ["a", "b"], "slow", None)
    assert vars(back.shape) == vars(everything().shape)
    number = from_state(Everything, *saved(everything(scale=3, note="x")), "the thing", "it", n_features=4)
    assert (number.scale, number.note) == (3, "x")


def test_a_parameter_without_a_line_has_the_field_of_its_default():
    fields = fields_of(Circle)
    assert list(fields) == ["radius", "filled", "colour", "corners"]
    assert fields["filled"].takes(True)
    assert not fields["filled"].takes(1.0)
    assert fields["corners"].takes(None)
    assert not fields["colour"].takes(3)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("number", 1.5, "its number is 1.5: it must be a finite number and 0 or more and 1 or less"),
        ("number", True, "its number cannot be True"),
        ("number", "0.5", "its number cannot be '0.5'"),
        ("rank", 2.0, "its rank cannot be 2.0"),
        ("rank", 11, "its rank is 11: it must be a whole number from 1 to 10"),
        ("rank", 3, r"factor is float64 of shape \(4,\), where float64 of shape \(6\) is needed"),
        ("names", ["a", "bbbbbb"], "its names.1 is 'bbbbbb': it must have 5 characters or fewer"),
        ("names", ["a"] * 4, "it must have 0 to 3 items"),
        ("mode", "idle", "its mode cannot be 'idle'"),
        ("shape", {"name": "square", "fields": {}}, "unknown shape 'square'"),
        ("shape", {"name": "circle", "fields": {"radius": 1.0}}, "its shape.filled is missing"),
        ("note", "\ud800", "half of a surrogate pair"),
        ("more", 1, "its more is not known to this version of textbayes"),
        ("scale", -1.0, "its scale is -1.0: it must be a number and above 0"),
    ],
)
def test_what_a_file_cannot_say_is_refused(field, value, message):
    meta, arrays = saved(everything())
    with pytest.raises(ModelFileError, match=f"the thing cannot be used .*{message}|{message}"):
        from_state(Everything, meta | {field: value}, arrays, "the thing", "it", n_features=4)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("words", np.array([4, 1]), "it.words has values from 1 to 4, where only 0 to 3 are possible"),
        ("words", np.array([1]), r"it.matrix is float64 of shape \(2, 2\), where float64 of shape \(1, 1\)"),
        ("matrix", np.array([[np.nan, 0.0], [0.0, 1.0]]), "it.matrix has values from nan"),
        ("scale", np.array([0.0, 1.0]), "its scale it must be a number and above 0"),
        ("scale", np.ones((1, 1, 1)), "its scale is no number, and no array of one or two dimensions"),
        ("rows.indices", np.array([0, 7], dtype=np.int32), "only 0 to 1 are possible"),
    ],
)
def test_arrays_that_do_not_belong_are_refused(name, array, message):
    meta, arrays = saved(everything())
    with pytest.raises(ModelFileError, match=message):
        from_state(Everything, meta, arrays | {f"it.{name}": array}, "the thing", "it", n_features=4)


def test_what_is_missing_is_named():
    meta, arrays = saved(everything())
    for name in meta:
        with pytest.raises(ModelFileError, match=f"its {name} is missing"):
            from_state(
                Everything, {k: v for k, v in meta.items() if k != name}, arrays, "the thing", "it", n_features=4
            )
    for name in arrays:
        with pytest.raises(ModelFileError, match=r"missing|no array"):
            from_state(
                Everything, meta, {k: v for k, v in arrays.items() if k != name}, "the thing", "it", n_features=4
            )
    with pytest.raises(ModelFileError, match="it is not described"):
        from_state(Everything, [], arrays, "the thing", "it", n_features=4)


def test_what_cannot_be_kept_is_refused_by_name():
    with pytest.raises(InputError, match="number is a function, which a model file cannot keep"):
        to_state(everything(number=lambda: 1))
    with pytest.raises(InputError, match="shape is a object"):
        to_state(everything(shape=object()))
    with pytest.raises(InputError, match="note is a 3"):
        to_state(everything(note=3))


def test_flags_and_numbers_of_numpy_are_plain_in_a_file():
    meta, _ = to_state(Circle(radius=np.float64(2.0), filled=np.bool_(True), corners=np.int64(3)))
    assert json.dumps(meta) == '{"radius": 2.0, "filled": true, "colour": "red", "corners": 3}'
    assert Flag().takes(np.bool_(False))


class Fitted:
    """A class with a parameter of its own, and what its fit sets."""

    learnt: ClassVar = {"n_words_": Whole(1), "idf_": Array(np.float64, ("n_words_",), least=0.0)}

    def __init__(self, scheme="log"):
        self.scheme = scheme


class More(Fitted):
    @property
    def learnt(self):
        return {"note_": Text()} if self.scheme == "log" else {}


@pytest.mark.parametrize("scheme", ["log", "raw"])
def test_what_a_fit_sets_is_kept_beside_the_parameters(scheme):
    value = More(scheme)
    value.n_words_, value.idf_, value.note_ = 2, np.array([0.0, 1.0]), "x"
    meta, arrays = to_state(value, "it")
    assert meta == {"scheme": scheme, "n_words_": 2} | ({"note_": "x"} if scheme == "log" else {})
    back = from_state(More, meta, arrays, "the thing", "it")
    assert (back.n_words_, back.idf_.tolist(), getattr(back, "note_", None)) == (2, [0.0, 1.0], meta.get("note_"))
    assert to_state(value, "it", fitted=False) == ({"scheme": scheme}, {})
    assert not hasattr(from_state(More, {"scheme": scheme}, {}, "the thing", "it", fitted=False), "n_words_")
    for change in ({"n_words_": 3}, {"n_words_": 0}, {"other_": 1}, {"scheme": 1}):
        with pytest.raises(ModelFileError):
            from_state(More, meta | change, arrays, "the thing", "it")
    with pytest.raises(InputError, match="n_words_ is a NoneType, which a model file cannot keep"):
        to_state(More(scheme))


class Pair(NamedTuple):
    word: str
    weight: float | None


def is_even(n):
    if n % 2:
        raise ValueError("it is odd")


VALUES = {
    "record": Record({"n": Whole(0), "note": Text()}, optional=["note"]),
    "rows": List(Row(Whole(0), Flag())),
    "named": Named(Whole(0)),
    "even": Whole().where(is_even),
    "table": Table({"word": Strings("n_rows"), "weight": Column(np.float64, 0.0, 1.0, lacking=None)}, Pair),
    "dense": Dense((2, 2), nan_is_zero=True),
}
GIVEN = {
    "record": {"n": 1},
    "rows": [[0, True], [2, False]],
    "named": {"a": 1, "b": 0},
    "even": 4,
    "table": [Pair("corn", 0.5), Pair("", None)],
    "dense": np.array([[1.0, np.nan], [np.nan, 2.0]]),
}


def test_records_rows_names_and_tables_come_back():
    meta, arrays = written(GIVEN, VALUES)
    back = read(VALUES, json.loads(json.dumps(meta)), arrays, "it")
    np.testing.assert_array_equal(back.pop("dense"), GIVEN["dense"])
    assert back == {name: value for name, value in GIVEN.items() if name != "dense"}
    unread = read(VALUES | {"rows": Unread(), "table": Unread()}, meta, arrays, "it")
    assert unread["rows"] is unread["table"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"record": {}}, "its record.n is missing"),
        ({"record": {"n": 1, "m": 2}}, "its record.m is not known"),
        ({"record": {"n": 1, "note": 3}}, "its record.note cannot be 3"),
        ({"rows": [[0, True], [2, 1]]}, "its rows.1.1 cannot be 1"),
        ({"rows": [[0, True, 1]]}, "its rows.0 cannot be a list"),
        ({"rows": [[-1, True]]}, "its rows.0.0 is -1: it must be a whole number from 0"),
        ({"named": {"a": -1}}, "its named.a is -1"),
        ({"named": {"\ud800": 1}}, "half of a surrogate pair"),
        ({"even": 3}, "its even is 3: it is odd"),
    ],
)
def test_what_records_rows_and_names_cannot_hold_is_refused(change, message):
    meta, arrays = written(GIVEN, VALUES)
    with pytest.raises(ModelFileError, match=message):
        read(VALUES, meta | change, arrays, "it")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("table.weight", np.array([0.5])),
        ("table.weight", np.array([0.5, 2.0])),
        ("table.word.offsets", np.array([0, 4])),
        ("table.word.offsets", np.array([0, 4, 9])),
        ("dense.data", np.array([1.0, -2.0])),
    ],
)
def test_columns_that_do_not_fit_are_refused(name, array):
    meta, arrays = written(GIVEN, VALUES)
    with pytest.raises(ModelFileError, match=name.partition(".")[0]):
        read(VALUES, meta, arrays | {name: array}, "it")
