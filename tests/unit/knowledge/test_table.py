"""Tables of word priors: files there and back, merging, and what is refused, with its line."""

from __future__ import annotations

import csv
import gzip
import io
import math

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.knowledge import WordPrior, WordPriors

ROWS = [
    WordPrior("wheat", "grain", 2.0, 0.5, "laplace", 1, "Anna, 3 May: sure"),
    WordPrior("corn", "grain", 1.5),
    WordPrior("bank", "grain", "against"),
    WordPrior("no", "off", "for"),
    WordPrior("1e3", "2024", -0.1, math.inf),
    WordPrior("crude oil", "*", None, None, "student_t", 0),
    WordPrior("rye", "*", None, None, None, -1),
    WordPrior("小麦", "穀物", 1e-300),
    WordPrior("Öl", "Brennstoffe", "for", source="список"),
    WordPrior('say "no", twice', "*", 3.0),
    WordPrior("قمح", "حبوب", -2.5, 1e-5),
    WordPrior("🌾: # {x}", "grain", "for"),
]


def _read(text, format):
    return WordPriors.read(io.StringIO(text), format)


@pytest.mark.parametrize("format", ["csv", "yaml"])
def test_round_trip(format):
    table = WordPriors(ROWS)
    assert _read(getattr(table, f"to_{format}")(), format) == table


def test_csv_and_yaml_hold_the_same_table():
    table = WordPriors(ROWS)
    assert _read(table.to_csv(), "csv") == _read(table.to_yaml(), "yaml")


def test_the_csv_is_one_that_other_programs_read():
    read = list(csv.DictReader(io.StringIO(WordPriors(ROWS).to_csv())))
    assert [row["word"] for row in read] == [row.word for row in ROWS]
    assert read[0] == {
        "word": "wheat", "label": "grain", "mean": "2", "scale": "0.5", "family": "laplace", "sign": "+",
        "source": "Anna, 3 May: sure",
    }  # fmt: skip


def test_the_yaml_is_one_that_other_programs_read():
    read = yaml.safe_load(WordPriors(ROWS).to_yaml())
    assert read["grain"]["wheat"]["mean"] == 2
    assert read["off"] == {"no": "for"}  # quoted: neither word is a truth value
    assert float(read["穀物"]["小麦"]) == 1e-300


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(lambda word: word.strip())
numbers = st.floats(min_value=-1e4, max_value=1e4)


@given(
    st.lists(
        st.builds(
            WordPrior,
            words,
            words,
            st.one_of(st.none(), numbers, st.sampled_from(["for", "against"])),
            st.one_of(st.none(), st.just(float("inf")), st.floats(min_value=1e-6, max_value=1e6)),
            st.sampled_from([None, "laplace", "gaussian"]),
            st.sampled_from([None, 0]),
            st.one_of(st.just(""), words),
        ),
        min_size=1,
        unique_by=lambda row: (row.word.strip(), row.label.strip()),
    )
)
def test_any_table_comes_back_from_either_format(rows):
    table = WordPriors([row._replace(source=row.source.strip()) for row in rows])
    assert _read(table.to_csv(), "csv") == table
    assert _read(table.to_yaml(), "yaml") == table


def test_what_a_person_would_write():
    table = _read(
        """
        grain:
          wheat: {mean: 2, scale: 0.5, sign: +}   # columns by name
          corn: 1.5
          bank: against
          no: For
          rye: {scale: .inf}
        trade: [tariff, import, 2024, yes]
        ship: >
          Ships and
          their cargo
        "*":
          reuter: {mean: 0, scale: 0.001, source: boiler plate}
        """,
        "yaml",
    )
    assert list(table) == [
        WordPrior("wheat", "grain", 2.0, 0.5, None, 1),
        WordPrior("corn", "grain", 1.5),
        WordPrior("bank", "grain", "against"),
        WordPrior("no", "grain", "for"),
        WordPrior("rye", "grain", None, math.inf),
        *(WordPrior(word, "trade", "for") for word in ("tariff", "import", "2024", "yes")),
        WordPrior("Ships and their cargo", "ship", "for"),
        WordPrior("reuter", "*", 0.0, 0.001, source="boiler plate"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "word,label\nwheat,grain\n\ncorn,grain\n",
        "\ufeffLabel;Word\r\ngrain;wheat\r\ngrain;corn\r\n",
        "word\tlabel\tmean\nwheat\tgrain\tFOR\ncorn\tgrain\n",
    ],
)
def test_a_csv_of_words_is_a_word_list(text):
    table = WordPriors.read(io.BytesIO(text.encode()), "csv")
    assert list(table) == [WordPrior("wheat", "grain", "for"), WordPrior("corn", "grain", "for")]


