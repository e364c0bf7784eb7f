"""The settings of a filter, and which of them may be changed later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any, Self

from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.stream.schedules import Schedule, make_ask, make_budget, make_explore, make_rehearsal
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
        see :func:`~textbayes.stream.schedules.make_ask`; ``"never"`` for the plain perceptron.
    explore : str or function
        Chance that a document is delivered at random (+rnd): see :func:`~textbayes.stream.schedules.make_explore`.
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
        (§ 4.2.2): see :func:`~textbayes.stream.schedules.make_rehearsal`. A draw depends on ``random_state``, the topic
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
