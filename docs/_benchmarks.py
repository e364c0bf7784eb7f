"""The page of benchmarks, from the closing lines that benchmarks/record.py stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results.json"


def results() -> list[dict[str, Any]]:
    """The stored results, in the order of the file."""
    found: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def page() -> str:
    """A count, then every result under its group: what was measured, what the peers were given, the closing line."""
    found = results()
    failed = [one for one in found if not one["closing"].endswith(": pass")]
    names = ", ".join(f"`{one['script']}`" for one in failed)
    passed = f"{len(found) - len(failed)} of {len(found)} results pass"
    parts = [f"{passed}. Requirement not met: {names}." if failed else f"{passed}."]
    for group in dict.fromkeys(one["group"] for one in found):
        parts.append(f"## {group}")
        parts += [part for one in found if one["group"] == group for part in _result(one, found)]
    return "\n\n".join(parts) + "\n"


def _result(one: dict[str, Any], found: list[dict[str, Any]]) -> Iterator[str]:
    command = " ".join((one["script"], *one["arguments"]))
    is_first = next(other for other in found if other["script"] == one["script"]) is one  # a heading is a link's name
    yield f"### {one['script'].removesuffix('.py')}{'' if is_first else ' ' + ' '.join(one['arguments'])}"
    yield f"{one['measures'][0].upper()}{one['measures'][1:]}."
    if one["peers"]:
        yield f"*Peers*: {one['peers']}"
    yield f"> `{one['closing']}`"
    yield f"`{command}`, {one['date']}, commit `{one['commit']}`"
