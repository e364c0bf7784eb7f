"""Labels as analysts have them: what reading says of them, and the options that settle it."""

from __future__ import annotations

import csv
import json

import pytest

from textbayes.store import load_model


@pytest.fixture
def messy(tmp_path, documents):
    """Write the fifteen documents twice as CSV, with some labels replaced by row number."""

    def make(changes=None, name="messy.csv"):
        rows = [*documents, *(doc | {"id": f"{doc['id']}-b"} for doc in documents)]
        path = tmp_path / name
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", "text", "label"])
            for i, doc in enumerate(rows):
                writer.writerow([doc["id"], doc["text"], (changes or {}).get(i, doc["labels"])])
        return path

    return make


def trained(tmp_path):
    space = load_model(tmp_path / "m.tb").label_space_
    return space.kind, [str(name) for name in space.classes]


def test_reading_says_which_labels_it_found(run, messy, tmp_path):
    said = run("train", messy(), "-o", tmp_path / "m.tb").stderr
    assert "textbayes: 30 texts, 3 labels: grain 10, money 10, sport 10\n" in said
    assert "warning" not in said


def test_of_many_labels_the_first_few_are_named(run, write, tmp_path):
    rows = [{"text": f"word{i % 20} corn", "label": f"l{i % 20:02}"} for i in range(60)]
    rows += [{"text": "word3 corn", "label": "l03"}]
    said = run("select", write(rows), "--top-k", 1).stderr
    assert "61 texts, 20 labels: l03 4, l00 3, l01 3, l02 3, l04 3, l05 3 and 14 more" in said


def test_stray_spaces_make_no_labels(run, messy, tmp_path):
    run("train", messy({0: " grain", 1: "grain ", 2: "grain\u00a0"}), "-o", tmp_path / "m.tb")
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])


def test_one_missing_label_does_not_change_the_task(run, messy, tmp_path):
    done = run("train", messy({7: ""}), "-o", tmp_path / "m.tb", "--json")
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])
    assert json.loads(done.stdout)["documents"] == 29
    assert "warning: 1 of 30 texts of " in done.stderr
    assert (
        "has no label and is left out (id 'money-2'); learn from such texts with --unlabelled learn, agree"
        in done.stderr
    )
    assert "with --unlabelled skip, or keep such texts as" in done.stderr


@pytest.mark.parametrize("option", [[], ["--single-label"]])
def test_many_missing_labels_are_the_users_to_settle(run, messy, tmp_path, option):
    path = messy({0: "", 7: " ", 12: ""})  # a tenth
    failed = run("train", path, "-o", tmp_path / "m.tb", *option, code=1).stderr
    assert "3 of 30 texts of " in failed
    assert (
        "have no label (ids 'grain-0', 'money-2', 'sport-2') and the others exactly one; learn from them with" in failed
    )
    assert "with --unlabelled learn, leave them out with --unlabelled skip, or keep them as texts of none" in failed
    assert "of the labels with --unlabelled keep" in failed
    assert not (tmp_path / "m.tb").exists()
    done = run("train", path, "-o", tmp_path / "m.tb", "--unlabelled", "skip", "--json")
    assert json.loads(done.stdout)["documents"] == 27
    assert "warning" not in done.stderr
    assert trained(tmp_path)[0] == "multiclass"
    run("train", path, "-o", tmp_path / "m.tb", "--unlabelled", "keep")
    assert trained(tmp_path) == ("multilabel", ["grain", "money", "sport"])


def test_texts_without_a_label_are_learnt_from(run, messy, write, documents, tmp_path):
    path = messy(dict.fromkeys([1, 2, 3, 6, 7, 8, 11, 12, 13, *range(15, 30)], ""))
    done = run("train", path, "-o", tmp_path / "m.tb", "--unlabelled", "learn", "--json")
    assert "textbayes: 24 texts of " in done.stderr
    assert "without a label to learn from" in done.stderr
    summary = json.loads(done.stdout)
    assert summary["documents"] == 6
    assert "24 unlabelled texts" in summary["chosen"]
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])
    assert load_model(tmp_path / "m.tb").choice_["unlabelled"]["n_texts"] == 24
    assert "24 unlabelled texts" in " ".join(run("show", tmp_path / "m.tb", "--table").stdout.split())
    few = write([doc for i, doc in enumerate(documents) if i % 5 in (0, 4)])
    others = write([{"id": doc["id"], "text": doc["text"]} for doc in documents * 2], "others.jsonl")
    done = run("train", few, "-o", tmp_path / "m.tb", "--unlabelled-texts", others, "--json")
    assert "30 texts of " in done.stderr
    assert load_model(tmp_path / "m.tb").choice_["unlabelled"]["n_texts"] == 30


