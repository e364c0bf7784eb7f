"""``textbayes link``."""

from __future__ import annotations


def test_a_report_of_links(run, lines, write, documents):
    few = ("--scales", "2", "--folds", "3", "--jobs", "1")
    rows = lines("link", write(documents), *few)
    assert {row["links"] for row in rows} == {"logit", "probit", "student_t", "skew_t"}
    assert {row["label"] for row in rows} == {"grain", "money", "sport"}
    assert all(row["log_loss"] > 0.0 and 0.0 <= row["f1"] <= 1.0 for row in rows)
    shown = " ".join(run("link", write(documents), *few, "--table").stdout.split())
    for question in ("Heavy tails", "Asymmetry", "The flexible link"):
        assert question in shown
