"""Who has what: desks, second readings, conflicts, taking back."""

from __future__ import annotations

from textbayes.app.desk import CONFLICT, LEFT_AFTER, Desk, Place

ANN, BOB = 1, 2


def give(desk, user, *ids):
    return desk.apply(user, 0.0, {"kind": "handed_out", "topic": "t", "records": dict.fromkeys(ids, "likely")})


def say(desk, user, id, answer, time=0.0):
    return desk.apply(user, time, {"kind": "judgement", "topic": "t", "id": id, "answer": answer})


def learnt(entries):
    return [(entry["id"], entry["answer"]) for entry in entries if entry["kind"] == "judgement"]


def test_an_answer_leaves_the_desk_and_is_learnt():
    desk = Desk()
    give(desk, ANN, "a", "b")
    assert learnt(say(desk, ANN, "a", "relevant", 5.0)) == [("a", "relevant")]
    assert list(desk.held[Place(ANN, "t")]) == ["b"]
    assert desk.times["t"] == [5.0]
    assert learnt(say(desk, ANN, "a", "relevant")) == [], "nothing new"
    assert learnt(say(desk, BOB, "a", "unsure")) == [("a", "unsure")], "of two answers the later counts"


def test_what_is_taken_back_lies_on_top_again():
    desk = Desk()
    give(desk, ANN, "a", "b")
    say(desk, ANN, "a", "relevant")
    entries = say(desk, ANN, "a", "withdrawn")
    assert learnt(entries) == [("a", "withdrawn")]
    assert entries[1] == {"kind": "handed_out", "topic": "t", "records": {"a": "likely"}}
    assert list(desk.held[Place(ANN, "t")]) == ["a", "b"]
    assert desk.answer("t", "a") is None
    assert say(desk, BOB, "a", "withdrawn") == [], "another's answer is not mine to take back"


def test_a_word_takes_back_what_lies_ahead_of_the_one_who_said_it():
    desk = Desk()
    give(desk, ANN, "a", "b", "c")
    give(desk, BOB, "d", "e")
    entries = desk.apply(ANN, 0.0, {"kind": "word", "topic": "t", "word": "tea", "direction": "for"})
    assert entries[0]["kind"] == "word"
    assert learnt(entries) == [("b", "withdrawn"), ("c", "withdrawn")]
    assert list(desk.held[Place(ANN, "t")]) == ["a"]
    assert list(desk.held[Place(BOB, "t")]) == ["d", "e"]


def test_two_people_who_differ_are_in_conflict_until_it_is_settled():
    desk = Desk(double=True)
    give(desk, ANN, "a")
    assert learnt(say(desk, ANN, "a", "relevant")) == [], "nothing is learnt before both have answered"
    assert desk.answer("t", "a") is None
    assert (desk.answer_for(ANN, "t", "a"), desk.answer_for(BOB, "t", "a")) == ("relevant", None)
    assert desk.to_read_again(ANN, "t") == []
    assert desk.to_read_again(BOB, "t") == ["a"]
    assert give(desk, BOB, "a") == [], "the screening knows it as read"
    assert desk.to_read_again(3, "t") == [], "Bob has it"
    assert learnt(say(desk, BOB, "a", "irrelevant")) == [("a", "unsure")]
    assert [conflict.answers for conflict in desk.conflicts("t")] == [{ANN: "relevant", BOB: "irrelevant"}]
    assert desk.answer("t", "a") == CONFLICT
    settled = desk.apply(3, 0.0, {"kind": "settle", "topic": "t", "id": "a", "answer": "irrelevant"})
    assert learnt(settled) == [("a", "irrelevant")]
    assert desk.conflicts("t") == []
    assert desk.pairs("t", (ANN, BOB)) == [("relevant", "irrelevant")]


def test_what_is_put_aside_and_what_others_have_comes_last():
    desk = Desk()
    give(desk, ANN, "a")
    desk.apply(ANN, 0.0, {"kind": "skip", "topic": "t", "id": "a"})
    assert list(desk.later[Place(ANN, "t")]) == ["a"]
    assert desk.left_by_others(BOB, "t", LEFT_AFTER) == [], "Ann is there"
    assert desk.left_by_others(BOB, "t", LEFT_AFTER + 1.0) == ["a"]
    give(desk, BOB, "a")
    assert not desk.later[Place(ANN, "t")]


