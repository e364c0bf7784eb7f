"""Each corpus from a few hand-written documents, in the packaging at hand and in the public one."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from textbayes.core.errors import CorpusNotFoundError, InputError, MalformedFileError
from textbayes.data import check_corpus, download_corpus, load_corpus


def story(number, split, topics, attribute="YES"):
    marked = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{attribute}" LEWISSPLIT="{split}" NEWID="{number}">\n<DATE>26-FEB-1987 15:01</DATE>\n'
        f"<TOPICS>{marked}</TOPICS>\n<TEXT><TITLE>T{number}</TITLE><BODY>b</BODY></TEXT>\n</REUTERS>\n"
    ).encode()


STORIES = [
    story(10, "TRAIN", ["tea", "trade"]),
    story(2, "TEST", ["tea"]),
    story(3, "TRAIN", ["rare"]),
    story(4, "TRAIN", []),
    story(5, "TEST", ["trade"], "NO"),
    story(6, "NOT-USED", ["tea"]),
    story(7, "TEST", ["unseen"]),
]


def test_reuters(pack):
    path = pack("reuters21578", {"reut2-001.sgm": b"".join(STORIES[:3]), "reut2-000.sgm": b"".join(STORIES[3:])})
    corpus = load_corpus("reuters21578", path)
    assert corpus.ids == ["2", "3", "4", "7", "10"]
    assert corpus.label_names == ("tea",)
    assert corpus.train.labels == [(), (), ("tea",)]
    assert corpus.test.labels == [("tea",), ()]
    assert corpus.dates == ["1987-02-26"] * 5
    assert corpus.texts[0] == "T2\nb"
    assert load_corpus("reuters21578", path, unlabelled="drop").ids == ["2", "10"]
    every = load_corpus("reuters21578", path, split="all", topics="all")
    assert every.parts == {"test": 3, "train": 3, "unused": 1}
    assert every.label_names == ("rare", "tea", "trade", "unseen")
    assert load_corpus("reuters21578", path, split="modlewis", topics="top10").label_names == ("tea",)
    assert len(load_corpus("reuters21578", path, split="modlewis").test) == 3
    with pytest.raises(InputError, match="topics='r10' is not known"):
        load_corpus("reuters21578", path, topics="r10")


def test_newsgroups(pack):
    files = {
        "20news-bydate-test/sci.tea/5": b"Subject: a\n\nb",
        "20news-bydate-train/sci.tea/4": b"Subject: a\n\nc",
        "20news-bydate-train/alt.pot/4": b"Subject: d\n\ne",
    }
    path = pack("20news-bydate", files)
    corpus = load_corpus("20newsgroups", path, remove=("headers",))
    assert corpus.ids == ["alt.pot/4", "sci.tea/4", "sci.tea/5"]
    assert corpus.texts == ["e", "c", "b"]
    assert corpus.split == ["train", "train", "test"]
    with pytest.raises(MalformedFileError, match="give the bydate version"):
        load_corpus("20newsgroups", pack("20news-bydate-mini", {"20news-bydate-train/sci.tea/4": b"", "x/y/1": b""}))


def test_ohsumed20000(pack):
    files = {
        "ohsumed-first-20000-docs/test/C01/0000012": b"Title.\n Abstract.",
        "ohsumed-first-20000-docs/training/C14/0000002": b"Other.",
        "ohsumed-first-20000-docs/training/C01/0000002": b"Other.",
        "ohsumed-first-20000-docs/training/C01/0000003": b"Third.",
    }
    corpus = load_corpus("ohsumed20000", pack("ohsumed-first-20000-docs", files))
    assert corpus.ids == ["0000002", "0000003", "0000012"]
    assert corpus.labels == [("C01", "C14"), ("C01",), ("C01",)]
    assert corpus.split == ["train", "train", "test"]
    with pytest.raises(MalformedFileError, match="in neither 'training' nor 'test'"):
        load_corpus("ohsumed20000", pack("other", {"training/C01/1": b"x", "C01/2": b"y"}))


def test_ohsumed_trec9(pack):
    record = b".I 1\n.U\n%d\n.T\nOn tea.\n.W\nHot.\n"
    files = {
        "ohsu-trec/trec9-train/ohsumed.87": record % 87000001,
        "ohsu-trec/trec9-train/qrels.ohsu.batch.87": b"OHSU1\t87000001\t2\n",
        "ohsu-trec/trec9-train/query.ohsu.1-63": b"<top>\n<num> Number: OHSU1\n<title> t\n"
        b"<desc> Description:\nd\n</top>\n",
        "ohsu-trec/trec9-test/ohsumed.88-91": record % 88000001 + record % 88000002,
        "ohsu-trec/trec9-test/qrels.ohsu.88-91": b"OHSU1\t88000002\t1\n",
    }
    path = pack("t9.filtering", files)
    corpus = load_corpus("ohsumed_trec9", path)
    assert corpus.ids == ["87000001", "88000001", "88000002"]
    assert corpus.labels == [("OHSU1",), (), ("OHSU1",)]
    assert corpus.split == ["train", "test", "test"]
    assert load_corpus("ohsumed_trec9", path, grade=2).labels == [("OHSU1",), (), ()]
    assert check_corpus("ohsumed_trec9", path).found["topics"] == 1
    partly = pack("t9.filtering-partly", {name: data for name, data in files.items() if "trec9-test" in name})
    with pytest.raises(CorpusNotFoundError, match=r"lacks ohsumed\.87, qrels\.ohsu\.batch\.87 \(it has ohsumed\.88-91"):
        load_corpus("ohsumed_trec9", partly)


def test_a_copy_in_part_is_no_reason_not_to_fetch_the_whole(tmp_path, monkeypatch):
    """Topics of OHSUMED may be had alone; who asks for the corpus gets its archive, and then nothing twice."""
    fetched = []
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("textbayes.data.catalogue.fetch", lambda file, home, progress: fetched.append(file.filename))
    (tmp_path / "ohsumed_trec9_topics").mkdir()
    (tmp_path / "ohsumed_trec9_topics" / "query.ohsu.1-63").write_text("")
    download_corpus("ohsumed_trec9")
    assert fetched == ["t9.filtering.tar.gz"]
    for name in ("ohsumed.87", "ohsumed.88-91", "qrels.ohsu.batch.87", "qrels.ohsu.88-91"):
        (tmp_path / "ohsumed_trec9_topics" / name).write_text("")
    download_corpus("ohsumed_trec9")
    assert fetched == ["t9.filtering.tar.gz"]


def test_rcv1_subsets(tmp_path, write_tree):
    files = {f"rcv1subset{i}_{part}.svm": b"0 3:1\n" for i in range(1, 6) for part in ("train", "test")}
    files["rcv1subset1_train.svm"] = b"0,1 1:0.5\n1 2:1\n"
    files["topics.txt"] = b"0\tC11\t1\n1\tCCAT\t2\n"
    write_tree(tmp_path, files)
    corpus = load_corpus("rcv1", tmp_path)
    assert corpus.ids == ["1-train-0", "1-train-1", "1-test-0"]
    assert corpus.labels == [("C11", "CCAT"), ("CCAT",), ("C11",)]
    assert corpus.X.shape == (3, 47236)
    assert len(load_corpus("rcv1", tmp_path, deduplicate=False)) == 11
    assert load_corpus("rcv1", tmp_path, subset=2, deduplicate=False).parts == {"train": 1, "test": 1}
    (tmp_path / "topics.txt").write_bytes(b"0\tC11\t1\n")
    with pytest.raises(MalformedFileError, match=r"label 1 is not in topics\.txt"):
        load_corpus("rcv1", tmp_path)
    (tmp_path / "topics.txt").write_bytes(b"0 C11\n")
    with pytest.raises(MalformedFileError, match="line 1: a line is 'number topic count'"):
        load_corpus("rcv1", tmp_path)
    with pytest.raises(CorpusNotFoundError, match="has no lyrl2004_tokens"):
        load_corpus("rcv1", tmp_path, version="tokens")


def test_rcv1_in_full(tmp_path, write_tree):
    parts = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
    files = {f"lyrl2004_vectors_{part}.dat.gz": gzip.compress(b"%d  1:1\n" % i) for i, part in enumerate(parts)}
    files |= {f"lyrl2004_tokens_{part}.dat": b".I %d\n.W\ntea\n" % i for i, part in enumerate(parts)}
    files["rcv1-v2.topics.qrels"] = b"CCAT 0 1\nC11 0 1\nMCAT 3 1\n"
    write_tree(tmp_path, files)
    vectors = load_corpus("rcv1", tmp_path)
    tokens = load_corpus("rcv1", tmp_path, version="tokens")
    for corpus in (vectors, tokens):
        assert corpus.ids == ["0", "1", "2", "3", "4"]
        assert corpus.labels == [("C11", "CCAT"), (), (), ("MCAT",), ()]
        assert corpus.parts == {"train": 1, "test": 4}
    assert vectors.X.shape == (5, 47236)
    assert tokens.texts == ["tea"] * 5
    report = check_corpus("rcv1", tmp_path)
    assert "documents: 5 found, 804,414 expected" in report.problem
    (tmp_path / "lyrl2004_vectors_test_pt2.dat.gz").unlink()
    with pytest.raises(CorpusNotFoundError, match=r"lacks lyrl2004_vectors_test_pt2\.dat"):
        load_corpus("rcv1", tmp_path, version="vectors")


MAILS = {
    "easy_ham/0001.aa": b"Subject: tea\n\nhot",
    "easy_ham/cmds": b"mv a b",
    "easy_ham_2/0001.bb": b"Subject: tea\n\nhot",
    "hard_ham/0001.cc": b"Subject: news\n\nhot",
    "spam/0001.dd": b"Subject: $$$\n\nbuy caf\xe9",
    "spam_2/0001.ee": b"Subject: $$$\n\nbuy",
}


def test_spamassassin_public_packagings(tmp_path, write_tree):
    unpacked = write_tree(tmp_path / "unpacked", MAILS)
    packed = tmp_path / "packed"
    packed.mkdir()
    for group in ("easy_ham", "easy_ham_2", "hard_ham", "spam", "spam_2"):
        with tarfile.open(packed / f"20030228_{group}.tar.bz2", "w:bz2") as archive:
            for name, data in MAILS.items():
                if name.startswith(group + "/"):
                    info = tarfile.TarInfo(name)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
    for path in (unpacked, packed):
        corpus = load_corpus("spamassassin", path)
        assert corpus.ids == ["0001.aa", "0001.bb", "0001.cc", "0001.dd", "0001.ee"]
        assert corpus.targets == ["ham", "ham", "ham", "spam", "spam"]
        assert corpus.texts[3] == "$$$\nbuy café"
    assert load_corpus("spamassassin", packed, classes="three").targets[1:4] == ["easy_ham", "hard_ham", "spam"]
    assert load_corpus("spamassassin", packed, text="raw").texts[0] == "Subject: tea\n\nhot"
    (packed / "20030228_spam_2.tar.bz2").unlink()
    with pytest.raises(CorpusNotFoundError, match="lacks folder spam_2 or 20050311_spam_2"):
        load_corpus("spamassassin", packed)


def test_spamassassin_json_lines(tmp_path):
    path = tmp_path / "spamassassin.jsonl.gz"
    groups = ["spam-1", "easy-ham-1", "hard-ham-1", "easy-ham-2", "spam-2"]
    rows = [
        b'{"id": "%d", "group": "%s", "text": "Subject: s\\n\\nb"}\n' % (i, g.encode()) for i, g in enumerate(groups)
    ]
    path.write_bytes(gzip.compress(b"".join(rows)))
    corpus = load_corpus("spamassassin", path, classes="five")
    assert corpus.targets == ["easy_ham", "easy_ham_2", "hard_ham", "spam", "spam_2"]
    assert corpus.texts == ["s\nb"] * 5


def test_movie_reviews(pack):
    files = {"txt_sentoken/pos/cv901_1.txt": b"good", "txt_sentoken/neg/cv000_2.txt": b"bad", "README": b"x"}
    path = pack("review_polarity", files)
    corpus = load_corpus("movie_reviews", path)
    assert corpus.ids == ["neg/cv000_2.txt", "pos/cv901_1.txt"]
    assert corpus.part("9").targets == ["pos"]
    with pytest.raises(MalformedFileError, match=r"a\.txt is not named cvNNN"):
        load_corpus("movie_reviews", pack("movie_reviews", {"pos/a.txt": b"good"}))
    with pytest.raises(MalformedFileError, match="holds no folders 'neg' and 'pos'"):
        load_corpus("movie_reviews", pack("review_polarity2", {"pos/up/a.txt": b"good"}))


def test_federalist(tmp_path):
    rows = [(2, "JAY"), (10, "MADISON"), (1, "HAMILTON"), (49, "HAMILTON OR MADISON"), (18, "HAMILTON AND MADISON")]
    lines = [f'{{"number": {n}, "author": "{a}", "text": "t{n}", "text_stine": "s{n} <p>"}}\n' for n, a in rows]
    (tmp_path / "federalist.jsonl").write_text("".join(lines))
    corpus = load_corpus("federalist", tmp_path)
    assert corpus.ids == ["1", "2", "10", "18", "49"]
    assert corpus.train.targets == ["HAMILTON", "JAY", "MADISON"]
    assert corpus.part("disputed").ids == ["49"]
    assert corpus.part("joint").ids == ["18"]
    assert load_corpus("federalist", tmp_path, text="stine").texts[0] == "s1 <p>"


def test_openstax(tmp_path):
    (tmp_path / "openstax_domains.jsonl").write_text(
        '{"id": "m1", "domain": "physics", "title": "A", "text": "x"}\n'
        '{"id": "m1", "domain": "biology", "title": "A", "text": "y"}\n'
    )
    corpus = load_corpus("openstax", tmp_path)
    assert corpus.ids == ["physics/m1", "biology/m1"]
    assert corpus.texts == ["x", "y"]
    with pytest.raises(CorpusNotFoundError, match=r"holds none of extra\*\.jsonl"):
        load_corpus("openstax", tmp_path, extra=True)
    (tmp_path / "extra_geology_electronics.jsonl").write_text('{"id": "1", "domain": "geology", "text": "z"}\n')
    assert load_corpus("openstax", tmp_path, extra=True).label_names == ("biology", "geology", "physics")


def test_arxiv(tmp_path):
    header = "arxiv_id\tcreated\tcategories\ttitle\tabstract\n"
    rows = 'cs/1\t1999-05-01\tcs.GR,cs.LG\tOn "tea"\tHot.\n1901.1\t2019-01-01\tcs.GL\tPots\tRound.\n'
    (tmp_path / "arxiv_cs.tsv").write_text(header + rows)
    (tmp_path / "categories.tsv").write_text(
        "category\tdocs_in_stream\tcomplete\ncs.LG\t1\t0\ncs.GR\t1\t1\ncs.GL\t1\t1\n"
    )
    corpus = load_corpus("arxiv_cs", tmp_path)
    assert corpus.texts[0] == 'On "tea"\nHot.'
    assert corpus.labels == [("cs.GR",), ("cs.GL",)]
    assert corpus.split == ["train", "test"]
    assert corpus.dates == ["1999-05-01", "2019-01-01"]
    assert load_corpus("arxiv_cs", tmp_path, categories="all", test_from="1999-01-01").parts == {"test": 2}
    with pytest.raises(InputError, match="test_from='2019' must be a day"):
        load_corpus("arxiv_cs", tmp_path, test_from="2019")
    (tmp_path / "arxiv_cs.tsv").write_text(header + "".join(reversed(rows.splitlines(keepends=True))))
    with pytest.raises(MalformedFileError, match="line 3: 1999-05-01 after 2019-01-01: the rows must be in order"):
        load_corpus("arxiv_cs", tmp_path)
    (tmp_path / "categories.tsv").unlink()
    with pytest.raises(CorpusNotFoundError, match=r"categories\.tsv is missing; add it, or pass categories='all'"):
        load_corpus("arxiv_cs", tmp_path)


def test_systematic_reviews(pack):
    files = {
        "ACEInhibitors.csv": b"record_id,title,abstract,year,label_included,label_abstract_screening\n"
        b'1,On tea,"Hot, sweet",1999,1,1\n2,On pots,,2000,0,1\n',
        "Other_2019.csv": b"record_id,title,abstract,label_included\n1,Third,text,0\n",
    }
    path = pack("csv", files)
    corpus = load_corpus("systematic_reviews", path)
    assert sorted(corpus.ids) == ["ACEInhibitors/1", "ACEInhibitors/2", "Other_2019/1"]
    assert corpus.part("ACEInhibitors").targets == ["included", "excluded"]
    assert corpus.part("ACEInhibitors").texts == ["On tea\nHot, sweet", "On pots"]
    assert corpus.part("Other_2019").dates == [""]
    one = load_corpus("systematic_reviews", path, review="ACEInhibitors", stage="abstract")
    assert one.targets == ["included", "included"]
    with pytest.raises(InputError, match="there is no review 'Statins'; choose one of ACEInhibitors, Other_2019"):
        load_corpus("systematic_reviews", path, review="Statins")
    with pytest.raises(MalformedFileError, match=r"Other_2019\.csv, line 1: there is no field 'label_abstract"):
        load_corpus("systematic_reviews", path, stage="abstract")


def test_bbc(tmp_path, write_tree):
    files = {
        "tech/002.txt": b"chips",
        "tech/001.txt": b"caf\xc3\xa9",
        "business/001.txt": b"\xa35m",
        "business/x.py": b"",
    }
    path = write_tree(tmp_path, files)
    corpus = load_corpus("bbc", path)
    assert corpus.ids == ["business/001", "tech/001", "tech/002"]
    assert corpus.texts == ["£5m", "café", "chips"]
    assert corpus.split == ["train", "train", "test"]
    assert corpus.notes == ("business/001 is not valid UTF-8 and was read as Windows-1252",)
    write_tree(tmp_path, {"tech/about.txt": b""})
    with pytest.raises(MalformedFileError, match="named by its number"):
        load_corpus("bbc", path)
