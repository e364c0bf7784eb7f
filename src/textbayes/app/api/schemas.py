"""What the REST interface takes and gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from textbayes.app.entries import LABEL_NUMBERS, Key, Reason
from textbayes.app.invites import DAYS, LONGEST_DAYS, MOST_USES
from textbayes.app.words import SaidWord, WordWeight

MOST_TEXTS = 10_000
Answer = Literal["relevant", "irrelevant", "unsure", "withdrawn"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Plain = Annotated[str, Field(max_length=4_000, pattern=r"^[^\x00]*$")]  # PostgreSQL does not store NUL


class Body(BaseModel):
    """What is sent: nothing that is not known."""

    model_config = ConfigDict(extra="forbid")


class Stored(BaseModel):
    """What is made of a row of the database by :meth:`model_validate`."""

    model_config = ConfigDict(from_attributes=True)


class ErrorDetail(BaseModel):
    """What is wrong, in one sentence."""

    detail: str


class Me(BaseModel):
    """Who asks."""

    name: str
    administrator: bool


class NewToken(Body):
    """A token to make."""

    name: Name


class TokenMade(BaseModel):
    """A token; it is shown this once."""

    name: str
    token: str


class TokenListed(Stored):
    """A token, without its secret."""

    id: int
    name: str
    created: float


class MergedRecord(BaseModel):
    """A record that was taken for another one."""

    id: str
    into: str
    reason: str


class ProjectMade(BaseModel):
    """A project that was made."""

    id: str
    n_records: int
    merged: list[MergedRecord]


class DuplicateListed(MergedRecord):
    """A record that was merged, by the number under which it can be separated again."""

    number: int


class Duplicates(BaseModel):
    """Some of the records that were merged."""

    duplicates: list[DuplicateListed]
    start: int
    n_found: int


class Separated(BaseModel):
    """The id of a duplicate that is a record of its own now."""

    id: str


class RecordsAdded(BaseModel):
    """Records that were added."""

    n_added: int
    merged: list[MergedRecord]


class ProjectDescription(BaseModel):
    """A project and its settings."""

    id: str
    name: str
    role: str
    n_records: int
    kind: str
    topics: list[str]
    questions: dict[str, str]
    strategy: str
    double: bool
    learns: Literal["settled", "own"]
    target: float | None = Field(description="Of a project of categories null, like confidence.")
    confidence: float | None


class StrategyChange(Body):
    """likely, informative, random, or shares of them; of categories clusters, information, error, margin, …"""

    strategy: Annotated[str, Field(max_length=200)]


class GoalChange(Body):
    """The share of the relevant records to find, and the probability with which it is to be reached."""

    target: Annotated[float, Field(gt=0.0, le=1.0)]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0)]


class RecordShown(BaseModel):
    """A record, what stands of it or one's own answer, notes, and the words behind its probability."""

    id: str
    title: str
    text: str
    fields: dict[str, str]
    reason: str
    probability: float
    words: dict[str, float]
    note: str
    notes: dict[str, str]
    answer: str | None
    excluded_for: str
    tags: list[str]
    links: dict[str, str]
    file: str
    guesses: list[tuple[str, float]] = Field(
        [], description="Of categories the most probable labels, with probabilities."
    )


class RecordListed(BaseModel):
    """A record in a list."""

    id: str
    title: str
    answer: str
    note: str
    notes: dict[str, str]
    excluded_for: str
    tags: list[str]
    probability: float | None
    extract: str


class RecordList(BaseModel):
    """Some records of a list."""

    records: list[RecordListed]
    start: int
    n_found: int


class ManyAnswers(Body):
    """One answer to several records; withdrawn takes one's own back."""

    ids: Annotated[list[Plain], Field(max_length=500)]
    answer: Answer
    reason: Reason = ""
    topic: Plain | None = None


class ManyAnswered(BaseModel):
    """The records that were answered; the others had an answer, or are not yours to read."""

    ids: list[str]


class RecordTags(Body):
    """One's own tags of a record, in place of those there were; each must be in the project's list."""

    tags: Annotated[list[Reason], Field(max_length=100)]
    key: Key | None = None


class Lists(Body):
    """The reasons for exclusion and the tags of a project; of several reasons for a record the first counts."""

    reasons: Annotated[list[Reason], Field(max_length=100)]
    tags: Annotated[list[Reason], Field(max_length=100)]


