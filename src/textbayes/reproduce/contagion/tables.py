"""The tables: goodness of fit (1) and errors, with intervals of what separates models from naive Bayes (2 and 3).

``quick``: two numbers of words to choose from, beside all words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from statistics import median
from typing import Final

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.lexical.burstiness import Burstiness, burstiness
from textbayes.reproduce.contagion import systems
from textbayes.reproduce.contagion.systems import (
    FEW,
    FIRST,
    HIERARCHIES,
    LEVELS,
    MODELS,
    QUICK_SIZES,
    SECOND,
    SELECTION,
    SIZES,
    ByConstants,
    ByWords,
    ClassDocuments,
    Constants,
    CrossValidation,
    FoldErrors,
    WordChoice,
    rank_words,
)
from textbayes.reproduce.experiment import Exhibit, PaperRun
from textbayes.reproduce.results import Cell, Table, mean_interval, published_figures

PUBLISHED: Final = published_figures("contagion")
_NAIVE, _OTHERS = MODELS[:2], MODELS[2:]
_COLUMNS: Final = (*PUBLISHED["models"], "Bernoulli")  # the last is a baseline that the paper names and does not print
OPINIONS_AND_AUTHORS: Final = ("Movie Reviews", "Federalist")
_OFTEN: Final = " in three of them or more"
_LEVEL: Final = 0.05
_N_FREQUENT, _N_TELLING = 50, 27
_LEAST: Final = 5  # occurrences from which on a word's fit is looked at: of one that occurs once, everything fits
# The words that Mosteller & Wallace (1964, § 3.6) used in their main study, in the forms that the papers have.
MARKERS: Final = (
    *("upon", "also", "an", "by", "of", "on", "there", "this", "to", "although", "both", "enough", "while", "whilst"),
    *("always", "though", "commonly", "consequently", "considerable", "according", "apt", "direction", "innovation"),
    *("language", "vigor", "kind", "matter", "particularly", "probability", "work"),
)
POOLS: Final = (
    f"{_N_FREQUENT} highest frequency words",
    f"{len(MARKERS)} markers of Mosteller & Wallace",
    f"{_N_TELLING} words by information gain",
)


def table_1(documents: ClassDocuments) -> Table:
    """Table 1: words of each pool, author by author, that a test at 5 % does not refuse."""
    authors = {name: np.flatnonzero(documents.y == number) for number, name in enumerate(documents.classes)}
    ours: dict[str, list[Cell]] = {}
    sizes: list[str] = []
    for pool, columns in pool_columns(documents).items():
        for name, rows in authors.items():
            found = goodness_of_fit(documents, rows, columns)
            tests = found.ks_poisson, found.ks_negative_binomial, found.fit_poisson, found.fit_negative_binomial
            shares = [100.0 * float((p > _LEVEL).mean()) if len(p) else None for p in tests]
            ours[f"{pool}, {name} ({len(rows)} papers)"] = shares
            sizes.append(str(len(found.words)))
    theirs = {
        f"{pool}, {who}": [100.0 * counts[place][0] / counts[place][1] for place in places]
        for pool, counts in PUBLISHED["table 1"].items()
        for who, places in {"Hannaford": (0, 2), "Reagan": (1, 3)}.items()
    }
    notes = (
        "The paper's rows are of Reagan's radio addresses, which are not public, ours of the Federalist papers. It "
        "prints numbers of words: here they are shares of the pool.",
        "Words of each of our rows, in this order: " + ", ".join(sizes) + f"; words with fewer than {_LEAST} "
        "occurrences in an author's papers are left out.",
        "The first two columns are the paper's two-sample Kolmogorov–Smirnov test, which is too kind to counts; the "
        "others are a bootstrap of the fitted model, which knows that counts are discrete and parameters fitted.",
    )
    caption = "Goodness of fit: per cent of the words of a pool that are not refused at 5 %."
    tests_run = ("Poisson, KS", "Neg-Bin, KS", "Poisson, bootstrap", "Neg-Bin, bootstrap")
    rows_ = (*ours, *theirs)
    return Table.by_row("1", caption, tests_run, ours, theirs, rows_, digits=0, notes=notes, mark=np.inf)


def pool_columns(documents: ClassDocuments) -> Mapping[str, IntArray]:
    """The columns of each pool's words."""
    totals = np.asarray(documents.X.sum(axis=0)).ravel()
    column = {str(word): place for place, word in enumerate(documents.words)}
    markers = np.array([column[word] for word in MARKERS if word in column], dtype=np.int64)
    frequent = np.argsort(-totals, kind="stable")[:_N_FREQUENT]
    telling = rank_words(documents, np.arange(len(documents.y)), "IG")[:_N_TELLING]
    return dict(zip(POOLS, (frequent, markers, telling), strict=True))


