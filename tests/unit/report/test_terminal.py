from __future__ import annotations

import io

from rich.console import Console

from textbayes.report import collect_report, print_report


def _printed(data, width: int = 80) -> str:
    stream = io.StringIO()
    print_report(data, Console(file=stream, width=width, markup=False, highlight=False))
    return stream.getvalue()


def test_the_report_on_a_terminal(case):
    text = _printed(collect_report(case.model, case.texts, case.labels, title="A title", notes=["A note."]))
    assert text.startswith("A title\n")
    for part in (
        "A note.",
        "precision",
        "Log-loss",
        "Words with the largest",
        "correct, certain: ",
        "wrong, most certain: ",
        "corn",
    ):
        assert part in text
    assert ("threshold" in text) == (case.model.label_space_.kind != "multiclass")


def test_lines_fit_the_terminal(case):
    text = _printed(collect_report(case.model, case.texts, case.labels), width=60)
    assert max(map(len, text.splitlines())) <= 60


def test_mark_up_is_printed_as_it_is(hostile):
    model, texts, labels = hostile
    text = _printed(collect_report(model, ["[bold]x[/bold] :smile: corn", *texts], [labels[0], *labels]), width=100)
    assert "<script>alert('x')</script>" in text
    assert "a & b" in text
