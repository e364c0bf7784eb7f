"""Table 2b: maximum margin for rare and Bayesian for common topics (§ 5), the member of each chosen in training.

The paper suggests it and leaves open how to part the topics. Two ways are tried: at a number of training stories, the
same for all topics, and topic by topic. Both choose by F1 on the later third of the training stories, with members
that learnt the earlier two thirds; what they choose then learns all training stories.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from textbayes.core.types import BoolArray, IntArray
from textbayes.evaluate import compare, contingency, f_measure
from textbayes.reproduce.experiment import Run, best_setting
from textbayes.reproduce.online import corpora
from textbayes.reproduce.online.corpora import Collection
from textbayes.reproduce.online.systems import TopicSystems, averages, system_named
from textbayes.reproduce.results import Table

BAYESIAN: Final = ("Perceptron", "GP-R1")
MARGIN: Final = "SVMa-1"
_RULE: Final = "MaxF1"


def line_of_rarity(sizes: IntArray, truth: BoolArray, bayesian: BoolArray, margin: BoolArray) -> int:
    """Number of training stories below which a topic is rare: the one with which members decide best together.

    Best is the highest mean of the micro- and the macro-average F1, of which the one speaks for common and the other
    for rare topics; of equally good numbers the lowest.

    Parameters
    ----------
    sizes : array of int, shape (n_topics,)
    truth, bayesian, margin : array of bool, shape (n_docs, n_topics)
        Topics of held-out stories, and the decisions of both members on them.
    """
    lines = [0, *(np.unique(sizes) + 1).tolist()]
    return best_setting(lines, [sum(averages(truth, np.where(sizes < n, margin, bayesian))) for n in lines])


def margin_is_better(truth: BoolArray, bayesian: BoolArray, margin: BoolArray) -> BoolArray:
    """Whether the maximum-margin member has the higher F1, topic by topic, or the same.

    Ties go to it since the topics in which nothing tells members apart are rare ones.
    """
    by_member = [f_measure(contingency(truth, decisions)) for decisions in (bayesian, margin)]
    return np.asarray(by_member[1] >= by_member[0], dtype=np.bool_)


def seen_on_both_sides(collection: Collection) -> IntArray:
    """Topics that have a story among the training and one among the other documents, so that something can be told."""
    return np.flatnonzero(collection.Y_train.any(axis=0) & collection.Y_test.any(axis=0))


def _decisions(run: Run, topics: TopicSystems, detail: str) -> dict[str, BoolArray]:
    systems = {name: system_named(name) for name in (MARGIN, *BAYESIAN)}
    found = run.outcomes(topics, systems.values(), detail)
    return {name: found[system][-1].decide(_RULE) for name, system in systems.items()}


def table_2b(run: Run, topics: TopicSystems) -> Table:
    """Table 2b: members alone, the two ways to choose between them, and how much there is to gain."""
    full = topics.collection
    alone = _decisions(run, topics, "")
    earlier = run.load("the training stories", corpora.held_out)
    told = seen_on_both_sides(earlier)
    part = TopicSystems(earlier.of_topics(told))
    tried = _decisions(run, part, ", held-out stories")
    uses_margin = {MARGIN: np.ones(len(full.words), dtype=np.bool_)}
    decisions, signs = {MARGIN: alone[MARGIN]}, []
    for name in BAYESIAN:
        held_out = part.collection.Y_test, tried[name], tried[MARGIN]
        line = line_of_rarity(part.collection.Y_train.sum(axis=0), *held_out)
        own = np.ones(len(full.words), dtype=np.bool_)  # a topic that shows nothing is rare
        own[told] = margin_is_better(*held_out)
        ways = {
            name: np.zeros_like(own),
            f"{name}, {MARGIN} below {line} training stories": full.Y_train.sum(axis=0) < line,
            f"{name} or {MARGIN}, the better on held-out stories": own,
            f"{name} or {MARGIN}, the better on the test stories": margin_is_better(
                full.Y_test, alone[name], alone[MARGIN]
            ),
        }
        uses_margin |= ways
        decisions |= {way: np.where(of_topic, alone[MARGIN], alone[name]) for way, of_topic in ways.items()}
        tests = compare(decisions, full.Y_test, ("s", "S"), kind="multilabel", exact_up_to=12).results
        signs += [
            f"{way} against {other} " + " ".join(tests[test][way, other].symbol for test in ("s", "S"))
            for way in list(ways)[1:3]
            for other in (name, MARGIN)
        ]
    return Table.by_row(
        "2b",
        "Not in the paper (§ 5): a maximum-margin classifier for rare topics and a Bayesian one for common ones, "
        f"{_RULE} thresholds.",
        (f"{_RULE} micro", f"{_RULE} macro", f"topics of {MARGIN}"),
        {way: (*averages(full.Y_test, decisions[way]), float(of_topic.sum())) for way, of_topic in uses_margin.items()},
        digits=2,
        notes=(
            f"Held out are the later {earlier.Y_test.shape[0]:,} of the training stories; {len(told)} topics have "
            f"stories before and after. Where topics choose for themselves, the other {len(own) - len(told)} are "
            f"left to {MARGIN}.",
            f"s-test and S-test, as in Table 3: {'; '.join(signs)}.",
            "Who knows the test stories has the highest macro-average that a choice between two members can have.",
        ),
    )
