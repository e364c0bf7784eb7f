"""The tables and figures of the paper: Reuters-21578 (1 to 6), RCV1-v2 (7 and 8), and what open choices are worth (3a).

``quick``: 3 of 6 γ, 300 words only, two choices of seven, one RCV1 sample of five, no methods of others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.links import make_link
from textbayes.reproduce.experiment import Exhibit, PaperRun, Systems, TextRules
from textbayes.reproduce.render import INK, LINE, SERIES, Node, Plate, graphical_model, sketch
from textbayes.reproduce.results import Figure, Table
from textbayes.reproduce.sparse.stopping import rank_correlation, stopping_tables
from textbayes.reproduce.sparse.systems import (
    AVERAGES,
    GAMMAS,
    JEFFREYS,
    MARKETS,
    PUBLISHED,
    TOPICS,
    Cut,
    Decisions,
    Method,
    Ranking,
    Rankings,
    RegressionModel,
    RegressionOutcome,
    Regressions,
    laplace,
    rcv1,
    reuters,
)

_Peer = TypeVar("_Peer", bound=Hashable)
Columns: TypeAlias = Mapping[str, tuple[str, RegressionModel | None]]  # name in published.toml, and our model
_F1: Mapping[str, Sequence[float]] = PUBLISHED["f1"]
_QUICK_GAMMAS = (0.1, 1.0, 10.0)
_RCV1_GAMMA = 25.0
_BODIES = "without headlines"


def _reuters(run: PaperRun, choice: str = "") -> Regressions:
    """The fits to stories as they are read elsewhere, or by a choice of Table 3a; tables share them."""
    rules = CHOICES[choice].text if choice else TextRules()
    name = "Reuters-21578" if rules == TextRules() else f"Reuters-21578, {choice}"
    return run.load(name, lambda: Regressions(reuters(rules)))


def _also_bodies(make: Callable[[PaperRun, str], Table]) -> Exhibit:
    """A table, and unless ``quick`` the same without headlines, which the authors may have left out."""

    def both(run: PaperRun) -> Iterator[Table]:
        yield make(run, "")
        if not run.quick:
            table = make(run, _BODIES)
            yield table._replace(
                number=f"{table.number}, {_BODIES}", caption=f"{table.caption} Not in the paper: {_BODIES}."
            )

    return both


def _columns(
    run: PaperRun, fits: Regressions, models: Mapping[str, RegressionModel], detail: str = ""
) -> dict[str, RegressionOutcome]:
    """The outcome of each model by the name of its column."""
    found = run.outcomes(fits, models.values(), detail)
    return {name: found[model] for name, model in models.items()}


def _f1_table(
    run: PaperRun,
    choice: str,
    number: str,
    caption: str,
    columns: Columns,
    *notes: str,
    peers: Mapping[str, RegressionOutcome] | None = None,
) -> Table:
    """F1 of the ten topics and their averages: of each column the published figures, and our model if there is one."""
    models = {name: model for name, (_, model) in columns.items() if model is not None}
    found = {**(peers or {}), **_columns(run, _reuters(run, choice), models)}
    ours = {name: outcome.column for name, outcome in found.items()}
    printed = {name: _F1[key] for name, (key, _) in columns.items()}
    return Table.by_column(number, caption, (*TOPICS, *AVERAGES), ours, printed, digits=1, notes=notes)


def table_1(run: PaperRun, choice: str = "") -> Table:
    """Table 1: the paper's method beside others."""
    columns: Columns = {
        **{name: (name, None) for name in _DECISIONS},
        "Sparse Bayes": ("Laplace γ = 10", laplace(10.0)),
    }
    collection = _reuters(run, choice).collection
    counts = f"{collection.train.shape[0]:,} training and {collection.test.shape[0]:,} test stories."
    cited = (
        "The first three columns are figures of Zhang & Oles (2001), cited by the paper. Ours are scikit-learn's on "
        "the presence of the 10,000 words of highest information gain; multinomial naive Bayes, and C by five-fold "
        "cross-validation."
    )
    what = f"the methods of others{choice and ', '}{choice}"
    peers = {} if run.quick else _peers(run, what, lambda: Decisions(collection), _DECISIONS)
    return _f1_table(run, choice, "1", "F1 on Reuters-21578 ModApte.", columns, counts, cited, peers=peers)


