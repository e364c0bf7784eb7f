"""Scoring many topics at once: the bits of one topic after the other, and the gains of their definition."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.types import Document
from textbayes.models.online import OnlineLikelihood, expected_information_gain
from textbayes.stream import run as run_module
from textbayes.stream import simulate
from textbayes.stream.scoring import EachTopic, TopicBank, scores_of
from textbayes.stream.words import Bags, FilterLexicon
from textbayes.text.analyze import TextOptions
from textbayes.text.packed import pack

from .conftest import TOPICS


def novel(stream):
    """With words that no training document has, shared by a few of them."""
    return [d._replace(text=f"{d.text} novel{'abcdefg'[i % 7]} novel{'hijk'[i % 4]}") for i, d in enumerate(stream)]


def test_all_topics_at_once_have_the_bits_of_one_after_the_other(make, stream):
    together, apart = make(word_threshold=3.0), make(word_threshold=3.0)
    assert isinstance(together._scorer, TopicBank)
    apart._scorer = EachTopic(apart.topics)
    n_words = [len(topic.words) for topic in together.topics]
    for start in range(0, 200, 50):
        part = novel(stream)[start : start + 50]
        assert list(simulate(together, part)) == list(simulate(apart, part))
        bags = together.read([document.text for document in part])
        for one, other in zip(together.score(bags), apart.score(bags), strict=True):
            assert one.tobytes() == other.tobytes()
    assert all(len(topic.words) > n for topic, n in zip(together.topics, n_words, strict=True)), "no word has joined"


def test_no_documents(make):
    assert [part.shape for part in make().score(Bags.read([], TextOptions()))] == [(0, 2), (0, 2)]


@pytest.mark.parametrize("method", ["paper", "gaussian"])
def test_compiled_scores_are_those_of_the_definition(method):
    likelihood = OnlineLikelihood("flip:rate=0.1,base=probit", noise=0.0)
    rng = np.random.default_rng(5)
    mean = np.concatenate([rng.normal(0, 3, (200, 3)), [[0.0, 40.0, -40.0], [1e-8, 0.5, -0.5], [0.0, 2.0, 2.0]]])
    var = np.concatenate([rng.exponential(2, (200, 3)), [[1.0, 1.0, 1.0], [1e-12, 100.0, 100.0], [0.0, 3.0, 3.0]]])
    proba, gain = scores_of(mean, var, likelihood, method)
    np.testing.assert_allclose(proba, likelihood.predictive(mean, var), rtol=1e-12)
    np.testing.assert_allclose(
        gain, expected_information_gain(mean, var, likelihood, method), rtol=1e-9, atol=1e-13
    )  # fmt: skip


@pytest.mark.parametrize("link", ["probit", "flip:rate=0.1,base=probit"])
def test_other_likelihoods_go_the_general_way(link):
    likelihood = OnlineLikelihood(link, noise=0.5)
    mean, var = np.array([[0.3, -1.0]]), np.array([[1.0, 0.5]])
    for method in ("paper", "exact", "gaussian"):
        expected = expected_information_gain(mean, var, likelihood, method)
        np.testing.assert_allclose(scores_of(mean, var, likelihood, method).gain, expected, rtol=1e-9)


@pytest.mark.parametrize("most", [2, 4, 8])
def test_scoring_ahead_in_a_thread_changes_nothing(make, stream, monkeypatch, most):
    # Neighbours share words that nobody had before: wherever a block ends, words join just before the next.
    letters = "abcdefghijklmnopqrstuvwxyz"
    told = [
        d._replace(text=f"{d.text} " + " ".join(f"joint{letters[i // n % 26]}{letters[n]}x" * 2 for n in (2, 3, 5)))
        for i, d in enumerate(stream)
    ]
    expected = [list(simulate(make(), told, batch=1, judged=judged)) for judged in (True, False)]
    monkeypatch.setattr(run_module, "_MOST_AHEAD", most)  # so that blocks follow each other within a batch
    for judged, deliveries in zip((True, False), expected, strict=True):
        assert list(simulate(make(), told, batch=64, judged=judged)) == deliveries
    assert expected[0] != expected[1]


def test_nobody_judges(make, stream):
    desk, alone = make(), make()
    deliveries = list(simulate(desk, novel(stream), judged=False))
    assert deliveries == [d for document in novel(stream) for d in alone.see(document, 0.0).deliveries]
    assert (desk.version, desk.judgements) == (0, {})
    plain = list(simulate(make(), novel(stream), judged=False, explain=False))
    assert plain == [delivery._replace(words={}) for delivery in deliveries]
    assert [topic.delivered for topic in desk.topics] == [topic.delivered for topic in alone.topics] != [0, 0]


def test_a_document_is_kept_from_many_as_by_itself():
    rng = np.random.default_rng(2)
    texts = [" ".join(f"w{j}" for j in rng.integers(0, 60, rng.integers(0, 200))) for _ in range(40)]
    words = sorted({f"w{j}" for j in range(30)})
    one, other = (FilterLexicon(pack(words), np.ones(30), 50) for _ in range(2))
    bags = Bags.read(texts, TextOptions())
    for i in (5, 0, 17, 5, 39):
        kept, expected = one.keep_from(bags, i), other.keep(bags.bag(i))
        assert [part.tolist() for part in kept] == [part.tolist() for part in expected]
        assert [part.dtype for part in kept] == [part.dtype for part in expected]
        assert [one.name(c) for c in range(len(one))] == [other.name(c) for c in range(len(other))]
        before = len(one) - 3
        columns = one.find(bags.terms)
        np.testing.assert_array_equal(bags.columns(one), columns)
        for j in range(len(texts)):
            assert bags.has_columns_from(before, one, j) == bool((columns[bags.words_of(j)] >= before).any())
    # What joins from elsewhere is looked up again.
    one.add(["w59", "elsewhere"])
    np.testing.assert_array_equal(bags.columns(one), one.find(bags.terms))


def test_new_words_join_in_the_order_of_their_characters():
    rng = np.random.default_rng(3)
    letters = ["a", "b", "z", "é", "ß", "λ", "中", "\U00010400"]  # of one to four bytes
    words = {"".join(rng.choice(letters, rng.integers(1, 7))) for _ in range(3_000)}
    text = " ".join(rng.permutation(sorted(words)))
    one, other = (FilterLexicon(pack(["ab", "z"]), np.ones(2), 5) for _ in range(2))
    bags = Bags.read([text, "ab ab λ"], TextOptions(lowercase=False, token_pattern=r"\S+"))
    kept, expected = one.keep_from(bags, 0), other.keep(bags.bag(0))
    assert len(one) > 1_000
    assert [part.tolist() for part in kept] == [part.tolist() for part in expected]
    assert one.names(np.arange(len(one))) == other.names(np.arange(len(other)))


def test_a_copy_goes_its_own_way(make, stream):
    desk = make()
    list(simulate(desk, stream[:40]))
    state = desk.n_seen, len(desk.lexicon), len(desk.kept), dict(desk.judgements), [t.delivered for t in desk.topics]
    expected = list(simulate(desk.copy(), novel(stream)[40:]))
    plain = desk.copy(ask="never")
    assert plain.settings.ask == "never"
    assert all(delivery.reason == "relevant" for delivery in simulate(plain, stream[40:]))
    now = desk.n_seen, len(desk.lexicon), len(desk.kept), dict(desk.judgements), [t.delivered for t in desk.topics]
    assert now == state
    assert list(simulate(desk, novel(stream)[40:])) == expected


def test_words_behind_a_delivery_are_the_strongest_of_them(make):
    desk = make()
    rng = np.random.default_rng(0)
    for i in range(20):
        text = " ".join(rng.choice([*TOPICS["grain"].split(), "bank", "office"], 12))
        for delivery in desk.see(Document(str(i), text), 0.0).deliveries:
            topic = desk.topics[desk.index[delivery.topic]]
            rows = desk.lexicon.weigh(desk.read([text]), 0, 1)
            place = topic.position(len(desk.lexicon))[rows.indices]
            parts = np.where(place > 0, rows.data * topic.mean[place], 0.0)
            order = [j for j in np.argsort(-np.abs(parts), kind="stable") if parts[j] != 0.0][:5]
            assert delivery.words == {desk.lexicon.name(rows.indices[j]): round(float(parts[j]), 4) for j in order}
