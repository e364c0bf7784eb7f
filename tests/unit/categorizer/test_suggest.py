"""Labelling sessions: what is asked, what is never asked, and that asking beats drawing at random."""

import numpy as np
import pytest

from textbayes import TextCategorizer
from textbayes.categorizer.suggest import STRATEGIES, LabellingSession, suggest
from textbayes.core.errors import InputError

_GRAIN = ["corn", "wheat", "barley", "harvest", "farm", "crop", "seed", "field"]
_MONEY = ["bank", "rate", "loan", "credit", "bond", "market", "stock", "fund"]
_SPORT = ["goal", "match", "coach", "league", "team", "striker", "cup", "player"]
_COMMON = ["today", "news", "people", "year", "says", "week", "month", "city"]


def _texts(n, seed=0, topics=(_GRAIN, _MONEY, _SPORT), shares=None):
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(topics), n, p=shares)
    texts = [
        " ".join([*rng.choice(topics[k], 4), *rng.choice(_COMMON, 4)]) + f" number{i % 7}" for i, k in enumerate(labels)
    ]
    return texts, [("grain", "money", "sport")[k] for k in labels]


def _started(texts, labels, n=12, **settings):
    return LabellingSession(texts, [label if i < n else None for i, label in enumerate(labels)], **settings)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_suggests_different_texts_without_a_label(strategy):
    texts, labels = _texts(80)
    session = _started(texts, labels, strategy=strategy)
    found = session.suggest(10)
    chosen = [one.index for one in found]
    assert len(set(chosen)) == 10
    assert min(chosen) >= 12
    reasons = [one.reason for one in found]
    assert reasons == ["random"] + ["random" if strategy == "random" else strategy] * 9
    assert all(one.guess and 0.0 < one.probability <= 1.0 for one in found)
    session.answers({one.index: labels[one.index] for one in found})
    assert not set(chosen) & {one.index for one in session.suggest(10)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_copies_are_proposed_once_and_not_where_one_has_a_label(strategy):
    texts, labels = _texts(40)
    odd = "corn bank goal today people news year says number1"  # of all topics: the most uncertain text
    texts, labels = [*texts, *[odd] * 15, texts[0]], [*labels, *["grain"] * 15, labels[0]]
    session = _started(texts, labels, strategy=strategy)
    found = [texts[one.index] for one in session.suggest(25)]
    assert found.count(odd) <= 1
    assert texts[0] not in found
    one = next(i for i, text in enumerate(texts) if text == odd)
    session.answer(one, "grain")
    assert odd not in [texts[one.index] for one in session.suggest(25)]


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
def test_texts_unlike_all_others_do_not_fill_the_batch(strategy):
    texts, labels = _texts(100)
    strange = [f"qz{i} qz{i} vx{i % 5} vx{i % 5}" for i in range(10)]
    texts, labels = [*texts, *strange], [*labels, *["grain"] * 10]
    session = _started(texts, labels, strategy=strategy, random_share=0.0)
    found = [texts[one.index] for one in session.suggest(10)]
    assert sum(text in strange for text in found) <= 1


def test_without_labels_typical_texts_of_different_topics_come_first():
    texts, labels = _texts(120)
    found = LabellingSession(texts, random_share=0.0).suggest(9)
    assert {one.reason for one in found} == {"typical"}
    assert all(one.guess is None for one in found)
    assert len({labels[one.index] for one in found}) == 3


def test_one_label_alone_is_a_cold_start_too():
    texts, labels = _texts(30)
    session = LabellingSession(texts, [labels[0], *[None] * 29], random_share=0.0)
    assert session.proba is None
    assert {one.reason for one in session.suggest(3)} == {"typical"}


def test_asking_beats_drawing_at_random():
    """A rare class: of 300 texts 15 are sport. What is asked finds its texts sooner."""
    scores = {}
    for strategy in ("clusters", "information", "error", "margin", "random"):
        reached = []
        for seed in range(4):
            texts, labels = _texts(300, seed, shares=[0.55, 0.4, 0.05])
            session = LabellingSession(texts, strategy=strategy, seed=seed, random_share=0.0)
            while len(session.labelled) < 30:
                session.answers({one.index: labels[one.index] for one in session.suggest(5)})
            given = [session.names[k] for k in session.proba.argmax(axis=1)]
            found = [label in ("sport",) for label in given]
            reached.append(np.mean([a == (b == "sport") for a, b in zip(found, labels, strict=True) if b == "sport"]))
        scores[strategy] = np.mean(reached)
    assert min(scores[name] for name in scores if name != "random") > scores["random"]


def test_many_labels():
    texts, labels = _texts(60)
    several = [(label, "short") if i % 3 == 0 else (label,) for i, label in enumerate(labels)]
    given = [row if i < 20 else None for i, row in enumerate(several)]
    given[3] = ()  # none of the labels: an answer
    session = LabellingSession(texts, given, multi_label=True)
    assert session.names == ["grain", "money", "short", "sport"]
    found = session.suggest(5)
    assert not {3} & {one.index for one in found}
    session.answer(found[0].index, ["grain", "new label"])
    assert "new label" in session.names
    with pytest.raises(InputError, match="a list of labels is needed"):
        session.answer(found[1].index, "grain")


def test_an_answer_can_be_replaced():
    texts, labels = _texts(30)
    session = _started(texts, labels)
    session.answer(20, "money")
    session.answer(20, "grain")
    assert list(session.labelled).count(20) == 1
    assert session._labels[20] == ("grain",)


def test_figures_come_from_20_labels_on_with_texts_drawn_at_random():
    texts, labels = _texts(200)
    assert _started(texts, labels, 19).share_right() is None
    session = _started(texts, labels, 40)
    share, growth = session.share_right(), session.growth((20, 100))
    truth = np.mean([session.names[k] == label for k, label in zip(session.proba.argmax(axis=1), labels, strict=True)])
    assert share.low <= truth <= share.high
    assert growth.sizes.tolist() == [60, 140]
    assert growth.share[1] >= growth.share[0] > 0.4
    asked = LabellingSession(texts, [label if i < 40 else None for i, label in enumerate(labels)], drawn=[False] * 200)
    assert asked.share_right() is None


def test_a_model_is_asked_as_it_is():
    texts, labels = _texts(120)
    model = TextCategorizer(preset="linear", cv=3).fit(texts[:40], labels[:40])
    for strategy in ("clusters", "information", "error"):
        found = suggest(texts[40:], model=model, n=6, strategy=strategy, random_share=0.0)
        proba = model.predict_proba([texts[40 + one.index] for one in found])
        assert [one.probability for one in found] == pytest.approx(proba.max(axis=1).tolist())


@pytest.mark.parametrize("several", [False, True])
def test_an_ensemble_is_asked_too_and_never_about_its_training_texts(several):
    texts, labels = _texts(120)
    given = [[label, *(["short"] if i % 3 == 0 else [])] for i, label in enumerate(labels)] if several else labels
    model = TextCategorizer(budget="quick").fit(texts[:60], given[:60])
    for strategy in ("clusters", "information", "error"):
        found = suggest(texts, model=model, n=12, strategy=strategy)
        assert len(found) == 12
        assert min(one.index for one in found) >= 60
        assert [one.reason for one in found].count(strategy) == 11


_DESCRIBED = {"grain": "corn and wheat", "money": "what a bank has to do with a loan", "sport": "a goal in a match"}


def _right(session, labels):
    return np.mean(np.array(session.names)[session.proba.argmax(axis=1)] == labels)


def test_descriptions_give_guesses_and_their_words_before_any_answer():
    texts, labels = _texts(200)
    session = LabellingSession(texts, descriptions=_DESCRIBED)
    assert _right(session, labels) > 0.9
    named = LabellingSession(texts, descriptions=["Corn", "bank_loan", "goal"])  # the words of names alone
    assert _right(named, [{"grain": "Corn", "money": "bank_loan", "sport": "goal"}[label] for label in labels]) > 0.9
    for one in session.suggest(8):
        assert one.words
        assert set(one.words) <= set(texts[one.index].split())
    assert LabellingSession(texts, descriptions=["zzz", "qqq"]).proba is None


def test_words_behind_a_guess_add_up_to_its_log_odds():
    texts, labels = _texts(60)
    session = _started(texts, labels, 20, descriptions=_DESCRIBED)
    for i in (25, 40):
        total = {name: sum(session.contributions(i, name).values()) for name in session.names}
        p = np.array([1.0 / (1.0 + np.exp(-total[name])) for name in session.names])
        assert np.allclose(p / p.sum(), session.proba[i], atol=1e-6)


def test_wrong_descriptions_are_outweighed_and_right_ones_never_hurt():
    texts, labels = _texts(300, seed=2)
    turned = {"money": _DESCRIBED["grain"], "sport": _DESCRIBED["money"], "grain": _DESCRIBED["sport"]}
    sessions = [LabellingSession(texts, descriptions=told, random_share=0.0) for told in (None, _DESCRIBED, turned)]
    after = []
    for session in sessions:
        for _ in range(4):
            session.answers({one.index: labels[one.index] for one in session.suggest(5)})
        after.append(_right(session, labels))
    without, right, wrong = after
    assert right >= without - 0.02
    assert wrong > 0.9, "20 answers outweigh descriptions of the wrong labels"


def test_descriptions_know_of_many_labels():
    texts, labels = _texts(120)
    session = LabellingSession(texts, multi_label=True, descriptions=_DESCRIBED)
    assert _right(session, labels) > 0.9
    session.answers({0: [], 1: ["grain", "other"]})
    assert session.names == ["grain", "money", "other", "sport"]


def test_answers_are_restated_and_texts_left_out():
    texts, labels = _texts(60)
    session = LabellingSession(texts, random_share=0.0)
    session.answers(dict(enumerate(labels[:12])))
    session.restate({i: labels[i].upper() for i in range(6)}, drawn={2, 3}, descriptions=["GRAIN"])
    assert session.labelled.tolist() == list(range(6))
    assert set(session.names) == {label.upper() for label in labels[:6]} | {"GRAIN"}
    same = LabellingSession(
        texts, [label.upper() if i < 6 else None for i, label in enumerate(labels)], descriptions=["GRAIN"]
    )
    assert np.allclose(session.proba, same.proba)
    assert not {one.index for one in session.suggest(40, without=range(20))} & set(range(20))


def test_refusals_say_what_to_do():
    with pytest.raises(InputError, match="there are no texts to choose from"):
        LabellingSession([])
    with pytest.raises(InputError, match="random_share=2"):
        LabellingSession(["a b"], random_share=2)
    session = LabellingSession(["corn wheat", "bank rates"])
    with pytest.raises(InputError, match="pass a list of labels"):
        LabellingSession(["a b"], descriptions="grain")
    with pytest.raises(InputError, match="give every label a name"):
        LabellingSession(["a b", "a c"], descriptions=[""])
    with pytest.raises(InputError, match="there is no text 5"):
        session.answer(5, "grain")
    with pytest.raises(InputError, match="pass multi_label=True"):
        session.answer(0, ["a", "b"])


def test_a_session_is_the_same_again():
    texts, labels = _texts(80)
    first, second = (_started(texts, labels, strategy="information").suggest(8) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("n", [1, 3, 5])
def test_small_batches_of_new_sessions_have_their_share_at_random(n):
    texts, labels = _texts(100)
    known: dict[int, bool] = dict.fromkeys(range(30), True)
    while len(known) < 60:  # as the command does, which begins anew each time
        given = [label if i in known else None for i, label in enumerate(labels)]
        drawn = [known.get(i, False) for i in range(len(texts))]
        session = LabellingSession(texts, given, drawn=drawn)
        known |= {one.index: one.reason == "random" for one in session.suggest(n)}
    assert sum(known.values()) == 30 + 3


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_texts_without_a_label_may_have_what_tables_have(missing):
    texts, labels = _texts(20)
    session = LabellingSession(texts, [label if i < 12 else missing for i, label in enumerate(labels)])
    assert session.labelled.tolist() == list(range(12))
    with pytest.raises(InputError, match=r"is no label of a text$"):
        session.answer(13, missing)
    several = LabellingSession(texts, multi_label=True)
    with pytest.raises(InputError, match="is no label of a text; pass an empty list"):
        several.answer(13, ["grain", missing])
    several.answers({0: [], 1: ["grain"]})
    assert several.names == ["grain"]


@pytest.mark.parametrize("nothing", [{}, [], iter(())])
def test_no_descriptions_are_none(nothing):
    texts, _ = _texts(20)
    plain = LabellingSession(texts)
    assert LabellingSession(texts, descriptions=nothing).suggest(3) == plain.suggest(3)
