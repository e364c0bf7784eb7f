"""``textbayes filter`` and ``textbayes judge``: start, deliver, ask, learn, be killed, go on, replay."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import shlex
import signal
import subprocess
import threading
from dataclasses import fields

import click
import numpy as np
import pytest
from click.testing import CliRunner

from textbayes.cli import errors
from textbayes.cli.main import cli
from textbayes.store.event_folder import EventLog, read_log
from textbayes.stream import FilterSettings

OWN = {"grain": "corn wheat harvest rain farm crop soybean", "money": "bank rates loans credit interest dollar yen"}
SHARED = "report today year company government market people new week office goal match team"


def draw(seed, n_docs, first=0):
    """Documents of which about a fifth is relevant to each topic."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n_docs):
        labels = [topic for topic in OWN if rng.random() < 0.2]
        words = [str(word) for topic in labels for word in rng.choice(OWN[topic].split(), 5)]
        words += rng.choice(SHARED.split(), 7).tolist()
        rows.append({"id": f"d{first + i}", "text": " ".join(words), "labels": labels})
    return rows


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder with a started filter, to be copied."""
    folder = tmp_path_factory.mktemp("trained")
    labelled = folder / "labelled.jsonl"
    labelled.write_text("".join(json.dumps(row) + "\n" for row in draw(0, 60)))
    done = CliRunner().invoke(cli, ["filter", str(folder / "desk"), "--train", str(labelled), "--jobs", "1"])
    assert done.exit_code == 0, done.stderr
    return folder / "desk"


@pytest.fixture
def desk(trained, tmp_path):
    import shutil

    return shutil.copytree(trained, tmp_path / "desk")


@pytest.fixture
def feed(write):
    return write(draw(1, 40, first=100), "feed.jsonl")


# -- start ------------------------------------------------------------------------------------------------------------
def test_start(lines, run, write, tmp_path):
    path = write(draw(0, 60))
    (told,) = lines("filter", tmp_path / "desk", "--train", path)
    assert told["documents"] == 60
    assert set(told["topics"]) == {"grain", "money"}
    assert all(topic["words"] > 0 and topic["relevant"] > 0 for topic in told["topics"].values())
    desk, other = tmp_path / "desk", tmp_path
    assert (
        f"{desk} exists already, with its topics and all that it has learnt. To go on: textbayes filter {desk} FILE. "
        "For other topics, or to start anew: name another folder"
    ) in " ".join(run("filter", desk, "--train", path, code=1).stderr.split())
    refused = run("filter", other, "--train", path, code=1).stderr  # no filter: neither to go on with nor to delete
    assert f"{other} exists already; name a new folder, or one that is empty" in refused
    assert "delete" not in refused
    shown = run("filter", tmp_path / "other", "--train", path, "--topic", "grain", "--table").stdout
    assert "grain" in shown
    assert "money" not in shown
    assert "was started from 60 documents." in shown


def test_statements_and_settings(lines, write, tmp_path):
    statements = write(
        [{"text": "corn and wheat", "labels": ["grain"]}, {"text": "gold", "labels": "metal"}], "s.jsonl"
    )
    (told,) = lines(
        *("filter", tmp_path / "desk", "--train", write(draw(0, 60)), "--statements", statements),
        *("--threshold", 0.6, "--ask", "paper:target=20", "--budget", "5/day", "--no-rehearse", "--words", 4),
        *("--covariance", "diagonal", "--stemmer", "none", "--seed", 3),
    )
    assert told["topics"]["metal"]["relevant"] == 1
    assert told["topics"]["grain"]["words"] == 4
    settings = json.loads((tmp_path / "desk" / "config.json").read_text())["settings"]
    assert (settings["threshold"], settings["ask"], settings["budget"]) == (0.6, "paper:target=20", "5/day")
    assert (settings["rehearse"], settings["covariance"], settings["random_state"]) == (False, "diagonal", 3)
    assert settings["text"]["stemmer"] is None


def test_the_help_says_the_defaults():
    command = cli.get_command(click.Context(cli), "filter")
    helps = {option.name: option.help for option in command.params if isinstance(option, click.Option)}
    known = {item.name: item.default for item in fields(FilterSettings)}
    shown = known.keys() & helps.keys() - {"budget", "rehearse"}
    assert {"threshold", "ask", "patience", "most_words", "covariance", "link", "snippet"} < shown
    for name in sorted(shown):
        default = known[name]
        told = f"{default:g}" if isinstance(default, int | float) else default
        assert re.search(rf"(^|\W){re.escape(told)}(\W|$)", helps[name]), (name, helps[name])


# -- deliver ----------------------------------------------------------------------------------------------------------
def test_deliveries(lines, desk, feed):
    rows, texts = lines("filter", desk, feed), {row["id"]: row["text"] for row in draw(1, 40, first=100)}
    assert rows
    for row in rows:
        assert list(row) == ["id", "topic", "probability", "reason", "information_gain", "words", "snippet"]
        assert row["snippet"] == texts[row["id"]]
        assert row["reason"] in ("relevant", "asked")
        assert (row["probability"] > 0.5) == (row["reason"] == "relevant")
    (found,) = lines("filter", desk, "--replay")
    assert found["identical"]
    assert found["deliveries"] == len(rows) == len(lines("filter", desk, "--pending"))


def test_deliveries_name_whole_words_also_new_ones(lines, run, write, tmp_path):
    grain = [{"id": f"g{i}", "text": f"farms sow wheat {i}", "labels": ["grain"]} for i in range(20)]
    money = [{"id": f"m{i}", "text": f"banks lend coins {i}", "labels": []} for i in range(20)]
    run("filter", tmp_path / "desk", "--train", write([*grain, *money]))
    feed = [{"id": f"n{i}", "text": "farms sow wheat and harvests", "labels": ["grain"]} for i in range(30)]
    feed += [{"id": f"o{i}", "text": "banks lend coins", "labels": []} for i in range(30)]
    rows = lines("filter", tmp_path / "desk", write(feed), "--judge-by-labels")
    assert "farms" in {word for row in rows for word in row["words"]}
    assert "farm" not in {word for row in rows for word in row["words"]}
    (found,) = (row for row in lines("words", tmp_path / "desk", "--top", 300) if row["word"] == "harvest")
    assert found["form"] == "harvests"
    pending = run("filter", tmp_path / "desk", "--pending", "--table").stdout
    assert "farm " not in pending


def test_a_table_of_deliveries_is_as_wide_as_the_ids_need(run, desk, write):
    ids = ["a", "https://example.org/a-long-id"]
    run(
        "filter",
        desk,
        write([{"id": one, "text": "corn and wheat harvest"} for one in ids]),
        "--ask",
        "constant:bits=0",
    )
    head, *rows = run("filter", desk, "--pending", "--table").stdout.splitlines()
    assert {row.split()[0] for row in rows} == set(ids)
    assert len({row.index("grain") for row in rows if "grain" in row} | {head.index("topic")}) == 1


def test_csv_and_table(run, desk, feed):
    rows = list(csv.DictReader(io.StringIO(run("filter", desk, feed, "--csv").stdout)))
    words = {"rates", "loans"} | set(" ".join(OWN.values()).split())
    assert all(set(row["words"].split("|")) & words for row in rows if row["reason"] == "relevant")
    assert rows[0]["id"].startswith("d1")
    shown = run("filter", desk, "--pending", "--table").stdout.splitlines()
    assert shown[0].split() == ["id", "topic", "p", "bits", "reason", "text"]
    assert len(shown) == len(rows) + 1
    assert max(map(len, shown)) <= 80
    assert "Every decision is the same when computed anew" in run("filter", desk, "--replay", "--table").stdout


def test_a_table_of_deliveries_shows_beginnings_of_texts(run, desk, feed):
    texts = {row["id"]: row["text"] for row in map(json.loads, feed.read_text(encoding="utf-8").splitlines())}
    head, *shown = run("filter", desk, feed, "--table").stdout.splitlines()
    assert head.split() == ["id", "topic", "p", "reason", "text"]
    assert shown
    for line in shown:
        assert texts[line.split()[0]][:10] in line


def test_words_of_a_topic_are_whole_and_their_level_is_said(run, lines, write, tmp_path):
    rows = [{"id": f"a{i}", "text": "companies and their companies", "labels": ["money"]} for i in range(4)]
    rows += [{"id": f"b{i}", "text": "parties and more parties", "labels": []} for i in range(4)]
    run("filter", tmp_path / "other", "--train", write(rows))
    assert {row["form"] for row in lines("words", tmp_path / "other")} <= {"companies", "parties"}
    shown = run("words", tmp_path / "other", "--table", "--level", "0.8").stdout
    assert "80% credible intervals" in shown
    assert "companies" in shown


def test_folders_mailboxes_and_lines(lines, desk, tmp_path):
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "a.txt").write_text("corn wheat harvest and rain")
    (folder / "b.txt").write_text("goal match team")
    assert [row["id"] for row in lines("filter", desk, folder) if row["reason"] == "relevant"] == ["a.txt"]
    box = (
        "From a Mon\nMessage-ID: <1@x>\nSubject: bank loans\n\nrates and credit\n\nFrom b Tue\nSubject: goal\n\nteam\n"
    )
    (tmp_path / "new.mbox").write_text(box)
    assert lines("filter", desk, tmp_path / "new.mbox")[0]["id"] == "1@x"
    rows = lines("filter", desk, stdin="farm crop soybean corn\ngoal match\n")
    assert [row["id"] for row in rows if row["reason"] == "relevant"] == ["1"]
    rows = lines("filter", desk, stdin="interest dollar yen bank\n")  # another document of the same number
    assert [row["id"] for row in rows if row["topic"] == "money"] == ["1#2"]


def test_documents_are_answered_one_at_a_time(start, desk):
    process = start("filter", desk, stdin=-1)
    for number, text in enumerate(["corn wheat harvest rain", "bank rates loans credit"], start=1):
        process.stdin.write(json.dumps({"id": f"x{number}", "text": text}).encode() + b"\n")
        process.stdin.flush()
        row = json.loads(process.stdout.readline())  # comes while the input is still open
        assert row["id"] == f"x{number}"
    process.stdin.close()
    assert process.wait() == 0


def test_judging_by_labels_and_going_on(lines, run, desk, feed):
    some = lines("filter", desk, feed, "--judge-by-labels")
    done = run("filter", desk, feed, "--judge-by-labels", "--continue")
    assert done.stdout == ""
    assert "40 documents of" in done.stderr
    with feed.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in draw(2, 20, first=500))
    more = lines("filter", desk, feed, "--continue")
    assert all(int(row["id"][1:]) >= 500 for row in more)
    (found,) = lines("filter", desk, "--replay")
    assert (found["documents"], found["judgements"]) == (60, len(some))


def test_settings_that_change_and_settings_that_do_not(lines, run, desk, feed):
    assert len(lines("filter", desk, feed, "--threshold", 0, "--ask", "never")) == 80
    failed = run("filter", desk, feed, "--covariance", "diagonal", code=1)
    assert "--covariance diagonal is given, but this filter was started with 'full'" in failed.stderr
    assert lines("filter", desk, "--replay")[0]["identical"]


def test_nothing_to_read(run, desk):
    done = run("filter", desk, stdin="")
    assert done.stdout == ""
    assert "standard input holds no documents" in done.stderr
    assert run("filter", desk, "--pending").stdout == ""


# -- judge ------------------------------------------------------------------------------------------------------------
def test_judge_while_the_filter_does_not_run(lines, run, desk, feed):
    row, other, *_ = lines("filter", desk, feed)
    assert lines("judge", desk, row["id"], row["topic"], "yes") == [
        {"id": row["id"], "topic": row["topic"], "relevant": True, "status": "new"}
    ]
    given = {"id": other["id"], "topic": other["topic"], "relevant": "no"}
    assert lines("judge", desk, stdin=json.dumps(given) + "\n\n")[0]["status"] == "new"
    assert "is relevant to" in run("judge", desk, row["id"], row["topic"], "yes", "--table").stdout
    run("filter", desk, stdin="goal\n")
    assert lines("judge", desk, row["id"], row["topic"], "yes")[0]["status"] == "same"
    assert lines("judge", desk, row["id"], row["topic"], "no")[0]["status"] == "changed"
    run("filter", desk, stdin="goal\n")
    entries = [entry for entry, _ in read_log(desk / "log.jsonl") if entry["kind"] == "judgement"]
    assert [entry["relevant"] for entry in entries] == [True, False, True, True, False]
    assert lines("filter", desk, "--replay")[0]["identical"]


def test_judge_of_one_topic_needs_no_name_of_it(lines, run, write, feed, tmp_path):
    desk = tmp_path / "one"
    run("filter", desk, "--train", write(draw(0, 60)), "--topic", "grain")
    row, *_ = lines("filter", desk, feed, "--threshold", 0)
    assert lines("judge", desk, row["id"], "yes") == [
        {"id": row["id"], "topic": "grain", "relevant": True, "status": "new"}
    ]
    assert "'perhaps' is neither yes nor no" in run("judge", desk, row["id"], "perhaps", code=1).stderr


def test_judge_while_the_filter_runs(start, run, desk, lines):
    process = start("filter", desk, stdin=-1)
    process.stdin.write(b'{"id": "x", "text": "corn wheat harvest rain"}\n')
    process.stdin.flush()
    process.stdout.readline()
    lines("judge", desk, "x", "grain", "yes")
    assert "is in use by another filter" in run("filter", desk, code=1).stderr
    process.stdin.write(b'{"id": "y", "text": "goal match"}\n')
    process.stdin.close()
    assert process.wait() == 0
    kinds = [entry["kind"] for entry, _ in read_log(desk / "log.jsonl")]
    assert kinds == ["run", "document", "judgement", "document"]


def test_judgements_from_a_file(lines, run, desk, feed, tmp_path):
    rows = lines("filter", desk, feed)
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps({**row, "relevant": True}) + "\n" for row in rows) + '{"id": "no"}\n')
    for _ in range(2):
        done = run("filter", desk, "--judgements", given, stdin="goal\n")
    assert "warning" not in done.stderr  # it was told in the first run
    assert lines("filter", desk, "--pending") == []
    assert lines("filter", desk, "--replay")[0]["judgements"] == len(rows)


def test_files_that_hold_no_judgements_are_told(run, desk, feed, tmp_path):
    table, cut = tmp_path / "given.csv", tmp_path / "cut.jsonl"
    table.write_text("id,topic,relevant\nd100,grain,yes\n")
    for _ in range(2):
        told = run("filter", desk, feed, "--judgements", table, code=1).stderr
        assert "given.csv holds 'id,topic,relevant', which is not JSON; write one line for each judgement" in told
    cut.write_text('{"id": "d100", "topic": "gr')
    told = run("filter", desk, feed, "--judgements", cut, "--judgements", tmp_path / "none.jsonl").stderr
    assert "none.jsonl does not exist yet; it is read once it does" in told
    assert "cut.jsonl ends in a line that is not whole JSON; it was not read" in told


def test_judging_by_labels_needs_labels(run, lines, write, desk):
    rows = draw(1, 40, first=100)
    bare = write(({"id": row["id"], "text": row["text"]} for row in rows), "bare.jsonl")
    told = run("filter", desk, bare, "--judge-by-labels", code=1).stderr
    assert "bare.jsonl has no column 'labels'; --judge-by-labels needs a labelled feed" in told
    assert lines("filter", desk, "--status")[0]["documents"] == 0
    assert run("filter", desk, "--judge-by-labels", stdin='{"id": "x", "text": "corn wheat harvest"}\n', code=1)


def test_a_shown_information_gain_is_not_negative(lines, desk, feed):
    rows = [*lines("filter", desk, feed, "--threshold", 0.0), *lines("filter", desk, "--pending")]
    logged = [entry for entry, _ in read_log(desk / "log.jsonl")]
    assert min(one["information_gain"] for entry in logged for one in entry.get("delivered", ())) < 0
    assert min(row["information_gain"] for row in rows) == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "cause"),
    [
        (("zz", "grain", "yes"), None, "document 'zz' has not been delivered"),
        (("d1", "gran", "yes"), None, "there is no topic 'gran'; the topics are grain, money"),
        (("d1", "grain", "maybe"), None, "relevant='maybe' is neither yes nor no"),
        ((), "not json\n", "standard input, line 1: 'not json' is not JSON; write {"),
        ((), b"\xff\n", "is not UTF-8"),
    ],
)
def test_judgements_that_are_refused(run, desk, arguments, stdin, cause):
    failed = run("judge", desk, *arguments, stdin=stdin, code=1)
    assert failed.stderr.startswith("textbayes: error: ")
    assert cause in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (desk / "inbox.jsonl").exists()


def test_no_judgement_at_all(run, desk):
    assert "standard input holds no judgements" in run("judge", desk, stdin="").stderr
    said = " ".join(run("judge", desk, "d1", "grain", code=2).stderr.split())
    assert f"Give DOCUMENT, TOPIC and yes or no, such as: textbayes judge {desk} d1 grain yes" in said


# -- what is wrong ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ("--train --replay", "--train and --replay were both given"),
        ("--statements x.jsonl -", "belong to --train"),
        ("--train - --continue", "do not go with --train"),
        ("- --judgements -", "both to come from standard input"),
        ("- --ask papr", "unknown asking schedule 'papr'"),
        ("- --budget 20", "write 20/day"),
        ("- --explore constant:rate=2", "a probability lies in"),
        ("--pending feed.jsonl", "--pending reads no documents"),
        ("--status --threshold 0.8", "--status changes nothing; give --threshold with the next run"),
        ("--topic sports", "the topics of a filter are fixed when it is made. For another topic make a second filter"),
        ("- --link logti", "unknown link"),
    ],
)
def test_usage(run, desk, arguments, cause):
    assert cause in " ".join(run("filter", desk, *arguments.split(), code=2).stderr.split())


def test_errors_are_one_sentence(run, desk, feed, write, tmp_path):
    def refused(*arguments, **options):
        failed = run(*arguments, code=1, **options)
        assert failed.stderr.splitlines()[-1].startswith("textbayes: error: ")
        assert "Traceback" not in failed.stderr
        return failed.stderr

    for command in (("filter", tmp_path), ("judge", tmp_path, "a", "b", "yes"), ("filter", tmp_path, "--replay")):
        assert "is not the folder of a filter; start one: textbayes filter" in refused(*command, stdin="x\n")
    assert "has a label; name the column" in refused("filter", tmp_path / "n", "--train", stdin="a b\nc d\n")
    assert "holds no documents" in refused("filter", tmp_path / "n", "--train", stdin="")
    assert "--threshold 0.95 is not usable" in refused("filter", desk, feed, "--threshold", 0.95)
    assert not (tmp_path / "n").exists()
    feed.write_bytes(feed.read_bytes() + b'{"text": "caf\xe9"}\n')
    assert "feed.jsonl, line 41: byte 0xe9" in refused("filter", desk, feed)
    log = desk / "log.jsonl"
    assert sum(entry["kind"] == "document" for entry, _ in read_log(log)) == 40  # those before the fault are decided
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    assert "is damaged" in refused("filter", desk, "--replay")


def test_a_difference_is_an_error(run, desk, feed):
    from textbayes.store.event_folder import LogPosition

    run("filter", desk, feed)
    entries = [entry for entry, _ in read_log(desk / "log.jsonl")]
    next(entry for entry in entries if entry["kind"] == "document")["scores"] = "0" * 16
    log = EventLog(desk / "log.jsonl", LogPosition())
    for entry in entries:
        log.append(entry, durable=False)
    log.close()
    failed = run("filter", desk, "--replay", code=1)
    assert "does not replay: entry 2 of the log: document 'd100': scores was '0000" in failed.stderr


# -- killed -----------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ended_by_a_signal(start, lines, desk, how):
    process = start("filter", desk, stdin=-1)
    process.stdin.write(b'{"id": "x", "text": "corn wheat harvest rain"}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(how)
    assert process.wait() == 128 + how
    if how == signal.SIGINT:
        said = b"textbayes: interrupted; all deliveries are printed. Start the filter again to go on\n"
        assert process.stderr.read() == said
    assert len(list((desk / "snapshots").iterdir())) == 2  # so that the next start is quick
    assert lines("filter", desk, "--pending")[0]["id"] == "x"
    assert lines("filter", desk, "--replay")[0]["identical"]


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("labelled", [(), ("--judge-by-labels",)])
def test_ctrl_c_loses_no_delivery_on_its_way_to_the_output(run, lines, desk, feed, monkeypatch, labelled):
    """Ctrl-C comes when a delivery is in the log and not yet printed, again and again."""
    before = signal.signal(signal.SIGINT, errors._on_signal)
    append = EventLog.append
    monkeypatch.setattr(errors.Signals, "phase", "runs")  # as in a process that begins

    def interrupted(log, entry, durable):
        append(log, entry, durable)
        if entry.get("delivered"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(EventLog, "append", interrupted)
    printed, code, n_runs = [], 130, 0
    try:
        while code == 130:
            done = CliRunner().invoke(cli, ["filter", str(desk), str(feed), "--continue", *labelled])
            printed += [(row["id"], row["topic"]) for row in map(json.loads, done.stdout.splitlines())]
            code, n_runs = done.exit_code, n_runs + 1
            again = f"textbayes filter {desk} {feed} --continue"
            if code:
                told = "textbayes: interrupted; all deliveries are printed. To go on:\n  "
                assert done.stderr.endswith(told + shlex.join([*again.split(), *labelled]) + "\n"), done.stderr
    finally:
        signal.signal(signal.SIGINT, before)
    entries = [entry for entry, _ in read_log(desk / "log.jsonl")]
    logged = [(entry["id"], one["topic"]) for entry in entries for one in entry.get("delivered", [])]
    assert printed == logged
    assert n_runs > 5
    if labelled:
        assert lines("filter", desk, "--pending") == []


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_at_any_moment(start, lines, desk, write):
    """The benchmark kills 200 times at random; here the filter is killed after so many deliveries, judged meanwhile."""
    feed = write(draw(3, 120, first=1000), "long.jsonl")
    truth = {row["id"]: row["labels"] for row in draw(3, 120, first=1000)}
    given = []

    def judge(row):
        answer = row["topic"] in truth[row["id"]]
        lines("judge", desk, row["id"], row["topic"], "yes" if answer else "no")
        given.append((row["id"], row["topic"], answer))

    for n_deliveries in (1, 4, None):
        process = start("filter", desk, feed, "--continue")
        killer = threading.Event()
        for n, line in enumerate(iter(process.stdout.readline, b""), start=1):
            if n_deliveries is not None and n > n_deliveries:
                continue  # what was printed before the kill came
            judge(json.loads(line))
            if n == n_deliveries:
                process.kill()
                killer.set()
        assert process.wait() == (-signal.SIGKILL if killer.is_set() else 0)
    lines("filter", desk, stdin="goal\n")
    entries = [entry for entry, _ in read_log(desk / "log.jsonl")]
    judged = [(e["id"], e["topic"], e["relevant"]) for e in entries if e["kind"] == "judgement"]
    assert judged == given
    assert len(judged) == len(set(judged)) >= 5
    seen = [entry["id"] for entry in entries if entry["kind"] == "document"]
    assert seen[:-1] == list(truth)
    assert lines("filter", desk, "--replay")[0]["identical"]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_lines_that_cannot_be_read_stop_a_run_or_are_skipped(run, desk, tmp_path, ending):
    """Each skipped line is reported with its number and the cause; the exit status tells."""
    rows = draw(1, 6, first=100)
    if ending == "jsonl":
        good = [json.dumps(row).encode() for row in rows]
        bad = [b"{not json", b'["an", "array"]', b'{"id": "x", "text": 7}', b'{"text": "caf\xe9"}']
        header, causes = [], ["not valid JSON", "an array where an object", "must be a string", "not valid UTF-8"]
    else:
        good = [f"{row['id']},{row['text']}".encode() for row in rows]
        bad, header, causes = [b"x,two,fields", b"alone"], [b"id,text"], ["3 fields where", "1 fields where"]
    feed = tmp_path / f"feed.{ending}"
    body = [*header, *good[:3], *bad, *good[3:]]
    feed.write_bytes(b"\n".join(body) + b"\n")
    first = len(header) + 4
    stopped = run("filter", desk, feed, code=1)
    assert f"feed.{ending}, line {first}: {causes[0]}" in " ".join(stopped.stderr.split()).replace(f"{tmp_path}/", "")
    done = run("filter", desk, feed, "--on-error", "skip", code=3)
    told = " ".join(done.stderr.split()).replace(f"{tmp_path}/", "")
    for number, cause in enumerate(causes, start=first):
        assert re.search(rf"feed\.{ending}, line {number}: [^:]*{cause}[^\n]*\(line skipped\)", told), (number, told)
    assert f"{len(bad)} lines of feed.{ending} skipped" in told
    entries = [entry for entry, _ in read_log(desk / "log.jsonl") if entry["kind"] in ("document", "repeated")]
    assert {entry["id"] for entry in entries} == {row["id"] for row in rows}
    # Those of an earlier run are not reported again.
    feed.write_bytes(b"\n".join([*body, good[0].replace(b"d100", b"d200")]) + b"\n")
    again = run("filter", desk, feed, "--on-error", "skip", "--continue")
    assert "skipped" not in again.stderr


# -- what a stranger stumbles over ------------------------------------------------------------------------------------
def test_a_rare_label_is_reported_with_an_option_that_the_command_has(run, write, tmp_path):
    path = write([*draw(0, 30), {"id": "x", "text": "goal match", "labels": ["sport"]}])
    told = run("filter", tmp_path / "desk", "--train", path).stderr
    assert "1 label has one text only: 'sport'; --topic names the labels to filter for" in " ".join(told.split())
    assert "--min-texts" not in told


def test_a_model_or_a_text_where_a_filter_is_needed(run, models, feed, tmp_path):
    model = models["multilabel"]
    for command in (("filter", model, feed), ("filter", model, "--status"), ("judge", model, "a7", "grain", "yes")):
        told = run(*command, code=1).stderr
        assert "is a model file, where the folder of a filter is needed" in told
        assert f"textbayes filter desk --model {model}" in told
    assert f"textbayes filter desk --train {feed}" in run("filter", feed, "--train", feed, code=1).stderr


def test_a_filter_where_a_model_is_needed(run, desk, feed, tmp_path):
    for command in (("classify", desk, feed), ("explain", desk, feed), ("filter", tmp_path / "new", "--model", desk)):
        told = run(*command, code=1).stderr
        assert "is the folder of a filter, where a model file is needed" in told
        assert f"textbayes filter {desk} --export model.tb" in told
    assert not (tmp_path / "new").exists()


def test_what_cannot_be_judgements_or_a_prior_is_refused_first(run, desk, models, feed, tmp_path):
    before = (desk / "log.jsonl").read_bytes()
    told = run("filter", desk, feed, "--judgements", models["binary"], code=1).stderr
    assert "is a model file; name a file of judgements" in told
    assert (desk / "log.jsonl").read_bytes() == before
    told = run("filter", tmp_path / "new", "--train", feed, "--prior", models["binary"], code=1).stderr
    assert "ends neither in .csv nor in .yaml" in told
    assert "texts" not in told  # nothing was read before


def test_the_threshold_and_the_range_of_probabilities_are_said(lines, run, write, feed, tmp_path):
    started = run("filter", tmp_path / "new", "--train", write(draw(0, 60)), "--threshold", "0.6", "--table").stdout
    told = " ".join(started.split())
    assert "Delivered as relevant: probability above 0.6 (change it with --threshold)." in told
    assert "No probability exceeds 0.9, since the model allows for 10% wrong judgements (--link flip:rate=0.1" in told
    again = run("filter", tmp_path / "new", feed).stderr
    assert "the threshold is 0.6, as an earlier run set it; --threshold changes it" in " ".join(again.split())
    assert "probability above 0.6" in run("filter", tmp_path / "new", "--status", "--table").stdout
    (status,) = lines("filter", tmp_path / "new", "--status")
    assert (status["threshold"], round(status["highest_probability"], 6)) == (0.6, 0.9)


def test_a_filter_and_its_export_are_shown_alike(lines, run, desk, feed, tmp_path):
    run("filter", desk, feed)
    model = tmp_path / "model.tb"
    run("filter", desk, "--export", model)
    (ours,), (exported,) = lines("show", desk), lines("show", model)
    of_the_file = ("model", "file_written", "file_bytes")
    assert {name: ours[name] for name in ours if name not in of_the_file} == {
        name: exported[name] for name in exported if name not in of_the_file
    }
    table = run("show", model, "--table").stdout
    assert "none, so no held-out figures" in table
    assert "folds" not in table
    assert "not recorded" not in table
    forms = {row["form"] for row in lines("words", desk, "--top", 300)}
    assert "loans" in forms  # whole words, of which "loan" is the stem
    assert {row["word"] for row in lines("words", model, "--top", 300)} <= forms


def test_a_log_on_a_full_disk_is_named_and_stays_whole(desk, feed, start, lines):
    """Standard output was blamed; a file may not grow beyond what the log has, as if the disk were full."""
    resource = pytest.importorskip("resource", reason="needs bounds on files")
    most, limit = 100, lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    assert not (desk / "log.jsonl").stat().st_size
    process = start("filter", desk, feed, preexec_fn=lambda: limit(most))
    message = process.communicate()[1].decode()
    assert process.returncode == 1
    assert f"error: {desk / 'log.jsonl'}: File too large; check the place and its free space" in message
    assert len(list(read_log(desk / "log.jsonl"))) == 0
    judged = json.dumps({"id": "x", "topic": "grain", "relevant": True, "text": "corn " * 1_000}).encode()
    process = start("judge", desk, stdin=subprocess.PIPE, preexec_fn=lambda: limit(most))
    message = process.communicate(judged)[1].decode()
    assert process.returncode == 1
    assert f"error: {desk / 'inbox.jsonl'}: File too large" in message
    assert len(lines("filter", desk, feed)) > 3
    assert not [entry for entry, _ in read_log(desk / "log.jsonl") if entry["kind"] == "judgement"]


def test_the_disk_is_full_where_a_filter_is_to_be(trained, tmp_path, run, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    message = run("filter", tmp_path / "new", "--train", trained.parent / "labelled.jsonl", code=1).stderr
    assert f"{tmp_path / 'new' / 'config.json'} was not written: No space left on device" in message
    assert list(tmp_path.iterdir()) == []
