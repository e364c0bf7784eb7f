"""Schema checks of the contents of a file before anything uses them.

A schema is a pydantic model, see ``Saved``. Schemas are imported where a file is read, for pydantic takes a tenth of a
second to import.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from textbayes.core.errors import ModelFileError

_LONGEST_SHOWN = 60
_NEEDED = {
    "missing": "is missing",
    "extra_forbidden": "is not known to this version of textbayes",
    "finite_number": "must be a finite number",
}


class Saved(BaseModel):
    """Fields of their exact types (True is no number, 1 is no text), no others, and no NaN or infinity."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


S = TypeVar("S", bound=Saved)


def read_saved(schema: type[S], value: Any, what: str) -> S:
    """The value as the schema has it; anything else is refused with the first field that is wrong."""
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "description"
        told = first["msg"].removeprefix("Value error, ")
        need = _NEEDED.get(first["type"], f"is {_shortened(first['input'])}: {told[:1].lower()}{told[1:]}")
        raise ModelFileError(f"{what} cannot be used: its {field} {need}; was the file altered?") from None


def _shortened(value: Any) -> str:
    shown = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _sorted_and_distinct(values: Any) -> Any:
    if any(not before < after for before, after in pairwise(values)):
        raise ValueError("they must be distinct and in sorted order")
    return values


def _is_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    return value


Text = Annotated[str, AfterValidator(_is_text)]
Name = Annotated[Text, Field(min_length=1, max_length=100)]
SortedTexts = Annotated[list[Text], AfterValidator(_sorted_and_distinct)]
# A whole number stays one, so that a model that is saved again has the same text.
Real = Annotated[int, Field(ge=-(2**53), le=2**53)] | float
Share = Annotated[Real, Field(ge=0, le=1)]
Positive = Annotated[Real, Field(gt=0)]
WholeFrom1 = Annotated[int, Field(ge=1, le=2**53)]
WholeFrom0 = Annotated[int, Field(ge=0, le=2**53)]
Jobs = Annotated[int, Field(ge=-1024, le=1024)]
sorted_and_distinct = AfterValidator(_sorted_and_distinct)
