"""``textbayes ask`` on the command line: questions, a file to fill in, and training with the answers."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from textbayes.store import load_model

_WORDS = {
    "grain": ["corn", "wheat", "barley", "harvest", "farm", "crop"],
    "money": ["bank", "rate", "loan", "credit", "bond", "market"],
    "sport": ["goal", "match", "coach", "league", "team", "striker"],
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    names = list(_WORDS)
    found = []
    for i in range(90):
        label = names[i % 3]
        words = [*rng.choice(_WORDS[label], 4), *rng.choice(["today", "news", "people", "year", "city"], 2)]
        found.append({"nr": f"n{i}", "text": " ".join([*words, f"series{i % 9}"]), "topic": label})
    return found


def write_csv(path, rows, columns, delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter))


@pytest.fixture
def files(tmp_path, rows):
    labelled = write_csv(tmp_path / "labelled.csv", rows[:24], ["nr", "text", "topic"], ";")
    new = write_csv(tmp_path / "new.csv", rows[24:], ["nr", "text"], ";")
    return labelled, new


def test_questions_are_filled_in_and_trained_on(run, lines, files, rows, tmp_path):
    """Ask, fill in, train; and the next questions leave out what was answered."""
    labelled, new = files
    asked = tmp_path / "asked.csv"
    columns = ("--label-field", "topic", "--id-field", "nr")
    said = run("ask", labelled, new, *columns, "-n", 10, "-o", asked).stderr
    assert "24 of 90 texts labelled" in said
    assert "fill in the column 'topic'" in said
    found = read_csv(asked, ";")  # the delimiter of the input
    assert list(found[0]) == ["nr", "text", "topic", "guess", "guess_probability", "guess_words", "asked"]
    assert len(found) == 10
    assert all(row["topic"] == "" for row in found)
    assert [row["asked"] for row in found] == ["random", *["clusters"] * 9]
    truth = {row["nr"]: row for row in rows}
    assert all(row["text"] == truth[row["nr"]]["text"] for row in found)
    for row in found:
        row["topic"] = truth[row["nr"]]["topic"]
    write_csv(asked, found, list(found[0]), ";")
    model = tmp_path / "m.tb"
    run("train", labelled, asked, *columns, "--preset", "linear", "-o", model)
    assert load_model(model).label_counts_.sum() == 34
    again = lines("ask", labelled, asked, new, *columns, "-n", 20)
    assert not {row["id"] for row in again} & {row["nr"] for row in found}
    by_model = lines("ask", model, new, "--strategy", "margin", "--random-share", 0, "-n", 5)
    proba = load_model(model).predict_proba([row["text"] for row in by_model])
    assert [row["probability"] for row in by_model] == pytest.approx(proba.max(axis=1).tolist())


def test_answers_are_not_replaced_by_the_next_questions(run, files, rows, tmp_path):
    labelled, new = files
    asked = tmp_path / "asked.csv"
    ask = ("ask", labelled, new, "-n", "3", "-o", asked)
    run(*ask)
    run(*ask)  # nothing was filled in: the same questions again
    found = read_csv(asked, ";")
    found[1]["topic"] = "grain"
    write_csv(asked, found, list(found[0]), ";")
    before = asked.read_bytes()
    failed = run(*ask, code=1).stderr
    assert f"{asked} has 1 label that you filled in" in " ".join(failed.split())
    assert asked.read_bytes() == before
    typed = failed.splitlines()[-1].split()
    assert typed == ["textbayes", *map(str, ask[:-1]), str(tmp_path / "asked-2.csv"), str(asked)]
    assert "25 of 93 texts labelled" in run(*typed[1:]).stderr
    assert len(read_csv(tmp_path / "asked-2.csv", ";")) == 3


def test_one_file_with_some_labels_is_enough(run, lines, rows, tmp_path):
    part = [row | {"topic": row["topic"] if i < 24 else ""} for i, row in enumerate(rows)]
    path = write_csv(tmp_path / "part.csv", part, ["nr", "text", "topic"])
    columns = ("--label-field", "topic", "--id-field", "nr")
    found = lines("ask", path, *columns, "-n", 6)
    assert len(found) == 6
    assert {row["id"] for row in found} <= {row["nr"] for row in rows[24:]}
    assert all(row["guess"][0] in _WORDS for row in found)
    target = tmp_path / "next.csv"
    run("ask", path, *columns, "-n", 6, "-o", target)
    assert list(read_csv(target)[0]) == ["nr", "text", "topic", "guess", "guess_probability", "guess_words", "asked"]


def test_json_lines_keep_their_fields_and_get_an_empty_label(run, rows, tmp_path):
    path = tmp_path / "part.jsonl"
    given = [
        {"id": row["nr"], "text": row["text"], "label": row["topic"] if i < 24 else None} for i, row in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    target = tmp_path / "next.jsonl"
    run("ask", path, "-n", 4, "-o", target)
    found = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert len(found) == 4
    assert all(row["label"] is None and row["asked"] and row["text"] for row in found)
    run("ask", path, target, "-n", 2)  # rows whose label is empty still have none


def test_many_labels_know_an_answer_of_none(lines, rows, tmp_path):
    path = tmp_path / "many.jsonl"
    given = []
    for i, row in enumerate(rows):
        one = {"id": row["nr"], "text": row["text"]}
        if i < 30:
            one["labels"] = [] if i == 4 else [row["topic"], *(["short"] if i % 4 == 0 else [])]
        given.append(one)
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    found = lines("ask", path, "-n", 50, "--multi-label")
    assert len(found) == 50
    assert "n4" not in {row["id"] for row in found}


def test_growth_is_told(run, lines, files):
    columns = ("--label-field", "topic", "--id-field", "nr")
    found = lines("ask", *files, *columns, "--growth")
    assert [row["labels"] for row in found] == [24, 74, 124, 224]
    assert all(0.0 <= row["low"] <= row["value"] <= row["high"] <= 1.0 for row in found)
    table = run("ask", *files, *columns, "--table").stdout
    assert "95% interval" in table
    assert "50 more labels" in table
    assert "uncertain, different" in " ".join(table.split())


def test_questions_before_any_label(lines, rows, tmp_path):
    path = write_csv(tmp_path / "new.csv", rows, ["nr", "text"])
    found = lines("ask", path, "--id-field", "nr", "-n", 9, "--random-share", 0)
    assert {row["asked"] for row in found} == {"typical"}
    assert all(row["guess"] is None for row in found)


def test_names_and_descriptions_of_labels_give_first_guesses(run, lines, rows, tmp_path):
    path = write_csv(tmp_path / "new.csv", rows, ["nr", "text"])
    truth = {row["nr"]: row for row in rows}
    table = tmp_path / "labels.csv"
    table.write_text(
        "label,description\ngrain,corn and wheat from the farm\nmoney,a bank and its loans\nsport,goals of a team\n"
    )
    found = lines("ask", path, "--id-field", "nr", "-n", 60, "--descriptions", table)
    assert sum(one["guess"] == [truth[one["id"]]["topic"]] for one in found) > 50
    assert all(set(one["words"]) <= set(truth[one["id"]]["text"].split()) and one["words"] for one in found)
    by_name = lines("ask", path, "--id-field", "nr", "-n", 60, "--labels", "bank, league ,harvest")
    assert {one["guess"][0] for one in by_name} == {"bank", "league", "harvest"}
    said = run("ask", path, "--id-field", "nr", "--labels", "zzz,qqq", "-n", 3).stderr
    assert "no text has a word of the labels' names" in said
    target = tmp_path / "next.csv"
    run("ask", path, "--id-field", "nr", "-n", 5, "--descriptions", table, "-o", target)
    assert all(row["guess"] and row["guess_words"] for row in read_csv(target))


def test_refusals_say_what_to_do(run, files, tmp_path):
    labelled, _ = files
    said = run("ask", labelled, "--label-field", "topic", code=1).stderr
    assert "every text of" in said
    assert "name a file of texts without one as well" in said
    said = run("ask", *files, "--label-field", "topic", "-o", labelled, code=1).stderr
    assert "would replace" in said
    said = run("ask", *files, "--labels", " , ", code=2).stderr
    assert "--labels names no label" in said


def test_a_vocabulary_describes_labels(lines, run, write, documents, tmp_path):
    rdf, skos = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2004/02/skos/core#"
    concepts = "".join(
        f'<skos:Concept rdf:about="#{name}"><skos:prefLabel>{name}</skos:prefLabel><skos:altLabel>{other}'
        "</skos:altLabel></skos:Concept>"
        for name, other in (("grain", "wheat"), ("money", "bank"), ("sport", "goal"))
    )
    file = tmp_path / "goods.xml"
    file.write_text(f'<rdf:RDF xmlns:rdf="{rdf}" xmlns:skos="{skos}">{concepts}</rdf:RDF>')
    texts = write([{"id": one["id"], "text": one["text"]} for one in documents])
    rows = lines("ask", texts, "--descriptions", file, "-n", "9")
    assert {label for row in rows for label in row["guess"]} == {"grain", "money", "sport"}
    two = lines("ask", texts, "--descriptions", file, "--labels", "grain,sport", "-n", "9")
    assert {label for row in two for label in row["guess"]} == {"grain", "sport"}
    refused = run("ask", texts, "--descriptions", file, "--labels", "oil", code=1)
    assert "no concept named 'oil'" in refused.stderr


def test_labels_in_a_column_of_another_name_are_not_passed_over(run, rows, tmp_path):
    some = [row | {"desk": row["topic"] if i < 30 else ""} for i, row in enumerate(rows)]
    path = write_csv(tmp_path / "all.csv", some, ["nr", "text", "desk"])
    said = " ".join(run("ask", path, code=1).stderr.split())
    assert "'desk' may be it" in said
    assert f"textbayes ask {path} --label-field desk" in said
    assert "30 of 90 texts labelled" in run("ask", path, "--label-field", "desk").stderr
    assert "0 of 90 texts labelled" in run("ask", path, "--no-labels").stderr
    bare = write_csv(tmp_path / "bare.csv", rows, ["nr", "text"])
    assert "0 of 90 texts labelled" in run("ask", bare).stderr, "numbers of rows are no labels"


def test_a_flat_curve_in_a_wide_band_or_of_few_texts_is_no_forecast(capsys):
    from types import SimpleNamespace

    from textbayes.cli.ask import _print_growth
    from textbayes.evaluate.intervals import Growth, Share

    sizes, flat = np.array([80, 130, 230]), np.array([0.44, 0.44, 0.44])
    session = SimpleNamespace(labelled=[0] * 30, multi_label=False)
    for width, n, told in [(0.2, 300, False), (0.05, 300, True), (0.05, 30, False)]:
        _print_growth(session, Share(0.42, 0.3, 0.6), Growth(sizes, flat, flat - width, flat + width, 486, n))
        said = " ".join(capsys.readouterr().out.split())
        least = f"{0.44 - width:.2f}"
        few = f"Too few labels to forecast growth: with 200 more it may be anything from {least} up."
        assert (few in said) != told
        assert ("From about 486 labels on" in said) == told


def test_empty_cells_of_several_labels_are_asked_about_and_learnt_from(run, rows, tmp_path):
    mixed = [row | {"topic": f"{row['topic']};news" if i % 2 else row["topic"]} for i, row in enumerate(rows[:30])]
    mixed += [row | {"topic": " "} for row in rows[30:]]
    file = write_csv(tmp_path / "mixed.csv", mixed, ["nr", "text", "topic"])
    columns = ("--label-field", "topic", "--id-field", "nr", "--label-separator", ";")
    done = run("ask", file, *columns, "-n", 5, "--json")
    assert "30 of 90 texts labelled" in done.stderr
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} <= {row["nr"] for row in rows[30:]}
    done = run("train", file, *columns, "--unlabelled", "learn", "-o", tmp_path / "m.tb")
    assert "60 texts of " in done.stderr
    assert json.loads(done.stdout)["documents"] == 30
    done = run("train", file, *columns, "-o", tmp_path / "m.tb", "--model", "counts")  # as texts of none of the labels
    assert json.loads(done.stdout)["documents"] == 90
    single = write_csv(tmp_path / "single.csv", [*rows[:30], *mixed[30:]], ["nr", "text", "topic"])
    done = run("train", single, *columns, "-o", tmp_path / "m.tb", "--model", "counts")
    assert (json.loads(done.stdout)["documents"], json.loads(done.stdout)["kind"]) == (90, "multilabel")


def test_train_without_any_label_says_where_to_begin(run, rows, tmp_path):
    bare = write_csv(tmp_path / "bare.csv", rows, ["nr", "text"])
    said = run("train", bare, "-o", tmp_path / "m.tb", code=1).stderr
    assert f"if none has one yet, see with `textbayes ask {bare}` which to label first" in said
    assert "typical of many others are chosen" in run("ask", bare).stderr