_DECISIONS: dict[str, Method] = {"Naive Bayes": "naive Bayes", "Log. Reg.": "logistic regression", "SVM": "SVM"}
_RANKINGS: dict[str, Ranking] = {"SVM": "SVM", "kNN": "kNN", "Rocchio": "Rocchio"}


def _peers(
    run: PaperRun,
    what: str,
    make: Callable[[], Systems[_Peer, int, Any, RegressionOutcome]],
    names: Mapping[str, _Peer],
) -> dict[str, RegressionOutcome]:
    """The outcomes of the methods of others by the name of their column."""
    found = run.outcomes(run.load(what, make), names.values(), f": {what}")
    return {name: found[method] for name, method in names.items()}


def figure_1(run: PaperRun) -> Figure:
    """Figure 1: the probit model with hierarchical prior and latent variables."""
    nodes = {
        "gamma": Node("γ", 0.0, 2.5, "fixed"), "tau": Node("τⱼ", 1.6, 2.5), "beta": Node("βⱼ", 3.2, 2.5),
        "x": Node("xᵢ", 3.2, 0.0, "observed"), "z": Node("zᵢ", 5.0, 0.9), "y": Node("yᵢ", 6.6, 0.9, "observed"),
    }  # fmt: skip
    arrows = [("gamma", "tau"), ("tau", "beta"), ("beta", "z"), ("x", "z"), ("z", "y")]
    plates = [Plate("j = 1, …, d", 0.9, 1.8, 3.9, 3.1), Plate("i = 1, …, n", 2.5, -0.65, 7.3, 1.5)]
    svg = graphical_model(nodes, arrows, plates)
    description = "γ leads to τ, τ to β, β and x to z, and z to y"
    return Figure("1", "Probit model with hierarchical prior and latent variables.", svg, description=description)


def figure_2(run: PaperRun) -> Figure:
    """Figure 2: minimum, quartiles and maximum of F1 over the ten topics for each column of Table 1, and ours."""
    table = table_1(run)
    names = [*table.columns, "Sparse Bayes, ours"]
    printed = np.array(table.published[: len(TOPICS)], dtype=np.float64)
    columns = [*printed.T, np.array([row[-1] for row in table.ours[: len(TOPICS)]], dtype=np.float64)]
    with sketch(6.4, 3.8) as drawn:
        axes = drawn.axes
        boxes = axes.boxplot(columns, tick_labels=names, whis=(0, 100), widths=0.5, medianprops={"color": INK})
        for line in (part for kind in ("boxes", "whiskers", "caps") for part in boxes[kind]):
            line.set_color(SERIES[0])
        axes.set(ylabel="F1 over the ten topics")
        axes.grid(axis="y", color=LINE, linewidth=0.6)
        axes.tick_params(axis="x", labelsize=8)
    medians = ", ".join(f"{name} {np.median(column):.1f}" for name, column in zip(names, columns, strict=True))
    return Figure(
        "2",
        "Box plots of Table 1: minimum, quartiles and maximum of F1 over the ten topics.",
        drawn.svg,
        ("The first four boxes are of the published figures.",),
        f"Box plots of F1 with medians {medians}",
    )


def figure_3(run: PaperRun) -> Figure:
    """Figure 3: f(w) = d² ln Φ(w)/dw², negative everywhere, so the probit likelihood is log-concave."""
    w = np.linspace(-8.0, 8.0, 321)
    f = -make_link("probit").hessian(w, np.ones_like(w))
    with sketch(5.0, 3.2) as drawn:
        drawn.axes.plot(w, f, color=SERIES[0])
        drawn.axes.axhline(0.0, color=LINE, linewidth=0.8)
        drawn.axes.set(xlabel="w", ylabel="f(w)")
    caption = "The function f of the paper's appendix: (φ′Φ − φ²)/Φ², the second derivative of ln Φ."
    description = f"A curve that rises from −{-f[0]:.2f} at w = −8 to 0, and is negative everywhere"
    return Figure("3", caption, drawn.svg, description=description)


