"""The settings of a filter, which of them may be changed later, and its schedules.

Schedules say how much a document must teach, how often to look at random, and how many questions a reader has. Each is
a function of the number of documents delivered for a topic so far. Those with a name can be kept in a state folder and
given on the command line, ``paper:target=20``; in Python any function will do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any, NamedTuple, Self, TypeAlias

from textbayes.core.errors import InputError
from textbayes.core.parameters import check_options, settings_of
from textbayes.core.validation import check_choice
from textbayes.text.analyze import TextOptions, stop_tokens
from textbayes.text.languages import load_stop_words
from textbayes.text.term_weights import SCHEMES

COVARIANCES = ("full", "low_rank", "diagonal", "gp")
KERNELS = ("linear", "quadratic", "rbf")
GAINS = ("paper", "gaussian", "exact", "region")
KEEPS = ("all", "delivered")
# May be changed while a filter runs; the change is an entry of its log.
CHANGEABLE = (
    "threshold", "ask", "explore", "budget", "patience", "rehearse", "rehearsal", "forgetting_factor", "word_threshold",
    "least_words", "most_words", "snippet",
)  # fmt: skip
_FROM_ZERO = ("random_state", "patience", "least_words", "snippet")
# The paper's rules, where the defaults differ.
PAPER: Mapping[str, Any] = {"deferred": False, "patience": 0, "least_words": 0, "snippet": 0, "skip_seen": False}


def default_text_options(**changes: Any) -> TextOptions:
    """How documents become words: as in ``TextCategorizer()``, with the changes given."""
    from textbayes.categorizer.presets import default_vectorizer

    vectorizer = default_vectorizer().set_params(**changes)
    stop_words = stop_tokens(load_stop_words(vectorizer.stop_words), vectorizer.token_pattern, vectorizer.lowercase)
    shortest, longest = vectorizer.ngram_range
    return TextOptions(
        ngram_range=(int(shortest), int(longest)),
        lowercase=bool(vectorizer.lowercase),
        token_pattern=vectorizer.token_pattern,
        stop_words=stop_words,
        stemmer=vectorizer.stemmer,
    )


@dataclass(frozen=True)
class FilterSettings:
    """How an adaptive filter learns, decides and asks.

    The defaults are the online paper's system +rel+ig, but for topics that would be silent there: ``PAPER`` has the
    settings that leave them so.

    Parameters
    ----------
    threshold : float
        A document is delivered as relevant if p > threshold.
    ask : str or function
        Bits a document must be expected to teach to be delivered all the same, by the number delivered for the topic:
        see :func:`~textbayes.stream.settings.make_ask`; ``"never"`` for the plain perceptron.
    explore : str or function
        Chance that a document is delivered at random (+rnd): see :func:`~textbayes.stream.settings.make_explore`.
    budget : str, optional
        Most questions, asked or random, over all topics: ``"20/day"`` or ``"5/1000"`` documents.
    patience : int
        A topic with n deliveries that has had none for (n + 1)·patience documents asks about the next that is at least
        as probable as the last ``patience``: see :mod:`~textbayes.stream.decide`. 0 for never; so is a topic that
        never asks.
    rehearse : bool
        With every irrelevant document learn a past relevant one again (+rel).
    rehearsal : str or function
        Which one: each in its turn, or one drawn by a distribution that favours recent ones, for topics that drift
        (§ 4.2.2): see :func:`~textbayes.stream.settings.make_rehearsal`. A draw depends on ``random_state``, the topic
        and the number of its judgements alone.
    forgetting_factor : float in (0, 1]
        Factor by which the weights of a topic shrink towards their prior before each judgement, so that what was learnt
        long ago counts less; 1 forgets nothing, 0.99 half in 69 judgements.
    word_threshold : float
        A word becomes a feature of a topic when its −2 ln λ exceeds this; 12.13 is the 0.05 % level.
    least_words : int
        Words of a topic that are taken whatever their −2 ln λ, the best of those that speak for it: with few documents
        none may exceed the threshold, and a topic without words cannot tell documents apart. 0 is the paper's rule.
    start_words, most_words : int
        Words of a topic at the start, the best of those above the threshold, and later, when judgements have brought
        more. With full covariance a topic costs 8·most_words² bytes.
    passes : int
        Passes over the labelled documents at the start.
    covariance : {"full", "low_rank", "diagonal", "gp"}
        Which correlations of weights are kept; or "gp", a sparse online Gaussian process over documents.
    kernel : {"linear", "quadratic", "rbf"}
        Of the Gaussian process: GP-1, GP-2 or GP-R1 of the paper.
    basis : int
        Most documents in the basis of the Gaussian process. A topic costs 16·basis² bytes.
    variance : float
        Prior variance of every weight, also of words that join later. A Gaussian process has it in its kernel.
    deferred : bool
        Let updates of a full covariance wait beside it, 32 at most, so that a judgement costs no pass over it (see
        :class:`~textbayes.models.online.DeferredPosterior`); the same up to rounding.
    link : str
    noise : float
        The likelihood p(y | x) = link(y x'w / noise), see :class:`~textbayes.models.online.OnlineLikelihood`. The
        default is the paper's hard threshold with a tenth of the judgements flipped.
    gain : {"paper", "gaussian", "exact", "region"}
        Which information gain: see :func:`~textbayes.models.online.information_gain`; ``"region"`` counts what is
        taught of the topic's relevant documents, the latest 50, and so asks about documents like them rather than odd
        ones (:func:`~textbayes.models.online.region_information_gain`, § 4.2.4). It needs a full covariance.
    random_state : int
        Of the random looks: the draws for the n-th document depend on it and on n alone.
    keep : {"all", "delivered"}
        Of which documents the log keeps the words. A replay can compute those decisions anew whose words are kept.
    snippet : int
        Characters of a delivered text that the log keeps, from its beginning, to be shown when it is to be judged; 0
        for none, so that only words are kept.
    skip_seen : bool
        Pass over a document that was seen before, under the same id with the same text, and count it once; 16 bytes a
        document are kept for it. Filters that were started before this could be chosen go on without.
    text : TextOptions
        How documents become words.
    weighting, norm : str; str or None
        How words are weighed: a scheme and norm of :class:`~textbayes.text.TermWeighting`. The default is the paper's;
        a filter that was started from a model weighs as the model does.
    """

    threshold: float = 0.5
    ask: str | Schedule = "paper"
    explore: str | Schedule = "never"
    budget: str | None = None
    patience: int = 50
    rehearse: bool = True
    rehearsal: str | Schedule = "turn"
    forgetting_factor: float = 1.0
    word_threshold: float = 12.13
    least_words: int = 10
    start_words: int = 300
    most_words: int = 1000
    passes: int = 3
    covariance: str = "full"
    kernel: str = "linear"
    basis: int = 300
    variance: float = 1.0
    deferred: bool = True
    link: str = "flip:rate=0.1,base=probit"
    noise: float = 0.0
    gain: str = "paper"
    random_state: int = 0
    keep: str = "all"
    snippet: int = 200
    skip_seen: bool = True
    text: TextOptions = field(default_factory=default_text_options)
    weighting: str = "ltc"
    norm: str | None = "cosine"

    def __post_init__(self) -> None:
        check_choice("covariance", self.covariance, COVARIANCES)
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("gain", self.gain, GAINS)
        check_choice("keep", self.keep, KEEPS)
        check_choice("weighting", self.weighting, SCHEMES)
        check_choice("norm", self.norm, ("cosine", None))
        for name in ("start_words", "most_words", "passes", "basis", *_FROM_ZERO):
            value, least = getattr(self, name), 0 if name in _FROM_ZERO else 1
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(f"{name}={value!r} is not usable; pass a whole number of at least {least}")
        if not self.variance > 0.0:
            raise InputError(f"variance={self.variance!r} is not usable; pass a number above 0")
        if self.covariance == "gp" and self.variance != 1.0:
            raise InputError(
                f"variance={self.variance!r} is given, but a Gaussian process has its variance in its kernel; leave it "
                "out"
            )
        if self.gain == "region" and self.covariance != "full":
            raise InputError(
                f"gain='region' is given with covariance={self.covariance!r}; what a document tells of others needs "
                "covariance='full'"
            )
        self._check_learning()
        make_ask(self.ask), make_explore(self.explore), make_rehearsal(self.rehearsal)
        if self.budget is not None:
            make_budget(self.budget)

    def _check_learning(self) -> None:
        from textbayes.models.online import OnlineLikelihood
        from textbayes.models.online.base import check_forgetting_factor

        check_forgetting_factor(self.forgetting_factor)
        closed = OnlineLikelihood(self.link, self.noise).closed_form
        highest = 1.0 if closed is None else 1.0 - closed[1]
        if not 0.0 <= self.threshold < highest:
            why = "" if highest == 1.0 else f": link {self.link!r} gives no probability above {highest:g}"
            raise InputError(
                f"threshold={self.threshold!r} is not usable{why}; pass a number from 0 on, less than {highest:g}"
            )

    def changed(self, **changes: Any) -> Self:
        """These settings with some changed; what is fixed at the start is refused."""
        for name, value in changes.items():
            if name not in CHANGEABLE and value != getattr(self, name):
                raise InputError(
                    f"{name}={value!r} is given, but this filter was started with {getattr(self, name)!r}, which "
                    "cannot be changed later; leave it out, or start another filter"
                )
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it; schedules that are functions have no name to keep them under."""
        for name in ("ask", "explore", "rehearsal"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} is a function, which a state folder cannot keep; give a schedule by its name")
        values = asdict(self)
        values["text"]["ngram_range"] = list(self.text.ngram_range)
        values["text"]["stop_words"] = list(self.text.stop_words)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` wrote."""
        text = dict(values["text"])
        text["ngram_range"], text["stop_words"] = tuple(text["ngram_range"]), tuple(text["stop_words"])
        return cls(**{**values, "text": TextOptions(**text)})


Schedule: TypeAlias = Callable[[int], float]

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_LARGEST_EXPONENT = 700.0  # exp of more leaves the floats


def paper_threshold(n_delivered: int, target: float = 50.0, width: float = 10.0) -> float:
    """θ = 0.999 / (1 + exp(−(n − target)/width)) + 0.001 bits: asks willingly until ``target`` documents are delivered.

    Chai, Ng & Chieu (2002), SIGIR, § 4.2.3, for T9P, which counts at least 50 documents.

    >>> [round(paper_threshold(n), 4) for n in (0, 50, 100)]
    [0.0077, 0.5005, 0.9933]
    """
    exponent = min(-(n_delivered - target) / width, _LARGEST_EXPONENT)
    return 0.999 / (1.0 + math.exp(exponent)) + 0.001


def paper_rate(n_delivered: int, documents: float, target: float = 50.0) -> float:
    """U = (target − n) / documents, 0 from the target on: the chance of a look at random (§ 4.2.3, +rnd)."""
    return max(target - n_delivered, 0.0) / documents


def _ask_paper(*, target: float = 50.0, width: float = 10.0) -> Schedule:
    if not width > 0.0:
        raise InputError(f"width={width} is given; the schedule needs a width above 0")
    return lambda n: paper_threshold(n, target, width)


def _ask_constant(*, bits: float = 0.1) -> Schedule:
    return lambda n: bits


def _ask_never() -> Schedule:
    return lambda n: math.inf


def _explore_paper(*, documents: float = 293856.0, target: float = 50.0) -> Schedule:
    if not documents > 0:
        raise InputError(f"documents={documents} is given; pass the number of documents that are expected")
    return lambda n: paper_rate(n, documents, target)


def _explore_constant(*, rate: float = 0.001) -> Schedule:
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"rate={rate} is given; a probability lies in [0, 1]")
    return lambda n: rate


def _explore_never() -> Schedule:
    return lambda n: 0.0


def _rehearse_turn() -> Schedule:
    return lambda age: 1.0


def _rehearse_recent(*, half_life: float = 20.0) -> Schedule:
    if not half_life > 0.0:
        raise InputError(f"half_life={half_life} is given; pass a number of relevant documents above 0")
    return lambda age: 0.5 ** (age / half_life)


_REHEARSE: Mapping[str, Callable[..., Schedule]] = {"turn": _rehearse_turn, "recent": _rehearse_recent}
_ASK: Mapping[str, Callable[..., Schedule]] = {"paper": _ask_paper, "constant": _ask_constant, "never": _ask_never}
_EXPLORE: Mapping[str, Callable[..., Schedule]] = {
    "paper": _explore_paper,
    "constant": _explore_constant,
    "never": _explore_never,
}


def make_ask(schedule: str | Schedule) -> Schedule:
    """Bits that a document must be expected to teach, by name or as a function of the documents delivered.

    ``paper``, ``paper:target=20,width=5``, ``constant:bits=0.2`` or ``never``.

    >>> make_ask("constant:bits=0.2")(7)
    0.2
    """
    return _make("asking schedule", _ASK, schedule)


def make_explore(schedule: str | Schedule) -> Schedule:
    """The chance that a document is delivered at random: ``paper:documents=293856``, ``constant:rate=0.01``, ``never``.

    >>> make_explore("paper:documents=1000")(10)
    0.04
    """
    return _make("exploration", _EXPLORE, schedule)


def make_rehearsal(schedule: str | Schedule) -> Schedule:
    """How much a past relevant document is favoured for rehearsal, by how many relevant ones have come since.

    ``turn``, each in its turn; ``recent:half_life=20``, drawn, with half the chance for every 20 that came since, for
    topics that drift (§ 4.2.2).

    >>> make_rehearsal("recent:half_life=10")(20)
    0.25
    """
    return _make("rehearsal", _REHEARSE, schedule)


class Budget(NamedTuple):
    """At most ``most`` questions in each stretch of ``per`` seconds, or of ``per`` documents."""

    most: int
    per: float
    unit: str

    def window(self, time: float, n_seen: int) -> int:
        """The number of the stretch that a moment or a document falls into."""
        return int((time if self.unit == "seconds" else n_seen) // self.per)


def make_budget(text: str) -> Budget:
    """A budget as users write it: a number of questions per time, or per number of documents.

    >>> make_budget("20/day"), make_budget("5/1000")
    (Budget(most=20, per=86400, unit='seconds'), Budget(most=5, per=1000, unit='documents'))
    """
    found = re.fullmatch(r"(\d+)\s*/\s*(?:(\d+)|([a-z]+?)s?)", str(text).strip().lower())
    if found is not None and found[3] in _SECONDS:
        return Budget(int(found[1]), _SECONDS[found[3]], "seconds")
    if found is not None and found[2] is not None and int(found[2]) > 0:
        return Budget(int(found[1]), int(found[2]), "documents")
    raise InputError(
        f"budget={text!r} is not usable; write 20/day (or second, minute, hour, week), or 5/1000 for five questions in "
        "every thousand documents"
    )


def _make(kind: str, known: Mapping[str, Callable[..., Schedule]], schedule: str | Schedule) -> Schedule:
    if callable(schedule):
        return schedule
    name, _, rest = str(schedule).partition(":")
    if name not in known:
        raise InputError(f"unknown {kind} {name!r}: choose one of {', '.join(known)}")
    given = settings_of(_setting(kind, part) for part in rest.split(",") if part)
    check_options(f"{kind} {name!r}", known[name], given)
    return known[name](**given)


def _setting(kind: str, part: str) -> tuple[str, float]:
    key, _, value = part.partition("=")
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{part!r} is no setting of an {kind}; write NAME=NUMBER, as in target=50") from None
    if not math.isfinite(number):
        raise InputError(f"{part!r} is no setting of an {kind}; the number must be finite")
    return key.strip(), number