def test_of_many_labels_an_empty_list_is_no_missing_label(run, write, documents, tmp_path):
    rows = [doc | {"labels": [doc["labels"], "news"]} for doc in documents] + [
        {"id": "none", "text": "corn", "labels": []}
    ]
    rows += [{"id": f"open{i}", "text": doc["text"], "labels": None} for i, doc in enumerate(documents * 2)]
    done = run("train", write(rows), "-o", tmp_path / "m.tb", "--unlabelled", "learn", "--json")
    assert json.loads(done.stdout)["documents"] == 16
    assert load_model(tmp_path / "m.tb").choice_["unlabelled"]["n_texts"] == 30


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--model", "counts"], "belong to automatic training; leave them out, or leave out --model and --preset"),
        (["--preset", "linear", "--out-of-core"], "belong to automatic training"),
        (["--estimate"], "and --estimate cannot be combined with them"),
        (["--out-of-core"], "need all texts in memory"),
    ],
)
def test_trainings_that_cannot_learn_from_texts_without_labels_say_so(run, messy, tmp_path, options, why):
    arguments = ("train", messy({0: ""}), "-o", tmp_path / "m.tb", *options)
    said = " ".join(run(*arguments, "--unlabelled", "learn", code=2).stderr.split())
    assert why in said
    assert why in " ".join(run(*arguments, "--unlabelled-texts", messy({}, "more.csv"), code=2).stderr.split())
    assert not (tmp_path / "m.tb").exists()


def test_lists_of_none_are_no_missing_labels(run, write, documents, tmp_path):
    rows = [doc | {"labels": [doc["labels"]] if i else []} for i, doc in enumerate(documents)]
    said = run("train", write(rows), "-o", tmp_path / "m.tb").stderr
    assert "multi-label: 1 of 15 documents have no label, 0 have several" in said
    assert "warning" not in said
    assert trained(tmp_path)[0] == "multilabel"
    run("train", write(rows), "-o", tmp_path / "m.tb", "--unlabelled", "skip")
    assert trained(tmp_path)[0] == "multiclass"


def test_one_label_and_none_cannot_both_be_meant(run, messy, tmp_path):
    arguments = ("train", messy(), "-o", tmp_path / "m.tb", "--single-label", "--unlabelled", "keep")
    assert "contradict each other" in run(*arguments, code=2).stderr


def test_twins_by_case_are_named_and_merged(run, messy, tmp_path):
    path = messy({0: "Grain", 1: "GRAIN"})
    said = run("train", path, "-o", tmp_path / "m.tb").stderr
    twins = (
        "labels differ by letter case only: 'grain' (8) ~ 'GRAIN' (1) ~ 'Grain' (1); make them one with --merge-case"
    )
    assert f"textbayes: warning: {twins}\n" in said
    said = run("train", path, "-o", tmp_path / "m.tb", "--merge-case").stderr
    assert "warning" not in said
    assert "grain 10" in said
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])


def test_words_that_mean_missing_are_named_and_declared(run, messy, tmp_path):
    path = messy({0: "N/A", 9: "n/a"})
    said = run("train", path, "-o", tmp_path / "m.tb").stderr
    assert (
        "'N/A' (1), 'n/a' (1) counts as a label; if it means that there is none, say so with --missing-label N/A\n"
        in said
    )
    assert len(trained(tmp_path)[1]) == 5
    said = run("train", path, "-o", tmp_path / "m.tb", "--missing-label", "N/A").stderr
    assert "2 of 30 texts of " in said
    assert "have no label and are left out (ids 'grain-0', 'money-4')" in said
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])


