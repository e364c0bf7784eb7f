"""The state machine: what is handed out, what answers do to it, and that the log alone says it all."""

from __future__ import annotations

import json

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.screen import Collection, Screening, ScreenSettings
from textbayes.screen.collection import NOTHING, PriorMeans
from textbayes.screen.topic import UNREAD


def test_reading_by_probability_finds_most_early(screening, answer, review):
    relevant = review[2]
    state = screening()
    first = answer(state, 2 * int(relevant.sum()))
    assert relevant[first].mean() > 0.4
    assert relevant[first].sum() >= 0.9 * relevant.sum()  # by chance it would be three tenths


def test_nothing_is_handed_out_twice(screening, answer):
    state = screening(strategy="likely=0.6,random=0.2,informative=0.2")
    batch = state.next_records(10)
    assert len({pick.row for pick in batch}) == 10
    state.apply(state.handing_out(batch))
    others = answer(state, 140)
    assert sorted([*others, *(pick.row for pick in batch)]) == list(range(150))
    assert state.next_records(5) == []


def test_a_question_comes_first_and_fades(screening, answer, review):
    relevant = review[2]
    state = screening(questions={"relevant": "brewing green tea leaves in pots"})
    first = [pick.row for pick in state.next_records(10)]
    assert relevant[first].sum() >= 8
    wrong = screening(questions={"relevant": "copper ore mining shaft"})
    assert relevant[[pick.row for pick in wrong.next_records(10)]].sum() <= 1
    wrong.apply(wrong.judgement(f"r{np.flatnonzero(relevant)[0]}", "relevant"))
    first = answer(wrong, 2 * int(relevant.sum()))
    assert relevant[first].sum() >= 0.8 * relevant.sum()


def test_a_question_under_which_nothing_is_found_is_given_up(screening, review):
    relevant = review[2]
    state = screening(questions={"relevant": "copper ore mining shaft"})
    n_read = 0
    while not relevant[state.next_records(1)[0].row]:
        state.apply(state.judgement(f"r{state.next_records(1)[0].row}", "irrelevant"))
        n_read += 1
    assert 5 < n_read < 40  # 125 records are like the question, and irrelevant


def test_words_move_the_ranking_until_forgotten(screening, review):
    relevant = review[2]
    state = screening()
    before = state.topic().predictors.copy()
    state.apply(state.word("tea", "for"))
    state.apply(state.word("ore", "against"))
    ranked = np.argsort(-state.topic().predictors)
    has_tea = np.array(["tea" in text.split() for text in review[1]])
    has_ore = np.array(["ore" in text.split() for text in review[1]])
    assert has_tea[ranked[:10]].all()
    assert not has_ore[ranked[:10]].any()
    assert has_ore[ranked[-10:]].all()
    assert relevant[ranked[:10]].mean() > relevant.mean()
    for word in ("tea", "ore"):
        state.apply(state.word(word, "forget"))
    np.testing.assert_array_equal(state.topic().predictors, before)


def test_a_word_is_weak_or_strong(screening):
    """Half or twice the prior weight of a medium one, of each word of a phrase; a snapshot keeps it."""
    means = {}
    for strength in ("weak", "medium", "strong"):
        state = screening()
        state.apply(state.word("ore", "against"))
        entry = state.word("Tea", "for", strength=strength)
        assert entry.get("strength", "medium") == strength
        state.apply(entry)
        column = state.collection.vectorizer.columns_by_term()["tea"]
        means[strength] = state.topic().weights()[0][column]
        again = screening()
        again.restore(*state.to_state())
        np.testing.assert_array_equal(again.topic().predictors, state.topic().predictors)
    assert means["weak"] == pytest.approx(means["medium"] / 2)
    assert means["strong"] == pytest.approx(means["medium"] * 2)
    state.apply(state.word("tea", "for"))  # said anew, it is of medium strength
    assert state.topic().strengths == {}
    old, arrays = state.to_state()
    del old["topics"][0]["strengths"]  # as earlier versions wrote it
    screening().restore(old, arrays)
    with pytest.raises(InputError, match="strength='huge'"):
        state.word("tea", "for", strength="huge")