def table_2(run: PaperRun, choice: str = "") -> Table:
    """Table 2: raw and logarithmic term frequencies."""
    columns: Columns = {
        "Jeffreys raw TF": ("Jeffreys raw TF", JEFFREYS._replace(scheme="raw")),
        "Jeffreys log TF": ("Jeffreys", JEFFREYS),
        "Laplace γ = 10 raw TF": ("Laplace γ = 10 raw TF", laplace(10.0)._replace(scheme="raw")),
        "Laplace γ = 10 log TF": ("Laplace γ = 10", laplace(10.0)),
    }
    return _f1_table(run, choice, "2", "Role of the term frequency measure: F1.", columns)


def _by_prior(run: PaperRun) -> Columns:
    """The columns of Tables 3 and 4."""
    gammas = _QUICK_GAMMAS if run.quick else GAMMAS
    models = {"Jeffreys": JEFFREYS, **{f"Laplace γ = {g:g}": laplace(g) if g in gammas else None for g in GAMMAS}}
    return {name: (name, model) for name, model in models.items()}


def table_3(run: PaperRun, choice: str = "") -> Table:
    """Table 3: priors."""
    table = _f1_table(run, choice, "3", "Role of priors: F1.", _by_prior(run))
    notes = []
    for reading, power in (("γ", 1.0), ("√γ", 0.5)):
        gammas = _QUICK_GAMMAS if run.quick else GAMMAS
        models = {f"γ = {gamma:g}": RegressionModel("probit", "laplace", gamma**-power, exact=True) for gamma in gammas}
        found = _columns(run, _reuters(run, choice), models, ": the optimum")
        shown = ", ".join(f"{outcome.column[-1]:.1f} ({name})" for name, outcome in found.items())
        notes.append(f"Micro-average at the posterior mode itself, with Laplace rate {reading}: {shown}.")
    return table._replace(notes=tuple(notes))


class TextChoice(NamedTuple):
    """Choices of a run: how texts become words, which of equally good thresholds is taken, and words by which score."""

    text: TextRules = TextRules()
    cut: Cut = "strictest"
    score: str = "pearson"


CHOICES = {
    "as in the other tables": TextChoice(),
    _BODIES: TextChoice(TextRules(headline=False)),
    "stemmed (Porter)": TextChoice(TextRules(stemmer="porter")),
    "letters only": TextChoice(TextRules(pattern="[a-zA-Z]+")),
    "scikit-learn's stop list": TextChoice(TextRules(stop_words="english")),
    "loosest of equal thresholds": TextChoice(cut="loosest"),
    "threshold 0.5": TextChoice(cut="half"),
    "words by χ² (footnote 2)": TextChoice(score="chi2"),
    "words by Yule's Q (footnote 2)": TextChoice(score="yule_q"),
}
_CHOICE_MODELS = {"Jeffreys": JEFFREYS, "Laplace γ = 1": laplace(1.0), "Laplace γ = 10": laplace(10.0)}
_PRINTED = np.array([_F1[name] for name in _CHOICE_MODELS])


def table_3a(run: PaperRun) -> Table:
    """Table 3a: averages of three columns of Table 3 under every choice; the notes say how far single topics move."""
    n_topics, found = len(TOPICS), {}  # (n_models, topics and averages) of each choice
    for name, choice in list(CHOICES.items())[: 2 if run.quick else None]:
        models = {
            column: model._replace(cut=choice.cut, score=choice.score) for column, model in _CHOICE_MODELS.items()
        }
        outcomes = _columns(run, _reuters(run, name), models, f": {name}")
        found[name] = np.array([outcome.column for outcome in outcomes.values()])
    first = next(iter(found.values()))
    moves = [_distance(name, (columns - first)[:, :n_topics]) for name, columns in found.items()][1:]
    away = [_distance(name, (columns - _PRINTED)[:, :n_topics]) for name, columns in found.items()]
    return Table.by_row(
        "3a",
        "Not in the paper: averages of Table 3 under choices that it leaves open.",
        [f"{name} {average[:5]}" for name in _CHOICE_MODELS for average in AVERAGES],
        {name: columns[:, n_topics:].ravel().tolist() for name, columns in found.items()},
        dict.fromkeys(found, _PRINTED[:, n_topics:].ravel().tolist()),
        digits=1,
        notes=(
            f"F1 of a topic, points from the first row: {'; '.join(moves)}.",
            f"F1 of a topic, points from the published figures: {'; '.join(away)}.",
        ),
    )


