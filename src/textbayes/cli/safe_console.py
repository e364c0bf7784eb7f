"""rich's console with control characters in texts shown as escapes; a file apart, since rich is imported on use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from textbayes.display import visible


class SafeConsole(Console):
    """A console whose own colours and movements pass, but no control character of a text."""

    def render_str(self, text: str, *args: Any, **options: Any) -> Text:
        # Here as well as below: columns are measured after this, and before that.
        return super().render_str(visible(text), *args, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
