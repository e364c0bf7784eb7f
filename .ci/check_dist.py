"""Check the source distribution and the wheel in a folder: one of each, with the package and nothing but it.

python .ci/check_dist.py dist
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "textbayes"
BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}


def package_files() -> set[str]:
    """Files of the package in this checkout, by their paths in it."""
    found = (path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCES.parent).as_posix() for path in found}


def problems(folder: Path, expected: set[str]) -> list[str]:
    """What is wrong with the distributions in a folder, a sentence each."""
    sources, wheels = sorted(folder.glob("*.tar.gz")), sorted(folder.glob("*.whl"))
    if (len(sources), len(wheels)) != (1, 1):
        return [f"{folder} has {len(sources)} source distributions and {len(wheels)} wheels, not one of each"]
    with tarfile.open(sources[0]) as archive:
        in_sources = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    with zipfile.ZipFile(wheels[0]) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    found = {
        sources[0].name: {name.removeprefix("src/") for name in in_sources - BESIDE},
        wheels[0].name: in_wheel,
    }
    said = []
    for name, files in found.items():
        said += [f"{name} has no {one}" for one in sorted(expected - files)]
        said += [f"{name} has {one}, which is not of the package" for one in sorted(files - expected)]
    return said


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]), package_files())) or None)
