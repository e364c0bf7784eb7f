"""Links: how a linear predictor becomes a probability. One file each; a new file is picked up by name."""

from __future__ import annotations

from textbayes.core.registry import Registry
from textbayes.links.base import BaseLink

links: Registry[type[BaseLink]] = Registry("link", "textbayes.links")


def make_link(link: str | BaseLink) -> BaseLink:
    """The link of that name, or the object itself."""
    return link if isinstance(link, BaseLink) else links.get(link)()


__all__ = ["BaseLink", "links", "make_link"]
