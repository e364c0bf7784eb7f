"""HTML reports of an evaluated model: collected into plain records, then rendered as one file readable offline.

``collect_report`` computes, ``render_report`` and ``write_report`` lay out, ``print_report`` shows the same figures
on a terminal. Plots need the ``demo`` extra; nothing here imports matplotlib or jinja2 before a report is rendered.
``summarise_draws`` tabulates a sampled model's weights with their diagnostics, ``to_inference_data`` gives its draws to
ArviZ, ``plot_words`` plots them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.report.arviz import summarise_draws, to_inference_data
    from textbayes.report.collect import ReportData, collect_report
    from textbayes.report.plots import plot_words
    from textbayes.report.render import check_report_extra, render_report, write_report
    from textbayes.report.terminal import print_report

# Public name → module that defines it, loaded on first use: the command line imports this package for --help.
_PUBLIC = {
    "ReportData": "textbayes.report.collect",
    "check_report_extra": "textbayes.report.render",
    "collect_report": "textbayes.report.collect",
    "plot_words": "textbayes.report.plots",
    "print_report": "textbayes.report.terminal",
    "render_report": "textbayes.report.render",
    "summarise_draws": "textbayes.report.arviz",
    "to_inference_data": "textbayes.report.arviz",
    "write_report": "textbayes.report.render",
}
__all__ = [
    "ReportData",
    "check_report_extra",
    "collect_report",
    "plot_words",
    "print_report",
    "render_report",
    "summarise_draws",
    "to_inference_data",
    "write_report",
]
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
