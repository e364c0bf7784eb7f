"""Who has what: queues, second readings, conflicts, taking back."""

from __future__ import annotations

from textbayes.app.assignments import CONFLICT, LEFT_AFTER, Assignments, ReviewerQueue

ANN, BOB = 1, 2


def give(assignments, user, *ids):
    return assignments.apply(user, 0.0, {"kind": "handed_out", "topic": "t", "records": dict.fromkeys(ids, "likely")})


def say(assignments, user, id, answer, time=0.0):
    return assignments.apply(user, time, {"kind": "judgement", "topic": "t", "id": id, "answer": answer})


def learnt(entries):
    return [(entry["id"], entry["answer"]) for entry in entries if entry["kind"] == "judgement"]


def test_an_answer_leaves_the_desk_and_is_learnt():
    assignments = Assignments()
    give(assignments, ANN, "a", "b")
    assert learnt(say(assignments, ANN, "a", "relevant", 5.0)) == [("a", "relevant")]
    assert list(assignments.held[ReviewerQueue(ANN, "t")]) == ["b"]
    assert assignments.times["t"] == [5.0]
    assert learnt(say(assignments, ANN, "a", "relevant")) == [], "nothing new"
    assert learnt(say(assignments, BOB, "a", "unsure")) == [("a", "unsure")], "of two answers the later counts"


def test_what_is_taken_back_lies_on_top_again():
    assignments = Assignments()
    give(assignments, ANN, "a", "b")
    say(assignments, ANN, "a", "relevant")
    entries = say(assignments, ANN, "a", "withdrawn")
    assert learnt(entries) == [("a", "withdrawn")]
    assert entries[1] == {"kind": "handed_out", "topic": "t", "records": {"a": "likely"}}
    assert list(assignments.held[ReviewerQueue(ANN, "t")]) == ["a", "b"]
    assert assignments.answer("t", "a") is None
    assert say(assignments, BOB, "a", "withdrawn") == [], "another's answer is not mine to take back"


def test_a_word_takes_back_what_lies_ahead_of_the_one_who_said_it():
    assignments = Assignments()
    give(assignments, ANN, "a", "b", "c")
    give(assignments, BOB, "d", "e")
    entries = assignments.apply(ANN, 0.0, {"kind": "word", "topic": "t", "word": "tea", "direction": "for"})
    assert entries[0]["kind"] == "word"
    assert learnt(entries) == [("b", "withdrawn"), ("c", "withdrawn")]
    assert list(assignments.held[ReviewerQueue(ANN, "t")]) == ["a"]
    assert list(assignments.held[ReviewerQueue(BOB, "t")]) == ["d", "e"]


def test_two_people_who_differ_are_in_conflict_until_it_is_settled():
    assignments = Assignments(double=True)
    give(assignments, ANN, "a")
    assert learnt(say(assignments, ANN, "a", "relevant")) == [], "nothing is learnt before both have answered"
    assert assignments.answer("t", "a") is None
    assert (assignments.answer_for(ANN, "t", "a"), assignments.answer_for(BOB, "t", "a")) == ("relevant", None)
    assert assignments.to_read_again(ANN, "t") == []
    assert assignments.to_read_again(BOB, "t") == ["a"]
    assert give(assignments, BOB, "a") == [], "the screening knows it as read"
    assert assignments.to_read_again(3, "t") == [], "Bob has it"
    assert learnt(say(assignments, BOB, "a", "irrelevant")) == [("a", "unsure")]
    assert [conflict.answers for conflict in assignments.conflicts("t")] == [{ANN: "relevant", BOB: "irrelevant"}]
    assert assignments.answer("t", "a") == CONFLICT
    settled = assignments.apply(3, 0.0, {"kind": "settle", "topic": "t", "id": "a", "answer": "irrelevant"})
    assert learnt(settled) == [("a", "irrelevant")]
    assert assignments.conflicts("t") == []
    assert assignments.pairs("t", (ANN, BOB)) == [("relevant", "irrelevant")]