def test_several_labels_in_a_cell_are_named_and_split(run, messy, tmp_path):
    path = messy({0: "grain; money", 1: "grain;money"})
    said = run("train", path, "-o", tmp_path / "m.tb").stderr
    assert "several labels seem to be in one: 'grain; money' (1), 'grain;money' (1); split them with" in said
    assert "--label-separator ';'" in said
    said = run("train", path, "-o", tmp_path / "m.tb", "--label-separator", ";").stderr
    assert "warning" not in said
    assert trained(tmp_path) == ("multilabel", ["grain", "money", "sport"])


def test_lone_labels_are_named_and_left_out(run, messy, tmp_path):
    path = messy({0: "weather"})
    said = run("train", path, "-o", tmp_path / "m.tb").stderr
    assert "1 label has one text only: 'weather'; leave such labels out with --min-texts 2" in said
    done = run("train", path, "-o", tmp_path / "m.tb", "--min-texts", "2", "--json")
    assert json.loads(done.stdout)["documents"] == 29
    assert "1 label with fewer than 2 texts left out, and 1 text with them" in done.stderr
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])
    assert "no label has --min-texts 99 texts; the most frequent has 10" in (
        run("train", path, "-o", tmp_path / "m.tb", "--min-texts", "99", code=1).stderr
    )


def test_a_multi_label_text_loses_only_its_rare_labels(run, write, many_labels, tmp_path):
    run("train", write(many_labels), "-o", tmp_path / "m.tb", "--min-texts", "4")  # three have "news"
    assert trained(tmp_path) == ("multilabel", ["grain", "money", "sport"])


@pytest.mark.parametrize("command", [("select", "--top-k", 1), ("keyness", "--min-count", 1)])
def test_other_commands_read_labels_alike(run, lines, messy, command):
    path = messy({0: "", 1: "GRAIN"})
    assert "(id 'grain-0')" in run(command[0], path, *command[1:]).stderr
    rows = lines(command[0], path, *command[1:], "--merge-case", "--unlabelled", "skip")
    assert {row["label"] for row in rows} == {"grain", "money", "sport"}


def test_a_filter_starts_from_labels_read_alike(run, messy, tmp_path):
    path = messy({0: "", 1: "GRAIN", 2: "N/A"})
    said = run("filter", tmp_path / "desk", "--train", path).stderr
    assert "'grain' (7) ~ 'GRAIN' (1); make them one with --merge-case" in said
    done = run("filter", tmp_path / "desk2", "--train", path, "--merge-case", "--missing-label", "N/A", "--json")
    assert {name: row["relevant"] for name, row in json.loads(done.stdout)["topics"].items()} == {
        "grain": 8,
        "money": 10,
        "sport": 10,
    }
    assert "belong to --train" in run("filter", tmp_path / "desk", path, "--merge-case", code=2).stderr


def test_evaluate_leaves_out_texts_without_a_label_and_says_so(run, lines, models, messy):
    path = messy({0: "", 1: "N/A", 2: "Grain"})
    done = run("evaluate", models["multiclass"], path, "--json", "--missing-label", "n/a", "--merge-case")
    result = json.loads(done.stdout)
    assert (result["n_docs"], result["unknown_labels"], result["labels"]["grain"]["support"]) == (28, {}, 8)
    assert "warning: 2 texts of " in done.stderr
    assert "without a label left out (ids 'grain-0', 'grain-1')" in done.stderr
    agreed = run("evaluate", models["multiclass"], messy({0: ""}), "--unlabelled", "skip").stderr
    assert "warning: 1 text" not in agreed  # the user has said so


def test_evaluate_names_the_options_for_labels_the_model_spells_otherwise(run, models, messy):
    said = run("evaluate", models["multiclass"], messy({1: "N/A", 2: "Grain"})).stderr
    assert "has not seen 2 of the labels (documents): 'N/A' (1), 'Grain' (1)" in said
    assert "--merge-case" in said
    assert "--missing-label N/A" in said


def test_a_multi_label_model_takes_texts_without_labels_as_they_are(lines, models, messy):
    path = messy({0: "", 1: ""})
    (kept,) = lines("evaluate", models["multilabel"], path)
    (skipped,) = lines("evaluate", models["multilabel"], path, "--unlabelled", "skip")
    assert (kept["n_docs"], skipped["n_docs"]) == (30, 28)