def goodness_of_fit(documents: ClassDocuments, rows: IntArray, columns: IntArray) -> Burstiness:
    """Test the fit of the words that these documents have often enough."""
    X = documents.X[rows]
    totals: FloatArray = np.asarray(X[:, columns].sum(axis=0)).ravel()
    return burstiness(X, documents.lengths[rows], words=np.sort(columns[totals >= _LEAST]))


def _documents(run: PaperRun, name: str) -> ClassDocuments:
    return run.load(name, systems.LOADERS[name])


def _by_words(run: PaperRun, name: str) -> ByWords:
    return ByWords(_documents(run, name))


def _by_constants(run: PaperRun, name: str) -> ByConstants:
    return ByConstants(_documents(run, name))


def _of_columns(errors: Mapping[str, float]) -> tuple[float, ...]:
    """Errors in the order of the columns, of naive Bayes the better."""
    return min(errors[name] for name in _NAIVE), *(errors[name] for name in _OTHERS)


def _errors(run: PaperRun, name: str, selection: str) -> tuple[ClassDocuments, FoldErrors]:
    """A public collection and the errors on it."""

    def read() -> CrossValidation:
        return CrossValidation(_documents(run, name), QUICK_SIZES if run.quick else SIZES)

    found = run.load(f"{name}, folds", read)
    return found.documents, run.outcome(found, selection, f", {name}, {selection}")


def _by_gain(run: PaperRun, names: Iterable[str]) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    """Rates and notes of those collections that are public, words by information gain."""
    ours, notes = {}, []
    for name in names:
        if name in systems.LOADERS:
            documents, errors = _errors(run, name, "IG")
            ours[name] = error_rates(errors)
            notes.append(f"{name}: {_counts(documents)}. {describe_errors(errors)}")
    return ours, notes


def table_2(run: PaperRun) -> Table:
    """Table 2: topics."""
    ours, notes = _by_gain(run, PUBLISHED["table 2"])
    caption = "Errors in per cent, words by information gain, by five-fold cross-validation; Dir-Pois is not in it."
    notes.append(PUBLISHED["not_public"])
    return Table.by_row("2", caption, _COLUMNS, ours, PUBLISHED["table 2"], digits=2, notes=tuple(notes))


def table_2a(run: PaperRun) -> Table:
    """Table 2a: the other reading of the first row."""
    ours, notes = _by_gain(run, ["Newsgroups, computers"])
    caption = "Not in the paper: the five groups about computers, the other reading of “5 classes”."
    return Table.by_row("2a", caption, _COLUMNS, ours, digits=2, notes=tuple(notes))


