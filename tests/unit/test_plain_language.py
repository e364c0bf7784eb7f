"""No text for users holds a phrase of ``tests/banned_phrases.txt``: messages, help, pages, reports and documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from references.banned_phrases import banned, read_phrases

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "textbayes"
CODE = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__")


def python_texts(source: str, docstrings: bool) -> Iterator[tuple[int, str]]:
    """Line and text of every string; of f-strings the text around the values.

    Docstrings are left out, or with ``docstrings`` all but those of decorated functions: commands show them as help.
    """
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    if docstrings:
        commands = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.decorator_list]
        skipped -= {id(node.body[0].value) for node in commands if isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            skipped |= {id(part) for part in parts}
            yield node.lineno, "{}".join(str(part.value) for part in parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def page_texts(source: str) -> Iterator[tuple[int, str]]:
    """The text of a template or script, without its comments."""
    yield 1, re.sub(r"\{#.*?#\}|^\s*//.*?$|/\*.*?\*/", "", source, flags=re.DOTALL | re.MULTILINE)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return python_texts(source, docstrings=path.parent.name == "cli")
    return page_texts(source) if path.suffix in (".jinja", ".js") else iter([(1, source)])


def files_of(area: str) -> list[Path]:
    if area in CODE:
        return [path for path in sorted((SOURCE / area).rglob("*")) if path.suffix in (".py", ".jinja", ".js")]
    if area == "modules":
        return sorted(SOURCE.glob("*.py"))
    return sorted((ROOT / "docs").rglob("*.md")) if area == "docs" else [ROOT / area]


@pytest.mark.parametrize("area", [*CODE, "modules", "docs", "README.md", "CHANGELOG.md"])
def test_no_text_for_users_holds_a_banned_phrase(area):
    files = files_of(area)
    assert files
    found = [
        f"{path.relative_to(ROOT)}:{line + text.count(chr(10), 0, match.start())}: {match[0]!r}; write: {instead}"
        for path in files
        for line, text in texts_of(path)
        for match, instead in banned(text)
    ]
    assert not found, "\n".join(found)


def test_phrases_are_found_in_strings_and_not_in_comments():
    ((pattern, instead),) = read_phrases("# a comment\n\nhow it stands => progress\n")
    assert instead == "progress"
    source = '"""How it stands."""\n# how it stands\nx = f"{1} How it\\n stands {2}"\n'
    source += '@command\ndef f():\n    "How it stands."\n'
    found = [(line, text) for line, text in python_texts(source, docstrings=False) if pattern.search(text)]
    assert [line for line, _ in found] == [3]
    assert [line for line, text in python_texts(source, docstrings=True) if pattern.search(text)] == [3, 6]
    assert not [1 for _, text in page_texts("{# how it stands #}<p>fine</p>") if pattern.search(text)]
    with pytest.raises(AssertionError, match="what to write instead"):
        read_phrases("how it stands")