class RecordAnswer(Body):
    """An answer to a record; withdrawn takes one's own back. One that is sent again with its key is kept once."""

    id: Plain
    answer: Answer | Annotated[str, Field(max_length=4_000, pattern=LABEL_NUMBERS)] = Field(
        description="Of a project of categories numbers of labels with spaces between them, or none."
    )
    reason: Annotated[Reason, Field(description="Of an exclusion; one of the project's list.")] = ""
    topic: Plain | None = None
    key: Key | None = None
    replace: bool = Field(False, description="Change another's answer, where one person reads each record.")


class FullTextListed(BaseModel):
    """A record of the second stage, and the name of its file."""

    id: str
    title: str
    file: str
    answer: str
    excluded_for: str


class FullTexts(BaseModel):
    """The records of the second stage, and the topic under which they are judged."""

    topic: str
    records: list[FullTextListed]


class FullTextAdded(BaseModel):
    """Whether text was found in a PDF; those that were scanned have none."""

    has_text: bool


class Skip(Body):
    """A record to put aside."""

    id: Plain
    topic: Plain | None = None
    key: Key | None = None


class Release(Body):
    """The topic whose queue is released."""

    topic: Plain | None = None


class Undo(Body):
    """The topic whose last answer is taken back."""

    topic: Plain | None = None
    key: Key | None = None


class Undone(BaseModel):
    """The record whose answer was taken back, if there was any."""

    id: str | None


class Note(Body):
    """One's own note to a record; an empty one removes it."""

    text: Plain
    key: Key | None = None


class WordDirection(Body):
    """A word, and whether it speaks for or against the topic; forget takes that back."""

    word: Annotated[Plain, Field(min_length=1, max_length=200)]
    direction: Literal["for", "against", "forget"]
    strength: Literal["weak", "medium", "strong"] = "medium"
    topic: Plain | None = None


class Words(BaseModel):
    """Words that people spoke of, and the strongest of the model."""

    said: list[SaidWord]
    strongest: list[WordWeight]


class ProjectStatus(BaseModel):
    """How a topic stands."""

    topic: str
    records: int
    read: int
    relevant: int
    unsure: int
    handed_out: int
    left: float
    left_at_most: int
    seconds_each: float | None
    conflicts: int
    waiting: int
    strategy: str
    target: float
    confidence: float
    advice: list[dict[str, Any]]


class MemberChange(Body):
    """A role to give; none removes the member."""

    name: Name
    role: Literal["reader", "reviewer", "owner", "none"]


class DuplicateFound(Body):
    """A record that is the same paper as another one, which stays."""

    id: Annotated[str, Field(max_length=500)]
    into: Annotated[str, Field(max_length=500)]


class NewInvite(Body):
    """An invitation to make: the role that it gives, the days until it expires, and how many people may use it."""

    role: Literal["reader", "reviewer", "owner"] = "reviewer"
    days: float = Field(DAYS, gt=0, le=LONGEST_DAYS)
    uses: int = Field(1, ge=1, le=MOST_USES)


class InviteMade(BaseModel):
    """The link of an invitation; it is shown this once."""

    link: str


class PersonMatch(Body):
    """Who a person of the file is: the name of an account, or nothing for somebody who has none here."""

    name: Annotated[Plain, Field(min_length=1)]
    account: Annotated[Plain, Field(max_length=200)] = ""


class Settlement(Body):
    """The answer that stands."""

    id: Plain
    answer: Annotated[
        str, Field(max_length=4_000, description="relevant, irrelevant or unsure; of categories numbers of labels.")
    ]
    reason: Reason = ""
    topic: Plain | None = None


class GoldQuestion(Body):
    """A text and its known labels."""

    id: Plain
    answer: Annotated[
        str, Field(max_length=4_000, description="Numbers of labels, none or unsure; withdrawn ends the question.")
    ]


class NewPerson(Body):
    """An account to make."""

    name: Name
    password: Annotated[str, Field(min_length=10, max_length=1_000)]
    administrator: bool = False


class PersonChange(Body):
    """What is to change of an account."""

    active: bool | None = None
    password: Annotated[str, Field(min_length=10, max_length=1_000)] | None = None


class PersonListed(BaseModel):
    """An account."""

    id: int
    name: str
    administrator: bool
    active: bool


class AuditLine(Stored):
    """Who did what, and when."""

    time: float
    user: str
    action: str
    what: str


class Texts(Body):
    """Texts to classify."""

    texts: Annotated[list[str], Field(max_length=MOST_TEXTS)]


class ToExplain(Body):
    """A text to explain, and for which label."""

    text: str
    label: str