def test_a_row_without_a_label_is_for_every_label():
    assert _read("word,mean\nwheat,−2\n", "csv")[0] == WordPrior("wheat", "*", -2.0)


def test_the_ending_tells_the_format(tmp_path):
    table = WordPriors(ROWS)
    for name, text in (("t.csv", table.to_csv()), ("t.yml", table.to_yaml()), ("t.YAML", table.to_yaml())):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert WordPriors.read(tmp_path / name) == table
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(table.to_csv().encode()))
    assert WordPriors.read(tmp_path / "t.csv.gz") == table
    (tmp_path / "t.csv").write_bytes("word\nété\n".encode("latin-1"))
    assert WordPriors.read(tmp_path / "t.csv", encoding="latin-1")[0].word == "été"


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", None, "empty"),
        ("word,label\n", None, "no row under the header"),
        ("word,weight\nwheat,2\n", 1, "column 'weight' is not known.*word, label, mean"),
        ("word,word\nwheat,2\n", 1, "'word' is there twice"),
        ("label,mean\ngrain,2\n", 1, "no column 'word'"),
        ("word,mean\nwheat,2\ncorn,two\n", 3, "'two' is not a number, nor 'for' or 'against'"),
        ("word,mean\nwheat,2\ncorn,2 000\n", 3, "'2 000' is not a number"),
        ("word,mean\nwheat,inf\n", 2, "not a finite number"),
        ("word,scale\nwheat,-1\n", 2, "scale -1 is not above 0"),
        ("word,scale\nwheat,0\n", 2, "scale 0 is not above 0"),
        ("word,scale\nwheat,nan\n", 2, "scale nan is not above 0"),
        ("word,sign\nwheat,positive\n", 2, "sign 'positive' is not known; use \\+, - or 0"),
        ("word,mean,sign\nwheat,2,-\n", 2, "the side that sign -1 forbids"),
        ("word,mean,sign\nwheat,against,+\n", 2, "the side that sign \\+1 forbids"),
        ("word,family\nwheat,lapace\n", 2, "'lapace' is not known; choose one of elastic_net, gaussian"),
        ("word,family\nwheat,by_word\n", 2, "'by_word' is not known"),
        ("word,label\nwheat,grain\n\nwheat,grain\n", 4, "twice for label 'grain'.*line 2 as well"),
        ("word\nwheat\nwheat\n", 3, "twice for every label"),
        ("word,label\nwheat,grain,2\n", 2, "3 fields under a header of 2"),
        ("word,label\n,grain\n", 2, "the word is ''"),
        ('word,label\n"wheat,grain\n', 2, "not CSV"),
    ],
)
def test_a_csv_that_cannot_be_used(text, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as error:
        _read(text, "csv")
    assert error.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("# nothing\n", 1, "must name labels"),
        ("- wheat\n- corn\n", 1, "must name labels"),
        ("grain:\n  wheat: two\n", 2, "'two' is not a number"),
        ("grain:\n  wheat: {mean: 1, weight: 2}\n", 2, "column 'weight' is not known.*mean, scale"),
        ("grain:\n  wheat:\n    mean: 1\n    mean: 2\n", 4, "'mean' is there twice"),
        ("grain:\n  corn: 1\n  wheat: {scale: -1}\n", 3, "scale -1 is not above 0"),
        ("grain:\n  wheat: [1, 2]\n", 2, "must be a text or a number"),
        ("grain:\n  wheat:\n", 2, "must be a text or a number"),
        ("grain:\ntrade: [a]\n", 1, "must be a text or a number"),
        ("grain:\n- wheat\n- {corn: 1}\n", 3, "a word must be a text"),
        ("grain: [wheat, corn, wheat]\n", 1, "twice"),
        ("grain: {wheat: 1}\ntrade: {wheat: 1}\ngrain: {wheat: 2}\n", 3, "twice.*line 1 as well"),
        ("grain: {wheat: 1\n", 2, "not YAML"),
        ("grain: !!python/object/apply:os.getcwd []\n", None, "no row"),  # runs nothing: a list without words
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
    ],
)
def test_a_yaml_file_that_cannot_be_used(text, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as error:
        _read(text, "yaml")
    assert error.value.line == line


def test_wrong_encoding_is_told_with_its_line(tmp_path):
    path = tmp_path / "priors.csv"
    path.write_bytes("word\nwheat\nblé\n".encode("latin-1"))
    with pytest.raises(MalformedFileError, match="0xe9 in column 3 is not valid UTF-8") as error:
        WordPriors.read(path)
    assert error.value.line == 3
    path.write_bytes("word\nwheat\n".encode("utf-16"))
    with pytest.raises(MalformedFileError, match="UTF-16"):
        WordPriors.read(path)


def test_files_that_are_not_there_or_not_named(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        WordPriors.read(tmp_path / "priors.csv")
    with pytest.raises(InputError, match="name its format"):
        WordPriors.read(tmp_path / "priors.txt")
    with pytest.raises(InputError, match="choose one of 'csv', 'yaml'"):
        WordPriors.read(tmp_path / "priors.txt", "json")


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        ([WordPrior("a", "x"), WordPrior("a", "x", 1.0)], "row 2: 'a' is given twice.*row 1 as well"),
        ([WordPrior("a", mean=math.nan)], "row 1: mean nan is not a finite number"),
        ([WordPrior(" ")], "the word is ''"),
        ([WordPrior("a", 3)], "the label is 3"),
        ([WordPrior("a", sign=2)], "sign 2 is not known"),
        ([WordPrior("a", mean=1.0, sign=-1)], "forbids"),
        ("priors.csv", "read a file"),
    ],
)
def test_rows_that_cannot_be_used(rows, cause):
    with pytest.raises(InputError, match=cause):
        WordPriors(rows)