def _distance(name: str, difference: FloatArray) -> str:
    away = np.abs(difference)
    model, topic = np.unravel_index(int(away.argmax()), away.shape)
    worst = f"{TOPICS[topic]}, {list(_CHOICE_MODELS)[model]}"
    return f"{name} {away.mean():.1f} on average, at most {away.max():.1f} ({worst})"


def table_4(run: PaperRun, choice: str = "") -> Table:
    """Table 4: parameters left; the Laplace cells are compared by rank correlation."""
    fits, columns, printed = _reuters(run, choice), _by_prior(run), PUBLISHED["sizes"]
    found = _columns(run, fits, {name: model for name, (_, model) in columns.items() if model is not None})
    ours = {name: list(map(float, outcome.sizes)) for name, outcome in found.items()}
    left, known = (np.array([of[name] for name in list(ours)[1:]]) for of in (ours, printed))
    away = np.nanmean(np.abs(left - known))
    notes = (
        f"Rank correlation (Spearman) over the {(~np.isnan(known)).sum()} Laplace cells run: "
        f"{rank_correlation(left, known):.3f}; mean absolute difference {away:.1f} parameters.",
        "The prior rate is γ; EM starts at least squares and ends at a relative change of "
        f"{fits.stop.tol:g}; parameters of at most {fits.stop.zero:g} count as zero (see Table 4a).",
    )
    caption = "Sparsity by prior: parameters left of 301 (300 words and the intercept)."
    return Table.by_column("4", caption, TOPICS, ours, printed, digits=0, notes=notes, mark=15.0)


def table_5(run: PaperRun, choice: str = "") -> Table:
    """Table 5: 300 words and 1,000."""
    many = [None if run.quick else model._replace(n_words=1000) for model in (JEFFREYS, laplace(10.0))]
    columns: Columns = {
        "Jeffreys 300": ("Jeffreys", JEFFREYS),
        "Jeffreys 1,000": ("Jeffreys 1,000", many[0]),
        "Laplace γ = 10, 300": ("Laplace γ = 10", laplace(10.0)),
        "Laplace γ = 10, 1,000": ("Laplace γ = 10, 1,000", many[1]),
    }
    return _f1_table(run, choice, "5", "Role of the number of features: F1.", columns)


def table_6(run: PaperRun, choice: str = "") -> Table:
    """Table 6: probit and logistic regression with sparse and other priors."""
    columns: Columns = {
        "Probit Gaussian": ("Probit Gaussian", RegressionModel("probit", "gaussian", 0.1)),
        "Probit Laplace": ("Laplace γ = 10", laplace(10.0)),
        "Logistic Gaussian": ("Logistic Gaussian", RegressionModel("logit", "gaussian", 0.1, scheme="tfidf")),
        "Logistic Laplace": ("Logistic Laplace", RegressionModel("logit", "laplace", 0.1, scheme="tfidf")),
    }
    note = "Gaussian variance 0.01, Laplace rate γ = 10; the logistic columns use log TF × IDF, as the paper's."
    return _f1_table(run, choice, "6", "Sparse and non-sparse binary regression: F1.", columns, note)


def _rcv1(run: PaperRun) -> Regressions:
    return run.load("RCV1-v2", lambda: Regressions(rcv1(1 if run.quick else None)))