def test_what_is_put_aside_and_what_others_have_comes_last():
    assignments = Assignments()
    give(assignments, ANN, "a")
    assignments.apply(ANN, 0.0, {"kind": "skip", "topic": "t", "id": "a"})
    assert list(assignments.later[ReviewerQueue(ANN, "t")]) == ["a"]
    assert assignments.left_by_others(BOB, "t", LEFT_AFTER) == [], "Ann is there"
    assert assignments.left_by_others(BOB, "t", LEFT_AFTER + 1.0) == ["a"]
    give(assignments, BOB, "a")
    assert not assignments.later[ReviewerQueue(ANN, "t")]


def test_what_two_say_alike_is_learnt_when_the_second_has_said_it():
    assignments = Assignments(double=True)
    give(assignments, ANN, "a")
    assert say(assignments, ANN, "a", "relevant") == [{"kind": "handed_out", "topic": "t", "records": {"a": "likely"}}]
    give(assignments, BOB, "a")
    assert learnt(say(assignments, BOB, "a", "relevant")) == [("a", "relevant")]
    entries = say(assignments, BOB, "a", "withdrawn")
    assert learnt(entries) == [("a", "withdrawn")], "it waits again"
    assert assignments.answer_for(BOB, "t", "a") is None
    assert assignments.n_waiting("t") == 1


def test_taking_back_what_was_never_said_changes_nothing():
    """It once took the record from everybody for good."""
    assignments = Assignments()
    give(assignments, ANN, "a")
    for user, id in ((ANN, "a"), (BOB, "a"), (ANN, "b")):
        assert say(assignments, user, id, "withdrawn") == []
    assert list(assignments.held[ReviewerQueue(ANN, "t")]) == ["a"]
    assert not assignments.opinions["t"]


def test_notes_are_of_a_person_and_seen_by_others_when_all_have_answered():
    assignments = Assignments(double=True)
    for user, text in ((ANN, "surely"), (BOB, "never")):
        assignments.apply(user, 0.0, {"kind": "note", "id": "a", "text": text})
    say(assignments, ANN, "a", "relevant")
    assert assignments.notes_for(BOB, "a") == {BOB: "never"}
    assert assignments.notes_for(3, "a") == {}
    say(assignments, BOB, "a", "irrelevant")
    assert assignments.notes_for(ANN, "a") == {ANN: "surely", BOB: "never"}
    assignments.apply(ANN, 0.0, {"kind": "judgement", "topic": "other", "id": "a", "answer": "relevant"})
    assert assignments.notes_for(BOB, "a") == {BOB: "never"}, "it may speak of the other topic"


def test_one_person_under_two_accounts_is_one_reader():
    """Of somebody whom a file named nothing is read again before it is said who that is."""
    file_ann, assignments = 7, Assignments(double=True)
    for id in ("a", "b"):
        say(assignments, file_ann, id, "relevant")
    assignments.apply(BOB, 0.0, {"kind": "stranger", "user": file_ann})
    assert assignments.to_read_again(ANN, "t") == assignments.to_read_again(BOB, "t") == []
    assert learnt(say(assignments, ANN, "b", "relevant")) == [("b", "relevant")]
    entries = assignments.apply(BOB, 0.0, {"kind": "person", "user": file_ann, "account": ANN})
    assert learnt(entries) == [("b", "withdrawn")], "she had read it herself"
    assert assignments.to_read_again(ANN, "t") == []
    assert assignments.to_read_again(BOB, "t") == ["a", "b"]
    assert assignments.answer_for(ANN, "t", "a") == "relevant"
    assert learnt(assignments.apply(BOB, 0.0, {"kind": "person", "user": file_ann, "account": None})) == [
        ("b", "relevant")
    ]
    assert assignments.to_read_again(ANN, "t") == ["a"]


def test_who_sees_all_answers_reads_no_more():
    assignments = Assignments(double=True)
    give(assignments, ANN, "a", "b")
    assignments.apply(ANN, 0.0, {"kind": "skip", "topic": "t", "id": "b"})
    say(assignments, BOB, "c", "relevant")
    assert learnt(assignments.apply(ANN, 0.0, {"kind": "unblind"})) == [("a", "withdrawn"), ("b", "withdrawn")]
    assert not assignments.assigned("t")
    assert (assignments.answer_for(ANN, "t", "c"), assignments.answer_for(3, "t", "c")) == ("relevant", None)
    assignments.apply(BOB, 0.0, {"kind": "person", "user": ANN, "account": 3})
    assert assignments.sees_all(3), "it is the same person"
