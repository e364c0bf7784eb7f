"""The papers as texts, to hold what we typed in against."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def seed_text() -> Callable[[str], str]:
    """Reads the text of a paper by the name of its file; skips where the texts are not there."""

    def read(name: str) -> str:
        data = os.environ.get("TEXTBAYES_DATA")
        shared = Path(__file__).resolve().parents[3] / "shared"
        places = [*([Path(data).parent / "seeds"] if data else []), shared / "seeds"]
        for place in places:
            if (place / name).exists():
                return (place / name).read_text(encoding="utf-8")
        pytest.skip(f"{name} is in none of {', '.join(map(str, places))}")

    return read
