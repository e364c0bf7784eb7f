"""Options of readers: a value of another type is refused in a sentence, whatever the format."""

from __future__ import annotations

import pytest

from textbayes.core.errors import InputError
from textbayes.core.parameters import check_options, option_defaults
from textbayes.data import FORMATS
from textbayes.data.formats._fields import FieldReader

ODD = {"a number": 3.5, "an object": {"a": 1}, "a list of numbers": [1, 2]}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", FORMATS.names())
def test_no_option_takes_what_it_cannot_use(name, odd):
    records = FORMATS.get(name).records
    for option in option_defaults(records):
        with pytest.raises(InputError, match=rf"has {option}=.*which must be"):
            check_options(f"format {name!r}", records, {option: ODD[odd]})


@pytest.mark.parametrize(
    "given",
    [{"header": ["id", "text"]}, {"header": None}, {"delimiter": ";"}, {"text_field": "a"}, {"text_field": ("a", "b")},
     {"keep_fields": True}, {"keep_fields": ["a"]}],
)  # fmt: skip
def test_what_can_be_used_is_taken(given):
    check_options("format 'csv'", FORMATS.get("csv").records, given)


def test_a_number_that_names_a_field_is_told_how():
    with pytest.raises(InputError, match='write label_field="3" for the text'):
        check_options("format 'csv'", FORMATS.get("csv").records, {"label_field": 3})


def test_an_empty_separator_separates_nothing():
    with pytest.raises(InputError, match="separates nothing"):
        FieldReader("x.csv", label_separator="")


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_many_fields_that_are_kept_cost_as_many_looks():
    names = [Counted(f"c{i}") for i in range(2000)]
    FieldReader("x.csv", text_field="c0", keep_fields=[str(name) for name in names]).choose(names)
    assert Counted.compared < 10 * len(names)
