"""The adaptive filter in memory: read → score → see → judge. It does no input or output and looks at no clock."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from textbayes.categorizer.knowledge import read_prior
from textbayes.core.progress import Progress
from textbayes.core.types import Document
from textbayes.knowledge import WordPriors
from textbayes.models.online import OnlineLikelihood
from textbayes.stream.decide import Delivery, Patience, Reason, Spent, decide, draws, strongest_words
from textbayes.stream.judgements import Verdict, check_known
from textbayes.stream.learn import WordWatch, learn_judgement, start_topics
from textbayes.stream.scoring import Regions, Scores, TopicScorer, WeighedBlock, make_scorer, score_rows
from textbayes.stream.settings import FilterSettings, make_ask, make_budget, make_explore
from textbayes.stream.topic import Topic
from textbayes.stream.words import Bag, Bags, DocumentCounts, FilterLexicon, KeptDocuments, WeighedRows

N_WORDS = 5  # words shown behind a delivery
DIGEST = 16  # bytes by which a document is known


class FilterDecision(NamedTuple):
    """What became of a document: under which id it goes, and for which topics it was delivered.

    ``repeated`` says that the very document had been seen, delivered or judged before, and was therefore passed over;
    ``records`` for which topics, by number, it is the most probable while they look for something to ask (see
    :class:`Patience`). ``digest`` is what the document is known by from now on, None if it was known before.
    """

    id: str
    deliveries: list[Delivery]
    repeated: bool = False
    records: Mapping[int, float] = MappingProxyType({})
    digest: bytes | None = None


def digest_of(document: Document) -> bytes:
    """What a document is known by when it comes again: 16 bytes of its id and its text."""
    id = document.id.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(len(id).to_bytes(8, "little") + id, digest_size=DIGEST)
    digest.update(document.text.encode("utf-8", "surrogatepass"))
    return digest.digest()


class AdaptiveFilter:
    """Filters a stream for several topics, asks what it wants to know, and learns from judgements as they come.

    What is kept in memory: the lexicon; for each topic its posterior and word counts; the word counts (not the texts)
    of relevant training documents and of all documents delivered, and their ids and judgements. Documents that are
    not delivered leave nothing but their number, and 16 bytes by which they are known when they come again.

    Attributes
    ----------
    topics : list of Topic
    n_seen : int
        Documents seen, each counted once.
    seen : dict
        Digests of the documents seen, in order (see :func:`digest_of`); empty where ``skip_seen`` is off.
    version : int
        Changes whenever something is learnt. Scores change then, or when words of a document join the lexicon.

    References
    ----------
    Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR, § 4.2.

    Examples
    --------
    >>> grain = [Document("", text, ("grain",)) for text in ["corn wheat", "corn rain", "wheat rain"] * 4]
    >>> other = [Document("", text) for text in ["bank rates", "bank loans", "goal match"] * 4]
    >>> news = AdaptiveFilter.start([*grain, *other])
    >>> [(d.id, d.topic, d.reason) for d in news.see(Document("n1", "the corn harvest"), time=0.0).deliveries]
    [('n1', 'grain', 'relevant')]
    >>> news.judge("n1", "grain", relevant=True)
    'new'
    """

    def __init__(
        self, settings: FilterSettings, lexicon: FilterLexicon, topics: Sequence[Topic], kept: KeptDocuments
    ) -> None:
        self.lexicon, self.topics, self.kept = lexicon, list(topics), kept
        self.index = {topic.name: k for k, topic in enumerate(self.topics)}
        self.ids: dict[str, int] = {}  # delivered or judged documents, by their number in ``kept``
        self.judgements: dict[tuple[int, int], bool] = {}  # by numbers of document and topic
        self.n_seen = 0
        self.seen: dict[bytes, None] = {}
        self.spent = Spent()
        self.patience = Patience([topic.delivered for topic in self.topics])
        self.version = 0
        self._scorer: TopicScorer = make_scorer(self.topics)
        self._regions = Regions()
        self._watches = [WordWatch() for _ in self.topics]
        self.at_hand: WeighedBlock | None = None  # documents weighed together, of which the next to come is one
        self.use(settings)

    @classmethod
    def start(
        cls,
        documents: Iterable[Document],
        statements: Iterable[Document] = (),
        settings: FilterSettings | None = None,
        topics: Iterable[str] | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        prior: WordPriors | str | Path | None = None,
    ) -> AdaptiveFilter:
        """A filter from labelled documents: those with a topic's name among their labels are relevant to it.

        Parameters
        ----------
        statements : iterable of Document
            Texts that say what a topic is about: each is a relevant training document of the topics among its labels.
        topics : iterable of str, optional
            Names of the topics; all labels if not given.
        prior : WordPriors or path, optional
            What is known of words: means and scales of their weights enter the prior of the topics, as they are given.
        """
        settings = settings or FilterSettings()
        documents, statements = list(documents), list(statements)
        table = None if prior is None else read_prior(prior)
        return cls(settings, *start_topics(documents, statements, topics, settings, n_jobs, progress, table))

    def copy(self, **changes: Any) -> Self:
        """Another filter that knows the same and goes its own way, under other settings if some are given."""
        topics = [topic.copy() for topic in self.topics]
        other = type(self)(self.settings.changed(**changes), copy.deepcopy(self.lexicon), topics, self.kept.copy())
        other.ids, other.judgements = dict(self.ids), dict(self.judgements)
        other.n_seen, other.spent, other.patience = self.n_seen, self.spent, copy.deepcopy(self.patience)
        other.seen = dict(self.seen)
        other.use(other.settings)
        return other

    def use(self, settings: FilterSettings) -> None:
        """Go on with other settings."""
        self.settings = settings
        self.likelihood = OnlineLikelihood(settings.link, settings.noise)
        self._ask, self._explore = make_ask(settings.ask), make_explore(settings.explore)
        self._budget = None if settings.budget is None else make_budget(settings.budget)
        self._ask_at = np.array([self._ask(topic.delivered) for topic in self.topics], dtype=np.float64)
        self._explore_at = np.array([self._explore(topic.delivered) for topic in self.topics], dtype=np.float64)
        self.patience.use(settings.patience, self.n_seen)

    # -- reading and scoring -----------------------------------------------------------------------------------------
    def read(self, texts: Iterable[str]) -> Bags:
        """Count the words of texts, once for all topics."""
        return Bags.read(texts, self.settings.text)

    def score(self, bags: Bags, start: int = 0, stop: int | None = None) -> Scores:
        """Score counted documents for every topic."""
        return self.score_block(self.block(bags, start, len(bags) if stop is None else stop))

    def block(self, bags: Bags, start: int, stop: int) -> WeighedBlock:
        """Counted documents weighed, to be scored by what is known now."""
        rows = self.lexicon.weigh(bags, start, stop)
        self._scorer.follow(self.topics, self.version, len(self.lexicon))
        return WeighedBlock(bags, start, stop, self.version, len(self.lexicon), rows)

    def score_block(self, block: WeighedBlock, all_cores: bool = True) -> Scores:
        """Score a block; this can be done in another thread beside decisions, but not beside what learns."""
        if self.settings.gain != "region":
            return score_rows(self._scorer, block.rows, self.likelihood, self.settings.gain, all_cores)  # type: ignore[arg-type]
        scores = score_rows(self._scorer, block.rows, self.likelihood, "gaussian", all_cores)
        gain = self._regions.gain(self.topics, block.rows, self._scorer, self.likelihood, self.kept, self.lexicon)
        return scores._replace(gain=np.where(np.isnan(gain), scores.gain, gain))

    # -- deciding ----------------------------------------------------------------------------------------------------
    def see(
        self,
        document: Document,
        time: float,
        bags: Bags | None = None,
        i: int = 0,
        scores: Scores | None = None,
        explain: bool = True,
        digest: bytes | None = None,
    ) -> FilterDecision:
        """Decide on the next document of the stream at a time in seconds, which counts for budgets alone.

        Where documents are counted and scored ahead, ``bags`` holds it at place ``i``, and ``scores`` are its own.
        Without ``explain`` deliveries come without the words behind them. ``digest`` stands for the text of one that
        is replayed.
        """
        bags = self.read([document.text]) if bags is None else bags
        name, repeated = self.identify(document.id, bags, i)
        digest = None if not self.settings.skip_seen else digest or digest_of(document)
        if digest in self.seen:
            return FilterDecision(name, [], repeated=True)
        if repeated:
            self.take_note(name, [], time, digest=digest)
            return FilterDecision(name, [], repeated=True, digest=digest)
        scores = scores or self.score(bags, i, i + 1)
        probability, gain = scores.probability[0], scores.gain[0]
        chosen = decide(
            probability,
            gain,
            self.settings.threshold,
            self._ask_at,
            None
            if self.settings.explore == "never"
            else draws(self.settings.random_state, self.n_seen, len(self.topics)),
            self._explore_at,
            math.inf if (left := self.questions_left(time)) is None else left,
            self.patience.overdue(probability, self.n_seen),
        )
        deliveries, kept = [], None
        if chosen:
            words = self._words_behind(bags, i, chosen) if explain else ({} for _ in chosen)
            for (k, reason), behind in zip(chosen, words, strict=True):
                scored = float(probability[k]), reason, float(gain[k]), behind
                deliveries.append(Delivery(name, self.topics[k].name, *scored))
            kept = self.lexicon.keep_from(bags, i)
        records = self.patience.records(probability, self.n_seen)
        self.take_note(name, deliveries, time, kept, records, digest)
        return FilterDecision(name, deliveries, records=records, digest=digest)

    def identify(self, given: str, bags: Bags, i: int = 0) -> tuple[str, bool]:
        """The id a document goes under, and whether the very document has been delivered under it before.

        An id that belongs to another document already gets a number: ``7``, ``7#2``, ``7#3``.
        """
        name, number = given, 2
        while name in self.ids:
            if self._same(self.kept[self.ids[name]], bags.bag(i)):
                return name, True
            name, number = f"{given}#{number}", number + 1
        return name, False

    def take_note(
        self,
        name: str,
        deliveries: Sequence[Delivery],
        time: float,
        kept: DocumentCounts | None = None,
        records: Mapping[int, float] = MappingProxyType({}),
        digest: bytes | None = None,
    ) -> None:
        """Count a document as seen, and keep it under its name if it is delivered: all that seeing it changes."""
        self.spent = self._spent_at(time)
        self.n_seen += 1
        if digest is not None:
            self.seen[digest] = None
        if deliveries:
            assert kept is not None
            self._keep(name, kept)
        for delivery in deliveries:
            if delivery.reason != "relevant":
                self.spent = self.spent._replace(used=self.spent.used + 1)
            k = self.index[delivery.topic]
            self.topics[k] = self.topics[k].delivered_again()
            n = self.topics[k].delivered
            self._ask_at[k], self._explore_at[k] = self._ask(n), self._explore(n)
        self.patience.take_note([self.index[delivery.topic] for delivery in deliveries], records, self.n_seen)

    # -- learning ----------------------------------------------------------------------------------------------------
    def check_judgement(self, document: str, topic: str, bag: Bag | None = None) -> None:
        """Refuse a judgement of what the filter does not know."""
        check_known(document, topic, document in self.ids or bag is not None, self.index)

    def judge(self, document: str, topic: str, relevant: bool, bag: Bag | None = None) -> Verdict:
        """Learn that a document is relevant to a topic or not.

        Each document is learnt once for a topic: the same judgement again changes nothing, and another replaces the
        first (see :func:`~textbayes.stream.learn.learn_judgement`). Any document delivered can be judged for any topic;
        one that was not needs its ``bag``.
        """
        self.check_judgement(document, topic, bag)
        verdict = self.verdict(document, topic, relevant)
        if document not in self.ids:
            assert bag is not None
            self._keep(document, self.lexicon.keep(bag))
        if verdict != "same":
            number, k = self.ids[document], self.index[topic]
            self.topics[k] = learn_judgement(
                self.topics[k],
                number,
                relevant,
                self.kept,
                self.lexicon,
                self.settings,
                self.likelihood,
                self.judgements.get((number, k)),
                self._watches[k],
            )
            self.judgements[number, k] = relevant
            self.version += 1
        return verdict

    def verdict(self, document: str, topic: str, relevant: bool) -> Verdict:
        """What a judgement would be: new, the same as before, or changed."""
        number = self.ids.get(document)
        before = None if number is None else self.judgements.get((number, self.index[topic]))
        return "new" if before is None else "same" if before == relevant else "changed"

    def questions_left(self, time: float) -> int | None:
        """How many questions the budget leaves at a time; None without a budget."""
        return None if self._budget is None else max(self._budget.most - self._spent_at(time).used, 0)

    # -- the inside --------------------------------------------------------------------------------------------------
    def _keep(self, name: str, kept: DocumentCounts) -> None:
        self.ids[name] = len(self.kept)
        self.kept.append(kept)

    def _words_behind(self, bags: Bags, i: int, chosen: list[tuple[int, Reason]]) -> Iterator[dict[str, float]]:
        rows = self._weigh(bags, i)
        self._scorer.follow(self.topics, self.version, len(self.lexicon))
        for k, _ in chosen:
            yield strongest_words(self.topics[k], rows, self._scorer.places(k), self.lexicon, N_WORDS)

    def _weigh(self, bags: Bags, i: int) -> WeighedRows:
        """One document, as it was weighed with others, unless it has words that have joined since."""
        block = self.at_hand
        if (
            block is None
            or block.bags is not bags
            or not block.start <= i < block.stop
            or block.is_old(i, self.lexicon)
        ):
            return self.lexicon.weigh(bags, i, i + 1)
        return block.rows.one(i - block.start)

    def _same(self, document: DocumentCounts, bag: Bag) -> bool:
        if len(document.columns) != len(bag.words):
            return False
        names = (self.lexicon.name(int(column)) for column in document.columns)
        return dict(zip(names, document.counts.tolist(), strict=True)) == bag.to_json()

    def _spent_at(self, time: float) -> Spent:
        return self.spent.at(0 if self._budget is None else self._budget.window(time, self.n_seen))
