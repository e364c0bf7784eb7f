"""``textbayes classify``: one answer per document, in every form, batch by batch."""

from __future__ import annotations

import csv
import io
import json
import threading
from pathlib import Path

import pytest

from textbayes.cli import answers
from textbayes.core.types import Document
from textbayes.display import cell_width
from textbayes.store import load_model, save_model


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_one_object_per_document(kind, lines, models, write, documents):
    rows = lines("classify", models[kind], write(documents), "--json", "--guess")
    assert [row["id"] for row in rows] == [doc["id"] for doc in documents]
    model = load_model(models[kind])
    texts = [doc["text"] for doc in documents]
    names = [str(name) for name in model.classes_]
    for row, labels, proba in zip(rows, model.predict_labels(texts), model.predict_proba(texts), strict=True):
        assert set(row) == {"id", "labels", "probability", "known_words", "probabilities"}
        assert tuple(row["labels"]) == labels
        assert row["probabilities"] == dict(zip(names, proba.tolist(), strict=True))


def test_the_most_probable_only(lines, models, write, documents):
    (row,) = lines("classify", models["multiclass"], write(documents[:1]), "--top", "2")
    assert next(iter(row["probabilities"])) == "grain"
    assert len(row["probabilities"]) == 2


def test_csv(run, models, write, documents):
    shown = run("classify", models["multilabel"], write(documents), "--csv", "--batch", "4").stdout
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert list(rows[0]) == ["id", "labels", "probability", "known_words", "p_grain", "p_money", "p_news", "p_sport"]
    assert [row["id"] for row in rows] == [doc["id"] for doc in documents]
    assert 0 < float(rows[0]["p_grain"]) < 1


def test_table(run, models, write, documents):
    shown = run("classify", models["binary"], write(documents), "--table", "--batch", "4").stdout.splitlines()
    assert shown[0].split() == ["id", "text", "labels", "most", "probable"]
    assert shown[1].split()[:3] == ["grain-0", "wheat", "and"]
    assert "grain  " in shown[1]
    assert len(shown) == 16


