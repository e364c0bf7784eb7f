"""A project of categories as a state machine, as ``Screening`` is of a review: entries in, guesses and questions out.

The engine is a ``LabellingSession``. It learns when it is asked, all that has happened since at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from textbayes.app.labels import LABEL_KINDS, WITHDRAWN, Labels
from textbayes.categorizer.suggest import STRATEGIES, LabellingSession
from textbayes.core.validation import check_choice
from textbayes.evaluate.asked import Growth, Share
from textbayes.screen.screening import check_record
from textbayes.screen.settings import Pick
from textbayes.store.event_folder import Entry

TOPIC = "label"  # the one question to every text
AT_RANDOM = "random"
_GUESSES, _MARKED = 3, 8  # labels that are named, and terms of a text that are marked
_NEW_ANSWERS = 5  # learnt before accuracy is measured again, or a tenth of those that there were
# Held-out figures need some texts drawn at random: until there are that many every second text is.
_FIRST_RANDOM, _FIRST_SHARE, _LATER_SHARE = 10, 0.5, 0.1


class Rows:
    """Ids of the texts, in the order of rows."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self.row_of = {id: row for row, id in enumerate(ids)}

    @property
    def n_records(self) -> int:
        """Number of texts."""
        return len(self.ids)


class Guess(NamedTuple):
    """What the model would answer.

    Parameters
    ----------
    labels : list
        The likeliest labels, with probabilities.
    terms : dict
        What the strongest terms of the text add to the log-odds of the first label.
    words : dict
        Those that speak most for it, as the text has them.
    """

    labels: list[tuple[str, float]]
    terms: dict[str, float]
    words: dict[str, float]

    @property
    def probability(self) -> float:
        """Of the likeliest label; 0 where nothing is known yet."""
        return self.labels[0][1] if self.labels else 0.0


NO_GUESS = Guess([], {}, {})


class Labelling:
    """What was asked and answered, and what the model has learnt from it.

    Nothing changes but by :meth:`apply`.

    Parameters
    ----------
    ids, texts : sequences of str
    several : bool
        Whether a text may have several labels.
    """

    def __init__(self, ids: Sequence[str], texts: Sequence[str], several: bool) -> None:
        self.collection, self.labels = Rows(ids), Labels(several)
        self._session = LabellingSession(texts, multi_label=several)
        self._answers: dict[int, str] = {}
        self._out: set[int] = set()
        self._random: set[int] = set()
        self._to_learn = False
        self._n_learnt = 0  # times that it has learnt something
        self.last_share: Share | None = None  # as it was when it was last asked for
        self._share_of = -1

    @property
    def strategy(self) -> str:
        """By what texts are chosen."""
        return self._session.strategy

    @property
    def vectorizer(self) -> Any:
        """What reads the words of texts."""
        return self._session.reader

    def judgement(self, id: str, answer: str, topic: str | None = None) -> Entry:
        """The entry of an answer, which ``Labels.checked`` has to look at."""
        check_record(id, self.collection.row_of)
        return {"kind": "judgement", "topic": TOPIC, "id": id, "answer": answer}

    def change_of_strategy(self, strategy: str) -> Entry:
        """The entry of another strategy."""
        check_choice("strategy", strategy, STRATEGIES)
        return {"kind": "strategy", "strategy": strategy}

    def apply(self, *entries: Entry) -> None:
        """Take entries: answers, texts handed out, other strategies, or of labels."""
        for entry in entries:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        kind = entry["kind"]
        if kind == "judgement":
            row = self.collection.row_of[entry["id"]]
            self._out.discard(row)
            self._answers.pop(row, None)
            if entry["answer"] != WITHDRAWN:
                self._answers[row] = entry["answer"]
        elif kind == "handed_out":
            for id, reason in entry["records"].items():
                row = self.collection.row_of[id]
                self._out.add(row)
                if reason == AT_RANDOM:
                    self._random.add(row)
        elif kind == "strategy":
            self._session.strategy = entry["strategy"]
        elif kind in LABEL_KINDS:
            self.labels.apply(entry)
        self._to_learn |= kind == "judgement" or kind in LABEL_KINDS

    def session(self) -> LabellingSession:
        """The session, which has learnt everything."""
        if self._to_learn:
            named = ((row, self.labels.names(answer)) for row, answer in self._answers.items())
            known = {
                row: names if self.labels.several else names[0]
                for row, names in named
                if names is not None and (names or self.labels.several)
            }
            described = {label.name: label.description for label in self.labels.in_use}
            self._session.restate(known, self._random, described)
            self._to_learn = False
            self._n_learnt += 1
        return self._session

    def next_records(self, n: int = 1, topic: str | None = None) -> list[Pick]:
        """The texts to ask about next; fewer where fewer are left."""
        session = self.session()
        n_random = sum(row in self._random for row in self._answers)
        session.random_share = _FIRST_SHARE if n_random < _FIRST_RANDOM else _LATER_SHARE
        found = session.suggest(n, without=self._out | self._answers.keys())
        return [Pick(one.index, one.reason) for one in found]

    def guess(self, row: int, words: bool = True) -> Guess:
        """What the model would answer, and unless they are not wanted by which words."""
        session = self.session()
        if session.proba is None:
            return NO_GUESS
        p = dict(zip(session.names, session.proba[row].tolist(), strict=True))
        best = sorted(p, key=lambda name: -p[name])[:_GUESSES]
        labels = [(name, p[name]) for name in best]
        if not words:
            return Guess(labels, {}, {})
        terms = session.contributions(row, best[0])
        strongest = sorted(terms, key=lambda term: -abs(terms[term]))[:_MARKED]
        return Guess(labels, {term: terms[term] for term in strongest}, session.words(row, best[0]))

    def share_right(self) -> Share | None:
        """Share of all texts that the model is expected to get right, with its 95 % interval; None as yet."""
        session = self.session()
        if self._share_of != self._n_learnt:
            self.last_share, self._share_of = session.share_right(), self._n_learnt
        return self.last_share

    @property
    def share_is_old(self) -> bool:
        """Whether there are some more answers than at the last look."""
        return self._share_of < 0 or self._n_learnt >= self._share_of + max(_NEW_ANSWERS, self._share_of // 10)

    def growth(self, ahead: Sequence[int]) -> Growth | None:
        """How that share is expected to grow with so many more labels."""
        return self.session().growth(ahead)