def test_the_words_behind_a_record_are_those_with_most_of_the_weight(screening):
    state = screening()
    state.apply(state.judgement("r0", "relevant"))
    state.apply(state.judgement("r1", "irrelevant"))
    known = state.topic()
    for row in range(2, 30):
        every = known.words_behind(row, 10_000)
        some = known.words_behind(row, 10_000, 0.8)
        total, last = sum(map(abs, every.values())), list(some.values())[-1]
        assert list(every)[: len(some)] == list(some)
        assert sum(map(abs, some.values())) >= 0.8 * total - 1e-9
        assert sum(map(abs, some.values())) - abs(last) < 0.8 * total
        assert len(known.words_behind(row, 3, 0.8)) <= 3
    assert known.words_behind_each(range(30)) == [known.words_behind(row) for row in range(30)]
    assert known.words_behind_each([]) == []


def test_capitals_and_spaces_of_a_word_do_not_count(screening):
    state = screening()
    state.apply(state.word(" TEA ", "for"))
    assert state.topic().words == {"tea": "for"}
    state.apply(state.word("Tea", "forget"))
    assert state.topic().words == {}
    assert state.collection.has_word("Green  tea")
    assert not state.collection.has_word("zzz")


@pytest.mark.parametrize("most", [0, 200])
def test_what_words_add_is_the_matrix_times_their_means(screening, monkeypatch, most):
    """Whether few words are looked up or all records are read; the readable version is a product."""
    monkeypatch.setattr("textbayes.screen.collection._FEW_WORDS", most)
    collection = screening(questions={"relevant": "green tea in pots"}).collection
    random = np.random.default_rng(0)
    for n in (1, 2, 7):
        columns = random.choice(collection.X.shape[1], n, replace=False)
        known = PriorMeans(columns, random.normal(size=n))
        expected = collection.X[:, columns].toarray() @ known.means
        np.testing.assert_allclose(collection.offset(known), expected, rtol=0.0, atol=1e-15)
        rows, values = collection.occurrences(int(columns[0]))
        np.testing.assert_array_equal(rows, np.flatnonzero(collection.X[:, columns[0]].toarray()))
        np.testing.assert_array_equal(values, collection.X[:, columns[0]].data)
    assert not collection.offset(NOTHING).any()


def test_a_prior_table_is_followed_the_less_the_more_is_found(screening, answer, review):
    table = WordPriors([WordPrior("tea", "*", 2.0), WordPrior("no such word", "*", 5.0)])
    state = screening(prior=table, follow=0.5, fade=20.0)
    column = state.collection.vectorizer.vocabulary_["tea"]
    x = state.collection.X[:150, column].toarray()[:, 0]
    np.testing.assert_allclose(state.topic().predictors, 0.5 * 2.0 * x)  # nothing read: the prior mean alone


def test_a_table_that_is_wrong_is_given_up_and_one_that_is_right_is_followed(screening, answer):
    shares = {}
    for side, words in (("right", ("tea", "leaves", "pots", "kettle")), ("wrong", ("ore", "iron", "shaft", "slag"))):
        state = screening(prior=WordPriors([WordPrior(word, "*", 2.0) for word in words]))
        answer(state, 120)
        topic = state.topic()
        shares[side] = topic.weights()[0][state.collection.vectorizer.vocabulary_[words[0]]] > 0.5
        trust = topic._share() / (0.5 * 20.0 / (20.0 + topic.n_relevant))
        assert (trust == pytest.approx(1.0)) == (side == "right")
        assert side == "right" or trust < 0.5
    assert shares == {"right": True, "wrong": False}


