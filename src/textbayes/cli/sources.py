"""Names and defaults of the library for help, read off its sources: importing them takes seconds, and help must not."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import textbayes


def registered_names(package: str) -> list[str]:
    """Return the names that the modules of a package register, and those of installed plug-ins.

    >>> "laplace" in registered_names("textbayes.priors")
    True
    """
    files = [*_path(package).rglob("*.py"), *_path(package).parent.glob(f"{_path(package).name}.py")]
    sources = (path.read_text(encoding="utf-8") for path in files)
    found = {name for source in sources for name in re.findall(r'^@?\w+\.register\("(\w+)"\)', source, re.MULTILINE)}
    found |= {entry.name for entry in entry_points(group=f"textbayes.{package.rpartition('.')[2]}")}
    return sorted(found)


@functools.cache
def signature_defaults(target: str) -> Mapping[str, Any]:
    """Return the defaults of the parameters of a class or function that has plain values for them.

    Parameters
    ----------
    target : str
        Module and name, such as ``textbayes.categorizer.estimator:TextCategorizer``; a class has an ``__init__`` of
        its own, or is a dataclass.

    >>> signature_defaults("textbayes.models.clusters.estimator:SoftClusters")["n_init"]
    2
    """
    module, _, name = target.partition(":")
    tree = ast.parse(_path(module).with_suffix(".py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if getattr(node, "name", None) == name)
    return {key: ast.literal_eval(value) for key, value in _defaults(found) if isinstance(value, ast.Constant)}


def _defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                yield part.target.id, part.value
            elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
                yield from _defaults(part)
    elif isinstance(node, ast.FunctionDef):
        positional = [*node.args.posonlyargs, *node.args.args][::-1]
        for argument, value in [
            *zip(positional, node.args.defaults[::-1], strict=False),
            *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
        ]:
            yield argument.arg, value


def _path(module: str) -> Path:
    return Path(textbayes.__file__).parent.joinpath(*module.split(".")[1:])