def _rcv1_models() -> dict[str, RegressionModel]:
    probit = RegressionModel("probit", "laplace", 1.0 / _RCV1_GAMMA, scheme="tfidf")
    logistic = probit._replace(link="logit")
    many = logistic._replace(n_words=3000)
    return {
        "probit Jeffreys": probit._replace(prior="jeffreys", scale=1.0),
        "probit Laplace": probit,
        "probit Gaussian": probit._replace(prior="gaussian", scale=0.001**0.5),
        "logistic Laplace 300": logistic,
        "logistic Laplace 3,000": many,
        "logistic Gaussian 3,000": many._replace(prior="gaussian", scale=0.1),
    }


def _averages_table(run: PaperRun, number: str, caption: str, names: Sequence[str], *notes: str) -> Table:
    """Macro- and micro-average of RCV1-v2, the methods of others too unless ``quick``."""
    fits, models = _rcv1(run), _rcv1_models()
    collection = fits.collection
    note = (
        f"Not the full collection: {collection.train.shape[0]:,} training and {collection.test.shape[0]:,} test "
        f"documents of the public samples of RCV1-v2 and {len(collection.topics)} topics, against 23,149, 781,265 and "
        "101 in the paper. Counts are recovered from the distributed weights; log TF × IDF throughout, Laplace rate γ."
    )
    found = _columns(run, fits, {name: models[name] for name in names if name in models})
    if not run.quick and any(name in _RANKINGS for name in names):
        found |= _peers(run, "the methods of others on RCV1-v2", lambda: Rankings(collection), _RANKINGS)
    ours = {name: outcome.column[-2:] for name, outcome in found.items()}
    in_both = PUBLISHED["rcv1"] | PUBLISHED.get(f"rcv1, table {number}", {})
    printed = {name: in_both[name] for name in names}
    return Table.by_column(number, caption, AVERAGES, ours, printed, digits=1, notes=(note, *notes))


def table_7(run: PaperRun) -> Table:
    """Table 7: RCV1-v2 beside other methods."""
    names = ["SVM", "kNN", "Rocchio", "probit Jeffreys", "probit Laplace", "logistic Laplace 3,000"]
    cited = (
        "SVM, kNN and Rocchio are figures of Lewis et al. (2003), cited by the paper. Ours, on these samples: log TF × "
        "IDF of unit length; C = 1; 100 neighbours; 16 parts of the mean with the topic less 4 of the mean without; "
        "thresholds by SCutFBR.1 on five folds of the training documents, as theirs."
    )
    return _averages_table(run, "7", "RCV1-v2: sparse Bayes and other methods, F1.", names, cited)


def table_8(run: PaperRun) -> Table:
    """Table 8: RCV1-v2 by link and prior."""
    models, fits = _rcv1_models(), _rcv1(run)
    table = _averages_table(run, "8", "RCV1-v2: sparse and non-sparse binary regression, F1.", list(models))
    notes = list(table.notes)
    if MARKETS in fits.collection.topics:
        place = fits.collection.topics.index(MARKETS)
        without = [fits.outcome(model).f1("micro", but=place) for model in models.values()]
        listed = ", ".join(f"{float(value):.1f}" for value in without)
        notes.append(f"Micro-averages without {MARKETS}, in this order: {listed}.")
    if not run.quick:
        plain = {name: models[name]._replace(scheme="log") for name in ("probit Laplace", "probit Gaussian")}
        averages = {name: outcome.column[-2:] for name, outcome in _columns(run, fits, plain, ": log TF").items()}
        shown = [f"{name} macro {macro:.1f}, micro {micro:.1f}" for name, (macro, micro) in averages.items()]
        notes.append(f"With log TF and no IDF: {'; '.join(shown)}.")
    return table._replace(notes=tuple(notes))


EXHIBITS: dict[str, Exhibit] = {
    "figure 1": figure_1,
    "table 1": _also_bodies(table_1),
    "figure 2": figure_2,
    "table 2": _also_bodies(table_2),
    "table 3": _also_bodies(table_3),
    "table 3a": table_3a,
    "table 4": _also_bodies(table_4),
    "table 4a": lambda run: stopping_tables(_reuters(run), run),
    "table 5": _also_bodies(table_5),
    "table 6": _also_bodies(table_6),
    "table 7": table_7,
    "table 8": table_8,
    "figure 3": figure_3,
}
