"""Learning from judgements: which words join, what is rehearsed and when, what a changed judgement does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from references.online import learn_document
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.models.online import DiagonalPosterior, OnlineLikelihood
from textbayes.select import scores
from textbayes.stream import AdaptiveFilter, FilterSettings, simulate
from textbayes.stream import learn as learning
from textbayes.stream.learn import NONE, telling_words, word_scores
from textbayes.stream.topic import WordCounts, lesson_rows, local_rows
from textbayes.text import TermWeighting, TextVectorizer

from .conftest import draw


def everything(**settings) -> dict:
    """Settings under which every document is delivered for every topic."""
    return {"threshold": 0.0, "ask": "never", **settings}


def judge_all(desk: AdaptiveFilter, documents) -> None:
    for document in documents:
        for delivery in desk.see(document, time=0.0).deliveries:
            desk.judge(delivery.id, delivery.topic, delivery.topic in document.labels)


# -- words ------------------------------------------------------------------------------------------------------------
def table_by_hand(desk, documents, topic):
    """Presence of every word of the lexicon in documents judged for all topics, and their relevance."""
    X = np.zeros((len(documents), len(desk.lexicon)))
    for i, document in enumerate(documents):
        X[i, desk.lexicon.find(desk.read([document.text]).terms)] = 1.0
    return X, np.array([[topic in document.labels] for document in documents])


def test_word_scores_are_those_of_the_likelihood_ratio(make):
    training = draw(0, 60)
    desk = make(least_words=0)
    for topic in desk.topics:
        X, Y = table_by_hand(desk, training, topic.name)
        expected = scores.get("likelihood_ratio")(X, Y).scores[0]
        counts = topic.counts.resized(len(desk.lexicon))
        got = word_scores(counts.relevant, desk.lexicon.document_frequency, topic.n_relevant, 60)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert set(topic.words.tolist()) == set(np.flatnonzero(expected > 12.13).tolist())


@pytest.mark.parametrize("threshold", [12.13, 5.0, 1.0, 0.1])
def test_growth_adds_exactly_the_words_above_the_threshold(make, stream, threshold):
    desk = make(**everything(word_threshold=threshold))
    known = {topic.name: set(topic.words.tolist()) for topic in desk.topics}
    for n, document in enumerate(stream[:40], start=1):
        judge_all(desk, [document])
        if n % 10:
            continue
        seen = [*draw(0, 60), *stream[:n]]
        for topic in desk.topics:
            X, Y = table_by_hand(desk, seen, topic.name)
            above = set(np.flatnonzero(scores.get("likelihood_ratio")(X, Y).scores[0] > threshold).tolist())
            grown = set(topic.words.tolist())
            # Words stay when their score falls again; all that are above now have joined, and nothing else ever did.
            assert above <= grown
            assert known[topic.name] <= grown
            known[topic.name] = grown
    if threshold == 12.13:
        assert any(len(known[topic.name]) > len(topic.words) for topic in make().topics)


def test_every_word_that_joins_was_above_the_threshold(make, stream):
    desk = make(**everything(word_threshold=3.0))
    for n, document in enumerate(stream[:15], start=1):
        before = {topic.name: set(topic.words.tolist()) for topic in desk.topics}
        judge_all(desk, [document])
        for topic in desk.topics:
            X, Y = table_by_hand(desk, [*draw(0, 60), *stream[:n]], topic.name)
            now = scores.get("likelihood_ratio")(X, Y).scores[0]
            assert all(now[word] > 3.0 for word in set(topic.words.tolist()) - before[topic.name])


def test_at_most_so_many_words_and_the_best_of_them(make, stream):
    few = make(start_words=3)
    X, Y = table_by_hand(few, draw(0, 60), "grain")
    best = np.argsort(-scores.get("likelihood_ratio")(X, Y).scores[0], kind="stable")[:3]
    assert set(few.topics[0].words.tolist()) == set(best.tolist())
    desk = make(**everything(word_threshold=0.01, start_words=3, most_words=10))
    judge_all(desk, stream[:30])
    assert [len(topic.words) for topic in desk.topics] == [10, 10]
    assert len(desk.topics[0].mean) == 11


def test_words_that_are_absent_from_relevant_documents_can_tell_as_well():
    documents = [Document(str(i), "common words here", ()) for i in range(40)]
    documents += [Document(str(i), "rare thing there", ("t",)) for i in range(40)]
    desk = AdaptiveFilter.start(documents)
    assert {desk.lexicon.name(word) for word in desk.topics[0].words} == {"common", "word", "rare", "thing"}


def test_nothing_tells_where_all_or_no_document_is_relevant(make):
    desk = make()
    topic = desk.topics[0]
    for n_relevant in (0, 60):
        assert len(telling_words(replace(topic, n_relevant=n_relevant), desk.lexicon, 0.0, 10)) == 0
    assert len(telling_words(topic, desk.lexicon, 0.0, 0)) == 0


def test_the_words_are_the_same_when_all_counts_are_far_larger(make):
    desk = make()
    topic, times = desk.topics[0], 100_000  # products of counts are beyond 32 bits, as in a long stream
    counts = WordCounts(topic.counts.relevant * times, topic.counts.later * times)
    many = replace(topic, n_relevant=topic.n_relevant * times, n_later=topic.n_later * times, counts=counts, words=NONE)
    few = telling_words(replace(topic, words=NONE), desk.lexicon, 1e12, 10, least=5)  # none is above the threshold
    assert len(few) == 5
    desk.lexicon.n_docs *= times
    frequency = desk.lexicon.document_frequency
    frequency *= times
    assert telling_words(many, desk.lexicon, 1e12, 10, least=5).tolist() == few.tolist()


@pytest.mark.parametrize("covariance", ["full", "low_rank", "diagonal"])
def test_new_words_have_mean_zero_and_the_prior_variance(make, covariance):
    desk = make(covariance=covariance, variance=2.0)
    topic = desk.topics[0]
    more = np.setdiff1d(np.arange(len(desk.lexicon)), topic.words)[:2]
    grown = topic.grown(more, 2.0)
    assert grown.words.tolist() == [*topic.words.tolist(), *more.tolist()]
    np.testing.assert_allclose(grown.mean[: len(topic.mean)], topic.mean, rtol=1e-14)
    assert (grown.mean[len(topic.mean) :] == 0.0).all()
    if covariance == "full":
        np.testing.assert_array_equal(grown.posterior.cov[-2:, -2:], 2.0 * np.eye(2))
        assert not grown.posterior.cov[-2:, :-2].any()
    elif isinstance(grown.posterior, DiagonalPosterior):
        assert (grown.posterior.var[-2:] == 2.0).all()


# -- updates ----------------------------------------------------------------------------------------------------------
def test_a_judgement_is_the_papers_update(make, stream):
    desk = make(**everything(rehearse=False, word_threshold=1e9))
    for document in stream[:10]:
        before = desk.topics[0]
        judge_all(desk, [document])
        number = desk.ids[document.id]
        rows = local_rows(desk.lexicon.weigh_kept([desk.kept[number]]), before.position(len(desk.lexicon)))
        x = np.zeros(len(before.mean))
        x[0], x[rows.indices] = 1.0, rows.data
        y = 1.0 if "grain" in document.labels else -1.0
        mean, cov, _ = learn_document(before.mean, before.posterior.cov, x, y, desk.likelihood)
        np.testing.assert_allclose(desk.topics[0].mean, mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(desk.topics[0].posterior.cov, cov, rtol=1e-9, atol=1e-12)


def test_rehearsal_in_turn(make, monkeypatch):
    """Irrelevant documents are each followed by the next relevant one; relevant ones join the end of the row."""
    desk = make(**everything())
    lessons = []
    monkeypatch.setattr(
        learning, "lesson_rows", lambda rows, places: lessons.append(rows.n_docs) or lesson_rows(rows, places)
    )
    topic = desk.topics[0].copy()
    turns, kinds = [], "nnynnnynn" + "n" * len(topic.examples)
    for i, kind in enumerate(kinds):
        desk.see(Document(f"x{i}", f"corn word{i}"), time=0.0)
        before = desk.topics[0].copy()
        desk.judge(f"x{i}", "grain", kind == "y")
        after = desk.topics[0]
        if kind == "n":
            turns.append(before.examples[before.turn])
            assert after.turn == (before.turn + 1) % len(before.examples)
            assert after.examples == before.examples
        else:
            assert after.examples == [*before.examples, desk.ids[f"x{i}"]]
            assert after.turn == before.turn
    row = [*topic.examples, desk.ids["x2"], desk.ids["x6"]]
    n = len(turns)
    assert turns == [*row, *row][:n]
    assert lessons == [2 if kind == "n" else 1 for kind in kinds]


def test_no_rehearsal_where_it_is_not_wanted_or_nothing_is_relevant(make, stream):
    desk = make(**everything(rehearse=False))
    judge_all(desk, stream[:5])
    assert all(topic.turn == 0 for topic in desk.topics)
    topic = replace(make().topics[0], examples=[])
    desk.see(Document("a", "corn rain"), time=0.0)
    nothing = learning.learn_judgement(
        topic, desk.ids["a"], False, desk.kept, desk.lexicon, FilterSettings(), desk.likelihood
    )
    assert nothing.turn == 0


def test_the_same_judgement_twice_counts_once(make):
    desk = make(**everything())
    desk.see(Document("a", "corn and rain"), time=0.0)
    assert desk.judge("a", "grain", True) == "new"
    topic = desk.topics[0]
    assert desk.judge("a", "grain", True) == "same"
    assert desk.topics[0] is topic


def test_a_changed_judgement_corrects_the_counts_and_is_learnt_as_one_more_document(make):
    said, changed = make(**everything(rehearse=False)), make(**everything(rehearse=False))
    for desk in (said, changed):
        desk.see(Document("a", "corn and rain"), time=0.0)
        desk.see(Document("b", "wheat"), time=0.0)
    said.judge("a", "grain", False)
    changed.judge("a", "grain", True)
    assert changed.topics[0].examples[-1] == changed.ids["a"]
    before = changed.topics[0]
    assert changed.judge("a", "grain", False) == "changed"
    for name in ("n_relevant", "n_later", "examples", "turn"):
        assert getattr(changed.topics[0], name) == getattr(said.topics[0], name)
    for one, other in zip(changed.topics[0].counts, said.topics[0].counts, strict=True):
        np.testing.assert_array_equal(one, other)
    rows = local_rows(changed.lexicon.weigh_kept([changed.kept[changed.ids["a"]]]), before.position(len(said.lexicon)))
    expected, _ = before.posterior.learn(rows, [-1.0], OnlineLikelihood(changed.settings.link, 0.0))
    np.testing.assert_array_equal(changed.topics[0].posterior.cov, expected.cov)
    assert changed.judge("a", "grain", True) == "changed"
    assert changed.topics[0].examples[-1] == changed.ids["a"]
    assert changed.topics[0].n_relevant == before.n_relevant


def test_a_document_taken_out_of_the_row_does_not_upset_the_turn(make):
    desk = make(**everything())
    topic = desk.topics[0].copy()
    n = len(topic.examples)
    for i, relevant in enumerate([True] + [False] * (n + 1)):
        desk.see(Document(f"x{i}", f"corn word{i}"), time=0.0)
        desk.judge(f"x{i}", "grain", relevant)
    assert desk.topics[0].turn == 0  # n + 1 in the row, n + 1 irrelevant
    desk.judge("x0", "grain", False)  # taken out, and rehearses the first
    assert desk.topics[0].examples == topic.examples
    assert desk.topics[0].turn == 1


# -- delay ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_judgements_that_come_late_teach_the_same(make, stream, covariance):
    """What is delivered being equal, the state depends on the judgements and their order, not on when they came."""
    at_once, late = (make(**everything(covariance=covariance)) for _ in range(2))
    judge_all(at_once, stream[:60])
    for document in stream[:60]:
        late.see(document, time=0.0)
    for document in stream[:60]:
        for topic in ("grain", "money"):
            late.judge(document.id, topic, topic in document.labels)
    for one, other in zip(at_once.topics, late.topics, strict=True):
        assert [at_once.lexicon.name(c) for c in one.words] == [late.lexicon.name(c) for c in other.words]
        np.testing.assert_array_equal(one.mean, other.mean)
        assert one.examples == other.examples
        assert one.turn == other.turn
    bags = at_once.read([document.text for document in stream])
    np.testing.assert_array_equal(at_once.score(bags).probability, late.score(bags).probability)


def test_judgements_that_never_come_are_no_harm(make, stream):
    desk = make(**everything())
    for document in stream[:20]:
        desk.see(document, time=0.0)
    assert desk.judgements == {}
    np.testing.assert_array_equal(desk.topics[0].mean, make().topics[0].mean)


# -- starts -----------------------------------------------------------------------------------------------------------
def test_a_statement_is_a_training_document_of_its_topic_alone():
    documents = draw(0, 60)
    statement = Document("s", "corn wheat and oats", ("grain",))
    plain, told = AdaptiveFilter.start(documents), AdaptiveFilter.start(documents, [statement])
    assert told.topics[0].n_relevant == plain.topics[0].n_relevant + 1
    assert told.topics[1].n_relevant == plain.topics[1].n_relevant
    assert told.lexicon.n_docs == 60
    bags = told.read(["oats"])
    assert (told.lexicon.find(bags.terms) >= 0).all()
    assert (plain.lexicon.find(bags.terms) < 0).all()
    new = [document.text for document in draw(2, 5)]
    np.testing.assert_array_equal(
        plain.score(plain.read(new)).probability[:, 1], told.score(told.read(new)).probability[:, 1]
    )
    assert (plain.score(plain.read(new)).probability[:, 0] != told.score(told.read(new)).probability[:, 0]).any()


def test_the_start_is_the_papers_batch_phase():
    """Three passes of the reference algorithm over ltc weights, as far as they are of the words chosen."""
    documents = draw(0, 60)
    desk = AdaptiveFilter.start(documents, n_jobs=1)
    options = desk.settings.text
    vectorizer = TextVectorizer(
        token_pattern=options.token_pattern, stop_words=list(options.stop_words), stemmer=options.stemmer
    )
    counts = vectorizer.fit_transform([document.text for document in documents])
    X = TermWeighting("ltc").fit_transform(counts)
    for topic in desk.topics:
        columns = [vectorizer.vocabulary_[desk.lexicon.name(word)] for word in topic.words]
        dense = np.hstack([np.ones((60, 1)), X[:, columns].toarray()])
        mean, cov = np.zeros(1 + len(columns)), np.eye(1 + len(columns))
        for x, document in [*zip(dense, documents, strict=True)] * 3:
            y = 1.0 if topic.name in document.labels else -1.0
            mean, cov, _ = learn_document(mean, cov, x, y, desk.likelihood)
        np.testing.assert_allclose(topic.mean, mean, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(topic.posterior.cov, cov, rtol=1e-7, atol=1e-9)


def test_threads_change_nothing():
    one, two = (AdaptiveFilter.start(draw(0, 60), n_jobs=n) for n in (1, 2))
    for topic, other in zip(one.topics, two.topics, strict=True):
        np.testing.assert_array_equal(topic.posterior.cov, other.posterior.cov)


@pytest.mark.parametrize(
    ("documents", "topics", "cause"),
    [
        ([], None, "no labelled document has a label"),
        (draw(0, 1, share=1.0), None, "at least two are needed"),
        ([Document("a", "x y"), Document("b", "z")], None, "no labelled document has a label"),
        (draw(0, 20), ["gran"], "topic 'gran' has no relevant document and no statement"),
        (
            [Document("a", "x", ("b,c",)), Document("b", "y", ("c", "b"))],
            ["b,d"],
            r"choose among the labels 'b', 'b,c', 'c'",
        ),
        (
            [Document("a", "x", ("oil,gas",)), Document("b", "y", ("tea",)), Document("c", "z", ("tea",))],
            ["gas"],
            r"a part of labels such as 'oil,gas': split them with label_separator=','$",
        ),
        (
            [Document("a", "x", ("oil",)), Document("b", "y", ("tea",)), Document("c", "z", ("tea",))],
            ["gas"],
            "choose among the labels 'tea', 'oil'$",
        ),
        ([Document("a", "…", ("t",)), Document("b", "12")], None, "hold no word"),
    ],
)
def test_starts_that_are_refused(documents, topics, cause):
    with pytest.raises(InputError, match=cause):
        AdaptiveFilter.start(documents, topics=topics)


def test_a_statement_of_no_topic_is_refused():
    with pytest.raises(InputError, match="statement 's' has no label; label it with the topic"):
        AdaptiveFilter.start(draw(0, 20), [Document("s", "corn")])


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"threshold": 0.9}, "gives no probability above 0.9"),
        ({"threshold": -0.1}, "threshold=-0.1 is not usable"),
        ({"covariance": "fll"}, "covariance='fll' is not known"),
        ({"passes": 0}, "passes=0 is not usable"),
        ({"most_words": 2.5}, "most_words=2.5 is not usable"),
        ({"variance": 0.0}, "variance=0.0 is not usable"),
        ({"budget": "many"}, "write 20/day"),
        ({"ask": "often"}, "unknown asking schedule 'often'"),
        ({"link": "logit"}, "noise=0"),
    ],
)
def test_settings_that_are_refused(settings, cause):
    with pytest.raises(InputError, match=cause):
        FilterSettings(**settings)


# -- words that join, found without looking at all of them ------------------------------------------------------------
@pytest.mark.parametrize("threshold", [12.13, 4.0, 0.5])
def test_the_same_words_as_by_looking_at_all(make, monkeypatch, threshold):
    """Words of all frequencies, in documents of both kinds; some judgements are corrected."""
    desk = make(threshold=0.0, ask="never", word_threshold=threshold, most_words=60)
    looked_at = []
    scores = learning.word_scores
    monkeypatch.setattr(learning, "word_scores", lambda a, *rest: looked_at.append(len(a)) or scores(a, *rest))
    rng = np.random.default_rng(3)
    joined = 0
    for i, document in enumerate(draw(5, 300, first=5000)):
        rare = " ".join(f"rare{rng.integers(200)}q" for _ in range(4))
        document = document._replace(text=f"{document.text} {rare}")
        desk.see(document, 0.0)
        name = "grain" if i % 3 else "money"
        k, relevant = desk.index[name], (name in document.labels) != (i % 11 == 0)
        topic, number = desk.topics[k], desk.ids[document.id]
        counted = learning._counted(
            topic.__class__(**{**vars(topic), "counts": topic.counts.copy()}),
            number, desk.kept[number], relevant, len(desk.lexicon), None,
        )  # fmt: skip
        expected = telling_words(counted, desk.lexicon, threshold, 60 - len(topic.words))
        desk.judge(document.id, name, relevant)
        assert desk.topics[k].words[len(topic.words) :].tolist() == expected.tolist()
        joined += len(expected)
        if i % 40 == 7:
            desk.judge(document.id, name, not relevant)
    assert joined
    # After the first, a judgement looks at the words of its document and few others: there are 200 rare ones and more.
    assert np.median(looked_at) < 60


def test_more_room_for_words_is_used(make, stream):
    """When a topic may have more words, those that had to stay outside are looked at again."""
    desk = make(word_threshold=1.0, start_words=10, most_words=10, least_words=0)
    list(simulate(desk, stream[:60]))
    assert [len(topic.words) for topic in desk.topics] == [10, 10]
    more = desk.copy(most_words=40)
    list(simulate(more, stream[60:]))
    assert all(len(topic.words) > 12 for topic in more.topics)
