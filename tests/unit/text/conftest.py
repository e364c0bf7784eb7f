"""Real texts, found where $TEXTBAYES_DATA or ../shared/data is; tests that need them are skipped elsewhere."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from itertools import islice
from pathlib import Path

import pytest


def _find(name: str) -> Path:
    root = Path(__file__).resolve().parents[3]
    places = [Path(place) for place in (os.environ.get("TEXTBAYES_DATA"), root.parent / "shared" / "data") if place]
    for place in places:
        if (place / name).exists():
            return place / name
    pytest.skip(f"{name} is in none of {', '.join(map(str, places))}; set TEXTBAYES_DATA")


@pytest.fixture(scope="session")
def federalist() -> list[str]:
    with gzip.open(_find("federalist/federalist.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="session")
def newsgroups() -> list[str]:
    """The first 1,200 posts, headers and all, read as Latin-1: some 60 hold bytes beyond ASCII."""
    with tarfile.open(_find("20newsgroups/20news-bydate.tar.xz"), "r:xz") as archive:
        files = (archive.extractfile(member) for member in archive if member.isfile())
        return [file.read().decode("latin-1") for file in islice(files, 1200) if file is not None]
