"""Arrow batches in, Arrow batches out: the model's own labels and probabilities, also inside DuckDB."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import TextCategorizer
from textbayes.core.errors import InputError, MalformedFileError
from textbayes.scale import arrow_schema, score_arrow, score_batches

pa = pytest.importorskip("pyarrow")

TEXTS = ["ship sail wave", "corn cow barn", "sail salt ship", "barn corn field", "wave ship", "cow field barn"]
LABELS = ["sea", "farm", "sea", "farm", "sea", "farm"]


@pytest.fixture(scope="module")
def model():
    return TextCategorizer(model="counts:model=multinomial").fit(TEXTS, LABELS)


@pytest.mark.parametrize("make", [pa.table, pa.record_batch])
def test_columns_are_those_of_the_model(model, make):
    data = make({"n": [1, 2, 3], "text": ["a ship sails", "corn in a barn", "quite unknown"]})
    found = score_arrow(model, data)
    assert type(found) is type(data)
    assert found.schema.equals(arrow_schema(model, data.schema))
    assert found.schema.names == ["n", "text", "labels", "known_words", "p_farm", "p_sea"]
    assert found.column("n").to_pylist() == [1, 2, 3]
    assert found.column("labels").to_pylist() == [["sea"], ["farm"], []]  # of the last no word is known
    assert found.column("known_words").to_pylist()[2] == 0
    proba = model.predict_proba(data.column("text").to_pylist())
    np.testing.assert_array_equal(found.column("p_farm").to_numpy(zero_copy_only=False) if make is pa.record_batch
                                  else found.column("p_farm").to_numpy(), proba[:, 0])  # fmt: skip
    guessed = score_arrow(model, data, guess=True).column("labels").to_pylist()
    assert [tuple(row) for row in guessed] == model.predict_labels(data.column("text").to_pylist())


def test_texts_of_several_columns_and_other_kinds_of_strings(model):
    columns = {"title": ["ship", None], "body": pa.array(["sail", "corn barn"], pa.large_string()), "labels": [1, 2]}
    found = score_arrow(model, pa.table(columns), text_field=["title", "body"])
    assert found.column("textbayes_labels").to_pylist() == [["sea"], ["farm"]]
    assert found.column("labels").to_pylist() == [1, 2]
    coded = pa.table({"text": pa.array(["ship", "corn", "ship"]).dictionary_encode()})
    assert score_arrow(model, coded).column("labels").to_pylist() == [["sea"], ["farm"], ["sea"]]


def test_many_labels_and_what_is_left_to_people():
    many = [["sea", "all"] if label == "sea" else [] for label in LABELS]
    model = TextCategorizer(model="counts:model=multinomial", rule="unsure:low=0.01,high=0.99").fit(TEXTS, many)
    found = score_arrow(model, pa.table({"text": TEXTS}))
    assert found.schema.names == ["text", "labels", "unsure", "known_words", "p_all", "p_sea"]
    assert [tuple(row) for row in found.column("labels").to_pylist()] == model.predict_labels(TEXTS)
    proba = model.predict_proba(TEXTS)
    between = [[name for name, p in zip(("all", "sea"), row, strict=True) if 0.01 < p <= 0.99] for row in proba]
    assert found.column("unsure").to_pylist() == between


def test_no_rows_have_no_scores(model):
    empty = pa.table({"text": pa.array([], pa.string())})
    assert score_arrow(model, empty).schema.equals(arrow_schema(model, empty.schema))


def test_what_is_no_text_is_named(model):
    with pytest.raises(InputError, match="column 'text' holds int64"):
        score_arrow(model, pa.table({"text": [1, 2]}))
    with pytest.raises(MalformedFileError, match="no field 'text'"):
        score_arrow(model, pa.table({"n": [1, 2]}))


def test_duckdb_scores_a_query_and_queries_the_scores(model):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("create table posts (id text, text text)")
        connection.executemany("insert into posts values (?, ?)", [("1", "ship wave"), ("2", "cow"), ("3", "sail")])
        # A cursor of its own: the query is still open while its scores are asked for.
        batches = pa.RecordBatchReader.from_stream(connection.cursor().sql("select * from posts order by id"))
        scored = pa.RecordBatchReader.from_batches(arrow_schema(model, batches.schema), score_batches(model, batches))
        connection.register("scored", scored)
        rows = connection.execute("select labels[1] as label, count(*), max(p_sea) from scored group by 1 order by 1")
        found = rows.fetchall()
    proba = model.predict_proba(["ship wave", "cow", "sail"])[:, 1]
    assert [row[:2] for row in found] == [("farm", 1), ("sea", 2)]
    np.testing.assert_allclose([row[2] for row in found], [proba[1], proba[[0, 2]].max()], rtol=1e-12)
