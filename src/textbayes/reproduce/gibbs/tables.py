"""Tables 1 and 2, Figure 1, and two tables of our own: other readings, and the probabilities.

``quick``: 3 of the 50 resamplings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.reproduce.experiment import Exhibit, PaperRun
from textbayes.reproduce.gibbs import systems
from textbayes.reproduce.gibbs.sampling import N_TOP, THRESHOLD, sample, top_words
from textbayes.reproduce.gibbs.systems import (
    DOMAINS,
    LONG,
    LOSSES,
    N_BESIDE,
    N_RESAMPLINGS,
    OURS,
    PARTS,
    SPBM,
    SVM,
    Division,
    DomainDocuments,
    Extent,
    Resamplings,
    Study,
    losses,
    monte_carlo,
    rates,
    run_by_all,
)
from textbayes.reproduce.render import INK, LINE, MUTED, SERIES, sketch
from textbayes.reproduce.results import Figure, Table, published_figures, standard_error

_N_QUICK = 3
_N_NAMED = 8  # words that are named in the drawing, and in the note on either side
_NAMES = ("sensitivity", "specificity")
_MARK = 0.1
READINGS = {
    SPBM: "SPBM: top 80, means of 800",
    "averaged": "top 80, averaged over draws",
    "refit": "top 80, refitted",
    "refit, averaged": "top 80, refitted and averaged",
    "all words": "all 800 words",
    "all words, averaged": "all 800 words, averaged",
    OURS: "ours: presence, 80 words refitted",
    f"{OURS}, averaged": "ours, averaged",
    SVM: "SVM: kernlab's defaults",
    "SVM, linear": "SVM, linear kernel",
    "SVM, every word": "SVM, every word",
    "SVM, every word, linear": "SVM, every word, linear kernel",
}
_DATA = (
    "OpenStax modules stand for Wikipedia articles and economics for art: levels need not be the published ones. The "
    "means over domains are ours to take, of the published figures too."
)


def _study(run: PaperRun) -> Study:
    """The resamplings that the wanted tables need.

    All readings, models and machines, which only Tables 2a and 2b show, are run for 10 of 50, or in ``quick`` runs for
    all 3.
    """
    n = _N_QUICK if run.quick else N_RESAMPLINGS
    n_beside = min(n, N_BESIDE) if run.wanted & {"table 2a", "table 2b"} else 0
    if not run.wanted & {"table 1", "table 2"}:
        n = n_beside
    found = run.load("resamplings", lambda: Resamplings(_documents(run), n, run.draws, run.iterations))
    extent = Extent(n_beside, n_beside)
    return run.outcome(found, extent, ", resamplings × domains")


def _documents(run: PaperRun) -> DomainDocuments:
    return run.load("OpenStax", systems.documents)


def rates_table(study: Study, part: int) -> Table:
    """Table 1 (``part`` 0) or 2: sensitivity and specificity of SPBM and SVM by domain, with standard errors."""
    number = f"table {part + 1}"
    printed: dict[str, Sequence[float]] = {}
    ours: dict[str, Sequence[float]] = {}
    for m, method in enumerate((SPBM, SVM)):
        values = rates(study, method, part)
        for i, name in enumerate(_NAMES):
            of_paper = published_figures("gibbs")[number][2 * m + i]
            printed[f"{method} {name}"] = (*of_paper, float(np.mean(of_paper)))
            columns = np.column_stack([values[:, :, i], values[:, :, i].mean(axis=1)])  # domains, and their mean
            ours[f"{method} {name}"] = columns.mean(axis=0).tolist()
            ours[f"{method} {name}, s.e."] = standard_error(columns).tolist()
    return Table.by_row(
        str(part + 1),
        f"Mean sensitivity and specificity over {_counted(study)}, {PARTS[part]} documents.",
        (*(name.replace("_", " ") for name in DOMAINS), "mean"),
        ours,
        printed,
        ours,
        digits=3,
        notes=(*comparison(study, part), *(sampling_notes(study) if part else ()), _DATA),
        mark=_MARK,
    )


def comparison(study: Study, part: int) -> tuple[str, ...]:
    """Differences of SPBM and SVM, with standard errors over the resamplings, and in how many domains."""
    gain = rates(study, SPBM, part) - rates(study, SVM, part)
    of_domain, of_mean = gain.mean(axis=0), gain.mean(axis=1)
    error = standard_error(of_mean)
    parts = []
    for i, name in enumerate(_NAMES):
        better, worse = (int((sign * of_domain[:, i] > 1e-12).sum()) for sign in (1.0, -1.0))
        by = f"{of_mean[:, i].mean():+.4f}" + ("" if np.isnan(error[i]) else f" (s.e. {error[i]:.4f})")
        parts.append(f"{name} {by}, higher in {better} domains, lower in {worse}")
    return ("SPBM − SVM: " + "; ".join(parts).replace("-", "−") + ".",)


def sampling_notes(study: Study) -> tuple[str, ...]:
    """Notes on the length of the chains, and on what it contributes to the standard errors."""
    fits = [one for row in study for one in row]
    ess, draws = [one.ess for one in fits], [one.n_draws for one in fits]
    length = (
        f"Draws kept of each posterior: {np.median(draws):.0f} in the median, {max(draws)} at most; smallest effective "
        f"sample size of a weight or predictor: {np.median(ess):.0f} in the median, {min(ess):.0f} at worst; largest "
        f"R-hat {max(one.r_hat for one in fits):.3f}. The paper kept 40,000 of 60,000 iterations."
    )
    sampler, total = monte_carlo(study)
    if np.isnan(total).any():
        return (length,)
    parts = [
        f"{name} {one:.5f} of {whole:.5f}, {100 * (one / whole) ** 2:.0f}% of the variance"
        for name, one, whole in zip(_NAMES, sampler, total, strict=True)
    ]
    return (length, "Monte Carlo error within the standard error of the mean over domains: " + "; ".join(parts) + ".")


def _counted(study: Study) -> str:
    return f"{len(study)} resampling{'s' * (len(study) != 1)}"


def readings_table(study: Study) -> Table:
    """Table 2a: other readings of how the top words classify, and other machines."""
    readings = dict(READINGS)
    if LONG in study[0][0].decided:
        readings[LONG] = "SPBM, one chain of the iterations asked for"
    study = run_by_all(study, readings)
    ours = {}
    for method, name in readings.items():
        train, test = (rates(study, method, part).mean(axis=1) for part in (0, 1))
        ours[name] = [*train.mean(axis=0).tolist(), *_with_errors(test)]
    columns = (
        *(f"training {name}" for name in _NAMES),
        *(f"test {name}{more}" for name in _NAMES for more in ("", ", s.e.")),
    )
    notes = (
        "The paper's sentence, “x the vector representing weights of the selected words … θ the associated posterior "
        "means of model parameters”, is read as the first row: means of the 800-word posterior, no second fit.",
        f"Ours accepts a document at a probability of {THRESHOLD:g}, all others at ½ or at a decision value of 0.",
        "kernlab scales columns unless one is constant in the training part; on every word it therefore scales none.",
    )
    caption = f"Other readings, {_counted(study)}, means over domains."
    return Table.by_row("2a", caption, columns, ours, digits=4, notes=notes)


def losses_table(study: Study) -> Table:
    """Table 2b: how good the probabilities are."""
    study = run_by_all(study, READINGS)
    ours = {
        name: _with_errors(np.array([losses(study, method, loss) for loss in LOSSES.values()]).T)
        for method, name in READINGS.items()
    }
    columns = tuple(f"{name}{more}" for name in LOSSES for more in ("", ", s.e."))
    notes = (
        "Lower is better. SVM's are Platt's probabilities by 3-fold cross-validation, as kernlab makes them.",
        "ECE: 10 bins of equal width, or of equally many decisions; the decisions of all domains pooled.",
    )
    return Table.by_row("2b", f"Test probabilities, {_counted(study)}.", columns, ours, digits=4, notes=notes)


def _with_errors(values: FloatArray) -> list[float]:
    """The mean of each column with its standard error behind it."""
    found: list[float] = np.column_stack([values.mean(axis=0), standard_error(values)]).ravel().tolist()
    return found


def figure_1(run: PaperRun) -> Figure:
    """Figure 1: posterior means of the 800 words of mathematics in the first division, in alphabetical order."""
    documents = _documents(run)
    division = Division.of(documents, positive=0, resampling=0)
    fit = sample(division.train, division.truth[0], division.random_state, run.draws)
    names = documents.words[division.words]
    order = np.argsort(names, kind="stable")
    return draw_means(fit.mean[order], names[order], DOMAINS[0])


def draw_means(mean: FloatArray, names: AnyArray, domain: str) -> Figure:
    """Draw posterior means: top words dark, the strongest of them by name."""
    top = top_words(mean)
    rest = np.setdiff1d(np.arange(len(mean)), top)
    with sketch(6.4, 3.8) as sketched:
        axes = sketched.axes
        axes.axhline(0.0, color=LINE, linewidth=0.8)
        axes.vlines(rest, 0.0, mean[rest], color=MUTED, linewidth=0.6, label="other words")
        axes.vlines(top, 0.0, mean[top], color=SERIES[0], linewidth=1.0, label=f"top {len(top)}")
        for word in top[:_N_NAMED]:
            up = mean[word] > 0.0
            axes.annotate(
                str(names[word]), (word, mean[word]), textcoords="offset points", xytext=(0, 2 if up else -8),
                ha="center", fontsize=7, color=INK,
            )  # fmt: skip
        axes.set(xlabel="word", ylabel="posterior mean of θ")
        axes.legend(frameon=False, fontsize=8)
    outer = np.abs(mean[top]).min() if len(top) else 0.0
    positive, negative = top[mean[top] > 0.0], top[mean[top] < 0.0]
    notes = (
        f"{domain}, first resampling: {len(positive)} of the top {min(N_TOP, len(mean))} words have positive weights, "
        f"{len(negative)} negative ones; the least of them has |θ̄| = {outer:.2f}, the median of the others is "
        f"{np.median(np.abs(mean[rest])) if len(rest) else 0.0:.2f}, and {np.count_nonzero(mean[rest] < 0.0)} of these "
        f"{len(rest)} have negative weights.",
        "Strongest for: " + ", ".join(map(str, names[positive[:_N_NAMED]])) + ". Strongest against: "
        + ", ".join(map(str, names[negative[:_N_NAMED]])) + ".",
        "The paper does not say which domain it shows; its axis is marked from −1 to 0.5.",
    )  # fmt: skip
    description = "Lines of middling length downwards for most words, few upwards, some of which are the longest."
    return Figure("1", f"Posterior means of θ, {domain}.", sketched.svg, notes, description)


EXHIBITS: dict[str, Exhibit] = {
    "figure 1": figure_1,
    "table 1": lambda run: rates_table(_study(run), 0),
    "table 2": lambda run: rates_table(_study(run), 1),
    "table 2a": lambda run: readings_table(_study(run)),
    "table 2b": lambda run: losses_table(_study(run)),
}
