"""Commands on a cluster: the same answers, from files that its workers read, and refusals in a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from textbayes.scale import make_executor
from textbayes.store import load_model

pa = pytest.importorskip("pyarrow")
pytest.importorskip("distributed")
from pyarrow import parquet  # noqa: E402


@pytest.fixture(scope="module")
def scheduler():
    """The address of a scheduler with two worker processes."""
    with make_executor("local:2") as executor:
        yield executor.client.scheduler.address


@pytest.fixture
def parts(tmp_path, documents):
    """The documents in three Parquet files, as a pattern."""
    shuffled = [documents[i] for i in np.random.default_rng(0).permutation(len(documents))]
    for number, rows in enumerate((shuffled[:4], shuffled[4:9], shuffled[9:])):
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / f"part-{number}.parquet")
    return f"{tmp_path}/part-*.parquet"


@pytest.mark.slow
def test_training_on_partitions_writes_an_ordinary_model(run, scheduler, parts, documents, tmp_path):
    told = run("train", parts, "--cluster", scheduler, "--preset", "linear", "-o", tmp_path / "model.tb", "--json")
    summary = json.loads(told.stdout)
    assert (summary["documents"], summary["labels"], summary["kind"]) == (15, 3, "multiclass")
    assert "15 texts, 3 labels" in told.stderr
    model = load_model(tmp_path / "model.tb")
    assert model.predict(["wheat and corn", "the bank", "a goal"]).tolist() == ["grain", "money", "sport"]


def test_a_label_tree_holds_on_partitions_too(run, lines, scheduler, parts, documents, write, tmp_path):
    tree, model, alone, folder = (tmp_path / name for name in ("tree.csv", "m.tb", "a.tb", "scores"))
    tree.write_text("child,parent\ngrain,goods\nmoney,goods\n")
    how = ("--model", "counts:model=multinomial", "--label-tree", tree)
    run("train", parts, "--cluster", scheduler, *how, "-o", model)
    run("train", write(documents), *how, "-o", alone)
    texts = [doc["text"] for doc in documents]
    np.testing.assert_allclose(
        load_model(model).predict_proba(texts), load_model(alone).predict_proba(texts), atol=1e-12
    )
    run("classify", model, parts, "--cluster", scheduler, "-o", folder)
    rows = parquet.read_table([str(path) for path in sorted(folder.glob("*.parquet"))]).to_pylist()
    assert len(rows) == 15
    assert all(row["p_goods"] >= max(row["p_grain"], row["p_money"]) for row in rows)
    assert all("goods" in row["labels"] for row in rows if {"grain", "money"} & set(row["labels"]))


def test_texts_without_a_label_are_left_out_of_partitions_too(run, scheduler, tmp_path, documents):
    rows = [doc | {"labels": None if i == 7 else doc["labels"]} for i, doc in enumerate(documents)]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "part-0.parquet")
    told = run(
        "train", f"{tmp_path}/part-?.parquet", "--cluster", scheduler, "--model", "counts:model=multinomial",
        "--unlabelled", "skip", "-o", tmp_path / "model.tb", "--json",
    )  # fmt: skip
    assert json.loads(told.stdout)["documents"] == 14


def test_files_that_are_read_here_are_fitted_by_the_workers(run, lines, scheduler, write, documents, tmp_path):
    path, few = write(documents * 2), ("--duplicates", "keep", "--preset", "linear")
    for cluster in ((), ("--cluster", scheduler)):
        run("train", path, *few, *cluster, "-o", tmp_path / f"{len(cluster)}.tb")
    assert (tmp_path / "0.tb").read_bytes() == (tmp_path / "2.tb").read_bytes()


def test_partitions_are_scored_into_a_folder_and_not_twice(run, lines, scheduler, models, parts, tmp_path):
    scored = ("classify", models["multiclass"], parts, "--cluster", scheduler, "-o", tmp_path / "scores")
    done = json.loads(run(*scored).stdout)
    assert {name: done[name] for name in ("partitions", "finished_before", "documents")} == {
        "partitions": 3, "finished_before": 0, "documents": 15,
    }  # fmt: skip
    found = parquet.read_table([str(path) for path in sorted((tmp_path / "scores").glob("*.parquet"))]).to_pylist()
    alone = lines("classify", models["multiclass"], *sorted(tmp_path.glob("part-*.parquet")))
    assert [(row["id"], row["labels"], row["p_grain"]) for row in found] == [
        (row["id"], row["labels"], row["probabilities"]["grain"]) for row in alone
    ]
    assert json.loads(run(*scored).stdout)["finished_before"] == 3
    other = run("classify", models["binary"], *scored[2:], code=1)
    assert "holds scores by another model" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--cluster", "nowhere"),
            "textbayes: error: --cluster nowhere is not usable; pass local:2 for two Dask workers",
        ),
        (
            ("--cluster", "tcp://127.0.0.1:9"),
            "textbayes: error: no Dask scheduler answers at --cluster tcp://127.0.0.1:9",
        ),
        (("--cluster", "tls://127.0.0.1:9"), "textbayes: error: --cluster tls://127.0.0.1:9 needs certificates"),
    ],
)
def test_a_cluster_that_is_none_is_named_in_a_sentence(run, write, documents, tmp_path, arguments, said):
    done = run("train", write(documents), "-o", tmp_path / "model.tb", *arguments, code=1)
    assert done.stderr.strip().splitlines()[-1].startswith(said)
    assert not (tmp_path / "model.tb").exists()


def test_what_partitions_cannot_do_is_refused(run, scheduler, parts, models, tmp_path):
    train = ("train", parts, "--cluster", scheduler, "-o", tmp_path / "model.tb")
    assert "--report needs all documents in one place" in run(*train, "--report", tmp_path / "a.html", code=2).stderr
    assert "two ways with large inputs" in run(*train, "--out-of-core", code=2).stderr
    assert "--group-field needs all documents" in run(*train, "--group-field", "id", code=2).stderr
    done = run(*train, "--model", "online", code=1)
    assert "models of type online are not trained on partitions" in done.stderr
    done = run("train", f"{tmp_path}/none-*.csv", *train[2:], code=1)
    assert "no file fits" in done.stderr
    classify = ("classify", models["binary"], parts, "--cluster", scheduler)
    assert "scores files into a folder" in run(*classify, code=2).stderr
    assert (
        "--threshold, --rule, --sort and --undecided are not for --cluster"
        in run(*classify, "-o", tmp_path / "s", "--top", "1", code=2).stderr
    )


def test_simulations_are_spread_over_seeds(lines, scheduler, write, documents):
    rows = [{"text": doc["text"], "label": int(doc["labels"] == "grain")} for doc in documents * 2]
    asked = ("simulate", write(rows, "review.jsonl"), "--seeds", "2", "--model", "textbayes", "--json")
    assert lines(*asked, "--cluster", scheduler) == lines(*asked)


def test_partitions_are_read_by_the_columns_of_the_model(run, scheduler, documents, tmp_path):
    rows = [{"nr": one["id"], "text": "nothing", "remark": one["text"], "topic": one["labels"]} for one in documents]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "part-0.parquet")
    named = ("--text-field", "remark", "--label-field", "topic", "--id-field", "nr")
    model, folder = tmp_path / "model.tb", tmp_path / "scores"
    run("train", tmp_path / "part-0.parquet", *named, "-o", model)
    run("classify", model, f"{tmp_path}/part-*.parquet", "--cluster", scheduler, "-o", folder)
    found = parquet.read_table([str(path) for path in folder.glob("*.parquet")]).to_pylist()
    assert [row["id"] for row in found] == [one["id"] for one in documents]
    assert sum(row["labels"] == [one["labels"]] for row, one in zip(found, documents, strict=True)) >= 12
