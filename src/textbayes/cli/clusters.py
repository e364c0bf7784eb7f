"""``textbayes clusters``: texts grouped by their words, each in as many clusters as it is about."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes import store
from textbayes.cli.inputs import Inputs, input_options, require_documents
from textbayes.cli.options import (
    COUNT,
    TextChoices,
    mirrored,
    most_used,
    option,
    seed_option,
    signature_defaults,
    text_options,
    top_option,
)
from textbayes.cli.output import Output, check_output, console, make_table, output_options
from textbayes.cli.terminal import common_options, echo, note, waiting, warn
from textbayes.core.errors import InputError, plural
from textbayes.core.types import Document, FloatArray
from textbayes.display import shortened

if TYPE_CHECKING:
    from textbayes.models.clusters.estimator import SoftClusters

_SHOWN = 3  # memberships of a text that a table shows
_CLUSTERS = "textbayes.models.clusters.estimator:SoftClusters"


@cloup.command()
@most_used("n_clusters", "top", "target", "memberships", "use_labels", "text_field", "stop_words", "as_json")
@cloup.option_group(
    "Clusters",
    option(
        "-k",
        "--clusters",
        "n_clusters",
        type=COUNT,
        default=signature_defaults(_CLUSTERS)["n_clusters"],
        metavar="N",
        help="How many clusters; with --labels at least one for each label.",
    ),
    click.option(
        "--labels",
        "use_labels",
        is_flag=True,
        help="Labelled texts make the first clusters, one for each label; texts without a label join them.",
    ),
    mirrored(_CLUSTERS, "--starts", "n_init", type=COUNT, metavar="N", help="Searches; the best is kept."),
    mirrored(
        _CLUSTERS,
        "--model",
        "model",
        type=click.Choice(["poisson", "negative_binomial"]),
        help="Counts of words; with negative_binomial words come in bursts, and one burst makes no cluster.",
    ),
    seed_option("Of the searches' starts."),
)
@cloup.option_group(
    "Results",
    click.option("-o", "--output", "target", metavar="FILE", help="Write a model file, which classify reads."),
    click.option("--memberships", is_flag=True, help="Show how far each text belongs to which cluster, not the words."),
    top_option("Words per cluster.", 10),
    option(
        "--by",
        choices=["relevance", "rate"],
        default="relevance",
        help="Words that are frequent and typical first, or frequent ones.",
    ),
)
@text_options
@input_options(usual_part="train")
@output_options
@common_options
def clusters(
    inputs: Inputs,
    n_clusters: int,
    memberships: bool,
    use_labels: bool,
    top: int,
    by: str,
    n_init: int,
    model: str,
    seed: int,
    text: TextChoices,
    target: str | None,
    output: Output,
) -> None:
    """Group texts by their words.

    A text may belong to several clusters, each by a share; shares add up to one. Sizes are shares of all text, rates
    are occurrences per thousand words. Words are not stemmed unless --stemmer says so.

    \b
    textbayes clusters texts.jsonl -k 10
    textbayes clusters texts.jsonl -k 10 --memberships --csv > memberships.csv
    textbayes clusters some-labelled.jsonl --labels --memberships
    textbayes clusters texts.jsonl -k 10 -o clusters.tb
    textbayes classify clusters.tb new.jsonl
    """
    if use_labels and model != "poisson":
        raise click.UsageError(f"--labels needs --model poisson; leave --model {model} out.")
    if text.weighting is not None:
        raise click.UsageError("--weighting does not apply: clusters are made of counts.")
    from textbayes.models.clusters.estimator import SoftClusters
    from textbayes.text.surface import shown, surface_forms

    path = None if target is None else check_output(target)
    documents = list(inputs.documents())
    require_documents(documents, inputs)
    labels = _labels(documents, inputs) if use_labels else None
    vectorizer = text.vectorizer()
    if "stemmer" not in dict(text.changes):
        vectorizer.set_params(stemmer=None)
    with waiting("reading words"):
        counts = vectorizer.fit_transform([document.text for document in documents])
    with waiting(f"fitting {plural(n_clusters, 'cluster')} to {plural(len(documents), 'text')}"):
        found = _fit(counts, labels, SoftClusters(n_clusters, n_init=n_init, random_state=seed, n_jobs=-1, model=model))
        shares = found.transform(counts)
    order, names = _in_order(found)
    if path is not None:
        _save(path, found, vectorizer, counts, shares, order, names)
    if memberships:
        _show_memberships(documents, names, shares[:, order], output)
    else:
        forms = surface_forms([document.text for document in documents], vectorizer)
        words = found.top_words(top, [shown(name, forms) for name in vectorizer.get_feature_names_out()], by)
        _show_words(names, found.sizes_[order], shares[:, order], [words[k] for k in order], output)


def _fit(counts: Any, labels: list[str | None] | None, model: SoftClusters) -> SoftClusters:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below, in a sentence
        model.fit(counts, labels)
    if model.n_iter_ == model.max_iter:
        note(f"the search still gained after {model.max_iter} sweeps; what it found then is shown")
    return model


def _save(
    path: Path, model: SoftClusters, vectorizer: Any, counts: Any, shares: Any, order: list[int], names: list[str]
) -> None:
    from textbayes.categorizer.assemble import categorizer_of_clusters

    of_cluster = dict(zip(order, names, strict=True))
    in_order = [of_cluster[k] for k in range(len(names))]
    store.save_model(categorizer_of_clusters(model, vectorizer, counts, shares, in_order), path)
    note(f"{path}: a model of {plural(len(names), 'cluster')}")


def _labels(documents: list[Document], inputs: Inputs) -> list[str | None]:
    """The label of each text that has one; several, or none at all, are refused."""
    for number, document in enumerate(documents, start=1):
        if len(document.labels) > 1:
            raise InputError(
                f"{inputs.whereabouts(number, document)} has {len(document.labels)} labels; with --labels a text has "
                "one at most"
            )
    found = [document.labels[0] if document.labels else None for document in documents]
    known = sum(label is not None for label in found)
    if not known:
        raise InputError(
            f"no document of {inputs.name} has a label; name the field with --label-field, or leave --labels"
        )
    note(f"{known:,} of {len(found):,} texts are labelled")
    return found


def _in_order(model: SoftClusters) -> tuple[list[int], list[str]]:
    """Clusters as they are shown, and their names: labels, then numbers from 1 on, the largest cluster first."""
    n_classes = len(model.classes_)
    free = (n_classes + np.argsort(-model.sizes_[n_classes:], kind="stable")).tolist()
    names = [str(name) for name in model.classes_] + [str(number) for number in range(1, len(free) + 1)]
    return [*range(n_classes), *free], names


def _show_words(
    names: list[str], sizes: FloatArray, memberships: FloatArray, words: list[list[tuple[Any, float]]], output: Output
) -> None:
    texts = np.bincount(memberships.argmax(axis=1), minlength=len(names))
    rows: list[dict[str, Any]] = [
        {
            "cluster": name,
            "size": float(size),
            "texts": int(n_texts),
            "words": [word for word, _ in found],
            "rates": [round(rate, 4) for _, rate in found],
        }
        for name, size, n_texts, found in zip(names, sizes, texts, words, strict=True)
    ]
    if not output.is_table:
        output.write(rows, ["cluster", "size", "texts", "words", "rates"])
        return
    table = make_table("cluster", "size", "texts", "words", right=("size", "texts"))
    for row in rows:
        table.add_row(row["cluster"], f"{row['size']:.1%}", f"{row['texts']:,}", " ".join(row["words"]))
    console().print(table)
    echo("size: share of all text; texts: those whose largest share is in the cluster")
    if len(names) > 1 and np.count_nonzero(texts) == 1 and texts.sum() > 1:
        warn(
            "all texts are in one cluster: their words do not separate them. Try another number of clusters, longer "
            "texts, or labels of some texts (--labels)"
        )


def _show_memberships(documents: list[Document], names: list[str], memberships: FloatArray, output: Output) -> None:
    best = memberships.argmax(axis=1)
    if output.kind == "csv":
        flat = [
            {"id": document.id, "cluster": names[k], **dict(zip(names, np.round(row, 6).tolist(), strict=True))}
            for document, k, row in zip(documents, best, memberships, strict=True)
        ]
        output.write(flat, ["id", "cluster", *names])
    elif output.is_table:
        table, width = make_table("id", "text", "belongs to"), console().width // 3
        for document, row in zip(documents, memberships, strict=True):
            order = np.argsort(-row, kind="stable")[:_SHOWN]
            largest = ", ".join(f"{names[k]} {row[k]:.0%}" for k in order if row[k] >= 0.005)
            table.add_row(shortened(document.id, width // 2), shortened(document.text, width), largest)
        console().print(table)
    else:
        rows = (
            {
                "id": document.id,
                "cluster": names[k],
                "memberships": dict(zip(names, np.round(row, 6).tolist(), strict=True)),
            }
            for document, k, row in zip(documents, best, memberships, strict=True)
        )
        output.write(rows, ["id", "cluster", "memberships"])
