"""Graphical models: drawn with all variables, one arrow for each dependence; names that are not there are refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from textbayes.core.errors import InputError
from textbayes.reproduce import papers
from textbayes.reproduce.render import Node, Plate, graphical_model

pytest.importorskip("matplotlib")


def test_a_graph_has_a_circle_for_each_random_variable():
    nodes = {"a": Node("a", 0, 0, "fixed"), "b": Node("b", 2, 0), "c": Node("c", 4, 0, "observed")}
    few, more = (graphical_model(nodes, arrows, []) for arrows in ([("a", "b")], [("a", "b"), ("b", "c")]))
    boxed = graphical_model(nodes, [("a", "b")], [Plate("n", 1, -0.5, 5, 0.5)])
    tags = [sum(element.tag.endswith("path") for element in ElementTree.fromstring(svg).iter()) for svg in (few, more)]
    assert tags[1] > tags[0]  # an arrow more
    assert len(boxed) > len(few)


def test_arrows_lead_from_node_to_node():
    with pytest.raises(InputError, match="an arrow names 'z'"):
        graphical_model({"a": Node("a", 0, 0)}, [("a", "z")], [])


@pytest.mark.parametrize(("paper", "number"), [("sparse", "figure 1"), ("flexlink", "figure 4")])
def test_models_of_the_papers_are_drawn(paper, number):
    (figure,) = papers.get(paper).run([number])
    assert figure.name.lower() == number
    assert ElementTree.fromstring(figure.svg).tag.endswith("svg")
    assert "to z" in figure.description
