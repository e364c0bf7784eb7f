from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from textbayes.cli.reproduce import reproduce
from textbayes.core.errors import CorpusNotFoundError, InputError, NotSupportedError
from textbayes.reproduce import Experiment, Figure, PaperRun, Table, papers

# Click keeps the option of help that a command first had: tables of help in other tests have -h.
HELP = {"help_option_names": ["-h", "--help"]}


class Fake:
    """A paper of three exhibits that remembers what was asked of it: numbers and whether to be quick."""

    def __init__(self, fail: bool = False) -> None:
        self.fail, self.asked = fail, []
        needs = {"table 1": (), "table 2": ("reuters21578",), "figure 1": ()}
        exhibits = {"table 1": self.table, "table 2": self.table, "figure 1": self.figure}
        self.paper = Experiment("fake", "A fake paper", "Nobody (1999)", needs, lambda: exhibits, (7, 2))

    def table(self, run: PaperRun) -> Table:
        self.asked.append((run.number, run.quick))
        run.progress(run.number, 1, 1)
        return Table("1", "One", ("a",), ("x", "y"), ((1.0, 2.0),), ((1.5, None),), 1)

    def figure(self, run: PaperRun) -> Figure:
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
    return CliRunner().invoke(reproduce, list(map(str, arguments)), **HELP)


def test_without_a_paper_the_papers_are_listed(fake):
    done = run("--table")
    assert done.exit_code == 0
    assert "A fake paper" in done.stdout
    assert "table 1, table 2, figure 1" in done.stdout
    rows = [json.loads(line) for line in run("--json").stdout.splitlines()]
    assert [row["paper"] for row in rows] == papers.names()


def test_the_list_says_what_is_needed_whether_it_is_there_and_how_long_it_takes(fake, monkeypatch):
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: None)
    done = run("--table")
    shown = " ".join(done.stdout.split())
    assert "Corpora: reuters21578 (not found)" in shown
    assert "Takes about 7 minutes on two cores, 2 with --quick" in shown
    assert "reuters21578 is not there; to get it:" in " ".join(done.stderr.split())
    row = next(row for line in run("--json").stdout.splitlines() if (row := json.loads(line))["paper"] == "fake")
    assert (row["corpora"], row["missing"]) == (["reuters21578"], ["reuters21578"])
    assert (row["minutes"], row["minutes_quick"]) == (7, 2)


def test_all_papers_run_one_after_the_other(monkeypatch, tmp_path):
    first, second = Fake(), Fake()
    monkeypatch.setattr(papers, "_members", {"one": first.paper, "two": second.paper})
    done = run("all", "--quick", "--csv", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert first.asked == second.asked
    assert first.asked[0] == ("table 1", True)
    assert "2 papers, about 4 minutes" in done.stderr
    assert done.stdout.count("paper,table,row") == 1
    assert run("all", "--only", "table 1", "--output", tmp_path).exit_code == 2


def test_all_papers_leave_out_one_whose_corpora_are_missing(monkeypatch, tmp_path):
    held, free = Fake(), Fake()
    needs = dict.fromkeys(held.paper.needs, ("reuters21578",))
    members = {"held": replace(held.paper, needs=needs), "free": free.paper}
    monkeypatch.setattr(papers, "_members", members)
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: None)
    done = run("all", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert not held.asked
    assert free.asked == [("table 1", False), ("figure 1", False)]
    assert "corpora are needed for table 1, table 2, figure 1" in " ".join(done.stderr.split())


def test_a_part_of_which_nothing_comes_is_an_error(fake, monkeypatch, tmp_path):
    silent = replace(fake.paper, exhibits=lambda: {"table 1": lambda run: ()})
    monkeypatch.setitem(papers._members, "fake", silent)
    done = run("fake", "--only", "table 1", "--output", tmp_path)
    assert isinstance(done.exception, NotSupportedError)
    assert "nothing came of table 1" in str(done.exception)


@pytest.mark.parametrize("files", [(), ("query.ohsu.1-63", "qrels.ohsu.88-91")], ids=["nothing", "topics alone"])
def test_figure_2_of_online_needs_its_documents(monkeypatch, tmp_path, files):
    folder = tmp_path / "data" / "ohsumed_trec9"
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_text("")
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: folder if files else None)
    done = run("online", "--only", "figure 2", "--output", tmp_path)
    assert isinstance(done.exception, CorpusNotFoundError)
    assert "figure 2: not found: ohsumed_trec9" in str(done.exception)


def test_results_are_printed_and_pages_written(fake, tmp_path):
    done = run("fake", "--only", "table 1", "--only", "Figure 1", "--quick", "--table", "--output", tmp_path)
    assert done.exit_code == 0, done.output
    assert fake.asked == [("table 1", True), ("figure 1", True)]
    assert "1.0 1.5 +0.5" in done.stdout
    assert "Figure 1. A drawing" in done.stdout
    page = (tmp_path / "fake.md").read_text(encoding="utf-8")
    assert "`textbayes reproduce fake --quick --only 'table 1' --only 'Figure 1'`" in page
    assert sorted(os.listdir(tmp_path)) == ["fake-figure-1.svg", "fake.html", "fake.md"]


def test_cells_as_json_and_csv(fake, tmp_path):
    only = ("--only", "table 1", "--output", tmp_path)
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
    wanted = ("fake", "--only", "table 1", "--only", "figure 1", "--output", tmp_path)
    monkeypatch.setitem(papers._members, "fake", Fake().paper)
    assert run(*wanted).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setitem(papers._members, "fake", Fake(fail=True).paper)
    assert run(*wanted).exit_code != 0
    assert {path: path.read_bytes() for path in before} == before, "pages of an earlier run stay as they were"
    assert "## Table 1" in (tmp_path / "fake.partial.md").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} - {path.name for path in before} == {
        "fake.partial.html",
        "fake.partial.md",
    }
    monkeypatch.setitem(papers._members, "fake", Fake().paper)
    assert run(*wanted).exit_code == 0
    assert sorted(tmp_path.iterdir()) == sorted(before), "what is done takes the place of what was not"


def test_tables_without_their_corpus_are_named_and_left_out(fake, tmp_path, monkeypatch):
    """The command that the README shows runs in a fresh clone, which has no corpora."""
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: None)
    done = run("fake", "--output", tmp_path / "pages")
    assert done.exit_code == 0, done.output
    assert fake.asked == [("table 1", False), ("figure 1", False)], "those that need no corpus"
    said = " ".join(done.stderr.split())
    assert "left out, for want of corpora: table 2: not found: reuters21578" in said
    assert "$TEXTBAYES_DATA" in said


def test_a_table_that_was_asked_for_and_has_no_corpus_is_refused(fake, tmp_path, monkeypatch):
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: None)
    done = run("fake", "--only", "table 1", "--only", "table 2", "--output", tmp_path / "pages")
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
    done = run(*arguments, "--output", tmp_path / "pages")
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("fake")
def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("fake", "--only", "table 1", "--output", tmp_path / "file" / "pages")
    assert isinstance(done.exception, InputError)
    assert "--output" in str(done.exception)


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
