"""What a filter shows of itself: status, words, what waits to be judged; and topics that would be silent."""

from __future__ import annotations

import csv
import io
import json
import time

import pytest

from textbayes.store.event_folder import read_log

OTHERS = ["office", "people", "week", "market", "year", "team", "report", "today", "company", "match", "goal"]
RARE = ["corn", "wheat", "barley", "oats", "rye", "maize", "sorghum", "millet"]


def silent(n_relevant=4, n_docs=120):
    """120 labelled texts of which four are on a topic, so variously that no word has −2 ln λ > 12.13.

    A word in one of the four and in no other has −2 ln λ = 2[120 ln 120 − 4 ln 4 − 116 ln 116 − 119 ln 119 + 3 ln 3 +
    116 ln 116] = 7.0.
    """
    rows = []
    for i in range(n_docs):
        words = [OTHERS[(i + j * (1 + i // 11)) % 11] for j in range(6)]
        if i < n_relevant:
            words += RARE[2 * i : 2 * i + 2]
        rows.append({"id": f"l{i}", "text": " ".join(words), "labels": ["grain"] if i < n_relevant else []})
    return rows


def stream(n_docs=400):
    """Every fourth document is relevant, with three words of the topic."""
    rows = []
    for i in range(n_docs):
        words = [OTHERS[(i + j * (2 + i // 11)) % 11] for j in range(6)]
        relevant = i % 4 == 2
        if relevant:
            words += [RARE[(i // 4 + j) % 8] for j in range(3)]
        rows.append({"id": f"s{i}", "text": " ".join(words), "labels": ["grain"] if relevant else []})
    return rows


@pytest.fixture
def labelled(write):
    return write(silent(), "labelled.jsonl")


@pytest.fixture
def feed(write):
    return write(stream(), "feed.jsonl")


def found(rows):
    """How many of the deliveries are relevant."""
    return sum(int(row["id"][1:]) % 4 == 2 for row in rows)


# -- topics that would be silent --------------------------------------------------------------------------------------
def test_a_topic_has_words_however_little_is_known(lines, labelled, feed, tmp_path):
    (told,) = lines("filter", tmp_path / "desk", "--train", labelled)
    assert told["topics"]["grain"]["words"] == 10
    assert told["topics"]["grain"]["can_deliver"]
    rows = lines("filter", tmp_path / "desk", feed, "--judge-by-labels")
    assert found(rows) >= 80  # of 100
    assert lines("filter", tmp_path / "desk", "--replay")[0]["identical"]


def test_a_topic_that_cannot_deliver_says_so_and_asks(lines, run, labelled, feed, tmp_path):
    paper = ("--least-words", 0, "--train", labelled)
    done = run("filter", tmp_path / "desk", *paper)
    (told,) = (json.loads(line) for line in done.stdout.splitlines())
    assert told["topics"]["grain"]["words"] == 0
    assert told["topics"]["grain"]["can_deliver"] is False
    warning = "topic 'grain' cannot deliver yet: with no words, none of its 4 relevant document(s) is more probable"
    assert f"textbayes: warning: {warning}" in done.stderr
    assert told["topics"]["grain"]["warning"].startswith(warning)
    shown = run("filter", tmp_path / "desk", "--status", "--table")
    assert "Topic 'grain' cannot deliver yet: with no words" in shown.stdout
    assert warning in run("filter", tmp_path / "desk", "--status").stderr
    rows = lines("filter", tmp_path / "desk", feed, "--judge-by-labels")
    # It looks at fifty documents, all alike to it, and asks about the next; then it learns words.
    assert (rows[0]["id"], rows[0]["reason"]) == ("s50", "asked")
    assert found(rows) > 1
    assert lines("filter", tmp_path / "desk", "--replay")[0]["identical"]
    impatient = tmp_path / "impatient"
    run("filter", impatient, *paper, "--patience", 0)
    assert lines("filter", impatient, feed, "--judge-by-labels") == []


def test_questions_of_a_silent_topic_keep_to_the_budget_and_to_never(lines, run, labelled, feed, tmp_path):
    for name, given in (("never", ("--ask", "never")), ("budget", ("--budget", "0/1000"))):
        warned = run("filter", tmp_path / name, "--train", labelled, "--least-words", 0, *given).stderr
        assert ("let it ask" in warned) == (name == "never")
        assert lines("filter", tmp_path / name, feed) == []


# -- status -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def desk(run, labelled, feed, tmp_path):
    """A filter that has seen its stream; some of what was delivered is judged."""
    run("filter", tmp_path / "desk", "--train", labelled, "--budget", "30/1000", "--explore", "constant:rate=0.05")
    run("filter", tmp_path / "desk", feed)
    return tmp_path / "desk"


def test_status(lines, run, desk, write):
    pending = lines("filter", desk, "--pending", "--order", "time")
    relevant = [row for row in pending if row["reason"] == "relevant"]
    asked = [row for row in pending if row["reason"] != "relevant"]
    assert len(relevant) >= 4
    judgements = [(relevant[0], "yes"), (relevant[1], "yes"), (relevant[2], "no"), (asked[0], "no")]
    for row, answer in judgements:
        run("judge", desk, row["id"], "grain", answer)
    (told,) = lines("filter", desk, "--status")
    assert told["documents"] == told["new_documents"] == 400
    assert told["questions_left"] == 30 - len(asked)
    (topic,) = told["topics"]
    expected = {"topic": "grain", "delivered": len(pending), "asked": len(asked), "judged": 4}
    assert expected.items() <= topic.items()
    assert topic["precision"] == pytest.approx(2 / 3)  # of those delivered as relevant
    assert (topic["t9p"], topic["utility"], topic["t9u"]) == (2 / 50, 2.0, 2.0)  # two of four delivered, questions too
    assert topic["pending"] == len(pending) - 4
    assert topic["new_delivered"] == len(pending)
    assert topic["new_judged"] == topic["judged"]  # whether learnt yet or not
    shown = " ".join(run("filter", desk, "--status", "--table").stdout.split())
    assert "TREC-9 measures: T9P 0.040 (target 50), utility 2R-N +2.0, T9U +2.0: means of 1 topic" in shown
    assert "400 documents, 4 judgements (2 relevant)" in shown
    run("judge", desk, relevant[0]["id"], "grain", "yes")  # the same again is none
    run("filter", desk, stdin="goal\n")
    (told,) = lines("filter", desk, "--status")
    assert (told["topics"][0]["new_judged"], told["topics"][0]["new_relevant"]) == (4, 2)
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 86400))
    (told,) = lines("filter", desk, "--status", "--since", tomorrow)
    assert (told["new_documents"], told["topics"][0]["new_delivered"]) == (0, 0)
    (row,) = csv.DictReader(io.StringIO(run("filter", desk, "--status", "--csv").stdout))
    assert (row["topic"], row["judged"]) == ("grain", "4")
    shown = run("filter", desk, "--status", "--table").stdout
    assert "67%" in shown
    assert "has seen 401 documents, the last at" in shown
    assert "401 documents, 4 judgements (2 relevant)" in " ".join(shown.split())
    assert "is no moment" in run("filter", desk, "--status", "--since", "soon", code=2).stderr


# -- words ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance", ["full", "diagonal", "low_rank", "gp"])
def test_words_of_a_filter(lines, run, labelled, tmp_path, covariance):
    run("filter", tmp_path / "desk", "--train", labelled, "--covariance", covariance)
    rows = lines("words", tmp_path / "desk", "--top", 3)
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert {row["word"] for row in rows} <= {word.rstrip("s") for word in [*RARE, *OTHERS]} | {"oat", "barlei", "rye"}
    sizes = [abs(row["weight"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    for row, wide in zip(rows, lines("words", tmp_path / "desk", "--top", 3, "--level", 0.99), strict=True):
        if covariance == "gp":
            assert row["low"] is row["high"] is None
        else:
            assert wide["low"] < row["low"] < row["weight"] < row["high"] < wide["high"]
            # 95 % and 99 % intervals of a normal distribution
            assert (wide["high"] - wide["weight"]) / (row["high"] - row["weight"]) == pytest.approx(
                2.5758 / 1.95996, 1e-3
            )
    assert "grain" in run("words", tmp_path / "desk", "--table", "--label", "grain").stdout
    assert "is not a topic of" in run("words", tmp_path / "desk", "--label", "gran", code=1).stderr
    assert "is a filter" in run("words", tmp_path / "desk", "--prior", code=2).stderr


# -- what waits -------------------------------------------------------------------------------------------------------
def test_pending_by_information_with_the_text(lines, run, desk):
    rows = lines("filter", desk, "--pending")
    gains = [row["information_gain"] for row in rows]
    assert gains == sorted(gains, reverse=True)
    texts = {row["id"]: row["text"] for row in stream()}
    assert all(row["snippet"] == texts[row["id"]] for row in rows)
    in_time = lines("filter", desk, "--pending", "--order", "time")
    assert [int(row["id"][1:]) for row in in_time] == sorted(int(row["id"][1:]) for row in in_time)
    assert sorted(row["id"] for row in rows) == sorted(row["id"] for row in in_time)
    assert texts[rows[0]["id"]][:8] in run("filter", desk, "--pending", "--table").stdout


@pytest.mark.parametrize(("gain", "shown"), [(-1e-17, "0.000"), (-0.0, "0.000"), (0.1234, "0.123"), (12.5, "12.500")])
def test_bits_of_pending_are_not_negative_and_not_cut(run, desk, monkeypatch, gain, shown):
    row = {"id": "a", "topic": "grain", "probability": 0.5, "reason": "asked", "information_gain": gain, "words": {}}
    rows = [{**row, "time": 0.0, "snippet": "corn"}]
    monkeypatch.setattr("textbayes.cli.filter_run.read_pending", lambda folder: iter(rows))
    head, line = run("filter", desk, "--pending", "--table").stdout.splitlines()
    assert line.split() == ["a", "grain", "0.500", shown, "asked", "corn"]
    assert head.index("reason") == line.index("asked")
    asked = run("judge", desk, "--interactive", stdin="q\n").stdout
    assert f"information gain {shown} bits" in asked


def test_how_much_of_a_text_is_kept(lines, run, labelled, tmp_path):
    text = "corn wheat barley " + "office " * 100
    for given, kept in (((), text[:192] + " …"), (("--snippet", 12), "corn wheat …"), (("--snippet", 0), None)):
        state = tmp_path / f"desk{len(given)}{given[-1] if given else ''}"
        run("filter", state, "--train", labelled, "--threshold", 0, *given)
        (row,) = lines("filter", state, stdin=json.dumps({"id": "a", "text": text}) + "\n")
        assert row["snippet"] == kept
        assert [row["snippet"] for row in lines("filter", state, "--pending")] == [kept]
        assert lines("filter", state, "--replay")[0]["identical"]


# -- judging by keys --------------------------------------------------------------------------------------------------
def judged(state):
    """The judgements on disk, in their order."""
    return [
        (told["id"], told["relevant"]) for told in map(json.loads, (state / "inbox.jsonl").read_text().splitlines())
    ]


def test_judging_what_waits(lines, run, desk):
    first, second, third, *rest = [row["id"] for row in lines("filter", desk, "--pending")]
    shown = run("judge", desk, "--interactive", stdin="y\ns\nx\nn\nq\n").stdout
    assert judged(desk) == [(first, True), (third, False)]
    assert shown.count("Relevant to grain?") == 5  # an answer that is none is asked again
    assert "2 of" in shown.splitlines()[-1]
    texts = {row["id"]: row["text"] for row in stream()}
    assert texts[first] in " ".join(shown.split())
    # What was judged waits no more, before the filter has learnt it and after.
    assert [row["id"] for row in lines("filter", desk, "--pending")] == [second, *rest]
    run("filter", desk, stdin="goal\n")
    assert [row["id"] for row in lines("filter", desk, "--pending")] == [second, *rest]


def test_going_back_changes_an_answer(lines, run, desk):
    first, second, *_ = [row["id"] for row in lines("filter", desk, "--pending")]
    shown = run("judge", desk, "--interactive", stdin="u\ny\nu\nn\ny\nu\ny\n").stdout
    assert judged(desk) == [(first, True), (first, False), (second, True)]  # the same answer again is not written
    assert "there is none to go back to" in shown
    assert "You said yes; another answer replaces it" in shown
    run("filter", desk, stdin="goal\n")
    entries = [entry for entry, _ in read_log(desk / "log.jsonl") if entry["kind"] == "judgement"]
    assert [(entry["id"], entry["relevant"]) for entry in entries] == judged(desk)
    assert lines("filter", desk, "--replay")[0]["identical"]


def test_texts_do_not_steer_the_terminal(run, labelled, tmp_path):
    state = tmp_path / "desk"
    run("filter", state, "--train", labelled, "--threshold", 0)
    run("filter", state, stdin=json.dumps({"id": "a\x1b[2J", "text": "corn \x1b]52;c;eA==\x07 wheat"}) + "\n")
    shown = [run("judge", state, "--interactive", stdin="s\n"), run("filter", state, "--pending", "--table")]
    shown.append(run("filter", state, "--status", "--table"))
    assert all("\x1b" not in done.stdout and "\x07" not in done.stdout for done in shown)
    assert "a\\x1b[2J" in shown[0].stdout


def test_nothing_waits(run, labelled, tmp_path):
    run("filter", tmp_path / "desk", "--train", labelled)
    assert "every delivery is judged" in run("judge", tmp_path / "desk", "--interactive", stdin="").stderr
    assert "leave DOCUMENT" in run("judge", tmp_path / "desk", "a", "grain", "yes", "--interactive", code=2).stderr


# -- going on ---------------------------------------------------------------------------------------------------------
def test_what_was_seen_is_counted_once(lines, run, labelled, feed, write, tmp_path):
    state = tmp_path / "desk"
    run("filter", state, "--train", labelled)
    assert "seen before" not in run("filter", state, feed).stderr
    done = run("filter", state, feed)  # again from its start
    assert "400 documents seen before, under the same id with the same text: skipped" in done.stderr
    assert "deliver" not in done.stderr
    (told,) = lines("filter", state, "--status")
    assert told["documents"] == told["new_documents"] == 400
    assert lines("filter", state, "--replay")[0]["identical"]
    done = run("filter", state, feed, "--continue")
    assert "textbayes: 400 documents of" in done.stderr
    assert "holds no new documents" in done.stderr
    with feed.open("a") as file:
        file.write('{"id": "new", "text": "corn wheat barley"}\n')
    done = run("filter", state, feed, "--continue")
    assert "400 documents of" in done.stderr
    assert "from 1 document;" in done.stderr
    assert "401 documents of" in run("filter", state, feed, "--continue").stderr
    assert lines("filter", state, "--replay")[0]["identical"]


def test_several_inputs_and_standard_input_are_counted_apart(run, labelled, write, tmp_path):
    state = tmp_path / "desk"
    one, two, three = (write(stream(n), f"{n}.jsonl") for n in (3, 4, 5))
    run("filter", state, "--train", labelled)
    run("filter", state, one, two)
    done = run("filter", state, one, three, "--continue")  # another input, of which one document is new
    assert "7 documents seen before" in done.stderr
    assert "from 1 document;" in done.stderr
    assert "7 documents of" in run("filter", state, one, two, "--continue").stderr
    lines_given = one.read_text()
    run("filter", state, stdin=lines_given)
    assert "3 documents seen before, under the same id" in run("filter", state, stdin=lines_given).stderr
    done = run("filter", state, "--continue", stdin=two.read_text())
    assert "3 documents of standard input seen before: passed over" in done.stderr
    assert "1 document seen before, under the same id" in done.stderr


def test_documents_without_ids_are_known_by_their_place_and_text(run, lines, labelled, tmp_path):
    run("filter", tmp_path / "desk", "--train", labelled)
    run("filter", tmp_path / "desk", stdin="corn wheat\ngoal match\n")
    done = run("filter", tmp_path / "desk", stdin="corn wheat\nanother goal\ncorn wheat\n")
    assert "1 document seen before" in done.stderr  # the first; the third is another that says the same
    assert "from 2 documents" in done.stderr
    assert lines("filter", tmp_path / "desk", "--replay")[0]["identical"]


def test_ids_are_never_shortened(run, write, documents, tmp_path):
    state, long = tmp_path / "desk", "a-rather-long-identifier/of-one-document/0001"
    run("filter", state, "--train", write(documents), "--topic", "grain")
    more = write([{"id": long, "text": "corn and wheat harvest and farm", "labels": []}], name="more.jsonl")
    assert long in run("filter", state, more, "--table").stdout
    shown = run("filter", state, "--pending", "--table").stdout
    assert long in shown
    assert run("judge", state, long, "grain", "yes").exit_code == 0
