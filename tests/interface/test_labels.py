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
        "has no label and is left out (id 'money-2'); learn from such texts with --unlabelled learn, leave them out"
        in done.stderr
    )
    assert "with --unlabelled skip, or keep them as" in done.stderr


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
    assert "18 unlabelled texts (without 6 that are copies of labelled ones)" in summary["chosen"]
    assert trained(tmp_path) == ("multiclass", ["grain", "money", "sport"])
    assert load_model(tmp_path / "m.tb").choice_["unlabelled"]["n_texts"] == 18
    assert "18 unlabelled texts" in " ".join(run("show", tmp_path / "m.tb", "--table").stdout.split())
    few = write([doc for i, doc in enumerate(documents) if i % 5 in (0, 4)])
    others = write([{"id": doc["id"], "text": doc["text"]} for doc in documents * 2], "others.jsonl")
    done = run("train", few, "-o", tmp_path / "m.tb", "--unlabelled-texts", others, "--json")
    assert "30 texts of " in done.stderr
    told = load_model(tmp_path / "m.tb").choice_["unlabelled"]
    assert (told["n_texts"], told["n_copies"]) == (18, 12)  # 6 of 15 documents are labelled, and all are there twice


def test_of_many_labels_an_empty_list_is_no_missing_label(run, write, documents, tmp_path):
    rows = [doc | {"labels": [doc["labels"], "news"]} for doc in documents] + [
        {"id": "none", "text": "corn", "labels": []}
    ]
    rows += [{"id": f"open{i}", "text": f"{doc['text']} {i}", "labels": None} for i, doc in enumerate(documents * 2)]
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
        "'N/A' (1), 'n/a' (1) are treated as labels; if that means a missing label, use --missing-label N/A\n" in said
    )
    assert len(trained(tmp_path)[1]) == 5
    said = run("train", path, "-o", tmp_path / "m.tb", "--missing-label", "N/A").stderr
    assert "('n/a': no label)" in run("show", tmp_path / "m.tb", "--table").stdout  # the model remembers it
    measured = json.loads(run("evaluate", tmp_path / "m.tb", path, "--json").stdout)
    assert (measured["n_docs"], measured["unknown_labels"]) == (28, {})
    learnt = run("update", tmp_path / "m.tb", path, "-o", tmp_path / "m2.tb", code=1).stderr
    assert "labels that the model does not know" not in learnt
    asked = run("ask", tmp_path / "m.tb", path, "-n", "1").stderr
    assert "28 of 30 texts labelled" in asked
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


def test_a_misspelt_label_is_named(run, messy, tmp_path):
    done = run("train", messy({0: "mnoey", 7: ""}), "-o", tmp_path / "m.tb", "--table")
    assert "labels that may be misspelt: 'mnoey' (1) for 'money' (9); if so, correct the file" in done.stderr
    assert "has one text only" not in done.stderr
    assert "labels that may be misspelt" in done.stdout


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
    assert "2 labels are not in the training set (texts): 'N/A' (1), 'Grain' (1)" in said
    assert "--merge-case" in said
    assert "--missing-label N/A" in said


def test_a_multi_label_model_takes_texts_without_labels_as_they_are(lines, models, messy):
    path = messy({0: "", 1: ""})
    (kept,) = lines("evaluate", models["multilabel"], path)
    (skipped,) = lines("evaluate", models["multilabel"], path, "--unlabelled", "skip")
    assert (kept["n_docs"], skipped["n_docs"]) == (30, 28)


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("child,parent\ngrain,goods\nmoney,goods\n")
    return path


@pytest.mark.parametrize(
    "how", [("--family", "gaussian"), ("--model", "counts"), ("--preset", "linear", "--out-of-core")]
)
def test_a_label_tree_given_in_training_is_in_every_answer(lines, run, write, documents, tree, tmp_path, how):
    model, path = tmp_path / "m.tb", write(documents)
    trained = run("train", path, "-o", model, "--label-tree", tree, *how, "--json")
    assert "10 labels above others added" in trained.stderr
    tree.unlink()  # the model has it
    figures = json.loads(trained.stdout)["held_out"]["labels"]
    assert figures["goods"]["support"] == 10
    rows = lines("classify", model, path, "--intervals")
    for row in rows:
        p = row["probabilities"]
        assert p["goods"] >= max(p["grain"], p["money"]) - 1e-12
        assert "goods" in row["labels"] or not {"grain", "money"} & set(row["labels"])
        assert all(low <= p[name] <= high for name, (low, high) in row["intervals"].items())
    assert any("goods" in row["labels"] for row in rows)
    sure = lines("classify", model, path, "--threshold", "0.6")
    assert [{name for name, p in row["probabilities"].items() if p > 0.6} for row in sure] == [
        set(row["labels"]) for row in sure
    ]
    never = lines("classify", model, path, "--rule", "fixed:threshold=0.2")
    assert all("goods" in row["labels"] or not {"grain", "money"} & set(row["labels"]) for row in never)
    [shown] = lines("show", model, "--json")
    assert shown["label_tree"] == {"grain": ["goods"], "money": ["goods"]}


def test_texts_that_a_model_with_a_tree_is_measured_on_have_the_labels_above_theirs(lines, run, write, documents, tree):
    model, path, other = tree.parent / "m.tb", write(documents), tree.parent / "o.tb"
    run("train", path, "-o", model, "--label-tree", tree, "--model", "counts")
    run("train", path, "-o", other, "--label-tree", tree, "--family", "gaussian")
    whole = [doc | {"labels": sorted({doc["labels"], "goods"} - ({"goods"} if doc["labels"] == "sport" else set()))}
             for doc in documents]  # fmt: skip
    given = write(whole, "whole.jsonl")
    for command in (("evaluate", model), ("compare", model, other, "--truth")):
        assert lines(*command, path, "--json") == lines(*command, given, "--json")
    rows = lines("classify", model, path)
    due = {doc["id"]: set(doc["labels"]) for doc in whole}
    tp = sum(len(due[row["id"]] & set(row["labels"])) for row in rows)
    wrong = sum(len(due[row["id"]] ^ set(row["labels"])) for row in rows)
    [figures] = lines("evaluate", model, path, "--json")
    assert figures["micro_f1"] == pytest.approx(2 * tp / (2 * tp + wrong))
    [learnt] = lines("update", model, path, "--json")
    assert learnt["texts_of_labels"] == [20, 10, 10, 10]  # goods, grain, money, sport


def test_label_trees_that_cannot_be_used_are_refused(run, write, documents, tree, tmp_path):
    path = write(documents)
    train = ("train", path, "-o", tmp_path / "m.tb", "--family", "gaussian", "--label-tree", tree)
    assert "--single-label and --label-tree contradict" in run(*train, "--single-label", code=2).stderr
    tree.write_text("child,parent\ngrein,goods\n")
    said = run(*train, code=1).stderr
    assert "--label-tree has 1 label that no text has: 'grein'; correct the spelling" in said
    assert "did you mean 'grain'" in said
    tree.write_text("child,parent\ngrain,goods\ngoods,grain\n")
    assert "'grain' is above itself" in run(*train, code=1).stderr
    rare = [*documents, documents[0] | {"id": "rare", "labels": "oats"}]
    tree.write_text("child,parent\ngrain,goods\noats,grain\n")
    done = run("train", write(rare), *train[2:], "--min-texts", "2")
    assert "1 label with fewer than 2 texts left out" in done.stderr
    assert load_model(tmp_path / "m.tb").classes_.tolist() == ["goods", "grain", "money", "sport"]
