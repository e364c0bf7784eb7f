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
    from textbayes.report.arviz import summarise_draws as summarise_draws
    from textbayes.report.arviz import to_inference_data as to_inference_data
    from textbayes.report.collect import ReportData as ReportData
    from textbayes.report.collect import collect_report as collect_report
    from textbayes.report.plots import plot_words as plot_words
    from textbayes.report.render import check_report_extra as check_report_extra
    from textbayes.report.render import render_report as render_report
    from textbayes.report.render import write_report as write_report
    from textbayes.report.terminal import print_report as print_report


__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.report.arviz": ("summarise_draws", "to_inference_data"),
        "textbayes.report.collect": ("ReportData", "collect_report"),
        "textbayes.report.plots": ("plot_words",),
        "textbayes.report.render": ("check_report_extra", "render_report", "write_report"),
        "textbayes.report.terminal": ("print_report",),
    },
)
