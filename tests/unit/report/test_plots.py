from __future__ import annotations

import re
import subprocess
import sys

from textbayes.report.figures import wilson_interval
from textbayes.report.plots import coverage_plot, embed, reliability_plot
from textbayes.report.records import Coverage, ReliabilityBin


def test_plots_of_little_data():
    for svg in (
        reliability_plot([ReliabilityBin(0.5, wilson_interval(0, 1), 1)]),
        reliability_plot(
            [ReliabilityBin(1.0, wilson_interval(3, 3), 3), ReliabilityBin(0.0, wilson_interval(0, 9), 9)]
        ),
        coverage_plot([Coverage(0.0, 1.0, 1.0), Coverage(0.9, 0.5, 1.0)]),
        coverage_plot([Coverage(0.0, 1.0, 0.0), Coverage(0.9, 0.1, 0.0)]),
    ):
        assert svg.startswith("<svg viewBox=")
        assert svg.rstrip().endswith("</svg>")
        assert "xmlns" not in svg
        assert "http" not in svg


def test_text_stays_text_and_colours_are_the_pages():
    svg = reliability_plot([ReliabilityBin(0.5, wilson_interval(5, 10), 1234)])
    assert ">1,234</text>" in svg
    assert "var(--accent)" in svg
    assert not re.search(r"#0[1-5]0", svg)
    assert "DejaVu" not in svg


def test_embedding_makes_ids_its_own():
    svg = '<?xml version="1.0"?><svg xmlns="http://x" width="1pt" viewBox="0 0 1 1"><g id="a"/><use href="#a"/></svg>'
    assert embed(svg, "p", 'a "b"') == (
        '<svg viewBox="0 0 1 1" role="img" aria-label="a &quot;b&quot;"><g id="p-a"/><use href="#p-a"/></svg>'
    )


def test_plotting_leaves_no_global_state():
    code = (
        "import matplotlib, sys\n"
        "def settings():\n"  # looking at the backend would choose one
        "    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != 'backend'}\n"
        "before = settings()\n"
        "from textbayes.report.plots import reliability_plot\n"
        "from textbayes.report.records import ReliabilityBin, Interval\n"
        "reliability_plot([ReliabilityBin(0.5, Interval(0.5, 0.2, 0.8), 4)])\n"
        "assert settings() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_names_of_points_that_lie_close_together_are_left_out():
    """At 100 % several limits stand side by side, where their names would lie on one another."""
    close = [
        Coverage(0.0, 1.0, 0.9),
        *(Coverage(p, share, 1.0) for p, share in ((0.95, 0.7), (0.98, 0.66), (0.99, 0.62))),
    ]
    drawn = coverage_plot(close)
    assert [name in drawn for name in ("all texts", "p ≥ 0.95", "p ≥ 0.98", "p ≥ 0.99")] == [True, True, False, False]
    assert "p ≥ 0.99" in coverage_plot([close[0], close[1], Coverage(0.99, 0.2, 1.0)])
