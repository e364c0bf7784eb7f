"""Table 2a, not in the paper: what choices that it leaves open are worth to the perceptron."""

from __future__ import annotations

from textbayes.reproduce.online import published, r90
from textbayes.reproduce.online.published import RULES
from textbayes.reproduce.online.r90 import Reading
from textbayes.reproduce.online.runner import Runner
from textbayes.reproduce.online.systems import PASSES, Experiment
from textbayes.reproduce.results import Cell, Table

CHOICES = {
    "as in the other tables": Reading(),
    "stories with a topic only": Reading(labelled_only=True),
    "scikit-learn's stop list": Reading(stop_words="english"),
    "no stop list": Reading(stop_words=None),
    "letters only": Reading(pattern="[a-zA-Z]+"),
    "without headlines": Reading(headline=False),
}
_QUICK = 2


def open_choices(quick: bool, runner: Runner) -> Table:
    """Table 2's row of the perceptron and its evidence under every choice; flip noise in the last columns."""
    choices = dict(list(CHOICES.items())[: _QUICK if quick else None])
    ours: list[tuple[Cell, ...]] = []
    sizes = []
    for name, reading in choices.items():
        experiment = Experiment(r90.r90(reading))
        advance = runner.steps(f"table 2a: {name}", experiment, 2)
        probit, flip = (experiment.perceptron(likelihood, [PASSES], advance)[0] for likelihood in ("Probit", "Flip"))
        averages = [cell for rule in RULES for cell in probit.f1(rule)]
        ours.append((*averages, probit.test_evidence, *flip.f1("MaxF1"), flip.test_evidence))
        sizes.append(f"{name} {len(experiment.collection.common):,}")
    pairs = [pair for pair in published.F1["Perceptron"] if pair is not None]
    evidence = published.LIKELIHOODS["Probit"][-1]
    printed = (*(cell for pair in pairs for cell in pair), evidence, *published.LIKELIHOODS["Flip"])
    return Table(
        number="2a",
        caption="Not in the paper: the perceptron, probit and flip noise, under choices that the paper leaves open.",
        rows=tuple(choices),
        columns=(
            *(f"{rule} {average}" for rule in RULES for average in ("micro", "macro")),
            "log-evidence, test",
            *("flip MaxF1 micro", "flip MaxF1 macro", "flip log-evidence, test"),
        ),
        published=(printed,) * len(choices),
        ours=tuple(ours),
        digits=2,
        notes=(f"Words in three training stories or more, 8,362 in the paper: {', '.join(sizes)}.",),
    )
