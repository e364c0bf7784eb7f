"""Equations as MathML, made by docutils when the site is built.

Browsers draw MathML themselves: pages need no script, no font and no network, so they can be read offline. MathJax
would load 1 MB from another host, KaTeX needs Node to build, and pictures of formulas are neither read aloud nor dark.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.math import get_node_equation_number


def inline(self: Any, node: nodes.math) -> None:
    """An equation within a line."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """An equation on lines of its own, with its number where it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math", tabindex="0"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})</span>')
    self.body.append(tex2mathml(node.astext(), as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))
    return {"parallel_read_safe": True}
