"""Model files of earlier formats, brought to the present one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.state import SETTINGS
from textbayes.categorizer.tables import audit_arrays
from textbayes.core.errors import ModelFileError
from textbayes.core.saved import Saved, Share, Text, WholeFrom0, read_saved
from textbayes.core.types import AnyArray
from textbayes.knowledge import AuditRow

_Number = Annotated[float, Field(allow_inf_nan=True)]
_FITTED = ("link", "sharpness", "calibration", "draws")
_Row = tuple[Text, Text, Text, _Number, _Number, _Number, _Number, WholeFrom0, Share, bool]


class _Format1(Saved):
    """Parts of format 1 that are not in the present one, or in another form."""

    settings: dict[Text, Any]
    rule: dict[Text, Any]
    labels: dict[Text, Any]
    held_out: dict[Text, Any]
    members: list[dict[str, Any]] | None
    prior_audit: list[list[Any]] | None = None


class _Audit(Saved):
    rows: list[_Row]


def upgraded(meta: Any, arrays: Mapping[str, AnyArray], version: int) -> tuple[Any, Mapping[str, AnyArray]]:
    """Bring the description of a model and its arrays into the present format.

    Format 1 did not say how parameters were given: vectorizer, weighting and rule come back as objects, and a prior
    table, which it did not keep, does not come back.

    Parameters
    ----------
    meta : the description
    arrays : name → array
    version : int
        The format of the file.
    """
    if version >= 3:
        return meta, arrays
    if version == 2:
        return _from_2(meta, arrays)
    return _from_2(*_from_1(meta, arrays))


def _from_2(meta: Any, arrays: Mapping[str, AnyArray]) -> tuple[Any, dict[str, AnyArray]]:
    """Format 2 knew linear models alone."""
    if not isinstance(meta, dict) or not isinstance(meta.get("given"), dict):
        raise ModelFileError("the model does not say what it was given; was the file altered?")
    named = {_array_name(name): array for name, array in arrays.items()}
    given = {name: value for name, value in meta["given"].items() if name != "classifier"}
    told = meta["given"].get("classifier")
    members = [_member(one) for one in told] if isinstance(told, list) else None if told is None else _member(told)
    fitted = {name: meta.get(name) for name in _FITTED}
    rest = {name: value for name, value in meta.items() if name not in _FITTED}
    kept = {"model": {"kind": "linear", "state": fitted}, "given": {**given, "model": members}}
    listed = meta.get("arrays")
    names = sorted(_array_name(name) for name in listed) if isinstance(listed, list) and _all_text(listed) else listed
    return {**rest, **kept, "arrays": names}, named


def _member(told: Any) -> Any:
    if not isinstance(told, dict) or "class" not in told:
        raise ModelFileError("the model's classifier is none; was the file altered?")
    parameters = {name: _renamed(value) for name, value in told.items() if name != "class"}
    return {"kind": "linear", "class": told["class"], "parameters": parameters}


def _renamed(value: Any) -> Any:
    """The value with references to arrays by their present names."""
    if isinstance(value, dict):
        return {
            name: _array_name(one) if name == "array" and isinstance(one, str) else _renamed(one)
            for name, one in value.items()
        }
    return value


def _array_name(name: str) -> str:
    first = name.partition(".")[0]
    if first in ("coef", "intercept", "errors", "draws"):
        return f"fitted.{name}"
    return f"model{name.removeprefix('classifier')}" if first == "classifier" else name


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _from_1(meta: Any, arrays: Mapping[str, AnyArray]) -> tuple[Any, Mapping[str, AnyArray]]:
    own = (
        {name: value for name, value in meta.items() if name in _Format1.model_fields}
        if isinstance(meta, dict)
        else meta
    )
    old = read_saved(_Format1, own, "the model")
    if set(old.settings) - set(SETTINGS):
        raise ModelFileError("the model has settings that are not known; was the file altered?")
    audit = read_saved(
        _Audit, {"rows": [tuple(row) for row in old.prior_audit or []]}, "the model's audit of its prior"
    )
    arrays = {**arrays, **audit_arrays([AuditRow(*row) for row in audit.rows])}
    defaults = {name: value for name, value in TextCategorizer().get_params(deep=False).items() if name in SETTINGS}
    given = {"vectorizer": True, "weighting": True, "rule": {**old.rule, "fitted": {}}, "classifier": old.members}
    rest = {name: value for name, value in meta.items() if name not in ("members", "prior_audit")}
    added = {"sharpness": 1.0, "calibration": 1.0, "prior_advice": [], "draws": None, "arrays": sorted(arrays)}
    # The log-loss of format 1 is over yes-or-no decisions, of which two classes have one a text.
    held_out = {**old.held_out, "log_loss_per": "text" if old.labels.get("kind") == "binary" else "decision"}
    return {
        **added,
        **rest,
        "held_out": held_out,
        "given": given,
        "settings": {**defaults, **old.settings},
    }, arrays
