"""``textbayes clusters``: words of clusters, memberships of texts, labels that make clusters classes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from textbayes import TextCategorizer, load_model, save_model
from textbayes.cli.clusters import clusters
from textbayes.core.errors import NotSupportedError

# Click keeps the option of help that a command first had: tables of help in other tests have -h.
HELP = {"help_option_names": ["-h", "--help"]}

TOPICS = {
    "grain": "wheat corn harvest farmers rain exports",
    "money": "bank loans rates deposits credit cash",
    "sport": "goal match team striker tickets season",
}


@pytest.fixture
def texts(tmp_path):
    """24 texts of three topics, of which the first six are labelled."""
    rows = []
    for i in range(24):
        topic = list(TOPICS)[i % 3]
        words = TOPICS[topic].split()
        text = " ".join(words[(i + j) % len(words)] for j in range(9))
        rows.append({"id": f"t{i}", "text": text} | ({"labels": topic} if i < 6 else {}))
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def run(*arguments, code=0):
    done = CliRunner().invoke(clusters, [str(argument) for argument in arguments], **HELP)
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_words_and_sizes_of_clusters(texts):
    rows = [json.loads(line) for line in run(texts, "-k", "3", "--top", "6", "--starts", "4").stdout.splitlines()]
    assert sorted(sorted(row["words"]) for row in rows) == sorted(sorted(words.split()) for words in TOPICS.values())
    assert sum(row["size"] for row in rows) == pytest.approx(1.0)
    assert [row["texts"] for row in rows] == [8, 8, 8]
    assert all(row["rates"] == sorted(row["rates"], reverse=True) for row in rows)
    assert [row["size"] for row in rows] == sorted((row["size"] for row in rows), reverse=True)


def test_clusters_of_bursts_are_kept_and_used_again(texts, tmp_path):
    model = tmp_path / "clusters.tb"
    done = run(texts, "-k", "3", "--starts", "4", "--model", "negative_binomial", "--memberships", "-o", model)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    loaded = load_model(model)
    assert loaded.model_.single.model == "negative_binomial"
    assert (loaded.model_.single.deltas_ > 0.0).all()
    read = [json.loads(line)["text"] for line in Path(texts).read_text(encoding="utf-8").splitlines()]
    for row, found in zip(rows, loaded.predict_proba(read), strict=True):
        assert dict(zip(loaded.classes_, found, strict=True)) == pytest.approx(row["memberships"], abs=1e-5)


def test_labels_need_the_poisson(texts):
    done = run(texts, "-k", "3", "--labels", "--model", "negative_binomial", code=2)
    assert "--labels needs --model poisson" in done.output


def test_labels_make_clusters_classes(texts):
    done = run(texts, "-k", "3", "--labels", "--memberships")
    assert "6 of 24 texts are labelled" in done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["cluster"] for row in rows] == [list(TOPICS)[i % 3] for i in range(24)]
    for row in rows:
        assert list(row["memberships"]) == list(TOPICS)
        assert sum(row["memberships"].values()) == pytest.approx(1.0, abs=1e-5)


def test_memberships_as_csv_and_tables(texts):
    rows = list(csv.DictReader(io.StringIO(run(texts, "-k", "2", "--memberships", "--csv").stdout)))
    assert list(rows[0]) == ["id", "cluster", "1", "2"]
    assert [row["id"] for row in rows] == [f"t{i}" for i in range(24)]
    assert all(float(row["1"]) + float(row["2"]) == pytest.approx(1.0, abs=1e-5) for row in rows)
    assert "belongs to" in run(texts, "-k", "2", "--memberships", "--table").stdout
    table = run(texts, "-k", "2", "--table").stdout
    assert "share of all text" in table
    assert "wheat" in table


def test_the_same_seed_gives_the_same_clusters(texts):
    assert run(texts, "-k", "3", "--seed", "5").stdout == run(texts, "-k", "3", "--seed", "5").stdout


def test_what_is_refused(texts, tmp_path):
    assert "--weighting does not apply" in run(texts, "--weighting", "ltc", code=2).output
    assert run(texts, "-k", "0", code=2)
    assert "No such option" in run(texts, "--save", tmp_path / "c.tb", code=2).output
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "1", "text": "wheat wheat"}\n{"id": "2", "text": "wheat corn corn"}\n', encoding="utf-8")
    failed = CliRunner().invoke(clusters, [str(bare), "--labels"], **HELP)
    assert "has a label" in str(failed.exception)
    many = tmp_path / "many.jsonl"
    many.write_text('{"id": "1", "text": "wheat", "labels": ["a", "b"]}\n', encoding="utf-8")
    failed = CliRunner().invoke(clusters, [str(many), "--labels"], **HELP)
    assert "one at most" in str(failed.exception)


@pytest.mark.parametrize("k", [2, 3])
def test_saved_clusters_are_a_model(texts, k, tmp_path):
    """Shares of a text are what ``transform`` gives, in the order of the names, and the file says the same again."""
    path = tmp_path / "clusters.tb"
    given = run(texts, "-k", k, "-o", path, "--memberships").stdout.splitlines()
    model = load_model(path)
    rows = [json.loads(line) for line in Path(texts).read_text(encoding="utf-8").splitlines()]
    proba = model.predict_proba([row["text"] for row in rows])
    for told, shares in zip(map(json.loads, given), proba, strict=True):
        assert dict(zip(model.classes_, shares, strict=True)) == pytest.approx(told["memberships"], abs=1e-5)
    told = model.explain(rows[0]["text"])[0]
    assert told.base + sum(part.log_odds for part in told.contributions) == pytest.approx(told.log_odds)
    run(texts, "-k", k, "--output", tmp_path / "same.tb")
    assert (tmp_path / "same.tb").read_bytes() == path.read_bytes()
    save_model(model, tmp_path / "again.tb")
    assert (tmp_path / "again.tb").read_bytes() == path.read_bytes()
    with pytest.raises(NotSupportedError, match="a model of type 'clusters' cannot be updated"):
        model.update(["wheat"], ["1"])
    with pytest.raises(NotSupportedError, match="clusters are found without labels"):
        TextCategorizer(model="clusters", cv=2).fit(["wheat corn", "bank rates"] * 4, ["x", "y"] * 4)
