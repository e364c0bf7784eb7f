"""Files that a browser keeps."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response


class Download(NamedTuple):
    """A file: its name, its type and its bytes."""

    name: str
    media_type: str
    content: bytes

    def answer(self) -> Response:
        """What a browser keeps under the name."""
        headers = {"Content-Disposition": f'attachment; filename="{self.name}"'}
        return Response(self.content, media_type=self.media_type, headers=headers)
