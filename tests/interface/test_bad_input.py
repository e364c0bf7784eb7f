"""What users get wrong: each is refused in one sentence that says what to do, and nothing half-written stays."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import tempfile
import time

import pytest

from textbayes.categorizer import TextCategorizer


@pytest.fixture
def refused(run, tmp_path):
    """Train on something; it must fail in one sentence, and leave nothing but what was there."""

    def call(*arguments, code=1, stdin=None):
        before = sorted(tmp_path.rglob("*"))
        failed = run("train", *arguments, "-o", tmp_path / "model.tb", code=code, stdin=stdin)
        assert failed.stdout == ""
        assert "Traceback" not in failed.stderr
        assert sorted(tmp_path.rglob("*")) == before
        if code == 1:
            *_, said = failed.stderr.rpartition("textbayes: error: ")
            sentence, *typed = said.splitlines()  # a command to type may follow
            assert "textbayes: error: " in failed.stderr
            assert not typed or typed[-1].startswith("  textbayes train ")
            return sentence
        return failed.stderr

    return call


# -- data -------------------------------------------------------------------------------------------------------------
def test_empty_corpus(refused, write):
    assert "texts.jsonl holds no documents; check the path and the format (--format)" in refused(write([]))
    assert refused(stdin="").startswith("standard input holds no documents")


def test_an_empty_folder(refused, tmp_path):
    (tmp_path / "texts").mkdir()
    assert "is empty; put documents in it" in refused(tmp_path / "texts")


def test_no_labels(refused, write):
    message = refused(write([{"text": "one"}, {"text": "two"}]))
    assert "has a label; name the column that holds it with --label-field" in message


def test_one_class_only(refused, write, documents):
    message = refused(write(documents[:5]))
    assert message == "only one class, 'grain', was given; a classifier needs documents of at least two"


def test_a_document_of_two_labels_among_single_labels(refused, write, documents):
    message = refused(write([*documents, {"id": "x", "text": "both", "labels": ["grain", "sport"]}]), "--single-label")
    assert "document 16 of " in message
    assert (
        "texts.jsonl (id 'x') has 2 labels (grain, sport) where exactly one is needed; correct it, or train with"
        in (message)
    )


def test_duplicate_ids(refused, write, documents):
    message = refused(write([*documents, documents[0]]))
    assert (
        "texts.jsonl, line 16: id 'grain-0' was used before (line 1): make ids unique, or pass --duplicates keep"
        in (message)
    )


def test_a_token_pattern_that_no_model_file_may_carry(refused, write, documents):
    message = refused(write(documents), "--token-pattern", r"(\w+)+@")
    assert "may take for ever on some texts" in message
    assert "a model file cannot keep it" in message


def test_texts_without_words(refused, write):
    message = refused(write([{"text": "…", "labels": "a"}, {"text": "—", "labels": "b"}]))
    assert "hold no term" in message


def test_binary_junk(refused, tmp_path):
    (tmp_path / "junk.jsonl").write_bytes(bytes(range(256)) * 10)
    assert "junk.jsonl, line 1: NUL bytes: this is binary data, not text" in refused(tmp_path / "junk.jsonl")
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.7\n\x00\x01")
    assert "page.pdf holds a document with a layout, not text: save it as plain text (.txt)" in (
        refused(tmp_path / "page.pdf")
    )
    (tmp_path / "page").write_bytes(b"%PDF-1.7\n\x00\x01")
    assert "page, line 1: this is a PDF document, not text" in refused(tmp_path / "page")


def test_another_encoding_names_the_option(refused, tmp_path):
    (tmp_path / "old.jsonl").write_bytes('{"text": "Größe", "labels": "a"}\n'.encode("latin-1"))
    message = refused(tmp_path / "old.jsonl")
    assert "is not valid UTF-8: name the file's encoding, for example --encoding cp1252 (files from Excel" in message
    assert "or pass --encoding-errors replace" in message


def test_a_dash_of_windows_names_its_encoding(refused, tmp_path):
    (tmp_path / "notes.csv").write_bytes("text,label\nwheat — and corn,grain\n".encode("cp1252"))
    message = refused(tmp_path / "notes.csv")
    assert "notes.csv, line 2: byte 0x97 in column 7 is not valid UTF-8" in message
    assert "for example --encoding cp1252 (files from Excel on Windows), or pass --encoding-errors replace" in message


def test_references_are_refused_with_what_to_do(refused, tmp_path):
    (tmp_path / "refs.enw").write_text("%0 Journal Article\n%T Wheat\n")
    message = refused(tmp_path / "refs.enw")
    assert (
        "refs.enw holds references for a reference manager, in a form that is not read: export them as RIS" in message
    )


def test_a_workbook_is_read(run, tmp_path, documents):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    book = openpyxl.Workbook()
    for row in (["id", "text", "label"], *([doc["id"], doc["text"], doc["labels"]] for doc in documents)):
        book.active.append(row)
    book.save(tmp_path / "texts.xlsx")
    run("train", tmp_path / "texts.xlsx", "-o", tmp_path / "model.tb")
    assert (tmp_path / "model.tb").exists()


def test_a_bomb_names_the_option_that_lets_it_in(refused, tmp_path):
    import gzip

    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"text,label\n" + (b"c" * 100_000 + b",a\n") * 1_000))
    message = refused(tmp_path / "bomb.csv.gz")
    assert "bomb.csv.gz: unpacks to more than 67,108,864 bytes" in message
    assert "set the reader option max_unpacked to more bytes" in message
    small = refused(tmp_path / "bomb.csv.gz", "--reader-option", "max_unpacked=1000")
    assert "unpacks to more than 1,000 bytes" in small


def test_a_device_is_refused(refused):
    assert refused("/dev/zero") == "/dev/zero is a device; give a file, a folder or a pipe with texts"


def test_a_missing_file_and_field(refused, write, documents):
    assert refused("nothing.jsonl") == "there is no file or folder nothing.jsonl; check the path"
    assert "there is no field 'body'; the fields are 'id', 'text', 'labels'" in refused(
        write(documents), "--text-field", "body"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(refused, write, documents):
    path = write(documents)
    path.chmod(0)
    assert "may not be read; check its permissions" in refused(path)


def test_a_truncated_gzip(refused, tmp_path, documents):
    import gzip
    import json

    data = gzip.compress("".join(json.dumps(doc) + "\n" for doc in documents).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(data[:100])
    assert "cut short or damaged" in refused(tmp_path / "cut.jsonl.gz")


def test_rules_that_leave_no_word(refused, write, documents):
    message = refused(write(documents), "--min-df", "10")
    assert message.startswith("--min-df 10 and --max-df 1.0 leave none of the")


# -- options ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("--family lapace", "unknown prior 'lapace': choose one of "),
        ("--link logti", "unknown link 'logti'"),
        ("--rule max_f2", "unknown decision rule 'max_f2'"),
        ("--rule fixed:cut=1", "decision rule 'fixed' has no parameter 'cut'; it has: threshold"),
        ("--rule fixed:threshold=high", "Invalid value for '--rule'"),
        ("--rule max_f1:fbr=3", "fbr=3 must lie in [0, 1]"),
        ("--rule fixed:0.3", "'0.3' is not a setting; write NAME=VALUE"),
        ("--select chi3 --top-k 5", "unknown score function 'chi3'"),
        ("--select chi2", "--select needs --top-k or --select-threshold"),
        ("--select-threshold 0.5", "--top-k and --select-threshold choose words by a score; name it with --select"),
        ("--scale 2", "name its family with --family as well"),
        ("--family laplace --scale 0", "0.0 is not in the range"),
        ("--stemmer portre", "--stemmer portre is not known"),
        ("--stop-words nothing.txt", "--stop-words nothing.txt is neither 'smart' nor a language such as"),
        ("--ngrams 2-1", "'2-1' goes from 2 to 1"),
        ("--ngrams x", "'x' is not a range of n-grams"),
        ("--min-df 0", "is out of range"),
        ("--min-df 1.5", "is out of range"),
        ("--min-df few", "is neither a number of documents"),
        ("--weighting bm25", "'bm25' is not one of"),
        ("--format exe", "unknown format 'exe'"),
        ("--jobs 0", "0 is not in the range"),
        ("--family student_t:degrees=1", "takes no parameters after its name; in Python pass an object, StudentT(…)"),
        ("--folds 1", "1 is not in the range"),
        ("--corpus bbc", "--corpus and files were both given"),
        ("--part train", "belong to a corpus; name it with --corpus"),
        ("--json --csv", "--json and --csv were both given"),
        ("- -", "named twice"),
    ],
)
def test_unknown_option_values(options, cause, refused, write, documents):
    message = " ".join(refused(write(documents), *options.split(), code=2).split())
    assert cause in message
    assert "Usage: textbayes train" in message


def test_an_option_the_format_does_not_have(refused, tmp_path, documents):
    (tmp_path / "texts" / "grain").mkdir(parents=True)
    (tmp_path / "texts" / "grain" / "1.txt").write_text("corn", encoding="utf-8")
    assert "format 'folder' has no option '--text-field'" in refused(tmp_path / "texts", "--text-field", "body")


# -- models -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("command", ["classify", "evaluate", "explain", "words"])
def test_models_that_are_none(command, run, write, documents, models, tmp_path):
    path = write(documents)
    rest = [] if command == "words" else [path]
    assert "does not exist; train a model first" in run(command, tmp_path / "no.tb", *rest, code=1).stderr
    assert "is not a model file" in run(command, path, *rest, code=1).stderr
    assert "is a folder" in run(command, tmp_path, *rest, code=1).stderr
    (tmp_path / "cut.tb").write_bytes(models["binary"].read_bytes()[:-100])
    assert "truncated or altered" in run(command, tmp_path / "cut.tb", *rest, code=1).stderr


# -- output -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def read_only(tmp_path, monkeypatch):
    """A folder nothing can be written to; root may write anywhere, so for root the refusal is simulated."""
    folder = tmp_path / "fixed"
    folder.mkdir()
    folder.chmod(0o555)
    if os.geteuid() == 0:

        def refuse(*_, **__):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    yield folder
    folder.chmod(0o755)


def test_a_read_only_folder_is_refused_before_the_work(run, read_only):
    # The input does not exist: had it been opened first, the message would be about it.
    failed = run("train", "nothing.jsonl", "-o", read_only / "model.tb", code=1)
    assert "model.tb cannot be written (Permission denied); choose a folder that exists and allows it" in failed.stderr
    assert list(read_only.iterdir()) == []


def test_places_that_take_no_file(run, tmp_path, write, documents):
    path = write(documents)
    before = path.read_bytes()
    for target, cause in (
        (tmp_path / "nowhere" / "model.tb", "cannot be written (No such file or directory)"),
        (tmp_path, "is a folder; name a file in it"),
        (path, "which the command was given as an input too"),
        (tmp_path / ("x" * 300), "cannot be written (File name too long)"),
        ("/dev/null", "is not an ordinary file"),
    ):
        assert cause in run("train", path, "-o", target, code=1).stderr
    assert path.read_bytes() == before


def test_a_full_disk(refused, write, documents, monkeypatch, tmp_path):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    message = refused(write(documents))
    assert message.endswith(
        "model.tb was not written: No space left on device; free some space or choose another place"
    )


def test_a_full_disk_leaves_the_old_model(run, write, documents, monkeypatch, tmp_path, models):
    (tmp_path / "model.tb").write_bytes(models["binary"].read_bytes())
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space")))
    run("train", write(documents), "-o", tmp_path / "model.tb", code=1)
    assert (tmp_path / "model.tb").read_bytes() == models["binary"].read_bytes()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_standard_output_on_a_full_disk(start, models):
    with open("/dev/full", "wb") as full:
        process = start("words", models["binary"], stdout=full)
        message = process.communicate()[1].decode()
    assert process.returncode == 1
    assert message == "textbayes: error: standard output: No space left on device; check the place and its free space\n"


# -- interrupts -------------------------------------------------------------------------------------------------------
def test_interrupted_training(run, write, documents, monkeypatch, tmp_path):
    def interrupt(self, *_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(TextCategorizer, "fit", interrupt)
    path = write(documents)
    failed = run("train", path, "-o", tmp_path / "model.tb", code=130)
    assert failed.stderr.splitlines()[-1] == "textbayes: interrupted; no file was left half-written"
    assert list(tmp_path.iterdir()) == [path]


def test_interrupted_while_the_model_is_written(run, write, documents, monkeypatch, tmp_path):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    path = write(documents)
    run("train", path, "-o", tmp_path / "model.tb", code=130)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_real_interrupt(number, code, start, write, tmp_path):
    words = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "stprlnmk"]
    rows = (
        {"text": " ".join(words[(i * i + 7 * i * j + j) % len(words)] for j in range(200)), "labels": str(i % 25)}
        for i in range(3_000)
    )
    path = write(rows)
    process = start("train", path, "-o", tmp_path / "model.tb")
    assert b"single-label" in process.stderr.readline()  # all is read, the training begins
    time.sleep(0.5)
    for _ in range(6_000):
        process.send_signal(number)  # again and again, also while the run tidies up and the interpreter ends
        try:
            out, message = process.communicate(timeout=0.02)
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        pytest.fail("the interrupt was not heard")
    assert process.returncode == code
    assert out == b""
    assert b"Traceback" not in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("given", "meant", "code"),
    [
        (("words", "{model}", "--label", "Grian"), "; did you mean 'grain'?", 1),
        (("train", "{texts}", "-o", "m.tb", "--rule", "top_label:min_probabilty=0.8"), "'min_probability'?", 2),
        (("train", "{texts}", "-o", "m.tb", "--model", "counts:modle=poisson"), "; did you mean 'model'?", 2),
    ],
)
def test_misspelt_names_get_the_closest_one(given, meant, code, run, models, write, documents):
    places = {"model": models["multiclass"], "texts": write(documents)}
    failed = run(*(word.format(**places) for word in given), code=code).stderr
    assert failed.rstrip().endswith(meant)


def test_a_misspelt_sheet_gets_the_closest_one(run, models, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    book = openpyxl.Workbook()
    book.active.title = "Verlauf"
    book.save(tmp_path / "a.xlsx")
    failed = run("classify", models["multiclass"], tmp_path / "a.xlsx", "--sheet", "Verlauff", code=1).stderr
    assert failed.endswith("; did you mean 'Verlauf'?\n")


@pytest.mark.parametrize("command", [("--nonsense",), ("clasify",), ("classify", "--nonsense"), ("words",)])
def test_wrong_usage_begins_like_other_errors(command, run):
    failed = run(*command, code=2).stderr
    assert failed.splitlines()[-1].startswith("textbayes: error: ")
    assert "\nError:" not in failed
    assert f"Try 'textbayes{' ' + command[0] if command[-1] != command[0] or command == ('words',) else ''} " in failed


@pytest.mark.parametrize(
    "arguments",
    [
        ("classify", "no.tb", "no.csv", "--threshold"),
        ("keyness", "no.csv", "--label", "tea", "--fdr"),
        ("words", "no.tb", "--size"),
    ],
)
def test_what_is_not_a_number_is_within_no_bounds(run, arguments):
    assert "'nan' is not a number" in run(*arguments, "nan", code=2).stderr