def test_tables_do_not_change_and_compare_by_what_they_hold():
    table = WordPriors(ROWS)
    assert table == WordPriors(reversed(ROWS))
    assert hash(table) == hash(WordPriors(reversed(ROWS)))
    assert table != WordPriors(ROWS[1:])
    assert len(table[2:5]) == 3
    assert table.labels[:2] == ("grain", "off")
    assert repr(table) == "<WordPriors: 12 rows, 6 labels>"
    with pytest.raises(AttributeError):
        table.rows = ()


def test_a_later_table_replaces_rows_of_an_earlier_one():
    first = WordPriors([WordPrior("a", "x", 1.0, 0.5), WordPrior("b", "x", 2.0)])
    second = WordPriors([WordPrior("a", "x", "against"), WordPrior("a", "*", 3.0)])
    assert list(WordPriors.merge([first, second])) == [
        WordPrior("a", "x", "against"),
        WordPrior("b", "x", 2.0),
        WordPrior("a", "*", 3.0),
    ]
    assert len(WordPriors.merge([])) == 0


@pytest.mark.slow
def test_a_hundred_thousand_rows_come_back():
    means = np.random.default_rng(0).normal(size=100_000).tolist()
    table = WordPriors(WordPrior(f"w{i}", f"l{i % 90}", mean, 0.5) for i, mean in enumerate(means))
    assert _read(table.to_csv(), "csv") == table