def test_answers_overturn_a_word_that_was_wrongly_favoured(screening, answer, review):
    """Soon nearly as many relevant records are found as without it, and little of its weight is left."""
    places = {}
    for word in ("", "ore"):
        state = screening(questions={"relevant": "tea"})
        if word:
            state.apply(state.word(word, "for"))
            column = state.collection.vectorizer.vocabulary_[word]
            before = float(state.topic().weights()[0][column])
        places[word] = np.flatnonzero(review[2][answer(state, 60)])
    assert before > 3.0
    assert state.topic().weights()[0][column] < 0.25 * before
    assert len(places["ore"]) >= len(places[""]) - 3


def test_a_question_counts_the_less_the_more_is_read_in_vain(screening, review):
    state = screening(questions={"relevant": "iron ore smelting"})
    topic, shares = state.topic(), [state.topic()._judged()[3][-1]]
    irrelevant = np.flatnonzero(~review[2])
    for row in irrelevant[:40]:
        state.apply(state.judgement(f"r{row}", "irrelevant"))
        shares.append(topic._judged()[3][-1])
    assert shares[0] > 0.9
    assert (np.diff(shares) < 1e-3).all()
    assert shares[-1] < 0.5


@pytest.mark.parametrize("mean", [-1e4, 1e4])
def test_a_table_may_be_sure_that_the_question_misleads(screening, mean):
    state = screening(questions={"relevant": "tea"}, prior=WordPriors([WordPrior("tea", "*", mean)]))
    topic = state.topics["relevant"]
    assert np.isfinite(topic.predictors).all()
    for row in range(4):
        state.apply(state.judgement(state.collection.ids[row], "relevant" if row % 2 else "irrelevant"))
    assert np.isfinite(topic.predictors).all()


def test_words_behind_a_record_add_up(screening, answer):
    state = screening(questions={"relevant": "green tea"}, prior=WordPriors([WordPrior("pots", "*", 1.0)]))
    answer(state, 20)
    state.apply(state.word("kettle", "for"))
    topic = state.topic()
    parts = topic.words_behind(5, top=1000)
    intercept = topic.weights()[1]
    assert sum(parts.values()) + intercept == pytest.approx(topic.predictors[5], abs=1e-5)
    assert abs(next(iter(parts.values()))) == max(abs(part) for part in parts.values())


def test_withdrawn_answers_are_forgotten(screening, answer):
    state = screening()
    rows = answer(state, 12)
    for row in rows:
        state.apply(state.judgement(f"r{row}", "withdrawn"))
    assert (state.topic().answers == UNREAD).all()
    assert len(state.topic().reading().rows) == 0
    assert {pick.row for pick in state.next_records(150)} == set(range(150))


def test_several_answers_cost_one_fit(screening, answer, review, monkeypatch):
    """The weights are those of one fit for each; what a record looked like before its answer was as before them all."""
    together, apart = screening(), screening()
    entries = []
    for one in (together, apart):
        rows = answer(one, 20)
        picks = one.next_records(6)
        entries = [one.judgement(f"r{pick.row}", "relevant" if review[2][pick.row] else "irrelevant") for pick in picks]
    before = together.topic().predictors.copy()
    fits = []
    fit = type(together.topic()._solver).fit
    monkeypatch.setattr(type(together.topic()._solver), "fit", lambda *args: (fits.append(1), fit(*args)))
    together.apply(*entries)
    assert len(fits) == 1
    for entry in entries:
        apart.apply(entry)
    assert len(fits) == 1 + len(entries)
    # Half the squared distance of the weights is at most the gap at which a fit ends, 1e-4 for each unit of weight.
    np.testing.assert_allclose(together.topic().predictors, apart.topic().predictors, atol=0.08)
    reading = together.topic().reading()
    assert reading.rows.tolist() == [*rows, *(pick.row for pick in picks)]
    np.testing.assert_array_equal(reading.predictors[-6:], before[[pick.row for pick in picks]])
    assert apart.topic().reading().predictors[-1] != reading.predictors[-1]