def test_what_two_say_alike_is_learnt_when_the_second_has_said_it():
    desk = Desk(double=True)
    give(desk, ANN, "a")
    assert say(desk, ANN, "a", "relevant") == [{"kind": "handed_out", "topic": "t", "records": {"a": "likely"}}]
    give(desk, BOB, "a")
    assert learnt(say(desk, BOB, "a", "relevant")) == [("a", "relevant")]
    entries = say(desk, BOB, "a", "withdrawn")
    assert learnt(entries) == [("a", "withdrawn")], "it waits again"
    assert desk.answer_for(BOB, "t", "a") is None
    assert desk.n_waiting("t") == 1


def test_taking_back_what_was_never_said_changes_nothing():
    """It once took the record from everybody for good."""
    desk = Desk()
    give(desk, ANN, "a")
    for user, id in ((ANN, "a"), (BOB, "a"), (ANN, "b")):
        assert say(desk, user, id, "withdrawn") == []
    assert list(desk.held[Place(ANN, "t")]) == ["a"]
    assert not desk.opinions["t"]


def test_notes_are_of_a_person_and_seen_by_others_when_all_have_answered():
    desk = Desk(double=True)
    for user, text in ((ANN, "surely"), (BOB, "never")):
        desk.apply(user, 0.0, {"kind": "note", "id": "a", "text": text})
    say(desk, ANN, "a", "relevant")
    assert desk.notes_for(BOB, "a") == {BOB: "never"}
    assert desk.notes_for(3, "a") == {}
    say(desk, BOB, "a", "irrelevant")
    assert desk.notes_for(ANN, "a") == {ANN: "surely", BOB: "never"}
    desk.apply(ANN, 0.0, {"kind": "judgement", "topic": "other", "id": "a", "answer": "relevant"})
    assert desk.notes_for(BOB, "a") == {BOB: "never"}, "it may speak of the other topic"


def test_one_person_under_two_accounts_is_one_reader():
    """Of somebody whom a file named nothing is read again before it is said who that is."""
    file_ann, desk = 7, Desk(double=True)
    for id in ("a", "b"):
        say(desk, file_ann, id, "relevant")
    desk.apply(BOB, 0.0, {"kind": "stranger", "user": file_ann})
    assert desk.to_read_again(ANN, "t") == desk.to_read_again(BOB, "t") == []
    assert learnt(say(desk, ANN, "b", "relevant")) == [("b", "relevant")]
    entries = desk.apply(BOB, 0.0, {"kind": "person", "user": file_ann, "account": ANN})
    assert learnt(entries) == [("b", "withdrawn")], "she had read it herself"
    assert desk.to_read_again(ANN, "t") == []
    assert desk.to_read_again(BOB, "t") == ["a", "b"]
    assert desk.answer_for(ANN, "t", "a") == "relevant"
    assert learnt(desk.apply(BOB, 0.0, {"kind": "person", "user": file_ann, "account": None})) == [("b", "relevant")]
    assert desk.to_read_again(ANN, "t") == ["a"]


def test_who_sees_all_answers_reads_no_more():
    desk = Desk(double=True)
    give(desk, ANN, "a", "b")
    desk.apply(ANN, 0.0, {"kind": "skip", "topic": "t", "id": "b"})
    say(desk, BOB, "c", "relevant")
    assert learnt(desk.apply(ANN, 0.0, {"kind": "unblind"})) == [("a", "withdrawn"), ("b", "withdrawn")]
    assert not desk.on_desks("t")
    assert (desk.answer_for(ANN, "t", "c"), desk.answer_for(3, "t", "c")) == ("relevant", None)
    desk.apply(BOB, 0.0, {"kind": "person", "user": ANN, "account": 3})
    assert desk.sees_all(3), "it is the same person"
