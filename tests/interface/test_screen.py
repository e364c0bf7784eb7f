"""``textbayes screen`` and ``textbayes simulate``, as people use them."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from textbayes.data import open_documents
from textbayes.evaluate.retrieval import ranking_loss
from textbayes.knowledge import WordPriors

TEA = "Green tea {} in adults: a trial number {}"
ORE = "Iron ore {} in mines: a survey number {}"


@pytest.fixture
def refs(tmp_path):
    """Forty references as RIS, a quarter of them about tea, one of them twice."""
    entries = []
    for i in range(40):
        title = (TEA if i % 4 == 0 else ORE).format(["brewing", "quality", "prices"][i % 3], i)
        entries.append(f'TY  - JOUR\nTI  - {title}\nAB  - What "was" found: {i % 7} %.\nDO  - 10.1/{i}\nER  -\n')
    entries.append("TY  - JOUR\nTI  - Another title\nDO  - https://doi.org/10.1/3\nER  -\n")
    path = tmp_path / "refs.ris"
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


@pytest.fixture
def review(run, refs, tmp_path):
    folder = tmp_path / "review"
    run("screen", "start", folder, refs, "--question", "green tea", "--prior", "none")
    return folder


def test_from_references_to_decisions(run, lines, refs, tmp_path):
    folder = tmp_path / "review"
    (told,) = lines("screen", "start", folder, refs, "--question", "green tea")
    assert told["records"] == 40
    assert told["merged"] == [{"id": "41", "into": "4", "reason": "DOI 10.1/3"}]
    first = lines("screen", "next", folder, "-n", 10)
    assert all("Green tea" in row["text"] for row in first)
    assert all(row["low"] <= row["probability"] <= row["high"] for row in first)
    assert {row["id"] for row in lines("screen", "next", folder, "--again", "-n", 20)} == {row["id"] for row in first}
    for row in first:
        run("screen", "judge", folder, row["id"], "relevant")
    second = lines("screen", "next", folder, "-n", 2)
    assert not {row["id"] for row in second} & {row["id"] for row in first}
    run("screen", "judge", folder, second[0]["id"], "irrelevant")
    (state,) = lines("screen", "status", folder, "--rule", "consecutive:1", "--rule", "estimate")
    assert (state["records"], state["read"], state["relevant"], state["handed_out"]) == (40, 11, 10, 1)
    assert state["advice"][0]["stop"] is True
    assert state["advice"][0]["reason"] == "the last 1 record was not relevant"
    run("screen", "export", folder, "-o", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 40
    assert [row["decision"] for row in rows[:11]] == ["relevant"] * 10 + ["irrelevant"]
    assert [int(row["place"]) for row in rows] == list(range(1, 41))
    probabilities = [float(row["probability"]) for row in rows[11:]]
    assert probabilities == sorted(probabilities, reverse=True)
    for ending in ("ris", "bib", "nbib", "xml", "tsv", "xlsx", "jsonl"):  # all are read again
        run("screen", "export", folder, "-o", tmp_path / f"out.{ending}")
        again = list(open_documents(tmp_path / f"out.{ending}", keep_fields=True))
        for name in ("title", "abstract", "doi", "year"):
            assert [document.fields[name] for document in again] == [row[name] for row in rows], ending
    assert "decision: irrelevant" in (tmp_path / "out.xml").read_text()


def test_ids_of_references_come_back(run, lines, tmp_path):
    given = tmp_path / "u.ris"
    given.write_text("".join(f"TY  - JOUR\nID  - {id}\nTI  - {id} on tea\nER  - \n\n" for id in ("smith2", "jones")))
    run("screen", "start", tmp_path / "u", given)
    run("screen", "judge", tmp_path / "u", "jones", "relevant")
    run("screen", "export", tmp_path / "u", "-o", tmp_path / "out.ris")
    written = (tmp_path / "out.ris").read_text().splitlines()
    assert written[0] == "TY  - JOUR"
    assert [line for line in written if line.startswith("ID")] == ["ID  - jones", "ID  - smith2"]


def test_records_are_added_on_the_way(run, lines, review, tmp_path):
    run("screen", "judge", review, "1", "relevant")
    more = tmp_path / "more.ris"
    more.write_text(
        "TY  - JOUR\nTI  - Green tea again, and anew\nDO  - 10.1/x\nER  -\n\nTY  - JOUR\nTI  - T\nDO  - 10.1/7\nER  -\n"
    )
    (told,) = lines("screen", "add", review, more)
    assert told["records"] == 1
    assert told["merged"] == [{"id": "2-2", "into": "8", "reason": "DOI 10.1/7"}]
    (state,) = lines("screen", "status", review)
    assert (state["records"], state["relevant"]) == (41, 1)
    assert "1-2" in {row["id"] for row in lines("screen", "next", review, "-n", 40)}


def test_a_model_leaves(run, lines, review, tmp_path):
    for row in lines("screen", "next", review, "-n", 12):
        run("screen", "judge", review, row["id"], "relevant" if "Green" in row["text"] else "irrelevant")
    run("screen", "export", review, "-o", tmp_path / "model.tb")
    run("screen", "export", review, "-o", tmp_path / "all.jsonl")
    told = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    texts = tmp_path / "texts.jsonl"
    rows = ({"id": row["id"], "text": f"{row['title']}\n{row['abstract']}"} for row in told)
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = lines("classify", tmp_path / "model.tb", texts)
    unread = {row["id"] for row in told if not row["decision"]}
    probabilities = [row["probabilities"]["relevant"] for row in found if row["id"] in unread]
    assert len(probabilities) == 28
    assert probabilities == sorted(probabilities, reverse=True)  # told in the order of the screening
    run("screen", "start", tmp_path / "second", texts, "--prior", tmp_path / "model.tb")
    assert "Green tea" in lines("screen", "next", tmp_path / "second")[0]["text"]


def test_words_are_favoured_and_forgotten(lines, review):
    before = lines("screen", "words", review)
    shown = lines("screen", "words", review, "--favour", "iron", "--disfavour", "green")
    said = {row["word"]: (row["weight"] > 0, row["said"]) for row in shown if row["said"]}
    assert said == {"iron": (True, "for"), "green": (False, "against")}
    assert "Iron" in lines("screen", "next", review)[0]["text"]
    assert lines("screen", "words", review, "--forget", "iron", "--forget", "green") == before


def test_words_count_by_their_strength(lines, review):
    weights = []
    for strength in ("weak", "medium", "strong"):
        shown = lines("screen", "words", review, "--favour", "iron", "--strength", strength)
        (row,) = [row for row in shown if row["word"] == "iron"]
        assert row["said"] == {"medium": "for"}.get(strength, f"{strength} for")
        weights.append(row["weight"])
    # Twice what was said each time; what records say of the word is the same within what those words explain.
    assert 1.5 < weights[1] / weights[0] < 2.5
    assert 1.5 < weights[2] / weights[1] < 2.5


def test_one_by_one(run, lines, review):
    shown = run("screen", "judge", review, stdin="r\nr\nb\nx\ni\nq\n").stdout
    records = [line.split()[1] for line in shown.splitlines() if line.startswith("record ")]
    first, second, third = records[:3]
    assert records == [first, second, third, second, third]  # what was withdrawn is shown again, then what waited
    assert f"{second}: withdrawn" in shown
    assert [shown.count(f"Answer by {what} r(elevant), i(rrelevant)") for what in ("a key:", "one of")] == [1, 1]
    assert shown.endswith("2 records judged.\n")
    (state,) = lines("screen", "status", review)
    assert (state["read"], state["relevant"]) == (2, 1)


def test_without_an_answer_there_is_none_to_withdraw(run, lines, review):
    shown = run("screen", "judge", review, stdin="b\nr\nq\n").stdout
    assert "There is no answer to withdraw yet." in shown
    assert shown.endswith("1 record judged.\n")


def test_status_gives_no_estimate_before_a_record_was_read(run, lines, review):
    shown = run("screen", "status", review, "--table").stdout
    assert "left         too early to estimate: no record has been read" in shown
    assert "estimate: go on: too early to estimate: no record has been read" in shown
    for row in lines("screen", "next", review, "-n", 6):
        run("screen", "judge", review, row["id"], "relevant" if "Green" in row["text"] else "irrelevant")
    shown = run("screen", "status", review, "--table").stdout
    assert re.search(r"^left         about \d+ relevant, at most \d+ \(90 % upper bound\)$", shown, re.MULTILINE)
    assert re.search(r"^estimate: go on: about \d+ relevant record", shown, re.MULTILINE)
    assert "gauge" not in shown
    assert " h at your pace" not in shown


@pytest.mark.parametrize(
    ("hours", "told"),
    [(None, ""), (0.0, ""), (0.02, ", about 1 minute at your pace"), (0.5, ", about 30 minutes at your pace"),
     (1.0, ", about 1 hour at your pace"), (7.4, ", about 7 hours at your pace")],
)  # fmt: skip
def test_time_left_is_told_in_minutes_or_hours(hours, told):
    from textbayes.cli.screen import _duration

    assert _duration(hours) == told


def test_a_start_names_the_next_command(run, refs, tmp_path):
    folder = tmp_path / "my review"
    assert run("screen", "start", folder, refs, "--table").stdout.endswith(f"textbayes screen next '{folder}'\n")


def test_help_is_whole_and_has_an_example(run):
    assert "..." not in run("screen", "--help").stdout.partition("Commands:")[2]
    assert "screen start review refs.ris" in run("screen", "start", "--help").stdout


def test_a_table_for_people(run, review):
    run("screen", "next", review, "--table")
    shown = run("screen", "status", review, "--table").stdout
    assert "records      40" in shown
    assert "if nothing more is found" in shown


@pytest.fixture
def labelled(tmp_path):
    """Four reviews whose relevant records are all trials."""
    random = np.random.default_rng(0)
    paths = []
    for name in ("tea", "coffee", "cocoa", "milk"):
        path = tmp_path / f"{name}.jsonl"
        rows = []
        for i in range(60):
            relevant = i % 5 == 0
            noise = " ".join(random.choice(["study", "group", "result", "year", "effect"], 5))
            rows.append(
                {"text": f"{name} {'randomized trial' if relevant else 'letter'} {noise}", "label": int(relevant)}
            )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    return paths


def test_finished_reviews_make_a_prior(run, labelled, tmp_path, lines):
    run("screen", "prior", *labelled[:3], "-o", tmp_path / "prior.csv")
    means = {row.word: row.mean for row in WordPriors.read(tmp_path / "prior.csv")}
    assert means["randomized"] > 0 > means["letter"]
    folder = tmp_path / "milk"
    run("screen", "start", folder, labelled[3], "--prior", tmp_path / "prior.csv")
    assert all("randomized" in row["text"] for row in lines("screen", "next", folder, "-n", 12))


def test_simulations_measure_both_models(run, lines, labelled, tmp_path):
    asked = ("--seeds", 2, "--rule", "share:0.5", "--rule", "estimate", "--plot", tmp_path / "recall.png")
    rows = lines("simulate", *labelled[:2], *asked)
    assert [(row["model"], row["seed"]) for row in rows] == 2 * [
        ("textbayes", 0), ("textbayes", 1), ("elas_u4", 0), ("elas_u4", 1)
    ]  # fmt: skip
    for row in rows:
        assert (row["records"], row["relevant"]) == (60, 12)
        assert row["loss"] < 0.1  # by chance it would be a half
        assert row["recall_50"] == 1.0
    share, estimate = rows[0]["stops"]
    assert (share["rule"], share["n_read"], share["recall"], share["excess"] >= 15) == ("share", 30, 1.0, True)
    assert estimate["rule"] == "estimate"
    assert all(0.0 <= told["said"] <= 1.0 and told["n"] > 0 for told in rows[0]["estimate"])
    assert sum(told["n"] for told in rows[0]["estimate"]) > 10
    assert (rows[2]["stops"], rows[2]["estimate"]) == ([], [])
    assert (tmp_path / "recall.png").stat().st_size > 1000


def test_tables_of_simulations_are_whole_at_80_columns(run, labelled, tmp_path):
    long = tmp_path / "a_review_with_a_name_that_is_longer_than_most_columns.jsonl"
    long.write_bytes(labelled[0].read_bytes())
    asked = ("--seeds", 2, "--rule", "estimate", "--rule", "consecutive:20", "--table")
    shown = run("simulate", long, labelled[1], *asked).stdout
    for told in ("relative to elas_u4", "geometric mean", "recall", "WSS", "worst recall", "consecutive", "observed"):
        assert told in shown
    assert "…" not in shown
    assert "Not shown" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(part in shown for part in (long.stem[:20], long.stem[20:40], long.stem[40:]))


def test_simulations_read_as_screenings_do(run, lines, labelled, tmp_path):
    """A simulation from nothing reads in the order of `screen next`, with the table and question of `screen start`."""
    asked = ("--question", "a randomized trial of tea")
    (row,) = lines("simulate", labelled[0], "--model", "textbayes", "--start", "none", "--seeds", 1, *asked)
    folder = tmp_path / "review"
    run("screen", "start", folder, labelled[0], *asked)
    truth = {str(k): json.loads(line) for k, line in enumerate(labelled[0].read_text().splitlines(), start=1)}
    found = []
    while len(found) < 60:
        (shown,) = lines("screen", "next", folder)
        found.append(truth[shown["id"]]["label"] == 1)
        run("screen", "judge", folder, shown["id"], "relevant" if found[-1] else "irrelevant")
    assert row["loss"] == ranking_loss(found)


def test_each_simulated_review_has_its_own_question(run, lines, labelled):
    asked = ("--model", "textbayes", "--start", "none", "--seeds", 1, "--prior", "none")
    both = lines("simulate", *labelled[:2], *asked, "--question", "randomized trial", "--question", "letter")
    alone = [
        *lines("simulate", labelled[0], *asked, "--question", "randomized trial"),
        *lines("simulate", labelled[1], *asked, "--question", "letter"),
    ]
    assert both == alone
    assert both[0]["loss"] < both[1]["loss"]  # nothing relevant is a letter
    done = run("simulate", *labelled[:3], "--question", "one", "--question", "two", code=2)
    assert "2 questions for 3 reviews" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "{}", "99", "relevant"), "there is no record '99'"),
        (("judge", "{}", "1"), "Give RECORD and one of"),
        (("next", "{}/none"), "is not the folder of a screening"),
        (("status", "{}", "--rule", "often"), "stopping rule 'often' is not usable"),
        (("next", "{}", "--topic", "tea"), "there is no topic 'tea'"),
        (("words", "{}", "--favour", " "), "the word is ' '"),
        (("words", "{}", "--strength", "weak"), "--strength is that of words"),
        (("judge", "{}", "99", "relevant"), "name one that `textbayes screen next {}` shows"),
        (("start", "{}", "{}.ris"), "go on with it: textbayes screen next {}"),
        (("start", "{}2", "{}.md"), ".md is not a file of references; give RIS, PubMed (NBIB), BibTeX, EndNote XML"),
        (("export", "{}", "-o", "x.docx"), "ends in none of .csv, .jsonl, .ndjson, .xlsx, .tsv, .ris, .bib, .nbib, "),
    ],
)
def test_mistakes_are_told_in_a_sentence(run, review, arguments, message):
    from click.testing import CliRunner

    from textbayes.cli.main import cli

    for ending, text in ((".md", "# Tea\n"), (".ris", "TY  - JOUR\nTI  - Tea\nER  - \n")):
        review.with_name(review.name + ending).write_text(text)
    done = CliRunner().invoke(cli, ["screen", *(argument.format(review) for argument in arguments)])
    assert done.exit_code in (1, 2)
    assert message.replace("{}", str(review)) in done.stderr
