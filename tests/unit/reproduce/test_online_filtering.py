"""Filtering experiments: what topics are shown, what systems deliver, and the tables made of it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from textbayes.core.errors import CorpusNotFoundError, InputError
from textbayes.core.types import Document
from textbayes.data import corpus_path, load_corpus
from textbayes.data.corpora.ohsumed import is_complete, load_statements
from textbayes.evaluate import filtering_summary
from textbayes.reproduce import papers
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.online import filtering_tables as filtering_tables
from textbayes.reproduce.online.filtering_systems import (
    STATEMENTS,
    SYSTEMS,
    Deliveries,
    FilteringCollection,
    FilteringOutcome,
    FilteringSimulation,
    FilteringTask,
    arxiv,
    ohsumed,
    table_of,
)
from textbayes.reproduce.online.filtering_tables import PUBLISHED, ROWS
from textbayes.reproduce.results import Figure, Table
from textbayes.stream import AdaptiveFilter, FilterSettings, simulate


def course(relevant, queried=None, features=(3,), n_relevant=51, n_docs=1000):
    relevant = np.array(relevant, dtype=bool)
    queried = np.zeros(len(relevant), dtype=bool) if queried is None else np.array(queried, dtype=bool)
    return Deliveries(relevant, queried, features, n_relevant, n_docs)


@pytest.fixture(scope="module")
def collection() -> FilteringCollection:
    """Two planted topics; the last 240 documents are the stream. The first topic is not shown one document in seven."""
    rng = np.random.default_rng(0)
    own = [["corn", "wheat", "harvest", "rain", "farm"], ["bank", "rates", "loans", "credit", "bond"]]
    other = ["goal", "match", "team", "player", "coach", "league", "season", "ticket", "report", "today", "year"]
    texts, labels = [], []
    for _ in range(400):
        has = rng.random(2) < 0.12
        words = [word for k in range(2) if has[k] for word in rng.choice(own[k], 4)]
        texts.append(" ".join([*words, *rng.choice(other, 8)]))
        labels.append(has)
    Y, numbers = np.array(labels), np.arange(400)
    tasks = []
    for k, name in enumerate(("grain", "money")):
        shown = numbers if k else numbers[numbers % 7 > 0]
        train, test = shown[shown < 160], shown[shown >= 160]
        tasks.append(FilteringTask(name, own[k][0], train, Y[train, k], test, Y[test, k]))
    return FilteringCollection("planted", texts, [f"d{i}" for i in range(400)], tuple(tasks))


@pytest.fixture(scope="module")
def outcome(collection):
    return FilteringSimulation(collection).outcome(SYSTEMS)


# -- systems ----------------------------------------------------------------------------------------------------------
def test_all_systems_find_what_is_planted(outcome, collection):
    assert tuple(outcome.deliveries) == SYSTEMS
    for system, deliveries in outcome.deliveries.items():
        table = table_of(deliveries)
        assert table.total.tolist() == [len(task.test) for task in collection.tasks]
        assert table.support.tolist() == [task.test_relevant.sum() for task in collection.tasks]
        assert (table.tp / table.support > 0.7).all(), system
    assert not any(course.queried.any() for course in outcome.deliveries["Pptron"])
    assert all(course.queried.any() for course in outcome.deliveries["Pptron+rnd"])


def test_a_course_is_that_of_simulate(collection):
    """On the documents that the topic is shown, and no others."""
    settings = FilterSettings()
    task = collection.tasks[0]
    found = FilteringSimulation(collection, settings).fit(("Pptron+rel+ig",), task)["Pptron+rel+ig"]
    statement = Document("grain", task.statement, ("grain",))
    desk = AdaptiveFilter.start(collection.labelled(task), [statement], settings, ["grain"])
    shown = zip(task.test.tolist(), task.test_relevant.tolist(), strict=True)
    stream = [Document(collection.ids[i], collection.texts[i], ("grain",) * relevant) for i, relevant in shown]
    relevant = {document.id for document in stream if document.labels}
    deliveries = list(simulate(desk, stream))
    assert [delivery.id in relevant for delivery in deliveries] == found.relevant.tolist()
    assert [delivery.reason != "relevant" for delivery in deliveries] == found.queried.tolist()
    assert found.features[-1] <= len(desk.topics[0].words)


# -- tables -----------------------------------------------------------------------------------------------------------
def test_tables_and_figure(outcome, collection, monkeypatch):
    simulation = FilteringSimulation(collection)
    simulation._outcomes[SYSTEMS] = outcome
    run = PaperRun()
    run.load("arXiv", lambda: simulation)
    four, five, two = (filtering_tables.FILTERING[number](run) for number in ("table 4a", "table 5a", "figure 2a"))
    assert isinstance(four, Table)
    assert isinstance(five, Table)
    assert isinstance(two, Figure)
    assert four.columns == SYSTEMS
    total = [sum(len(course.relevant) for course in deliveries) for deliveries in outcome.deliveries.values()]
    assert list(four.ours[0]) == total
    assert not four.compared
    np.testing.assert_array_equal(np.array(five.ours)[0] + np.array(five.ours)[1], five.ours[2])
    assert five.ours[2][2] == total[list(SYSTEMS).index("Pptron+ig")]
    asking = outcome.deliveries["Pptron+ig"]
    cells = dict(zip(five.columns[:3], zip(*five.ours, strict=True), strict=False))
    relevant = [sum(int(one.relevant[one.queried == asked].sum()) for one in asking) for asked in (False, True)]
    assert cells["Pptron+ig: relevant"] == (*relevant, sum(relevant))
    assert cells["Pptron+ig: total"][1] == sum(int(one.queried.sum()) for one in asking)
    assert "<svg" in two.svg
    monkeypatch.setattr(filtering_tables, "corpus_is_there", lambda name: False)
    published, fifth = papers.get("online").run(("table 4", "table 5", "figure 2"))
    assert (published.name, fifth.name) == ("Table 4", "Table 5")
    assert published.compared
    assert all(value is None for row in published.ours for value in row)
    assert dict(zip(published.columns, zip(*published.published, strict=True), strict=True)) == PUBLISHED["table 4"]
    assert fifth.published[0] == (*PUBLISHED["table 5"]["Pptron+ig"][0], *PUBLISHED["table 5"]["Pptron+rnd"][0])


def test_published_tables_are_sound():
    for name, column in PUBLISHED["table 4"].items():
        assert len(column) == len(ROWS)
        retrieved, relevant, *_ = column
        assert abs((3 * relevant - retrieved) / 63 - column[5]) < 6e-4, f"{name}: the mean utility over 63 topics"
    for name, (proper, queried, total) in PUBLISHED["table 5"].items():
        np.testing.assert_array_equal(np.add(proper, queried), total)
        assert total[0] == PUBLISHED["table 4"][name][1]
        assert total[2] == PUBLISHED["table 4"][name][0]


def test_the_ratio_and_its_interval(collection):
    first = [course([True] * n) for n in (10, 20, 30, 0, 40)]
    second = [course([True] * n) for n in (5, 10, 15, 0, 20)]
    both = FilteringOutcome(collection, {"a": first, "b": second, "none": [course([])] * 5})
    found = filtering_tables.t9p_ratio(both, "a", "b", n_resamples=200)
    assert (found.ratio, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))  # whichever topics are drawn
    assert (found.n_better, found.n_worse) == (4, 0)
    assert filtering_tables.t9p_ratio(both, "a", "none", n_resamples=50).ratio == np.inf
    assert filtering_tables.t9p_ratio(both, "none", "none", n_resamples=50).ratio == 1.0


def test_the_order_of_utilities():
    published = {name: column[5] for name, column in PUBLISHED["table 4"].items()}
    assert filtering_tables.keeps_order(published)
    assert filtering_tables.keeps_order({**published, "Pptron+ig": 30.0})
    assert not filtering_tables.keeps_order({**published, "Pptron+rnd": 15.5})
    assert not filtering_tables.keeps_order({**published, "Pptron+rel+ig": 16.0})


def test_features_by_relevant_documents():
    deliveries = [course([True, True], features=(2, 4, 9)), course([True], features=(4, 6))]
    assert filtering_tables.features_by_relevant(deliveries, 3).tolist() == [3.0, 5.0, 7.5, 7.5]


def test_a_utility_floor_of_trec9():
    """T9U counts at least −100 (OHSU topics), utility itself does not."""
    found = filtering_summary(table_of([course([False] * 150), course([True] * 10)]))
    assert (found["mean_utility"], found["mean_t9u"]) == ((-150 + 20) / 2, (-100 + 20) / 2)


def test_the_part_says_what_it_needs():
    paper = papers.get("online")
    assert paper.corpora_for(["table 4"]) == ()
    assert paper.corpora_for(["table 4a", "figure 2"]) == ("ohsumed_trec9", "arxiv_cs")


# -- arXiv ------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def arxiv_folder(tmp_path_factory) -> Path:
    """Papers of two categories, ten of ten thousand of the third; half before 2011."""
    folder = tmp_path_factory.mktemp("arxiv")
    rows = ["arxiv_id\tcreated\tcategories\ttitle\tabstract"]
    for i in range(600):
        day = f"{2008 + i // 100}-01-{1 + i % 28:02d}" if i % 100 < 28 else f"{2008 + i // 100}-02-{1 + i % 28:02d}"
        names = ["cs.DB"] if i % 3 == 0 else ["cs.NI", "cs.LG"] if i % 3 == 1 else ["cs.GL", "cs.DB"]
        rows.append(f"{i:04d}\t{day}\t{','.join(names)}\ttitle {i}\tabstract of {names[0]}")
    rows[1:] = sorted(rows[1:], key=lambda row: row.split("\t")[1])
    (folder / "arxiv_cs.tsv").write_text("\n".join(rows) + "\n")
    complete = "category\tdocs_in_stream\tcomplete\ncs.DB\t1\t1\ncs.NI\t1\t1\ncs.GL\t1\t1\ncs.LG\t1\t0\n"
    (folder / "categories.tsv").write_text(complete)
    return folder


def test_relevance_is_rationed(arxiv_folder):
    found = arxiv(thinned=2, path=arxiv_folder)
    assert [task.topic for task in found.tasks] == ["cs.DB", "cs.GL", "cs.NI"]
    for task in found.tasks:
        assert (task.train_relevant.sum(), task.test_relevant.sum()) == (10, 51)
        assert task.statement == STATEMENTS[task.topic]
        assert set(task.train.tolist()).isdisjoint(task.test.tolist())
        assert (np.diff(task.train) > 0).all()
        assert (np.diff(task.test) > 0).all()
        irrelevant = np.concatenate([task.train[~task.train_relevant], task.test[~task.test_relevant]])
        assert not any(f"abstract of {task.topic}" in found.texts[i] for i in irrelevant)
        labels = [document.labels for document in found.labelled(task)]
        assert labels.count((task.topic,)) == 10
    again, other = arxiv(thinned=2, path=arxiv_folder), arxiv(thinned=2, random_state=1, path=arxiv_folder)
    assert again.ids == found.ids != other.ids
    assert [task.topic for task in arxiv(path=arxiv_folder, only=2).tasks] == ["cs.DB", "cs.NI"]


def test_a_narrow_ration_has_the_documents_most_like_one_of_them(tmp_path):
    """Of a category with two kinds of papers a topic is shown one kind."""
    rows = ["arxiv_id\tcreated\tcategories\ttitle\tabstract"]
    rng = np.random.default_rng(0)
    kinds = ["index query join table", "graph privacy noise sample"]
    for i in range(300):
        kind, name = kinds[i % 2], ("cs.DB", "cs.DB", "cs.NI")[i % 3]
        text = " ".join(rng.permutation(kind.split())) if name == "cs.DB" else "router packet"
        rows.append(f"{i:04d}\t{2010 if i < 100 else 2015}-01-01\t{name}\tpaper\t{text}")
    (tmp_path / "arxiv_cs.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "categories.tsv").write_text("category\tdocs_in_stream\tcomplete\ncs.DB\t1\t1\ncs.NI\t1\t1\n")
    found = arxiv(thinned=1, ration="narrow", path=tmp_path)
    task = found.tasks[0]
    shown = [*task.train[task.train_relevant].tolist(), *task.test[task.test_relevant].tolist()]
    assert len(shown) == 61
    assert len({"query" in found.texts[i] for i in shown}) == 1
    with pytest.raises(InputError, match="ration='much' is not known"):
        arxiv(ration="much", path=tmp_path)


def test_relevance_as_it_is(arxiv_folder):
    found = arxiv(thinned=1, ration="none", path=arxiv_folder)
    assert len(found.texts) == 600
    assert {int(task.train_relevant.sum() + task.test_relevant.sum()) for task in found.tasks} == {400, 200}


# -- OHSUMED ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def ohsumed_folder(tmp_path) -> Path:
    for name, first in (("ohsumed.87", 87000001), ("ohsumed.88-91", 88000001)):
        records = [
            f".I {i}\n.U\n{first + i}\n.S\nJ Tea {i}\n.M\nHuman.\n.T\n{'Tea' if i % 4 == 0 else 'Pots'} {i}.\n.P\n"
            f"JOURNAL ARTICLE.\n.W\nAbstract {i}.\n.A\nLeaf A.\n"
            for i in range(12)
        ]
        (tmp_path / name).write_text("".join(records))
    (tmp_path / "qrels.ohsu.batch.87").write_text("OHSU1\t87000001\t2\nOHSU1\t87000005\t1\nOHSU2\t87000002\t1\n")
    (tmp_path / "qrels.ohsu.88-91").write_text("OHSU1\t88000001\t2\nOHSU2\t88000002\t2\nOHSU2\t88000003\t1\n")
    topic = "<top>\n<num> Number: OHSU{0}\n<title> title {0}\n<desc> Description:\nwanted {0}\n</top>\n"
    (tmp_path / "query.ohsu.1-63").write_text(topic.format(1) + "\n" + topic.format(2))
    return tmp_path


def test_ohsumed_as_the_paper_has_it(ohsumed_folder):
    found = ohsumed(ohsumed_folder)
    assert is_complete(ohsumed_folder)
    assert [(task.topic, task.statement) for task in found.tasks] == [
        ("OHSU1", "title 1\nwanted 1"),
        ("OHSU2", "title 2\nwanted 2"),
    ]
    assert [(int(t.train_relevant.sum()), int(t.test_relevant.sum())) for t in found.tasks] == [(2, 1), (1, 2)]
    assert [(len(task.train), len(task.test)) for task in found.tasks] == [(12, 12)] * 2
    assert found.texts[0] == "Tea 0.\nAbstract 0.\nLeaf A.\nJ Tea 0"  # title, abstract, authors, source
    outcome = FilteringSimulation(found).outcome(("Pptron", "Pptron+ig"))
    assert table_of(outcome.deliveries["Pptron"]).support.tolist() == [1.0, 2.0]


RECORD = """.I {0}
.U
{1}
.S
Am J Tea {0}; 8(6):1-9
.M
Human; {2}/*AE.
.T
{2} in {3}.
.P
JOURNAL ARTICLE.
.W
{4}
.A
Leaf A; Pot B.
"""
KINDS = ("heart rate tachycardia atrium", "bone fracture plate femur", "skin rash cream itch")


def public_archive(folder: Path, n: int = 90) -> None:
    """Write what TREC-9 distributed as t9.filtering.tar.gz, in small: three topics, a third of the documents for each.

    The archive has more than filtering asks for: topics of MeSH, judgements for adaptive filtering, files twice.
    """
    rng = np.random.default_rng(0)

    def records(first: int) -> str:
        return "".join(
            RECORD.format(i + 1, first + i, KINDS[i % 3].split()[0].title(), "adults",
                          " ".join(rng.choice(KINDS[i % 3].split(), 6)) + f" case {i}.")
            for i in range(n)
        )  # fmt: skip

    def judged(first: int, kinds: int = 3) -> str:
        return "".join(f"OHSU{i % 3 + 1}\t{first + i}\t{1 + i % 2}\n" for i in range(n) if i % 3 < kinds)

    def topics(names: str) -> str:
        return "".join(
            f"<top>\n<num> Number: {names}{k + 1}\n<title> patient {k}\n<desc> Description:\n{kind}\n</top>\n\n"
            for k, kind in enumerate(KINDS)
        )

    first = records(87000001)
    files = {
        "ohsu-trec/README": "read me",
        "ohsu-trec/pre-test/ohsumed.87": first,
        "ohsu-trec/pre-test/query.ohsu.test.1-43": topics("OHSUTEST"),
        "ohsu-trec/pre-test/qrels.ohsu.test.87": judged(87000001, 1),
        "ohsu-trec/trec9-train/ohsumed.87": first,
        "ohsu-trec/trec9-train/query.ohsu.1-63": topics("OHSU"),
        "ohsu-trec/trec9-train/query.mesh.1-4904": topics("MSH"),
        "ohsu-trec/trec9-train/qrels.ohsu.adapt.87": "OHSU1\t87000001\t2\n",
        "ohsu-trec/trec9-train/qrels.ohsu.batch.87": judged(87000001),
        "ohsu-trec/trec9-train/qrels.mesh.batch.87": "MSH1\t87000002\t1\n",
        "ohsu-trec/trec9-test/ohsumed.88-91": records(88000001),
        "ohsu-trec/trec9-test/qrels.ohsu.88-91": judged(88000001),
        "ohsu-trec/trec9-test/qrels.mesh.88-91": "MSH1\t88000002\t1\n",
    }
    with tarfile.open(folder / "t9.filtering.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def test_the_public_archive_is_all_that_filtering_asks_for(tmp_path, monkeypatch):
    """Tables 4 and 5 and Figure 2 from the archive as it is fetched, with topics of another source beside it."""
    alone = tmp_path / "ohsumed_trec9_topics"
    alone.mkdir()
    (alone / "query.ohsu.1-63").write_text("<top>\n<num> Number: OHSU9\n<title> t\n<desc> Description:\nd\n</top>\n")
    (alone / "qrels.ohsu.88-91").write_text("OHSU9\t88000001\t2\n")
    public_archive(tmp_path)
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    wanted = ("table 4", "table 5", "figure 2")
    assert papers.get("online").missing_corpora(wanted) == ()
    four, five, figure = papers.get("online").run(wanted)
    ours = dict(zip(four.columns, zip(*four.ours, strict=True), strict=True))
    assert [ours[name][0] for name in ("Microsoft", "Fudan")] == [None, None]  # not ours to run
    for system in SYSTEMS:
        retrieved, relevant, _, _, _, utility, *_ = ours[system]
        assert 45 < relevant <= 90, "each topic has 30, and they are easy to tell apart"
        assert utility == pytest.approx((3 * relevant - retrieved) / 3)
    totals = dict(zip(five.columns, five.ours[2], strict=True))
    for system in ("Pptron+ig", "Pptron+rnd"):
        assert totals[f"{system}: total"] == ours[system][0]
        assert totals[f"{system}: relevant"] == ours[system][1]
    assert isinstance(figure, Figure)
    assert not any("missing" in note for note in four.notes + five.notes)


def test_without_the_documents_it_is_said_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("textbayes.reproduce.online.filtering_tables.corpus_is_there", lambda name: False)
    for table in papers.get("online").run(("table 4", "table 5")):
        assert "datasets check ohsumed_trec9 --download" in table.notes[0]
        assert not any(cell is not None for row in table.ours for cell in row)


def test_sections_of_ohsumed(ohsumed_folder):
    assert load_corpus("ohsumed_trec9", path=ohsumed_folder, sections="TM").texts[0] == "Tea 0.\nHuman."
    with pytest.raises(InputError, match="sections='TX' is not usable"):
        load_corpus("ohsumed_trec9", path=ohsumed_folder, sections="TX")
    (ohsumed_folder / "query.ohsu.1-63").unlink()
    assert not is_complete(ohsumed_folder)
    with pytest.raises(CorpusNotFoundError, match=r"lacks query\.ohsu\.1-63"):
        load_statements(ohsumed_folder)


def test_the_real_topics():
    path = corpus_path("ohsumed_trec9")
    if path is None:
        pytest.skip("the topics of OHSUMED are not there: looked in $TEXTBAYES_DATA and ../shared/data")
    statements = load_statements(path)
    assert list(statements) == [f"OHSU{k}" for k in range(1, 64)]
    assert statements["OHSU1"].splitlines() == [
        "60 year old menopausal woman without hormone replacement therapy",
        "Are there adverse effects on lipids when progesterone is given with estrogen replacement therapy",
    ]
