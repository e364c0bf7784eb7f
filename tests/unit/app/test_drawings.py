"""Drawings that are kept: made again where anything that they show has changed, and never taken for another."""

from __future__ import annotations

import numpy as np

from textbayes.app.dashboard import LatestDrawings


def test_a_drawing_is_made_again_only_where_something_changed():
    drawings, made = LatestDrawings(2), []

    def get(name, *view):
        def draw():
            made.append(name)
            return b"drawing %d" % len(made)

        return drawings.get(("svg", name), view, draw)

    first = get("left", np.array([0.25, 0.5]), "tea")
    assert get("left", np.array([0.25, 0.5]), "tea") == first
    assert made == ["left"]
    assert get("left", np.array([0.25, np.nextafter(0.5, 1.0)]), "tea") != first
    assert get("left", np.array([0.25, 0.5]), "tea") == first  # both are kept
    assert get("recall", np.array([0.25, 0.5]), "tea") != first
    assert made == ["left", "left", "recall"]
    get("left", np.array([0.25, np.nextafter(0.5, 1.0)]), "tea")
    assert made == ["left", "left", "recall", "left"]  # the one that was asked for longest ago had to go