def test_unsure_is_read_but_teaches_nothing(screening):
    state = screening(questions={"relevant": "tea"})
    before = state.topic().predictors.copy()
    state.apply(state.judgement("r3", "unsure"))
    np.testing.assert_array_equal(state.topic().predictors, before)
    assert 3 not in state.topic().unread()


def test_topics_are_apart(screening, answer):
    state = screening(topics=("tea", "ore"), questions={"tea": "tea", "ore": "ore"})
    answer(state, 10, "tea")
    assert len(state.topic("ore").reading().rows) == 0
    alone = screening(topics=("ore",), questions={"ore": "ore"})
    np.testing.assert_allclose(state.topic("ore").predictors, alone.topic("ore").predictors, atol=1e-6)
    with pytest.raises(InputError, match="no topic is named; choose one of tea, ore"):
        state.topic()


def states(state):
    meta, arrays = state.to_state()
    return json.dumps(meta), {name: array.tobytes() for name, array in arrays.items()}


def test_the_log_says_it_all(screening, answer):
    kept = []
    state = screening(strategy="likely=0.8,random=0.2", questions={"relevant": "tea"})
    apply = state.apply
    state.apply = lambda entry: (kept.append(json.loads(json.dumps(entry))), apply(entry))
    answer(state, 20)
    state.apply(state.word("kettle", "for"))
    state.apply(state.judgement("r7", "unsure"))
    half = screening(strategy="likely=0.8,random=0.2", questions={"relevant": "tea"})
    half.restore(*state.to_state())
    answer(state, 10)
    again = screening(strategy="likely=0.8,random=0.2", questions={"relevant": "tea"})
    for entry in kept:
        again.apply(entry)
    assert states(again) == states(state)
    for entry in kept[-20:]:  # the ten handed out and answered after the state was kept
        half.apply(entry)
    assert states(half) == states(state)


def test_a_collection_comes_back(screening):
    state = screening(questions={"relevant": "tea"}, prior=WordPriors([WordPrior("pots", "*", 1.0)]))
    again = Screening(Collection.from_state(*state.collection.to_state()), state.settings)
    np.testing.assert_array_equal(again.topic().predictors, state.topic().predictors)
    assert ScreenSettings.from_json(json.loads(json.dumps(state.settings.to_json()))) == state.settings


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda s: s.judgement("x9", "relevant"), "there is no record 'x9'"),
        (lambda s: s.judgement("r1", "maybe"), "answer"),
        (lambda s: s.word("tea", "up"), "direction"),
        (lambda s: s.word(" \n", "for"), "the word is"),
        (lambda s: s.judgement("r1", "relevant", "coffee"), "there is no topic 'coffee'"),
    ],
)
def test_what_cannot_be_used_is_refused(screening, made, message):
    with pytest.raises(InputError, match=message):
        made(screening())


@pytest.mark.parametrize(
    "given",
    [
        {"strategy": "best"},
        {"strategy": "likely=0"},
        {"balance": 0.0},
        {"topics": ()},
        {"topics": ("a", "a")},
        {"topics": (" ",)},
        {"target": 1.5},
        {"target": 0.0},
    ],
)
def test_settings_that_cannot_be_used_are_refused(given):
    with pytest.raises(InputError, match="is not usable"):
        ScreenSettings(**given)


def test_a_change_of_strategy_counts_from_then_on_and_is_restored(screening, answer):
    told = screening(questions={"relevant": "tea leaves"})
    answer(told, 6)
    likely = told.next_records(1)
    told.apply(told.change_of_strategy("random"))
    drawn = told.next_records(1)
    assert [likely[0].reason, drawn[0].reason] == ["likely", "random"]
    again = screening(questions={"relevant": "tea leaves"})
    again.restore(*told.to_state())
    assert again.next_records(1) == drawn
    with pytest.raises(InputError, match="strategy='best' is not usable"):
        told.change_of_strategy("best")
