"""A screening as a pure state machine: settings, records and the entries of a log give its state, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray
from textbayes.core.validation import check_choice
from textbayes.screen.collection import Collection, check_screening
from textbayes.screen.settings import ANSWERS, MEDIUM, STRENGTHS, Pick, ScreenSettings, make_strategy
from textbayes.screen.topic import ScreeningTopic
from textbayes.store.event_folder import Entry

DIRECTIONS = ("for", "against", "forget")


class Screening:
    """The state of a screening: what was handed out and answered, and what the models have learnt from it.

    Nothing changes but by :meth:`apply`; the other methods make entries for it and look at the state.

    Parameters
    ----------
    collection : Collection
    settings : ScreenSettings, optional

    Examples
    --------
    >>> records = Collection.read(["a", "b", "c"], ["tea leaves", "iron ore", "tea pots"], ["relevant"])
    >>> screening = Screening(records)
    >>> screening.apply(screening.judgement("a", "relevant"))
    >>> screening.apply(screening.judgement("b", "irrelevant"))
    >>> [screening.collection.ids[pick.row] for pick in screening.next_records(1)]
    ['c']
    """

    def __init__(self, collection: Collection, settings: ScreenSettings | None = None) -> None:
        self.collection, self.settings = collection, settings or ScreenSettings()
        self.topics = {name: ScreeningTopic(name, collection, self.settings) for name in self.settings.topics}

    # -- entries -----------------------------------------------------------------------------------------------------
    def judgement(self, id: str, answer: str, topic: str | None = None, time: float | None = None) -> Entry:
        """The entry of an answer.

        Parameters
        ----------
        id : str
        answer : {"relevant", "irrelevant", "unsure", "withdrawn"}
        topic : str, optional
            Needed where there are several.
        time : float, optional
            Seconds since 1970, for the pace.
        """
        check_choice("answer", answer, ANSWERS)
        check_record(id, self.collection.row_of)
        entry = {"kind": "judgement", "topic": self.topic(topic).name, "id": id, "answer": answer}
        return entry if time is None else {**entry, "time": time}

    def word(self, word: str, direction: str, topic: str | None = None, strength: str = MEDIUM) -> Entry:
        """The entry of a word that speaks for or against a topic.

        Parameters
        ----------
        word : str
            A word, or a phrase, which stands for each of its words; capitals and white space do not count.
        direction : {"for", "against", "forget"}
        topic : str, optional
        strength : {"weak", "medium", "strong"}
            Half as large a weight as usual, the usual one, or twice that.
        """
        check_choice("direction", direction, DIRECTIONS)
        check_choice("strength", strength, tuple(STRENGTHS))
        plain = " ".join(word.lower().split())
        if not plain:
            raise InputError(f"the word is {word!r}; give one that records may have")
        entry = {"kind": "word", "topic": self.topic(topic).name, "word": plain, "direction": direction}
        return entry if strength == MEDIUM else {**entry, "strength": strength}

    def handing_out(self, picks: list[Pick], topic: str | None = None) -> Entry:
        """The entry of records that are about to be shown.

        Parameters
        ----------
        picks : list of Pick
            Of :meth:`next_records`.
        topic : str, optional
        """
        ids = {self.collection.ids[pick.row]: pick.reason for pick in picks}
        return {"kind": "handed_out", "topic": self.topic(topic).name, "records": ids}

    def change_of_strategy(self, strategy: str) -> Entry:
        """The entry of another strategy for what is handed out from now on.

        Parameters
        ----------
        strategy : str
            See :func:`~textbayes.screen.settings.make_strategy`.
        """
        make_strategy(strategy)
        return {"kind": "strategy", "strategy": strategy}

    def apply(self, entry: Entry, *more: Entry) -> None:
        """Bring the state up to one entry, or to several with a single fit.

        Of several, the predictors that records had before they were answered are those before the first.

        Parameters
        ----------
        entry, *more : dict
        """
        for one in (entry, *more):
            self._apply(one)
        for topic in self.topics.values():
            topic.learn()

    def _apply(self, entry: Entry) -> None:
        kind, rows = entry["kind"], self.collection.row_of
        if kind == "judgement":
            self.topics[entry["topic"]].judge(rows[entry["id"]], entry["answer"], learn=False)
        elif kind == "word":
            self.topics[entry["topic"]].favour(entry["word"], entry["direction"], entry.get("strength", MEDIUM))
        elif kind == "handed_out":
            picks = [Pick(rows[id], reason) for id, reason in entry["records"].items()]
            self.topics[entry["topic"]].hand_out(picks)
        elif kind == "strategy":
            self._set_strategy(entry["strategy"])
        elif kind not in ("advice", "added"):  # what a rule said changes nothing, and records are there already
            raise ModelFileError(
                f"the log has an entry of kind {kind!r}, which this version of textbayes does not know"
            )

    # -- a look at it ------------------------------------------------------------------------------------------------
    def topic(self, name: str | None = None) -> ScreeningTopic:
        """The topic of a name; the one there is, if none is named."""
        if name is None and len(self.topics) == 1:
            return next(iter(self.topics.values()))
        if name not in self.topics:
            given = "no topic is named" if name is None else f"there is no topic {name!r}"
            raise InputError(f"{given}; choose one of {', '.join(self.topics)}")
        return self.topics[name]

    def next_records(self, n: int = 1, topic: str | None = None) -> list[Pick]:
        """The next records to read for a topic, by the settings' strategy; none that was handed out before."""
        return self.topic(topic).next_records(n)

    # -- state -------------------------------------------------------------------------------------------------------
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The state as a JSON-able dictionary and arrays, for :meth:`restore`; without records and settings."""
        metas: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for k, topic in enumerate(self.topics.values()):
            meta, own = topic.to_state()
            metas.append(meta)
            arrays |= under(str(k), own)
        return {"topics": metas, "strategy": self.settings.strategy}, arrays

    def restore(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Undo :meth:`to_state`; a state that cannot be is refused before anything is changed."""
        n_records, n_rows = self.collection.n_records, self.collection.X.shape[0]
        strategy = check_screening(meta, arrays, len(self.topics), n_records, n_rows)["strategy"]
        make_strategy(strategy)
        for k, (topic, saved) in enumerate(zip(self.topics.values(), meta["topics"], strict=True)):
            topic.restore(saved, part_of(arrays, str(k)))
        self._set_strategy(strategy)

    def _set_strategy(self, strategy: str) -> None:
        self.settings = replace(self.settings, strategy=strategy)
        for topic in self.topics.values():
            topic.strategy = strategy


def check_record(id: str, ids: Mapping[str, Any], shown_by: str = "the screening") -> None:
    """Refuse the id of no record; ``shown_by`` is where ids can be seen."""
    if id not in ids:
        raise InputError(f"there is no record {id!r}; name one that {shown_by} shows")
