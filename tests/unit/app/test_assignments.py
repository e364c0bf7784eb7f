"""Who has what: queues, second readings, conflicts, taking back."""

from __future__ import annotations

from textbayes.app.assignments import LEFT_AFTER, Assignments, ReviewerQueue
from textbayes.app.labelling import CONFLICT, Labels

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


def of_labels(double=True, several=False, names=("tea", "coffee", "cocoa")):
    labels = Labels(several)
    for name in names:
        labels.apply(labels.new(name))
    return Assignments(double, labels)


def change(assignments, entry):
    return assignments.apply(ANN, 0.0, entry)


def test_two_labels_that_are_merged_are_no_conflict_any_more():
    assignments = of_labels()
    say(assignments, ANN, "a", "1")
    assert learnt(say(assignments, BOB, "a", "2")) == [("a", "unsure")]
    entries = change(assignments, assignments.labels.merging(2, 1))
    assert entries[0]["kind"] == "merge_label"
    assert learnt(entries) == [("a", "1")]
    assert (assignments.conflicts("t"), assignments.labels.names(assignments.answer("t", "a"))) == ([], ("tea",))


def test_a_conflict_settled_by_a_label_that_is_removed_is_open_again():
    assignments = of_labels()
    say(assignments, ANN, "a", "1")
    say(assignments, BOB, "a", "2")
    change(assignments, {"kind": "settle", "topic": "t", "id": "a", "answer": "3"})
    assert assignments.answer("t", "a") == "3"
    assert learnt(change(assignments, assignments.labels.removing(3))) == [("a", "unsure")]
    assert assignments.answer("t", "a") == CONFLICT


def test_the_same_labels_in_another_order_are_the_same_answer():
    assignments = of_labels(several=True)
    say(assignments, ANN, "a", "1 2")
    assert learnt(say(assignments, BOB, "a", "2 1")) == [("a", "1 2")]
    say(assignments, ANN, "b", "1")
    assert learnt(say(assignments, BOB, "b", "none")) == [("b", "unsure")]
    assert learnt(change(assignments, assignments.labels.removing(1))) == [("b", "1")], "both say no label now"
    assert assignments.labels.names(assignments.answer("t", "b")) == ()


def gold(assignments, user, id, answer):
    return assignments.apply(user, 0.0, {"kind": "gold", "topic": "t", "id": id, "answer": answer})


def test_gold_questions_are_asked_of_all_but_their_maker_and_the_model_learns_none():
    assignments = of_labels(double=False)
    cid = ReviewerQueue(3, "t")
    for id in ("g", "h"):
        entries = gold(assignments, ANN, id, "1")
        assert learnt(entries) == [(id, "withdrawn")]
        assert entries[1]["records"] == {id: ""}, "the model neither learns nor picks it"
    for left in (["g", "h"], ["h"]):
        assert assignments.gold_for(cid) == left
        assert give(assignments, 3, left[0]) == [], "the model knows it as out"
        assert assignments.gold_for(cid) == left[1:]
        assert assignments.own_gold(3, "t") == ["g", "h"][: 2 - len(left)]
        assert learnt(say(assignments, 3, left[0], "2")) == []
    assert learnt(say(assignments, 3, "a", "2")) == [("a", "2")]
    assert assignments.gold_for(cid) == assignments.gold_for(ReviewerQueue(ANN, "t")) == [], "Ann made them"
    assert assignments.gold_answers("t") == {3: [False, False]}


def test_all_may_answer_a_gold_question_and_nobody_else_is_told():
    assignments = of_labels(double=False)
    gold(assignments, ANN, "g", "1")
    for user, answer in ((BOB, "2"), (3, "1")):
        give(assignments, user, "g")
        say(assignments, user, "g", answer)
    assert assignments.answer("t", "g") == "1"
    assert {user: assignments.answer_for(user, "t", "g") for user in (ANN, BOB, 3, 4)} == {
        ANN: "1", BOB: "2", 3: "1", 4: None
    }  # fmt: skip
    assert assignments.answers_for(BOB, "t", "g") == {BOB: "2"}
    assert assignments.answers_for(ANN, "t", "g") == {BOB: "2", 3: "1"}
    assert assignments.gold_answers("t") == {BOB: [False], 3: [True]}
    said = {"kind": "judgement", "topic": "t", "id": "g", "answer": "2"}
    assert [assignments.may_see(user, BOB, said) for user in (ANN, BOB, 3)] == [True, True, False]
    assert learnt(gold(assignments, ANN, "g", "withdrawn")) == [("g", "1")], "the later answer stands"
    assert assignments.answer_for(4, "t", "g") == "1"


def test_a_gold_question_ends_with_its_label():
    assignments = of_labels(double=True)
    say(assignments, BOB, "g", "2")
    assert assignments.to_read_again(ANN, "t") == ["g"]
    gold(assignments, ANN, "g", "3")
    assert assignments.to_read_again(4, "t") == []
    assert assignments.n_waiting("t") == 0
    entries = change(assignments, assignments.labels.removing(3))
    assert assignments.gold == {}
    assert learnt(entries) == [("g", "withdrawn")]
    assert entries[-1]["kind"] == "handed_out", "it waits for the second person"
    assert assignments.to_read_again(4, "t") == ["g"]