@pytest.mark.parametrize("width", [80, 60])
def test_lines_of_a_table_fit_and_begin_with_the_text(run, models, write, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [
        {"id": "a-name-that-is-far-too-long-to-be-shown-in-full", "text": "the bank\nraises rates " * 20},
        {"id": "b", "text": "小麥和玉米價格上漲小麥和玉米價格上漲小麥和玉米價格上漲 wheat"},
    ]
    for options in ((), ("--intervals",)):
        shown = run("classify", models["multiclass"], write(rows), "--table", *options).stdout.splitlines()
        assert len(shown) == 3
        assert max(map(cell_width, shown)) <= width
        assert "  the bank" in shown[1]
        assert "  小麥" in shown[2]
        assert "…" in shown[1]


def test_lines_of_plain_text_from_standard_input(lines, models):
    rows = lines("classify", models["multiclass"], stdin="the bank holds rates\nwheat harvest\n")
    assert [(row["id"], row["labels"]) for row in rows] == [("1", ["money"]), ("2", ["grain"])]


def test_text_files_and_folders(lines, models, tmp_path):
    (tmp_path / "a.txt").write_text("the bank\nholds rates", encoding="utf-8")
    (tmp_path / "b.txt").write_text("a goal", encoding="utf-8")
    rows = lines("classify", models["multiclass"], tmp_path)
    assert [(row["id"], row["labels"]) for row in rows] == [("a.txt", ["money"]), ("b.txt", ["sport"])]


def test_ids_met_twice_are_answered_twice_unless_refused(lines, run, models, write, documents):
    path = write([documents[0], documents[0]])
    assert len(lines("classify", models["multiclass"], path)) == 2
    assert "was used before" in run("classify", models["multiclass"], path, "--duplicates", "refuse", code=1).stderr


def test_no_documents_is_no_error(run, models):
    done = run("classify", models["multiclass"], stdin="")
    assert done.stdout == ""
    assert "standard input holds no documents" in done.stderr


def test_what_came_before_a_fault_is_answered(run, models, write, documents, tmp_path):
    path = write(documents[:3])
    with path.open("a", encoding="utf-8") as stream:
        stream.write("{not json\n")
    done = run("classify", models["multiclass"], path, code=1)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["grain-0", "grain-1", "grain-2"]
    assert "texts.jsonl, line 4: not valid JSON" in done.stderr


def test_a_band_left_to_people(lines, run, models, tmp_path, write, documents):
    from textbayes.decide import make_rule

    model = load_model(models["binary"])
    model.rule_ = make_rule("unsure", low=0.05, high=0.95).fit([[0.0]])
    save_model(model, tmp_path / "unsure.tb")
    rows = lines("classify", tmp_path / "unsure.tb", "--guess", stdin="the bank\nnothing known\n")
    assert [row["unsure"] for row in rows] == [[], ["grain", "money"]]
    shown = run("classify", tmp_path / "unsure.tb", "--table", "--guess", stdin="nothing known\n").stdout
    assert "unsure (grain)" in shown


def test_batches_end_early_where_documents_are_long(monkeypatch):
    monkeypatch.setattr(answers, "_MOST_CHARACTERS", 10)
    documents = [Document(str(i), "abcdef") for i in range(5)]
    assert [len(batch) for batch in answers.batches(documents, size=3)] == [2, 2, 1]
    assert [len(batch) for batch in answers.batches(documents[:1] * 3, size=1)] == [1, 1, 1]


def test_answers_come_before_the_input_ends(start, models, documents):
    process = start("classify", models["multiclass"], "--batch", "4", stdin=-1)
    process.stdin.write("".join(json.dumps(doc) + "\n" for doc in documents[:4]).encode())
    process.stdin.flush()
    first = [
        json.loads(process.stdout.readline()) for _ in range(4)
    ]  # would wait for ever if input were read to its end
    assert [row["id"] for row in first] == [doc["id"] for doc in documents[:4]]
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, b"", b"")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_memory_does_not_grow_with_the_input(start, models):
    text = "the bank holds rates and wheat " * 60

    def feed(numbers: range) -> None:
        for i in numbers:
            process.stdin.write(f'{{"id": "{i}", "text": "{text}"}}\n'.encode())
        process.stdin.flush()

    def resident() -> int:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    process = start("classify", models["multiclass"], stdin=-1, stderr=None)
    sizes = []
    for numbers in (range(4 * 512), range(4 * 512, 60 * 512)):
        writer = threading.Thread(target=feed, args=(numbers,))
        writer.start()
        for _ in numbers:
            assert process.stdout.readline()
        writer.join()
        sizes.append(resident())
    # 28,000 documents of 1.9 kB in between: 55 MB if they were kept
    assert sizes[1] - sizes[0] < 20_000, sizes


def test_the_reader_of_the_pipe_may_leave(start, models, write, documents):
    path = write(doc | {"id": f"{doc['id']}-{i}"} for i in range(2_000) for doc in documents)
    process = start("classify", models["multiclass"], path)
    process.stdout.read(100)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1


# -- other decisions and another order, without training ---------------------------------------------------------------
@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_the_probability_of_the_labels_given(kind, lines, models, write, documents):
    for row in lines("classify", models[kind], write(documents)):
        given = [row["probabilities"][label] for label in row["labels"]]
        assert row["probability"] == (min(given) if given else None)


