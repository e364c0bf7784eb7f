"""The automatic training beside the best peers on every corpus with classes: right answers, and honest probabilities.

``python benchmarks/bench_answers.py [corpus …] [--budget normal] [--quick] [--fresh] [--alone]``

For each corpus the categorizer learns from the training texts, or from those of each fold, and answers the test texts;
so does every peer (``_peers.py``), each with its view of the words and its settings chosen by cross-validation on the
same training texts. Nothing is chosen on test texts. A corpus counts as below when the best peer by test figure is
ahead of us and the difference is no luck at the 5 % level: by McNemar's exact test over texts, or, of labels that go
together, by the two-sided sign test over decisions (where the peer has the higher micro-F1) or over labels (where it
has the higher macro-F1). Log-loss is per text, of labels that go together per decision; the calibration error is that
of the likeliest class, or of all decisions, in 15 bins; "by chance" is what it comes to on the average where labels are
drawn with our probabilities, which then are right: no model can be expected to have less on so few texts. What peers
answer is kept in the user's cache folder and used again until their code or the texts change; ``--fresh`` asks them
again, ``--alone`` does not ask them: named bars and calibration are all that is held. ``--quick`` takes a few hundred
texts of each corpus: figures without meaning, to see that all runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from _common import close
from _peers import Answer, peer_answers
from _remember import remembered
from _tasks import TASKS, Task
from _views import Views
from textbayes import TextCategorizer
from textbayes.evaluate import (
    calibration_error,
    class_log_losses,
    contingency,
    f_measure,
    log_loss,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
)

N_BINS = 15
N_DRAWS = 50  # of labels, for the calibration error by chance
LEVEL = 0.05
ECE_BAR = 0.03
BARS = {  # least quality, or, of "log-loss", most
    "reuters": {"micro-F1": 0.896, "macro-F1": 0.67, "log-loss": 0.0087},
    "ohsumed": {"micro-F1": 0.715, "macro-F1": 0.695, "log-loss": 0.110},
    "20newsgroups": {"accuracy": 0.735},
    "movies": {"accuracy": 0.895},
}
NOT_BELOW = {"openstax": "NB-SVM"}


class Verdict(NamedTuple):
    """What one corpus says: peers significantly ahead, log-losses lost, calibration errors, and named bars missed."""

    below: list[str]
    lost: list[str]
    calibration_error: float
    by_chance: float
    missed: list[str]


def figures(Y: np.ndarray, answer: Answer, exclusive: bool) -> dict[str, float]:
    """Quality of the decisions, and log-loss and calibration error of the probabilities, where there are any."""
    if exclusive:
        found = {"accuracy": float((answer.decisions == Y).all(axis=1).mean())}
    else:
        table = contingency(Y, answer.decisions)
        found = {f"{average}-F1": float(f_measure(table, average)) for average in ("micro", "macro")}
    if answer.proba is not None:
        proba = np.clip(answer.proba.astype(np.float64), 0.0, 1.0)
        found["log-loss"] = class_log_losses(Y, proba)[0] if exclusive else float(log_loss(Y, proba))
        found["ECE"] = float(calibration_error(*decided(Y, proba, exclusive), n_bins=N_BINS))
    return found


def decided(Y: np.ndarray, proba: np.ndarray, exclusive: bool) -> tuple[np.ndarray, np.ndarray]:
    """What calibration is judged by: of exclusive classes the likeliest and whether it is right, else all labels."""
    if not exclusive:
        return Y, proba
    likeliest = proba.argmax(axis=1)
    return Y[np.arange(len(Y)), likeliest][:, None], proba.max(axis=1)[:, None]


def error_by_chance(Y: np.ndarray, proba: np.ndarray, exclusive: bool) -> float:
    """Mean calibration error where labels are drawn with the probabilities."""
    rng, (_, proba) = np.random.default_rng(0), decided(Y, np.clip(proba, 0.0, 1.0), exclusive)
    drawn = [calibration_error(rng.random(proba.shape) < proba, proba, n_bins=N_BINS) for _ in range(N_DRAWS)]
    return float(np.mean(drawn))


def significantly_below(Y: np.ndarray, ours: np.ndarray, theirs: np.ndarray, measure: str) -> bool:
    """Whether the second system is ahead by this measure, and not by luck."""
    if measure == "accuracy":
        result = mcnemar_test(Y, ours, theirs, method="exact")
    else:
        test = micro_sign_test if measure == "micro-F1" else macro_sign_test
        result = test(Y, ours, theirs, alternative="two-sided")
        average: Any = measure.removesuffix("-F1")
        if f_measure(contingency(Y, ours), average) >= f_measure(contingency(Y, theirs), average):
            return False
    return result.difference < 0.0 and result.p_value <= LEVEL


def our_answer(task: Task, names: list[str], budget: str) -> tuple[Answer, float]:
    """What the categorizer says of the test texts of all parts, and the seconds that it learnt."""
    answers, seconds = [], 0.0
    for train, test in task.parts:
        start = time.perf_counter()
        model = TextCategorizer(preset="auto", budget=budget)
        model.fit([task.texts[i] for i in train], [task.labels[i] for i in train])
        seconds += time.perf_counter() - start
        texts = [task.texts[i] for i in test]
        columns = np.searchsorted(names, model.label_space_.class_names)
        # Labels that no training text has (of short tasks) get half a text, as peers have it; classes get nothing.
        proba = np.full((len(test), len(names)), 0.0 if task.exclusive else 0.5 / (len(train) + 1))
        proba[:, columns] = model.predict_proba(texts)
        decisions = np.zeros(proba.shape, dtype=bool)
        if task.exclusive:
            decisions[np.arange(len(test)), np.searchsorted(names, model.predict(texts))] = True
        else:
            decisions[:, columns] = model.assess(texts).decisions
        answers.append(Answer(decisions, proba))
        print(".", end="", flush=True)
    print()
    return together(answers), seconds


def all_peers(task: Task, Y: np.ndarray) -> dict[str, Answer]:
    """What each peer says of the test texts of all parts."""
    views = Views(task.texts)
    said = [peer_answers(views, Y, train, test, task.exclusive) for train, test in task.parts]
    return {peer: together([one[peer] for one in said]) for peer in said[0]}


def together(answers: list[Answer]) -> Answer:
    """The answers of several parts as one."""
    probabilities = [one.proba for one in answers if one.proba is not None]
    proba = np.vstack(probabilities) if len(probabilities) == len(answers) else None
    return Answer(np.vstack([one.decisions for one in answers]), proba)


def contents(task: Task, Y: np.ndarray) -> Iterator[bytes]:
    """The task as bytes, to know it again."""
    yield from (text.encode("utf-8", "surrogatepass") for text in task.texts)
    yield np.packbits(Y).tobytes()
    for part in task.parts:
        yield from (rows.astype(np.int64).tobytes() for rows in part)


def judge(name: str, budget: str, quick: bool, fresh: bool, alone: bool) -> Verdict:
    """Run one corpus, print its figures, and say what they come to."""
    task = TASKS[name]().shortened() if quick else TASKS[name]()
    Y, names = task.encode()
    n_train = int(np.mean([len(train) for train, _ in task.parts]))
    tested = np.concatenate([test for _, test in task.parts])
    sizes = f"{n_train:,} training and {len(tested):,} test texts in {len(task.parts)} parts"
    print(f"\n== {name}: {sizes}, {len(names)} {'classes' if task.exclusive else 'labels that go together'}")
    ours, seconds = our_answer(task, names, budget)
    start = time.perf_counter()
    peers = {} if alone else remembered(name, contents(task, Y), lambda: all_peers(task, Y), fresh)
    asked, truth = time.perf_counter() - start, Y[tested]
    results = {"textbayes": figures(truth, ours, task.exclusive)}
    results |= {peer: figures(truth, answer, task.exclusive) for peer, answer in peers.items()}
    for system, found in results.items():
        told = f"   {seconds:.0f} s" if system == "textbayes" else ""
        print(f"{system:26}" + "".join(f"  {what} {value:.4f}" for what, value in found.items()) + told)
    by_chance = error_by_chance(truth, ours.proba, task.exclusive)
    print(f"calibration error by chance: {by_chance:.4f}")
    print("peers: not asked" if alone else f"peers: {asked:.0f} s")
    own = results.pop("textbayes")
    below = []
    for measure in () if alone else ("accuracy",) if task.exclusive else ("micro-F1", "macro-F1"):
        best = max(results, key=lambda peer, measure=measure: results[peer][measure])
        worse = significantly_below(truth, ours.decisions, peers[best].decisions, measure)
        print(f"best peer by {measure}: {best} {results[best][measure]:.4f}, ours {own[measure]:.4f}", end="")
        print(": significantly below" if worse else "")
        if worse:
            below.append(f"{measure} {own[measure]:.4f} to {best}'s {results[best][measure]:.4f}")
    lost = [peer for peer, found in results.items() if found.get("log-loss", np.inf) < own["log-loss"]]
    missed = []
    for what, bar in ({} if quick else BARS.get(name, {})).items():
        value = own[what]
        if (value > bar) if what == "log-loss" else (value < bar):
            missed.append(f"{name} {what} {value:.4f} (bar {bar:g})")
    if name in NOT_BELOW and not alone:
        rival = NOT_BELOW[name]
        if significantly_below(truth, ours.decisions, peers[rival].decisions, "accuracy"):
            missed.append(f"{name} significantly below {rival}")
    return Verdict(below, lost, own["ECE"], by_chance, missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpora", nargs="*", metavar="corpus", help=f"of {', '.join(TASKS)}; all without any")
    parser.add_argument("--budget", choices=("quick", "normal", "thorough"), default="normal")
    parser.add_argument("--quick", action="store_true", help="a few hundred texts of each corpus, named bars left out")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--fresh", action="store_true", help="ask the peers again")
    asked.add_argument("--alone", action="store_true", help="do not ask the peers")
    options = parser.parse_args()
    if unknown := set(options.corpora) - set(TASKS):
        parser.error(f"there is no corpus {min(unknown)!r}; choose of {', '.join(TASKS)}")
    chosen = options.corpora or list(TASKS)
    how = options.budget, options.quick, options.fresh, options.alone
    verdicts = {name: judge(name, *how) for name in chosen}
    below = [f"{name} ({'; '.join(one.below)})" for name, one in verdicts.items() if one.below]
    lost = [f"{name} ({', '.join(one.lost)})" for name, one in verdicts.items() if one.lost]
    missed = [bar for one in verdicts.values() for bar in one.missed]
    worst = max(verdicts, key=lambda name: verdicts[name].calibration_error)
    none = "not asked" if options.alone else "none"
    print("\nsignificantly below the best peer:", "; ".join(below) or none)
    print("log-loss lost to a probabilistic peer:", "; ".join(lost) or none)
    print("named bars missed:", "; ".join(missed) or "none")
    ece = verdicts[worst].calibration_error
    unsure = [f"{name} {one.calibration_error:.4f} (by chance {one.by_chance:.4f})" for name, one in verdicts.items()
              if one.calibration_error >= ECE_BAR]  # fmt: skip
    print(f"calibration error of {ECE_BAR:g} or more:", "; ".join(unsure) or "none")
    lost_on = f"{len(below)} of {len(chosen)} corpora significantly below the best peer (bar 0), log-loss lost on "
    beside = "peers not asked" if options.alone else f"{lost_on}{len(lost)} (bar 0)"
    close(
        "answers",
        not below and not lost and not missed and ece < ECE_BAR,
        f"{beside}, worst calibration error {ece:.4f} on {worst} (bar {ECE_BAR:g}; "
        f"{verdicts[worst].by_chance:.4f} by chance), {len(missed)} named bars missed (bar 0)",
    )


if __name__ == "__main__":
    main()
