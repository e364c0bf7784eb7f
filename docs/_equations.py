"""The table of equations and the tests that hold them, from docs/papers/equations.toml and the markers of the tests."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "papers" / "equations.toml"


class Equation(NamedTuple):
    """An equation of a paper; ``definition`` says why no test can name it, and is empty where one must."""

    paper: str
    number: str
    what: str
    definition: str = ""


def listed() -> list[Equation]:
    """All equations, paper by paper and in the paper's order."""
    with LIST.open("rb") as file:
        papers = tomllib.load(file)
    return [
        Equation(paper, number, said) if isinstance(said, str) else Equation(paper, number, **said)
        for paper, equations in papers.items()
        for number, said in equations.items()
    ]


def marked(folder: Path = ROOT / "tests") -> dict[tuple[str, str], list[str]]:
    """The tests of each equation, as ``file::function``, by (paper, number): read, not imported."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.equation(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                for paper, *numbers in _markers(node):
                    for number in numbers:
                        found[paper, number].append(f"{path.relative_to(folder.parent).as_posix()}::{node.name}")
    return found


def _markers(function: ast.FunctionDef) -> Iterator[list[str]]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.equation":
            yield [ast.literal_eval(argument) for argument in decorator.args]


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Paper, number, what it says, and its tests or the reason why it has none."""
    tests = marked()
    for paper, number, what, definition in listed():
        held = ", ".join(f"`{test}`" for test in tests.get((paper, number), ()))
        yield paper, number, what, f"definition only: {definition}" if definition else held
