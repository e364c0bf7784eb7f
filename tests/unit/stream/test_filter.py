"""Deciding: reasons, budgets, ids; scores that depend on nothing but the document; what asking brings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.stream import AdaptiveFilter, FilterSettings, paper_threshold, simulate
from textbayes.stream.decide import Spent, decide, draws
from textbayes.stream.run import run
from textbayes.stream.words import Bags

from .conftest import draw


# -- decisions --------------------------------------------------------------------------------------------------------
def test_reasons():
    p, gain = np.array([0.6, 0.5, 0.1, 0.1]), np.array([0.9, 0.3, 0.1, 0.0])
    chosen = decide(p, gain, 0.5, np.full(4, 0.3), np.array([0.0, 0.0, 0.04, 0.06]), np.full(4, 0.05), np.inf)
    assert chosen == [(0, "relevant"), (1, "asked"), (2, "random")]


def test_a_budget_counts_questions_only():
    p, gain = np.array([0.1, 0.9, 0.1, 0.1]), np.ones(4)
    chosen = decide(p, gain, 0.5, np.zeros(4), None, np.zeros(4), 2)
    assert chosen == [(0, "asked"), (1, "relevant"), (2, "asked")]
    assert decide(p, gain, 0.5, np.zeros(4), None, np.zeros(4), 0) == [(1, "relevant")]


def test_a_document_is_asked_about_when_its_gain_reaches_the_schedule(make, stream):
    desk = make()
    for document in stream:
        bags = desk.read([document.text])
        (p,), (gain,) = desk.score(bags)
        delivered = [topic.delivered for topic in desk.topics]
        reasons = {delivery.topic: delivery.reason for delivery in desk.see(document, time=0.0).deliveries}
        for k, name in enumerate(["grain", "money"]):
            wanted = "relevant" if p[k] > 0.5 else "asked" if gain[k] >= paper_threshold(delivered[k]) else None
            assert reasons.get(name) == wanted
    assert sum(topic.delivered for topic in desk.topics) > 20


def test_a_schedule_may_be_any_function(make, stream):
    desk = make(ask=lambda n: 0.0 if n < 3 else np.inf, threshold=0.89)
    list(simulate(desk, stream[:30]))
    reasons = [d.reason for d in simulate(make(ask=lambda n: -1.0 if n < 3 else np.inf, threshold=0.89), stream[:9])]
    assert reasons.count("asked") >= 4
    with pytest.raises(InputError, match="ask is a function, which a state folder cannot keep"):
        desk.settings.to_json()


def test_budgets_by_time_and_by_documents(make, stream):
    desk = make(ask="constant:bits=-1", budget="3/minute", threshold=0.89)
    times = [7.0 * i for i in range(30)]
    asked = [
        sum(delivery.reason == "asked" for delivery in desk.see(document, time).deliveries)
        for document, time in zip(stream, times, strict=False)
    ]
    per_minute = {m: sum(n for n, t in zip(asked, times, strict=True) if t // 60 == m) for m in range(4)}
    assert set(per_minute.values()) == {3}
    desk = make(ask="constant:bits=-1", budget="2/10", threshold=0.89)
    asked = [sum(d.reason == "asked" for d in desk.see(document, 0.0).deliveries) for document in stream[:40]]
    assert [sum(asked[i : i + 10]) for i in range(0, 40, 10)] == [2, 2, 2, 2]
    assert Spent(3, 2).at(3) == Spent(3, 2)
    assert Spent(3, 2).at(4) == Spent(4, 0)


def test_random_looks_depend_on_seed_and_number_alone(make, stream):
    assert (draws(7, 1000, 5) == draws(7, 1000, 5)).all()
    together = np.array([draws(7, n, 5) for n in range(2000)])
    assert len(np.unique(together)) == together.size
    assert abs(together.mean() - 0.5) < 5 * np.sqrt(1 / 12 / together.size)

    def random_ones(**settings):
        desk = make(ask="never", explore="constant:rate=0.1", **settings)
        return [d.id for d in simulate(desk, stream) if d.reason == "random"]

    assert random_ones(random_state=1) == random_ones(random_state=1) != random_ones(random_state=2)
    n = len(random_ones(random_state=1))
    assert abs(n - 0.1 * 400) < 4 * np.sqrt(400 * 0.1 * 0.9)


def test_the_words_behind_a_delivery(make):
    desk = make()
    (delivery,) = desk.see(Document("a", "corn corn wheat office"), time=0.0).deliveries
    rows = desk.lexicon.weigh(desk.read(["corn corn wheat office"]), 0, 1)
    topic = desk.topics[0]
    place = {int(column): i + 1 for i, column in enumerate(topic.words)}
    parts = {
        desk.lexicon.name(int(c)): topic.mean[place[int(c)]] * v
        for c, v in zip(rows.indices, rows.data, strict=True)
        if int(c) in place
    }
    assert set(delivery.words) == {"corn", "wheat"} == set(parts)
    assert delivery.words == {word: round(parts[word], 4) for word in sorted(parts, key=lambda word: -abs(parts[word]))}


# -- ids --------------------------------------------------------------------------------------------------------------
def test_a_document_that_was_delivered_is_passed_over(make):
    desk = make(threshold=0.0)
    assert len(desk.see(Document("a", "corn and rain"), time=0.0).deliveries) == 2
    again = desk.see(Document("a", "rain and corn"), time=0.0)
    assert again.repeated
    assert again.deliveries == []
    assert desk.n_seen == 2
    assert desk.topics[0].delivered == 1


def test_an_id_that_belongs_to_another_document_gets_a_number(make):
    desk = make(threshold=0.0)
    ids = [desk.see(Document("1", text), time=0.0).id for text in ("corn", "wheat", "corn", "wheat", "rain")]
    assert ids == ["1", "1#2", "1", "1#2", "1#3"]
    desk.judge("1#3", "grain", True)
    assert (desk.ids["1#3"], 0) in desk.judgements


@pytest.mark.parametrize(
    ("document", "topic", "cause"),
    [
        ("a", "gran", "there is no topic 'gran'; the topics are grain, money"),
        ("b", "grain", "document 'b' has not been delivered; judge one that has, or give its text"),
    ],
)
def test_judgements_that_are_refused(make, document, topic, cause):
    desk = make(threshold=0.0)
    desk.see(Document("a", "corn"), time=0.0)
    with pytest.raises(InputError, match=cause):
        desk.judge(document, topic, True)


def test_a_document_that_was_not_delivered_can_be_judged_by_its_words(make):
    desk = make()
    n = len(desk.lexicon)
    assert desk.judge("new", "grain", True, bag=desk.read(["sorghum and corn"]).bag(0)) == "new"
    assert len(desk.lexicon) == n + 1
    assert desk.topics[0].examples[-1] == desk.ids["new"]


# -- nothing but the document -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance", ["full", "low_rank", "diagonal"])
@pytest.mark.parametrize("gain", ["paper", "gaussian"])
def test_scores_do_not_depend_on_what_is_scored_together(make, stream, covariance, gain):
    desk = make(covariance=covariance, gain=gain)
    bags = desk.read([document.text for document in stream])
    together = desk.score(bags)
    for i, document in enumerate(stream):
        for scores in (desk.score(bags, i, i + 1), desk.score(desk.read([document.text]))):
            assert scores.probability.tobytes() == together.probability[i].tobytes()
            assert scores.gain.tobytes() == together.gain[i].tobytes()
    for size in (7, 64):
        part = desk.score(bags, 3, 3 + size)
        assert part.gain.tobytes() == together.gain[3 : 3 + size].tobytes()


@pytest.mark.parametrize("explore", ["never", "constant:rate=0.05"])
def test_reading_ahead_changes_nothing(make, stream, explore):
    # Words that no training document has join when a document is delivered, and change the weights of others.
    novel = [d._replace(text=f"{d.text} novel{'abcdefg'[i % 7]} novel{'hijk'[i % 4]}") for i, d in enumerate(stream)]
    told = [list(simulate(make(explore=explore), novel, batch=size)) for size in (1, 3, 64, 1000)]
    assert len(told[0]) > 20
    assert all(other == told[0] for other in told[1:])


def test_judgements_between_documents_are_learnt_before_the_next(make, stream):
    """As learnt at once, though they are read from outside."""
    at_once, outside = make(), make()
    truth = {document.id: document.labels for document in stream}
    expected = list(simulate(at_once, stream))
    waiting = []

    class Keeper:
        filter = outside

        def see(self, *what):
            return outside.see(*what)

        def judge(self, *what):
            raise AssertionError

    def learn():
        while waiting:
            delivery = waiting.pop(0)
            outside.judge(delivery.id, delivery.topic, delivery.topic in truth[delivery.id])

    found = []
    for delivery in run(Keeper(), [stream[:120], stream[120:]], before_each=learn, clock=lambda: 0.0):
        found.append(delivery)
        waiting.append(delivery)
    # Two deliveries of one document: at once the first is learnt before the second is handed on, with equal scores.
    assert found == expected


def test_memory_grows_with_what_is_delivered_not_with_the_stream(make):
    desk = make(ask="never", threshold=0.89)
    rng = np.random.default_rng(0)
    n_words, n_kept = len(desk.lexicon), len(desk.kept)
    for i in range(300):
        text = " ".join(f"unseen{j}" for j in rng.integers(0, 10**9, 30))
        desk.see(Document(str(i), text), time=float(i))
    assert desk.n_seen == 300
    assert len(desk.lexicon) == n_words
    assert (len(desk.kept), desk.ids, desk.judgements) == (n_kept, {}, {})


def test_bags_made_of_words_score_as_texts(make, stream):
    desk = make()
    bags = desk.read([document.text for document in stream[:20]])
    again = Bags.of([bags.bag(i) for i in range(20)])
    assert desk.score(again).gain.tobytes() == desk.score(bags).gain.tobytes()


# -- what asking brings -----------------------------------------------------------------------------------------------
def planted(seed: int, n_docs: int, share: float, last: int, first: int = 0) -> list[Document]:
    """A topic of 48 words in a row; a relevant document has six of twelve neighbours, the first before ``last``."""
    rng = np.random.default_rng(seed)
    letters = "bcdfghjklmnprtvz"
    own = [f"topa{a}{b}x" for a, b in itertools.product(letters, letters)][:48]
    back = [f"back{a}{b}x" for a, b in itertools.product(letters, letters)][:200]
    weight = 1 / np.arange(1, 201)
    documents = []
    for i in range(n_docs):
        words = rng.choice(back, 12, p=weight / weight.sum()).tolist()
        relevant = rng.random() < share
        if relevant:
            begin = rng.integers(0, last)
            words += rng.choice(own[begin : begin + 12], 6).tolist()
        elif rng.random() < 0.3:
            words += rng.choice(own, 1).tolist()
        documents.append(Document(str(first + i), " ".join(words), ("t",) if relevant else ()))
    return documents


def test_asking_finds_more_than_the_plain_perceptron_where_a_topic_is_wider_than_its_examples():
    found = {}
    for ask in ("never", "paper"):
        settings = FilterSettings(ask=ask, rehearse=False)
        for seed in (0, 1, 2):
            stream = planted(100 + seed, 1200, 0.04, last=36, first=1000)
            relevant = {document.id for document in stream if document.labels}
            desk = AdaptiveFilter.start(planted(seed, 300, 0.02, last=12), settings=settings, n_jobs=1)
            deliveries = list(simulate(desk, stream))
            found[ask, seed] = sum(delivery.id in relevant for delivery in deliveries)
            assert ("asked" in {delivery.reason for delivery in deliveries}) == (ask == "paper")
    assert sum(found["paper", s] for s in range(3)) >= 1.4 * sum(found["never", s] for s in range(3))


def test_labels_of_topics_that_are_not_filtered_for_do_no_harm():
    documents = draw(0, 60)
    desk = AdaptiveFilter.start(documents, topics=["money"])
    assert [topic.name for topic in desk.topics] == ["money"]
    assert all(delivery.topic == "money" for delivery in simulate(desk, draw(1, 50, first=100)))
