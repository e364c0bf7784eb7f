from __future__ import annotations

import xml.etree.ElementTree as ET

import matplotlib
import pytest

from textbayes.display import Colours, blank_figure, figure_svg

COLOURS = Colours(ink="#112233", ticks="#445566", axes="#778899")


def drawn(background: str | None = None) -> str:
    with blank_figure(3.0, 2.0, COLOURS) as figure:
        axes = figure.subplots()
        axes.plot([0.0, 1.0], [0.0, 1.0])
        axes.set(xlabel="words & texts")
        return figure_svg(figure, background)


def test_a_drawing_is_whole_has_its_size_and_keeps_text_as_text():
    root = ET.fromstring(drawn())
    assert root.get("width") == "216pt"  # 3 inches of 72 points
    assert root.get("height") == "144pt"
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "words & texts" in texts


def test_colours_are_those_asked_for():
    svg = drawn()
    for colour in COLOURS:
        assert colour in svg


@pytest.mark.parametrize("background", [None, "white", "#fedcba"])
def test_the_background_is_drawn_only_where_one_is_asked_for(background):
    patch = next(e for e in ET.fromstring(drawn(background)).iter() if e.get("id") == "patch_1")
    style = next(iter(patch)).get("style", "")
    expected = {None: "fill: none", "white": "fill: #ffffff"}.get(background, f"fill: {background}")
    assert expected in style


def test_the_same_drawing_gives_the_same_bytes_without_date_and_settings_are_put_back():
    before = {name: matplotlib.rcParams[name] for name in ("svg.fonttype", "font.size", "text.color")}
    assert drawn() == drawn()
    assert "<dc:date>" not in drawn()
    assert {name: matplotlib.rcParams[name] for name in before} == before
