"""The text of the papers' pages says what their tables say, and how long a run takes is for the command to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from textbayes.reproduce import papers

DOCS = Path(__file__).resolve().parents[3] / "docs" / "papers"
PAGES = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in papers.names()}
PROSE = {name: " ".join(text.partition("<!-- printed:")[0].split()) for name, text in PAGES.items()}
REASONS = " ".join((DOCS / "cells.toml").read_text(encoding="utf-8").split())


def printed(paper, name):
    """What stands on a page of one result."""
    return re.search(f"<!-- printed: {name} -->(.*?)<!-- end -->", PAGES[paper], re.DOTALL)[1]


def numbers(paper, name):
    """Rows of a table without published figures, by name."""
    rows = [line.strip("|").split("|") for line in printed(paper, name).splitlines() if line.startswith("| ")]
    return {row[0].strip(): [float(value) for value in row[1:]] for row in rows[1:]}


def of_topic(name, topic):
    """Published and own figure of a topic in a table of the page on sparse classifiers, by column."""
    lines = [line for line in printed("sparse", name).splitlines() if line.startswith("|")]
    columns = [cell.strip() for cell in lines[0].split("|")[2:-1]]
    (row,) = [line for line in lines if line.startswith(f"| {topic} |")]
    return dict(zip(columns, re.findall(r"([\d.]+) / ([\d.]+)", row), strict=True))


def pairs(text, what):
    """Published and own mean of each method in a note."""
    found = re.findall(r"(\w+) ([\d.]+) \(([\d.]+) to ([\d.]+)\), published ([\d.]+) \(", text)
    return {name: (float(published), float(own)) for name, own, *_, published in found}[what]


def test_sparse_says_what_its_tables_of_stopping_rules_say():
    off, rank = numbers("sparse", "Table 4a"), numbers("sparse", "Table 4b")
    sizes = dict(zip(("0.001", "0.0001", "1e-05", "1e-06", "1e-08", "1e-10", "1e-12"), range(7), strict=True))
    start = "rate γ, start least squares"

    def at(table, rule, zero):
        return table[f"{start}, {rule}"][sizes[zero]]

    text, chosen = PROSE["sparse"], at(off, "change ≤ 0.01", "1e-10")
    best = at(rank, "change ≤ 0.01", "1e-10")
    assert best == max(map(max, rank.values()))
    assert f"correlation is {best:.3f} over the 59 Laplace cells" in text
    assert f"the mean difference is {chosen:.1f} parameters" in text
    assert f"{best:.3f} is the best of the variants tried" in text
    least = min(min(row) for name, row in off.items() if "√" in name)
    assert f"No rule with rate $\\sqrt{{\\gamma}}$ comes closer than {least:.1f} parameters" in text
    assert f"rank correlation of {rank['rate √γ, the optimum'][0]:.3f}. With rate" in text
    assert text.count(f"{rank['rate γ, the optimum'][0]:.3f}") == 2
    closest = at(off, "30 steps", "1e-12")
    assert closest == min(map(min, off.values()))
    assert f"30 steps and zero at 1e-12 ({closest:.1f} parameters)" in text
    others = at(off, "20 steps", "1e-08"), at(off, "10 steps", "1e-05"), chosen
    told = "20 steps and 1e-8 ({:.1f}), 10 steps and 1e-5 ({:.1f}). A relative change of 0.01 and 1e-10 ({:.1f})"
    assert told.format(*others) in text
    small, optimum = min(off[f"{start}, change ≤ 0.001"]), off["rate γ, the optimum"][0]
    assert f"a difference of {small:.1f} parameters at best, the optimum {optimum:.1f}." in text


def test_the_table_of_interest_has_the_figures_of_the_other_tables():
    columns = {name: shown for number in (3, 5, 6) for name, shown in of_topic(f"Table {number}", "interest").items()}
    names = {"Laplace γ = 10, 1,000 words": "Laplace γ = 10, 1,000", "Gaussian": "Probit Gaussian"}
    names["logistic Laplace"] = "Logistic Laplace"
    section = PAGES["sparse"].partition("\n## interest\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "–" in line]
    rows = [row for row in rows if len(row) == 9]
    assert len(rows) == 10
    for name, published, own, *_ in rows:
        assert columns[names.get(name, name)] == (published, own), name


def test_flexlink_says_what_its_tables_of_examples_say():
    first, second = (printed("flexlink", f"Table {number}") for number in (1, 3))
    text = PROSE["flexlink"]
    wins = [pairs(one, name)[1] for one in (first, second) for name in ("FST", "logit")]
    assert "({:.3f} against {:.3f} and {:.3f} against {:.3f} for the logit)".format(*wins) in text
    fresh = dict(re.findall(r"(\w+) ([\d.]+) \(", second.partition("no method has seen: ")[2]))
    assert min(fresh, key=fresh.get) == "enet"
    assert max(fresh, key=fresh.get) == "FST"
    assert f"elastic net is best ({fresh['enet']}) and FST is last ({fresh['FST']})" in text
    published, own = pairs(second, "FST")
    assert f"FST in Example 2 has {own:.3f} against {published:.3f}." in text
    nets = [100 * (own - published) for published, own in (pairs(one, "enet") for one in (first, second))]
    assert "{:.1f} points above the published mean in Example 1 and {:.1f} in Example 2".format(*nets) in text
    worse = [100 * (b - a) for a, b in (pairs(second, name) for name in ("probit", "logit", "enet"))]
    assert f"elastic net are {min(worse):.1f} to {max(worse):.1f} points worse too" in text


@pytest.mark.parametrize("number", [1, 3])
def test_reasons_of_flexlinks_examples_hold(number):
    text = printed("flexlink", f"Table {number}")
    apart = max(100 * abs(b - a) for a, b in (pairs(text, name) for name in ("probit", "logit", "FST", "enet")))
    told = float(re.search(rf"#table-{number}\) of rates are within ([\d.]+) points", REASONS)[1])
    assert apart <= told + 1e-9 < apart + 0.3


def test_reason_of_the_weights_at_zero_holds():
    means = re.search(
        r"Means: enet ([\d.]+) \(published ([\d.]+)\), FST ([\d.]+) \(published ([\d.]+)\)", PAGES["flexlink"]
    )
    assert "the means are {0} and {2} (published {1} and {3})".format(*means.groups()) in REASONS


@pytest.mark.parametrize("paper", papers.names())
def test_how_long_a_run_takes_is_for_the_command_to_say(paper):
    assert re.search(r"\b(minutes?|hours?)\b", PROSE[paper]) is None


@pytest.mark.parametrize("paper", papers.names())
def test_every_result_has_the_day_and_the_commit_that_printed_it(paper):
    blocks = re.findall(r"<!-- printed: (.*?) -->(.*?)<!-- end -->", PAGES[paper], re.DOTALL)
    assert blocks
    for name, body in blocks:
        assert re.search(r"^\*.*`make papers`.* on \d{4}-\d\d-\d\d, commit `[0-9a-f]{8}`\.\*$", body, re.MULTILINE), (
            name
        )
