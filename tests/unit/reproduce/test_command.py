from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from textbayes.cli.reproduce import reproduce
from textbayes.core.errors import CorpusNotFoundError, InputError
from textbayes.reproduce import Experiment, Figure, Run, Table, papers


class Fake:
    """A paper of three exhibits that remembers what was asked of it: numbers and whether to be quick."""

    def __init__(self, fail: bool = False) -> None:
        self.fail, self.asked = fail, []
        needs = {"table 1": (), "table 2": ("reuters21578",), "figure 1": ()}
        exhibits = {"table 1": self.table, "table 2": self.table, "figure 1": self.figure}
        self.paper = Experiment("fake", "A fake paper", "Nobody (1999)", needs, lambda: exhibits)

    def table(self, run: Run) -> Table:
        self.asked.append((run.number, run.quick))
        run.progress(run.number, 1, 1)
        return Table("1", "One", ("a",), ("x", "y"), ((1.0, 2.0),), ((1.5, None),), 1)

    def figure(self, run: Run) -> Figure:
        self.asked.append((run.number, run.quick))
        if self.fail:
            raise KeyboardInterrupt
        return Figure("1", "A drawing", "<svg viewBox='0 0 1 1'></svg>")


@pytest.fixture
def fake(monkeypatch) -> Fake:
    papers.names()
    made = Fake()
    monkeypatch.setitem(papers._members, "fake", made.paper)
    return made


def run(*arguments: object) -> Result:
    return CliRunner().invoke(reproduce, list(map(str, arguments)))


def test_without_a_paper_the_papers_are_listed(fake):
    done = run("--table")
    assert done.exit_code == 0
    assert "A fake paper" in done.stdout
    assert "table 1, table 2, figure 1" in done.stdout
    rows = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert [row["paper"] for row in rows] == papers.names()


def test_results_are_printed_and_pages_written(fake, tmp_path):
    done = run("fake", "--only", "table 1", "--only", "Figure 1", "--quick", "--table", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert fake.asked == [("table 1", True), ("figure 1", True)]
    assert "1.0 1.5 +0.5" in done.stdout
    assert "Figure 1. A drawing" in done.stdout
    page = (tmp_path / "fake.md").read_text(encoding="utf-8")
    assert "`textbayes reproduce fake --quick --only 'table 1' --only 'Figure 1'`" in page
    assert sorted(os.listdir(tmp_path)) == ["fake-figure-1.svg", "fake.html", "fake.md"]


def test_cells_as_json_and_csv(fake, tmp_path):
    only = ("--only", "table 1", "--out", tmp_path)
    first, second = (json.loads(line) for line in run("fake", "--json", *only).stdout.splitlines())
    assert first == {
        "paper": "fake",
        "table": "1",
        "row": "a",
        "column": "x",
        "published": 1.0,
        "ours": 1.5,
        "difference": 0.5,
    }
    assert second["ours"] is None
    rows = list(csv.DictReader(io.StringIO(run("fake", "--csv", *only).stdout)))
    assert [row["column"] for row in rows] == ["x", "y"]
    assert rows[1]["ours"] == ""


def test_an_interrupted_run_leaves_what_was_finished(monkeypatch, tmp_path):
    monkeypatch.setitem(papers._members, "fake", Fake(fail=True).paper)
    done = run("fake", "--only", "table 1", "--only", "figure 1", "--out", tmp_path)
    assert done.exit_code != 0
    assert "## Table 1" in (tmp_path / "fake.md").read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["fake.html", "fake.md"]


def test_tables_without_their_corpus_are_named_and_left_out(fake, tmp_path, monkeypatch):
    """The command that the README shows runs in a fresh clone, which has no corpora."""
    monkeypatch.setattr("textbayes.data.catalogue.corpus_path", lambda name: None)
    done = run("fake", "--out", tmp_path / "pages")
    assert done.exit_code == 0, done.output
    assert fake.asked == [("table 1", False), ("figure 1", False)], "those that need no corpus"
    said = " ".join(done.stderr.split())
    assert "left out, for want of corpora: table 2: not found: reuters21578" in said
    assert "$TEXTBAYES_DATA" in said


def test_a_table_that_was_asked_for_and_has_no_corpus_is_refused(fake, tmp_path, monkeypatch):
    monkeypatch.setattr("textbayes.data.catalogue.corpus_path", lambda name: None)
    done = run("fake", "--only", "table 1", "--only", "table 2", "--out", tmp_path / "pages")
    assert isinstance(done.exception, CorpusNotFoundError)
    assert "corpora are needed for table 2: not found: reuters21578" in str(done.exception)
    assert not fake.asked
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("fake", "--only", "table 9"), "it has table 1, table 2, figure 1"),
        (("fakes",), "did you mean 'fake'?"),
        (("fake", "other"), "unexpected extra argument"),
        (("fake", "--json", "--csv"), "choose one of them"),
    ],
    ids=["unknown number", "unknown paper", "two papers", "two forms"],
)
@pytest.mark.usefixtures("fake")
def test_a_command_that_cannot_be_understood(tmp_path, arguments, says):
    done = run(*arguments, "--out", tmp_path / "pages")
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("fake")
def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("fake", "--only", "table 1", "--out", tmp_path / "file" / "pages")
    assert isinstance(done.exception, InputError)
    assert "--out" in str(done.exception)


def test_help_and_listing_load_nothing_heavy():
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from textbayes.cli.reproduce import reproduce\n"
        "assert CliRunner().invoke(reproduce, ['--help']).exit_code == 0\n"
        "assert 'textbayes.reproduce' not in sys.modules\n"
        "assert CliRunner().invoke(reproduce, ['--json']).exit_code == 0\n"
        "print(sorted({'numba', 'sklearn', 'scipy', 'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