def table_3(run: PaperRun) -> Table:
    """Table 3: opinions and authors, words by two tests."""
    ours, notes = {}, []
    for name in OPINIONS_AND_AUTHORS:
        for selection in SELECTION:
            documents, errors = _errors(run, name, selection)
            ours[f"{name}, {selection}"] = error_rates(errors)
            data = f"{name}: {_counts(documents)}. " if selection == "IG" else ""
            notes.append(f"{data}{name}, by {selection}: {describe_errors(errors)}")
    theirs, notes = PUBLISHED["table 3"], [*notes, PUBLISHED["not_public"]]
    authors = [row for row in ours if row not in theirs]  # beside Reagan's, in whose place they stand
    rows = [*list(theirs)[:2], *authors, *list(theirs)[2:]]
    caption = (
        "Errors in per cent by five-fold cross-validation, words by information gain (IG) or Δ². The Federalist papers "
        "of Hamilton and Madison are our data in place of Reagan's addresses."
    )
    return Table.by_row("3", caption, _COLUMNS, ours, theirs, rows, digits=2, notes=tuple(notes))


def table_2b(run: PaperRun) -> Table:
    """Table 2b: errors by the number of words, to see with how few the published ones are met."""
    ours, notes = {}, []
    for name in ("Reuters", "Movie Reviews"):
        found = run.load(f"{name}, by words", partial(_by_words, run, name))
        sizes = [size for size in (FEW[::3] if run.quick else FEW) if size < found.documents.X.shape[1]]
        choices = {WordChoice("IG", size=size): f"{name}, {size:,} words" for size in sizes}
        for choice, chosen in run.outcomes(found, choices, f", {name}").items():
            ours[choices[choice]] = _of_columns(chosen.errors)
        naive = {choices[choice].partition(", ")[2]: ours[choices[choice]][0] for choice in choices}
        theirs = float((PUBLISHED["table 2"].get(name) or PUBLISHED["table 3"][f"{name}, IG"])[0])
        met = [size for size, error in naive.items() if error <= theirs]
        where = f"from {met[0]} on" if met else "with none of these numbers"
        notes.append(
            f"{name}: the published naive Bayes has {theirs:.2f} %; ours is at it or below it {where}, and has "
            f"{min(naive.values()):.2f} at best."
        )
    caption = "Not in the paper: errors in per cent by the number of words, by information gain; nothing is chosen."
    return Table.by_row("2b", caption, _COLUMNS, ours, digits=2, notes=tuple(notes))


def table_3a(run: PaperRun) -> Table:
    """Table 3a: how errors depend on the constants β, 20 sets of them for either hierarchy."""
    ours, notes = {}, []
    first, second = (FIRST[1::2], SECOND[1:3]) if run.quick else (FIRST, SECOND)
    for name in OPINIONS_AND_AUTHORS:
        found = run.load(f"{name}, by constants", partial(_by_constants, run, name))
        for model in HIERARCHIES:
            sets = [Constants(model, one, two) for one in first for two in second]
            errors = run.outcomes(found, sets, f", {name}, {model}")
            for one in first:
                ours[f"{name}, {model}, β₁ = {one:g}"] = [errors[Constants(model, one, two)] for two in second]
            low, high = min(errors.values()), max(errors.values())
            notes.append(f"{name}, {model}: from {low:.2f} to {high:.2f} over {len(sets)} sets of constants.")
    caption = (
        "Not printed in the paper (§ 3.2.3): errors in per cent by the constants β, the 1,000 words of highest "
        "information gain of each training part."
    )
    return Table.by_row("3a", caption, [f"β₂ = {two:g}" for two in second], ours, digits=2, notes=tuple(notes))


