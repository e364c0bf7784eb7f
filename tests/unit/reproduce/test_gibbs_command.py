"""``textbayes reproduce gibbs --draws``: the option reaches the paper, its page, and no paper that does not sample."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from textbayes.cli.reproduce import reproduce
from textbayes.reproduce import Experiment, PaperRun, Table, papers

# Click keeps the option of help that a command first had: tables of help in other tests have -h.
HELP = {"help_option_names": ["-h", "--help"]}


@pytest.fixture
def asked(monkeypatch) -> list[int | None]:
    """What two papers, one of which samples, were told to draw."""
    papers.names()
    draws: list[int | None] = []

    def table(run: PaperRun) -> Table:
        draws.append(run.draws)
        return Table("1", "One", ("a",), ("x",), ((1.0,),), ((1.5,),), 1)

    for name in ("plain", "sampling"):
        paper = Experiment(
            name, "A paper", "Nobody (1999)", {"table 1": ()}, lambda: {"table 1": table}, samples=name == "sampling"
        )
        monkeypatch.setitem(papers._members, name, paper)
    return draws


def run(*arguments: object):
    return CliRunner().invoke(reproduce, list(map(str, arguments)), **HELP)


def test_draws_reach_the_paper_and_its_page(asked, tmp_path):
    done = run("sampling", "--quick", "--draws", 1000, "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert asked == [1000]
    assert "`textbayes reproduce sampling --quick --draws 1000`" in (tmp_path / "sampling.md").read_text("utf-8")


def test_iterations_reach_the_paper_and_its_page(asked, tmp_path):
    assert run("sampling", "--iterations", 60_000, "--output", tmp_path).exit_code == 0
    assert asked == [None], "the other chains still end when they may"
    assert "`textbayes reproduce sampling --iterations 60000`" in (tmp_path / "sampling.md").read_text("utf-8")
    assert run("plain", "--iterations", 60_000, "--output", tmp_path).exit_code == 2


def test_without_draws_the_paper_is_left_as_it_is(asked, tmp_path):
    assert run("sampling", "--output", tmp_path).exit_code == 0
    assert asked == [None]


def test_draws_are_refused_where_nothing_is_drawn(asked, tmp_path):
    done = run("plain", "--draws", 1000, "--output", tmp_path)
    assert done.exit_code == 2
    assert "'plain' draws no samples" in done.output


@pytest.mark.parametrize("draws", ["0", "7", "many"])
def test_bad_numbers_of_draws_are_refused(asked, tmp_path, draws):
    assert run("sampling", "--draws", draws, "--output", tmp_path).exit_code == 2
    assert asked == []
