"""Training on partitions gives the model that training on all of them in one place gives."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from textbayes import TextCategorizer, TextVectorizer, save_model
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.scale.documents import SpreadDocuments, fit_documents
from textbayes.scale.partitions import make_partitions, names_partitions

TOPICS = {"sea": "ship wave sail salt", "farm": "corn cow barn field", "bank": "loan rate coin debt"}


def rows(n=120, seed=3):
    """Rows of texts with one topic each, some words of which are of others."""
    rng = np.random.default_rng(seed)
    everything = [*" ".join(TOPICS.values()).split(), "the", "a", "of", "and", "to", "in", "it", "was"]
    found = []
    for number in range(n):
        topic = list(TOPICS)[rng.integers(3)]
        words = rng.choice(TOPICS[topic].split(), 4).tolist() + rng.choice(everything, 5).tolist()
        found.append({"id": f"d{number}", "text": " ".join(rng.permutation(words)), "label": topic})
    return found


def write_parts(folder, given, ending="jsonl", ends=(30, 31, 90)):
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(np.split(np.arange(len(given)), ends)):
        chosen, path = [given[i] for i in part], folder / f"part-{number}.{ending}"
        if ending == "parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_pylist(chosen), path)
        elif ending == "csv":
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, list(chosen[0]))
                writer.writeheader()
                writer.writerows(chosen)
        else:
            lines = "".join(json.dumps(row) + "\n" for row in chosen).encode()
            path.write_bytes(gzip.compress(lines) if ending.endswith("gz") else lines)
    return f"{folder}/part-*.{ending}"


def spread(executor, source, **options):
    return SpreadDocuments(executor, make_partitions(source, **options))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_df": 2, "max_df": 0.5},
        {"max_features": 7},
        {"max_features": 5, "binary": True},
        {"ngram_range": (1, 2), "min_df": 3, "stop_words": "english", "stemmer": "porter"},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"vocabulary": ["ship", "corn", "unseen"]},
    ],
)
def test_the_vocabulary_is_that_of_all_texts(executors, tmp_path, settings):
    given = rows()
    documents = spread(executors("serial"), write_parts(tmp_path / "parts", given))
    everything = np.ones(len(given), dtype=bool)
    found = documents.vocabulary(TextVectorizer(**settings), everything)
    expected = TextVectorizer(**settings).fit([row["text"] for row in given])
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    assert found.stop_words_ == expected.stop_words_


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_files_of_every_format_are_partitions_wherever_they_are(executors, tmp_path, ending):
    given = rows(40)
    pattern = write_parts(tmp_path / "parts", given, ending, ends=(10, 25))
    for source in (pattern, f"file://{pattern}", [pattern], pattern.replace("*", "[0-9]"), str(tmp_path / "parts")):
        documents = spread(executors("serial"), source, text_field="text", label_field="label")
        assert [one.labels for one in documents.labelled()] == [(row["label"],) for row in given]
        assert [one.id for one in documents.labelled()] == [str(i) for i in range(40)]


def test_an_address_of_another_filesystem_will_do(executors):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for number in range(2):
        memory.pipe(f"/texts/{number}.jsonl", f'{{"text": "rain {number}", "labels": ["wet"]}}\n'.encode())
    documents = spread(executors("serial"), "memory://texts/*.jsonl")
    assert [one.labels for one in documents.labelled()] == [("wet",), ("wet",)]
    found = documents.vocabulary(TextVectorizer(), np.ones(2, dtype=bool))
    assert found.get_feature_names_out().tolist() == ["rain"]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own, about pandas 4
def test_what_dask_reads_is_in_partitions_too(executors, tmp_path):
    bag, frame = pytest.importorskip("dask.bag"), pytest.importorskip("dask.dataframe")
    given = [row | {"labels": [row["label"], "all"], "n": i} for i, row in enumerate(rows(30))]
    pattern = write_parts(tmp_path / "parts", given, "parquet", ends=(12,))
    lines = write_parts(tmp_path / "lines", given, "jsonl", ends=(12,))
    tables = write_parts(tmp_path / "tables", [row | {"labels": row["label"]} for row in given], "csv", ends=(12,))
    both = [(row["label"], "all") for row in given]
    for source, expected in (
        (frame.read_parquet(pattern), both),
        (bag.read_text(lines).map(json.loads), both),
        (frame.read_csv(tables), [(row["label"],) for row in given]),
    ):
        partitions = make_partitions(source, label_field="labels")
        assert len(partitions) == 2
        assert [one.labels for one in SpreadDocuments(executors("serial"), partitions).labelled()] == expected


@pytest.mark.parametrize(
    ("model", "address"),
    [("counts:model=multinomial", "local:2"), ("counts:model=poisson", "serial"), ("counts", "serial")],
)
def test_count_models_are_the_same_to_the_bit(executors, tmp_path, model, address):
    given = rows()
    texts, labels = [row["text"] for row in given], [row["label"] for row in given]
    whole = TextCategorizer(model=model).fit(texts, labels)
    documents = spread(executors(address), write_parts(tmp_path / "parts", given))
    found = fit_documents(TextCategorizer(model=model), documents, labels)
    np.testing.assert_array_equal(found.predict_proba(texts), whole.predict_proba(texts))
    np.testing.assert_array_equal(found.held_out_proba_, whole.held_out_proba_)
    assert found.held_out_ == whole.held_out_


@pytest.mark.parametrize("many", [False, True])
def test_linear_models_are_the_same_up_to_their_tolerance(executors, tmp_path, many):
    given = rows()
    texts, labels = [row["text"] for row in given], [row["label"] for row in given]
    if many:
        labels = [[label, *(["salty"] if "salt" in text else [])] for text, label in zip(texts, labels, strict=True)]
    whole = TextCategorizer(preset="linear").fit(texts, labels)
    documents = spread(executors("serial"), write_parts(tmp_path / "parts", given))
    found = fit_documents(TextCategorizer(preset="linear"), documents, labels)
    assert found.vectorizer_.get_feature_names_out().tolist() == whole.vectorizer_.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.weighting_.idf_, whole.weighting_.idf_)
    np.testing.assert_allclose(found.predict_proba(texts), whole.predict_proba(texts), atol=5e-3)
    np.testing.assert_allclose(found.held_out_proba_, whole.held_out_proba_, atol=2e-2)
    np.testing.assert_array_equal(found.fingerprints_, whole.fingerprints_)


def test_documents_that_are_left_out_are_not_learnt(executors, tmp_path):
    given = rows()
    kept = np.arange(len(given)) % 3 != 0
    chosen = [row for row, wanted in zip(given, kept, strict=True) if wanted]
    settings = {"model": "counts:model=multinomial", "class_weight": "balanced"}
    labels = [row["label"] for row in chosen]
    documents = spread(executors("serial"), write_parts(tmp_path / "parts", given))
    found = fit_documents(TextCategorizer(**settings), documents, labels, kept)
    whole = TextCategorizer(**settings).fit([row["text"] for row in chosen], labels)
    np.testing.assert_allclose(found.predict_proba(["ship corn"]), whole.predict_proba(["ship corn"]), rtol=1e-12)


@pytest.mark.slow
def test_the_model_is_loaded_without_a_cluster(executors, tmp_path):
    given = rows()
    documents = spread(executors("serial"), write_parts(tmp_path / "parts", given))
    model = fit_documents(TextCategorizer(model="counts:model=multinomial"), documents, [row["label"] for row in given])
    save_model(model, tmp_path / "model.tb")
    code = (
        "import sys; sys.modules['dask'] = sys.modules['distributed'] = sys.modules['fsspec'] = None\n"
        "from textbayes import load_model\n"
        f"print(load_model({str(tmp_path / 'model.tb')!r}).predict(['ship sail wave salt'])[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "sea"


def test_files_that_are_not_there_or_not_right_are_named(executors, tmp_path):
    with pytest.raises(InputError, match=r"no file fits '.*none-\*\.csv'"):
        make_partitions(f"{tmp_path}/none-*.csv")
    with pytest.raises(InputError, match="nosuch"):
        make_partitions("nosuch://bucket/*.csv")
    (tmp_path / "part-0.jsonl").write_text('{"text": "a"}\n{"text": \n')
    with pytest.raises(InputError, match=r"part-0\.jsonl, line 2: not valid JSON"):
        spread(executors("serial"), f"{tmp_path}/part-*.jsonl")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"select": "chi2", "select_k": 5}, "select needs all documents in one place"),
        ({"model": "online"}, "kind online are not trained on partitions"),
        ({"model": ["linear", "counts"]}, "linear, counts are not trained"),
        ({"model": "linear:inference=gibbs"}, "needs all documents in each chain"),
    ],
)
def test_what_needs_all_documents_is_refused_before_they_are_read(executors, tmp_path, settings, said):
    given = rows(12)
    documents = spread(executors("serial"), write_parts(tmp_path / "parts", given, ends=(5,)))
    with pytest.raises(NotSupportedError, match=said):
        fit_documents(TextCategorizer(**settings), documents, [row["label"] for row in given])


def test_a_name_without_a_pattern_is_a_file():
    assert names_partitions(["parts/part-[0-9].csv"])
    assert names_partitions(["gs://bucket/a.csv"])
    assert not names_partitions(["-"])
    assert not names_partitions(["news.csv", "C:\\news.csv"])


@pytest.mark.parametrize("address", ["serial", "local:2"])
def test_copies_in_different_partitions_share_a_fold(executors, tmp_path, address):
    """Folds, and so all that is said of held-out texts, are those of a training in one place."""
    given = rows()
    given = [*given, *(row | {"id": f"copy of {row['id']}", "text": row["text"].upper()} for row in given[::3])]
    texts, labels = [row["text"] for row in given], [row["label"] for row in given]
    model = TextCategorizer(model="counts:model=multinomial")
    documents = spread(executors(address), write_parts(tmp_path / "parts", given))
    found, whole = fit_documents(model, documents, labels), TextCategorizer(model=model.model).fit(texts, labels)
    assert found.copies_ == whole.copies_
    assert whole.copies_["identical"] >= 40
    np.testing.assert_array_equal(found.held_out_proba_, whole.held_out_proba_)