def table_3b(run: PaperRun) -> Table:
    """Table 3b: words by Δ² at several levels α, and as many by information gain."""
    ours = {}
    for name in OPINIONS_AND_AUTHORS:
        found = run.load(f"{name}, by words", partial(_by_words, run, name))
        choices = {}
        for level in LEVELS[1:3] if run.quick else LEVELS:
            choices[WordChoice("Δ²", level)] = f"{name}, Δ², α = {level:g}"
            choices[WordChoice("IG", level)] = f"{name}, as many by IG"
            choices[WordChoice("Δ²", level, "negative_binomial")] = f"{name}, Δ² of the Neg-Bin, α = {level:g}"
        for choice, chosen in run.outcomes(found, choices, f", {name}").items():
            label = choices[choice] if choice.by == "Δ²" else f"{choices[choice]} as at α = {choice.level:g}"
            ours[label] = (chosen.n_words, *_of_columns(chosen.errors))
    caption = (
        "Not printed in the paper (§ 5.2): errors in per cent with all words whose Δ² is significant at a false "
        "discovery rate of α (Benjamini–Hochberg), and with as many by information gain."
    )
    notes = (
        "Words: mean over the five training parts. P-values are exact given a word's total: binomial, for Poisson "
        "counts, or beta-binomial, for those of the Neg-Bin.",
    )
    return Table.by_row("3b", caption, ("words", *_COLUMNS), ours, digits=2, notes=notes)


EXHIBITS: Final[dict[str, Exhibit]] = {
    "table 1": lambda run: table_1(run.load("Federalist", systems.LOADERS["Federalist"])),
    "table 2": table_2,
    "table 2a": table_2a,
    "table 2b": table_2b,
    "table 3": table_3,
    "table 3a": table_3a,
    "table 3b": table_3b,
}


def better_naive(errors: FoldErrors) -> str:
    """Return the better of counts and TF-IDF; of equals the counts."""
    return min(_NAIVE, key=lambda name: int(errors.wrong[name].sum()))


def error_rates(errors: FoldErrors) -> tuple[float, ...]:
    """Return errors in per cent in the order of the published columns, and those of the Bernoulli model."""
    return _of_columns({name: 100.0 * float(wrong.mean()) for name, wrong in errors.wrong.items()})


def describe_errors(errors: FoldErrors) -> str:
    """Say which naive Bayes is better, by how much each model differs from it, and how many words were chosen."""
    naive = better_naive(errors)
    parts = []
    for name in _OTHERS:
        gaps = 100.0 * (errors.wrong[name].astype(np.float64) - errors.wrong[naive])
        by = mean_interval(gaps, quantile=1.96)
        parts.append(f"{name} " + f"{by.mean:+.2f} ({by.low:+.2f} to {by.high:+.2f})".replace("-", "−"))
    other = next(name for name in _NAIVE if name != naive)
    sizes = ", ".join(f"{name} {median(errors.sizes[name]):,.0f}" for name in (naive, *_OTHERS))
    beaten = 100.0 * float(errors.wrong[other].mean())
    return (
        f"{naive[0].upper()}{naive[1:]} ({other} has {beaten:.2f}). Points more than it, with 95 % intervals: "
        f"{'; '.join(parts)}. Words, median over folds: {sizes}."
    )


def _counts(documents: ClassDocuments) -> str:
    classes = ", ".join(
        f"{name} {count:,}" for name, count in zip(documents.classes, np.bincount(documents.y), strict=True)
    )
    held = ", ".join(f"{100.0 * share:.0f}" for share in shares_of_longest(documents))
    middle, longest = 1000.0 * float(np.median(documents.lengths)), 1000.0 * float(documents.lengths.max())
    rare = np.bincount(documents.X.indices, minlength=documents.X.shape[1]).min() < 3
    return (
        f"{len(documents.y):,} documents ({classes}), {documents.X.shape[1]:,} words{'' if rare else _OFTEN}; the "
        f"median has {middle:,.0f} words, the longest {longest:,.0f}; the longest one per cent holds {held} % of the "
        "text of each class"
    )


def shares_of_longest(documents: ClassDocuments) -> list[float]:
    """The share of each class's text that the longest one per cent of its documents holds, of one document at least."""
    shares = []
    for number in range(len(documents.classes)):
        lengths = np.sort(documents.lengths[documents.y == number])[::-1]
        shares.append(float(lengths[: max(1, len(lengths) // 100)].sum() / lengths.sum()))
    return shares
