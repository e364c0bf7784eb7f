"""``textbayes train``: every way in, what is chosen, what is said, and the model that comes out."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import textwrap
from collections import Counter

import numpy as np
import pytest

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.summary import describe_choice
from textbayes.store import load_model
from textbayes.text.term_weights import SCHEMES

LINEAR = ("--preset", "linear")


def test_without_options_it_is_the_default_categorizer(lines, write, documents, tmp_path):
    (summary,) = lines("train", write(documents), "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    expected = TextCategorizer(n_jobs=-1).fit([d["text"] for d in documents], [d["labels"] for d in documents])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.rule_.name == expected.rule_.name
    assert summary.pop("seconds") > 0
    assert summary.pop("held_out") == expected.held_out_
    assert summary == {
        "model": str(tmp_path / "m.tb"),
        "documents": 15,
        "kind": "multiclass",
        "labels": 3,
        "words": model.coef_.shape[1],
        "words_with_weight": int((model.coef_ != 0).any(axis=0).sum()),
        "weights": model.weights_description,
        "chosen": describe_choice(expected.choice_),
    }


def test_held_out_figures_are_those_of_texts_not_seen(lines, write, documents, tmp_path):
    """Of two classes too: both count, and the log-loss is per text, as scikit-learn has it."""
    (summary,) = lines("train", write(documents[:10]), "-o", tmp_path / "m.tb")
    held_out = summary["held_out"]
    grain, money = held_out["labels"]["grain"], held_out["labels"]["money"]
    assert held_out["accuracy"] == (grain["tp"] + money["tp"]) / 10
    assert held_out["macro_f1"] == pytest.approx((grain["f1"] + money["f1"]) / 2)
    assert held_out["log_loss"] == pytest.approx((grain["log_loss"] * 5 + money["log_loss"] * 5) / 10)
    assert (grain["support"], money["support"], held_out["n_labels"]) == (5, 5, 2)
    assert load_model(tmp_path / "m.tb").held_out_ == held_out


def test_cross_validated_figures_of_each_label(run, lines, write, documents, tmp_path):
    arguments = ("train", write(documents), "-o", tmp_path / "m.tb", "--per-label")
    table = run(*arguments, "--table").stdout
    row = next(line.split() for line in table.splitlines() if line.split()[:1] == ["sport"])
    (summary,) = lines(*arguments)
    sport = summary["held_out"]["labels"]["sport"]
    assert row[1:5] == ["5", *(f"{sport[name]:.2f}" for name in ("precision", "recall", "f1"))]
    each = list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))
    assert [row["label"] for row in each] == ["grain", "money", "sport"]
    assert float(each[2]["f1"]) == sport["f1"]
    (overall,) = csv.DictReader(io.StringIO(run("train", write(documents), "-o", tmp_path / "m.tb", "--csv").stdout))
    assert float(overall["held_out_accuracy"]) == summary["held_out"]["accuracy"]


def test_cross_validation_alone_needs_and_writes_no_file(run, lines, write, documents, tmp_path):
    path = write(documents)
    (only,) = lines("train", path, "--cv-only")
    (summary,) = lines("train", path, "-o", tmp_path / "m.tb")
    assert only["held_out"] == summary["held_out"]
    assert only["model"] is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.tb", "texts.jsonl"]
    failed = run("train", path, "--cv-only", "-o", tmp_path / "n.tb", code=2)
    assert "--cv-only writes no model; leave out -o" in failed.stderr
    assert not (tmp_path / "n.tb").exists()
    assert "name it with -o, or pass --cv-only" in run("train", path, code=2).stderr


@pytest.fixture
def authors(tmp_path):
    """A CSV in which an author writes about one topic only, and is known by a word that nobody else uses."""
    rows = ["author,text,label"]
    for i in range(12):
        label, name = ("grain", "money")[i % 2], "abcdefghijkl"[i] * 4
        rows += [f"{name},{name} wrote text {word},{label}" for word in ("one", "two", "three", "four", "five")]
    path = tmp_path / "authors.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_groups_do_not_leak_into_the_figures(run, lines, authors):
    (leaky,) = lines("train", authors, "--cv-only")
    assert leaky["held_out"]["accuracy"] == 1.0  # the author's name gives the label away
    (grouped,) = lines("train", authors, "--cv-only", "--group-field", "author")
    assert grouped["held_out"]["accuracy"] < 0.8  # nothing is known of an author who is not in the other folds
    assert (
        "12 groups by 'author', the largest of 5 texts"
        in run("train", authors, "--cv-only", "--group-field", "author").stderr
    )


def test_groups_that_are_not_there(run, authors, write, documents, tmp_path):
    failed = run("train", authors, "--cv-only", "--group-field", "writer", code=1)
    assert "there is no field 'writer'; the fields are 'author', 'text', 'label'" in failed.stderr
    rows = [doc | {"who": "" if i == 3 else doc["id"]} for i, doc in enumerate(documents)]
    failed = run("train", write(rows), "--cv-only", "--group-field", "who", code=1)
    assert "document 'grain-3' of " in failed.stderr
    assert "has nothing in the field 'who'" in failed.stderr
    assert "a corpus has none" in run("train", "--corpus", "bbc", "--cv-only", "--group-field", "x", code=2).stderr
    folder = tmp_path / "texts"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "1.txt").write_text("corn", encoding="utf-8")
    failed = run("train", folder, "--cv-only", "--group-field", "who", code=1)
    assert "--group-field" in failed.stderr


def test_says_which_kind_of_labels_it_found(run, write, documents, many_labels, tmp_path):
    single = run("train", write(documents), "-o", tmp_path / "m.tb")
    assert "single-label: every document has exactly one label" in single.stderr
    many = run("train", write(many_labels), "-o", tmp_path / "m.tb")
    assert "multi-label: 3 of 15 documents have no label, 3 have several" in many.stderr
    quiet = run("train", write(documents), "-o", tmp_path / "m.tb", "--quiet")
    assert quiet.stderr == ""


def test_what_a_word_is_can_be_said(run, write, documents, tmp_path):
    run("train", write(documents), "--token-pattern", "[a-z]{5,}", "--stemmer", "none", "-o", tmp_path / "m.tb")
    words = load_model(tmp_path / "m.tb").vectorizer_.get_feature_names_out()
    assert "wheat" in words
    assert min(map(len, words)) == 5
    failed = run("train", write(documents), "--token-pattern", "[a-z", "-o", tmp_path / "n.tb", code=2)
    assert "is not a regular expression" in failed.stderr


def test_other_languages_and_scripts_without_spaces(run, lines, write, tmp_path):
    rows = [{"text": text, "labels": "cooking"} for text in ("锅里炒鸡蛋和豆腐", "鸡蛋放进锅里煮汤", "炒豆腐要用热锅")]
    rows += [{"text": text, "labels": "money"} for text in ("银行提高贷款利率", "股票和利率下跌", "银行的股票上涨")]
    options = ("--stemmer", "de", "--stop-words", "german", "--token-pattern", "all")
    run("train", write(rows), "--analyzer", "mixed", *options, "-o", tmp_path / "m.tb")
    assert {"锅", "鸡蛋", "利率"} <= set(load_model(tmp_path / "m.tb").vectorizer_.get_feature_names_out())
    new = write([{"text": "热锅里煮鸡蛋"}, {"text": "贷款利率下跌"}], "new.jsonl")
    assert [row["labels"] for row in lines("classify", tmp_path / "m.tb", new)] == [["cooking"], ["money"]]
    run("train", write(rows), "--analyzer", "char_wb", "--ngrams", "1-2", "-o", tmp_path / "m.tb")
    assert "锅里" in load_model(tmp_path / "m.tb").vectorizer_.get_feature_names_out()
    failed = run("train", write(rows), "--stop-words", "serbian", "-o", tmp_path / "n.tb", code=2)
    assert "there is no stop list for 'serbian'" in failed.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("balanced", "balanced"), ("grain=2.5,money=0.5", {"grain": 2.5, "money": 0.5})]
)
def test_labels_can_count_more_or_less(option, value, run, write, documents, tmp_path):
    rows = [doc for doc in documents if doc["labels"] != "sport"][:-2]
    run("train", write(rows), "--class-weight", option, "-o", tmp_path / "m.tb")
    expected = TextCategorizer(class_weight=value).fit([d["text"] for d in rows], [d["labels"] for d in rows])
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").coef_, expected.coef_)
    failed = run("train", write(rows), "--class-weight", "2", "-o", tmp_path / "n.tb", code=2)
    assert "'2' is not LABEL=WEIGHT" in failed.stderr


def test_the_kind_can_be_forced(run, write, documents, many_labels, tmp_path):
    run("train", write(documents), "-o", tmp_path / "m.tb", "--multi-label")
    assert load_model(tmp_path / "m.tb").label_space_.kind == "multilabel"
    failed = run("train", write(many_labels, "many.jsonl"), "-o", tmp_path / "n.tb", "--single-label", code=1)
    assert "document 1 of " in failed.stderr
    assert "many.jsonl (id 'grain-0') has 2 labels (grain, news) where exactly one is needed" in failed.stderr
    assert not (tmp_path / "n.tb").exists()


def _csv(documents, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\n" + "".join(f"{d['text']},{d['labels']}\n" for d in documents), encoding="utf-8")
    return [path]


def _odd_csv(documents, tmp_path):
    path = tmp_path / "odd.csv"
    rows = "".join(f"{d['text']};x;{d['labels']}\n" for d in documents)
    path.write_bytes(("Beitrag;Größe;Thema\n" + rows).encode("latin-1"))
    return [path, "--text-field", "Beitrag", "--label-field", "Thema", "--encoding", "latin-1"]


def _folder(documents, tmp_path):
    for doc in documents:
        folder = tmp_path / "texts" / doc["labels"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{doc['id']}.txt").write_text(doc["text"], encoding="utf-8")
    return [tmp_path / "texts"]


def _gz(documents, tmp_path):
    path = tmp_path / "texts.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(doc) + "\n" for doc in documents).encode()))
    return [path]


def _two_files(documents, tmp_path):
    for name, rows in (("a.jsonl", documents[:7]), ("b.jsonl", documents[7:])):
        (tmp_path / name).write_text("".join(json.dumps(doc) + "\n" for doc in rows), encoding="utf-8")
    return [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]


@pytest.mark.parametrize("make", [_csv, _odd_csv, _folder, _gz, _two_files], ids=lambda make: make.__name__[1:])
def test_the_same_model_from_every_kind_of_input(make, run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "a.tb")
    run("train", *make(documents, tmp_path), "-o", tmp_path / "b.tb")
    a, b = load_model(tmp_path / "a.tb"), load_model(tmp_path / "b.tb")
    np.testing.assert_allclose(a.coef_, b.coef_)  # files of a folder come in another order


@pytest.mark.parametrize("dash", [["-"], []], ids=["dash", "nothing"])
def test_standard_input(dash, run, documents, tmp_path):
    text = "".join(json.dumps(doc) + "\n" for doc in documents)
    run("train", *dash, "-o", tmp_path / "m.tb", stdin=text)
    assert load_model(tmp_path / "m.tb").label_space_.column_names == ["grain", "money", "sport"]
    run("train", *dash, "-o", tmp_path / "m.tb", stdin=gzip.compress(text.encode()))


def test_labels_in_one_field(run, many_labels, tmp_path):
    path = tmp_path / "many.csv"
    rows = "".join(f"{d['text']},{' ; '.join(d['labels'])}\n" for d in many_labels)
    path.write_text("text,labels\n" + rows, encoding="utf-8")
    run("train", path, "--label-separator", ";", "-o", tmp_path / "m.tb")
    assert load_model(tmp_path / "m.tb").label_space_.column_names == ["grain", "money", "news", "sport"]


def test_the_options_reach_the_model(run, write, documents, tmp_path):
    stop = tmp_path / "stop.txt"
    stop.write_text("the\nand\n", encoding="utf-8")
    options = "--family gaussian --scale 2 --link probit --weighting tfidf --rule fixed:threshold=0.3 --folds 3"
    words = f"--stemmer none --stop-words {stop} --ngrams 1-2 --min-df 1 --max-df 90% --jobs 1 --seed 7"
    run("train", write(documents), "-o", tmp_path / "m.tb", *options.split(), *words.split())
    model = load_model(tmp_path / "m.tb")
    assert model.link_.name == "probit"
    assert model.weighting_.scheme == "tfidf"
    assert model.rule_.get_params() == {"threshold": 0.3}
    assert model.pool_.shape == (1,)
    assert model.vectorizer_.ngram_range == (1, 2)
    names = set(model.vectorizer_.get_feature_names_out())
    assert {"wheat", "prices", "central bank", "its"} <= names
    assert "the" not in names


def test_each_label_chooses_its_words(run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "m.tb", *LINEAR, "--select", "likelihood_ratio", "--top-k", "2")
    assert ((load_model(tmp_path / "m.tb").coef_ != 0).sum(axis=1) <= 2).all()


def test_a_corpus_by_name(run, lines, tmp_path, documents, monkeypatch):
    from textbayes.data import Corpus

    corpus = Corpus(
        "bbc",
        [doc["id"] for doc in documents],
        [(doc["labels"],) for doc in documents],
        [doc["text"] for doc in documents],
        split=["test" if i % 5 == 4 else "train" for i in range(len(documents))],
    )
    monkeypatch.setattr("textbayes.data.load_corpus", lambda name, **options: corpus)
    done = run("train", "--corpus", "bbc", "-o", tmp_path / "m.tb")
    assert "corpus 'bbc', part train: 12 documents" in done.stderr
    assert len(lines("classify", tmp_path / "m.tb", "--corpus", "bbc")) == 3
    assert len(lines("classify", tmp_path / "m.tb", "--corpus", "bbc", "--part", "train", "--part", "test")) == 15


def test_an_existing_model_is_replaced_and_a_link_stays_a_link(run, write, documents, tmp_path):
    (tmp_path / "old.tb").write_text("old", encoding="utf-8")
    (tmp_path / "link.tb").symlink_to("old.tb")
    run("train", write(documents), "-o", tmp_path / "link.tb")
    assert (tmp_path / "link.tb").is_symlink()
    load_model(tmp_path / "old.tb")


def test_the_weightings_offered_are_those_there_are(run):
    assert f"[{'|'.join(SCHEMES)}]" in run("train", "--help-all").stdout


@pytest.mark.parametrize("search", ["cv", "one_se", "evidence", "norm"])
def test_scales_found_by_the_data(search, run, write, documents, tmp_path):
    run("train", write(documents), "--family", "gaussian", "--scale", search, "-o", tmp_path / "m.tb")
    model = load_model(tmp_path / "m.tb")
    (member,) = model.model
    assert type(member).__name__ == "BayesLinearClassifierCV"
    assert model.predict(["corn harvest"]).tolist() == ["grain"]


def test_no_option_changes_automatic_training_for_another(run, write, documents, tmp_path):
    run("train", write(documents), "-o", tmp_path / "m.tb", "--intervals")
    assert load_model(tmp_path / "m.tb").choice_ is not None
    assert load_model(tmp_path / "m.tb").word_intervals("grain", 3)
    for options in (["--select", "chi2", "--top-k", "5"], ["--weighting", "log"]):
        refused = run("train", write(documents), "-o", tmp_path / "m.tb", *options, code=1).stderr
        assert "of one view of words" in " ".join(refused.split())
        assert "--preset linear" in refused
    refused = run("train", write(documents), "-o", tmp_path / "m.tb", "--model", "clusters", code=2).stderr
    assert "not trained by name" in " ".join(refused.split())


def test_copies_of_texts_are_told_and_held_out_together(lines, run, write, documents, tmp_path):
    """In messages, in JSON, in the model file, and for figures alone."""
    copies = [{**one, "id": f"copy{i}", "text": one["text"].upper() + "."} for i, one in enumerate(documents[::2])]
    path = write(documents + copies)
    said = f"{len(copies)} of {len(documents + copies)} texts are copies of others ({len(copies)} identical, 0 nearly"
    for where in (["-o", tmp_path / "m.tb"], ["--cv-only"], ["--cv-only", "--out-of-core", "--preset", "linear"]):
        assert said in " ".join(run("train", path, *where).stderr.split())
    (summary,) = lines("train", path, "--cv-only")
    assert (summary["identical_copies"], summary["near_copies"]) == (len(copies), 0)
    assert said in " ".join(run("show", tmp_path / "m.tb", "--table").stdout.split())
    assert "copies" not in run("train", write(documents), "--cv-only").stderr


def test_probabilities_are_calibrated_by_beta(lines, run, write, documents, tmp_path):
    many = [{**one, "id": f"{one['id']}-{i}", "text": f"{one['text']} {'abcdefghij'[i % 10] * (2 + i // 10)}"}
            for i in range(24) for one in documents]  # fmt: skip
    path, model = write(many), tmp_path / "m.tb"
    [told] = lines("train", path, "-o", model, "--model", "counts:model=multinomial", "--calibrate-by", "beta")
    assert told["calibration"] == "beta"
    [row, *_] = lines("classify", model, path)
    assert sum(row["probabilities"].values()) == pytest.approx(1.0)
    assert "needs 1,000 held-out" in run("train", path, "--cv-only", "--calibrate-by", "isotonic", code=1).stderr


def test_vectors_that_are_no_counts_are_refused_with_what_to_type(run, tmp_path):
    rows, path = "1 1:0.5 3:1\n2 2:1 4:0.3\n" * 5, tmp_path / "a.svm"
    path.write_text(rows)
    bare = tmp_path / "vectors"
    bare.write_text(rows)
    for file in (path, bare):
        said = run("train", file, "-o", tmp_path / "m.tb", code=1).stderr
        assert "whose values are no counts" in said
        code = said[said.index("from textbayes") :].replace("'model.tb'", repr(str(tmp_path / "m.tb")))
        exec(textwrap.dedent("  " + code), {})  # what the message says to type
        assert load_model(tmp_path / "m.tb").predict([[0.5, 0, 1, 0], [0, 1, 0, 0.3]]).tolist() == ["1", "2"]


def counted(documents, words):
    """Rows of counts of documents, with a label each, and one that has several."""
    numbers = {"grain": "1", "money": "2", "sport": "3"}
    for doc in documents:
        counts = Counter(doc["text"].split())
        yield f"{numbers[doc['labels']]} " + " ".join(
            f"{words.index(w) + 1}:{counts[w]}" for w in sorted(counts, key=words.index)
        )


@pytest.mark.parametrize("how", [(), ("--model", "counts"), ("--preset", "linear", "--out-of-core")])
def test_counts_of_words_train_a_model_as_their_texts_do(run, lines, write, documents, tmp_path, how):
    rows, words = documents * 3, sorted({word for doc in documents for word in doc["text"].split()})
    svm, vocabulary, model, other = (tmp_path / name for name in ("a.svm", "words.txt", "m.tb", "o.tb"))
    svm.write_text("\n".join(counted(rows, words)) + "\n")
    vocabulary.write_text("\n".join(words) + "\n")
    named = ("--reader-option", f"vocabulary={vocabulary}", "--duplicates", "keep")
    run("train", svm, "-o", model, *how, *named)
    numbered = [doc | {"id": str(n)} for n, doc in enumerate(rows)]
    texts = write([doc | {"text": " ".join(sorted(doc["text"].split()))} for doc in numbered])
    plain = ("--token-pattern", "[a-z]+", "--stemmer", "none", "--stop-words", "none")
    run("train", texts, "-o", other, *how, *plain)
    found, due = lines("classify", model, svm, *named), lines("classify", other, texts)
    for one, row in zip(found, due, strict=True):
        assert list(one["probabilities"].values()) == pytest.approx(list(row["probabilities"].values()), abs=1e-6)
    bare = tmp_path / "b.tb"
    run("train", "-", "-o", bare, "--preset", "linear", stdin=svm.read_bytes())
    assert [
        word for word in load_model(bare).vectorizer_.get_feature_names_out() if not re.fullmatch(r"f\d+", word)
    ] == []
    [figures] = lines("evaluate", bare, svm)
    assert figures["accuracy"] > 0.9
    assert lines("explain", bare, svm, "--id", "1")[0]["words"][0]["word"].startswith("f")
    assert "which train and classify read" in run("select", svm, "--top-k", "3", code=1).stderr


def test_rows_of_several_labels_make_a_multi_label_model(run, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1,2 1:2 3:1\n1 1:1 4:2\n2 3:2\n 5:1 6:1\n" * 6)
    run("train", path, "-o", tmp_path / "m.tb", "--model", "counts")
    model = load_model(tmp_path / "m.tb")
    assert (model.label_space_.kind, model.classes_.tolist()) == ("multilabel", ["1", "2"])
    assert model.predict_labels(["f1 f3", "f5 f6"]) == [("1", "2"), ()]
