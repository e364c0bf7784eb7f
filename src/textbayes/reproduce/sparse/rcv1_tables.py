"""Tables 7 and 8: RCV1-v2."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from textbayes.reproduce.results import Table
from textbayes.reproduce.sparse.columns import Runner, transposed
from textbayes.reproduce.sparse.corpora import MARKETS
from textbayes.reproduce.sparse.experiment import Experiment, Model
from textbayes.reproduce.sparse.published import AVERAGES, RCV1

_GAMMA = 25.0


def rcv1_tables(experiment: Experiment, wanted: Collection[str], quick: bool, runner: Runner) -> Iterator[Table]:
    """Tables 7 and 8, on as much of RCV1-v2 as there is."""
    probit = Model("probit", "laplace", 1.0 / _GAMMA, scheme="tfidf")
    logistic = probit._replace(link="logit")
    many = logistic._replace(n_words=3000)
    models = {
        "probit Jeffreys": probit._replace(prior="jeffreys", scale=1.0),
        "probit Laplace": probit,
        "probit Gaussian": probit._replace(prior="gaussian", scale=0.001**0.5),
        "logistic Laplace 300": logistic,
        "logistic Laplace 3,000": many,
        "logistic Gaussian 3,000": many._replace(prior="gaussian", scale=0.1),
    }
    collection = experiment.collection
    note = (
        f"Not the full collection: {collection.train.shape[0]:,} training and {collection.test.shape[0]:,} test "
        f"documents of the public samples of RCV1-v2 and {len(collection.topics)} topics, against 23,149, 781,265 and "
        "101 in the paper. Counts are recovered from the distributed weights; log TF × IDF throughout, Laplace rate γ."
    )
    if "table 7" in wanted:
        names = ["SVM", "kNN", "Rocchio", "probit Jeffreys", "probit Laplace", "logistic Laplace 3,000"]
        cited = "SVM, kNN and Rocchio are figures of Lewis et al. (2003), cited by the paper and not run here."
        caption = "RCV1-v2: sparse Bayes and other methods, F1."
        yield _averages_table("7", caption, names, models, experiment, runner, [note, cited])
    if "table 8" in wanted:
        caption = "RCV1-v2: sparse and non-sparse binary regression, F1."
        table = _averages_table("8", caption, list(models), models, experiment, runner, [note])
        if MARKETS in collection.topics:
            place = collection.topics.index(MARKETS)
            without = [experiment.outcome(model).f1("micro", but=place) for model in models.values()]
            listed = ", ".join(f"{float(value):.1f}" for value in without)
            table = table._replace(notes=(*table.notes, f"Micro-averages without {MARKETS}, in this order: {listed}."))
        if not quick:
            plain = [probit._replace(scheme="log"), models["probit Gaussian"]._replace(scheme="log")]
            found = runner.outcomes("table 8: log TF", experiment, plain)
            shown = [f"macro {column[-2]:.1f}, micro {column[-1]:.1f}" for column in found]
            more = f"With log TF and no IDF: probit Laplace {shown[0]}; probit Gaussian {shown[1]}."
            table = table._replace(notes=(*table.notes, more))
        yield table


def _averages_table(
    number: str,
    caption: str,
    names: Sequence[str],
    models: dict[str, Model],
    experiment: Experiment,
    runner: Runner,
    notes: Sequence[str],
) -> Table:
    found = runner.outcomes(f"table {number}", experiment, [models.get(name) for name in names])
    return Table(
        number=number,
        caption=caption,
        rows=AVERAGES,
        columns=tuple(names),
        published=transposed([RCV1[name] for name in names]),
        ours=transposed([column[-2:] for column in found]),
        digits=1,
        notes=tuple(notes),
    )
