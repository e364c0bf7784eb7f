"""Whole words that a filter shows in place of stems: the commonest forms in the texts that it was started with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from textbayes.core.atomic import atomic_write
from textbayes.stream.filter import AdaptiveFilter
from textbayes.stream.words import vectorizer_of
from textbayes.text.surface import surface_forms

_FILE = "surface.json"


def forms_for(filter: AdaptiveFilter, texts: Sequence[str]) -> dict[str, str]:
    """The form of each stem that a filter knows, by the texts that it was started with."""
    return surface_forms(texts, vectorizer_of(filter.settings.text, filter.lexicon))


def write_surface(folder: str | Path, forms: Mapping[str, str]) -> None:
    """Keep forms in the folder of a filter; they are shown, and decide nothing."""
    with atomic_write(Path(folder) / _FILE) as stream:
        stream.write(json.dumps(dict(forms), ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))


def read_surface(folder: str | Path) -> dict[str, str]:
    """The forms kept in the folder of a filter; none where there are none, or they cannot be read."""
    try:
        told = json.loads((Path(folder) / _FILE).read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(stem): str(form) for stem, form in told.items()} if isinstance(told, dict) else {}