@pytest.mark.parametrize("kind", ["multiclass", "binary", "multilabel"])
def test_labels_above_a_threshold_only(kind, lines, models, write, documents):
    before = lines("classify", models[kind], write(documents), "--guess")
    limit = sorted(max(row["probabilities"].values()) for row in before)[len(before) // 2]
    after = lines("classify", models[kind], write(documents), "--guess", "--threshold", limit)
    assert {bool(row["labels"]) for row in after} == {True, False}
    for row in after:
        over = [label for label, p in row["probabilities"].items() if p > limit]
        best = max(row["probabilities"], key=row["probabilities"].get)
        assert row["labels"] == (over if kind == "multilabel" else over and [best])


def test_a_rule_that_learns_nothing_replaces_that_of_the_model(lines, models, write, documents):
    rows = lines("classify", models["multilabel"], write(documents), "--rule", "fixed:threshold=0.05", "--guess")
    assert all(row["labels"] == [one for one, p in row["probabilities"].items() if p > 0.05] for row in rows)
    assert any(len(row["labels"]) > 1 for row in rows)


def test_a_rule_that_learns_is_refused_with_the_command_to_type(run, models, write, documents):
    asked = ("classify", models["multilabel"], write(documents))
    told = run(*asked, "--rule", "max_f1", code=1).stderr
    assert "learns from held-out probabilities" in told
    assert f"textbayes train TEXTS --rule max_f1 -o {models['multilabel']}" in told
    run(*asked, "--rule", "fixed", "--threshold", "0.5", code=2)


@pytest.mark.parametrize("kind", ["multiclass", "binary"])
def test_the_least_certain_first(kind, lines, models, write, documents):
    rows = lines("classify", models[kind], write(documents), "--sort", "uncertain", "--batch", 2)
    ranked = [sorted(row["probabilities"].values()) for row in rows]
    margins = [one[-1] - one[-2] for one in ranked]
    assert margins == sorted(margins)
    assert {row["id"] for row in rows} == {doc["id"] for doc in documents}


def test_of_several_labels_the_nearest_to_its_threshold_counts(lines, models, write, documents):
    thresholds = load_model(models["multilabel"]).rule_.thresholds_
    rows = lines("classify", models["multilabel"], write(documents), "--sort", "uncertain", "--intervals")
    gaps = [min(abs(p - t) for p, t in zip(row["probabilities"].values(), thresholds, strict=True)) for row in rows]
    assert gaps == sorted(gaps)
    plain = {row["id"]: row for row in lines("classify", models["multilabel"], write(documents), "--intervals")}
    assert all(row == plain[row["id"]] for row in rows)


def test_parts_of_the_uncertainty(lines, run, write, documents, tmp_path):
    path, model, plain = write(documents), tmp_path / "m.tb", tmp_path / "plain.tb"
    run("train", path, "-o", model, "--model", "online")
    rows = lines("classify", model, path, "--uncertainty")
    for row in rows:
        for parts in row["uncertainty"].values():
            assert set(parts) == {"epistemic", "aleatoric"}
            assert 0.0 <= parts["epistemic"] < sum(parts.values()) <= 1.0 + 1e-9
    table = run("classify", model, path, "--uncertainty", "--csv").stdout.splitlines()
    assert "epistemic_grain,aleatoric_grain" in table[0]
    assert "epistemic 0." in run("classify", model, path, "--uncertainty", "--table").stdout
    run("train", path, "-o", plain, "--family", "gaussian")
    assert "has no posterior" in run("classify", plain, path, "--uncertainty", code=1).stderr


def test_undecided_texts_alone_and_the_same_threshold_in_evaluate(run, lines, models, write, documents):
    path = write(documents)
    all_rows = lines("classify", models["multiclass"], path, "--threshold", "0.9")
    left = lines("classify", models["multiclass"], path, "--threshold", "0.9", "--undecided")
    assert [row["id"] for row in left] == [row["id"] for row in all_rows if not row["labels"]]
    (result,) = lines("evaluate", models["multiclass"], path, "--threshold", "0.9")
    assert result["n_decided"] == len(all_rows) - len(left)


def test_a_rule_that_learns_is_proposed_with_its_parameters(run, models, write, documents):
    done = run("classify", models["multiclass"], write(documents), "--rule", "unsure:precision=0.99", code=1)
    assert "--rule unsure:precision=0.99 -o" in done.stderr


def test_figures_of_texts_without_a_known_word_are_not_cut(run, models, write, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    path = write([{"id": "1", "text": "unseen"}, {"id": "2", "text": "the bank raises rates"}])
    said = run("classify", models["multiclass"], path, "--intervals", "--table").stdout
    assert all(line.rstrip().endswith(")") for line in said.splitlines()[1:]), said
