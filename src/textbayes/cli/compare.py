"""``textbayes compare`` and ``textbayes link``: tests of whether systems, or link functions, differ."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import cloup

from textbayes import store, tune
from textbayes.cli.answers import Labels, SeenTexts, aligned, batches, class_names, read_decisions
from textbayes.cli.inputs import Inputs, input_options, require_documents
from textbayes.cli.labels import Labelling, label_options, no_label, read_labelled
from textbayes.cli.options import (
    COUNT,
    FloatRange,
    NameOption,
    RegistryName,
    TextChoices,
    jobs_option,
    mirrored,
    most_used,
    option,
    seed_option,
    text_options,
)
from textbayes.cli.output import Output, output_options
from textbayes.cli.terminal import common_options, echo, note, waiting
from textbayes.core.errors import InputError, did_you_mean_path, plural
from textbayes.core.folds import stratified_folds

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.evaluate import Comparison
    from textbayes.tune import LinkReport

_TESTS = ("s", "S", "mcnemar", "bootstrap_micro", "bootstrap_macro")
_COLUMNS = (
    "test", "first", "second", "difference", "low", "high", "n", "unit", "statistic", "p_value", "symbol",
)  # fmt: skip


@cloup.command()
@most_used("tests", "paths", "two_sided", "n_resamples", "label_field", "corpus", "as_json")
@click.argument("systems", nargs=-1, required=True, metavar="[NAME=]MODEL|DECISIONS...")
@cloup.option_group(
    "Tests",
    click.option(
        "--test",
        "tests",
        type=click.Choice(_TESTS),
        multiple=True,
        default=_TESTS[:4],
        help="Test to make; may be given several times. Without it all but bootstrap_macro.",
    ),
    click.option("--two-sided", is_flag=True, help="Two-sided sign tests, not one-sided as in Yang & Liu (1999)."),
    mirrored("textbayes.evaluate.compare:compare", "--resamples", "n_resamples", type=COUNT, help="Of the bootstrap."),
    mirrored(
        "textbayes.evaluate.compare:compare",
        "--rope",
        "rope",
        type=FloatRange(0, 1, max_open=True),
        help="Difference in accuracy that counts as practically none, in its posterior.",
    ),
    seed_option("Of the bootstrap."),
)
@label_options("multi_label")
@input_options(usual_part="test", source="--truth", counts=True)
@output_options
@common_options
def compare(systems: tuple[str, ...], inputs: Inputs, labelling: Labelling, output: Output, **choices: Any) -> None:
    """Test whether two systems differ significantly.

    Systems are model files, or decisions as `textbayes classify --json` writes them, in any mixture; --truth names
    the labelled documents. For each pair and test: the difference, its 95% interval, on how much they differ, P, and
    ≫ or > for better, ≪ or < for worse, ~ for no difference found; and how probable it is that either is better by more
    than --rope, or that they are practically equal. The tests: s (sign test over all decisions), S (sign
    test over the F1 of the labels), mcnemar (documents with all labels right), bootstrap_micro and bootstrap_macro
    (paired bootstrap of F1 over documents). All labels count that the truth, a decision or a model has: one that a
    system never gives is missed by it.

    A decision is counted once. Where each document has exactly one label and no system gives it several, a document is
    one decision; else every label of every document is (--multi-label and --single-label settle it).

    \b
    textbayes compare laplace.tb gaussian.tb --truth test.jsonl
    textbayes compare ours=a.jsonl theirs=b.jsonl --truth test.csv --test mcnemar
    """
    from textbayes.evaluate import compare as make_tests

    truth, decided, labels = _decisions(_named(systems), inputs)
    with waiting(f"testing {plural(len(decided), 'system')} on {plural(len(truth), 'document')}"):
        comparison = make_tests(
            decided,
            truth,
            dict.fromkeys(choices["tests"]),
            label_names=labels,
            kind=_kind(labelling.multi_label, len(labels)),
            alternative="two-sided" if choices["two_sided"] else "observed",
            n_resamples=choices["n_resamples"],
            rope=choices["rope"],
            random_state=choices["seed"],
        )
    if output.is_table:
        echo(comparison.to_text())
    elif output.kind == "json":
        output.write([_summary(comparison)], [])
    else:
        output.write(comparison.to_rows(), _COLUMNS)


def _named(systems: tuple[str, ...]) -> dict[str, str]:
    """Path of each system by its name: the one given, or the file's name without its ending where that is unique."""
    given = [("", system) if os.path.exists(system) else _split(system) for system in systems]
    stems = [name or Path(path).stem for name, path in given]
    names = [stem if stems.count(stem) == 1 else path for stem, (_, path) in zip(stems, given, strict=True)]
    if len(set(names)) < len(names):
        raise click.UsageError("A system was named twice; give each its own name: NAME=FILE.")
    if len(names) < 2:
        raise click.UsageError("One system was named; name two or more to compare.")
    return {name: path for name, (_, path) in zip(names, given, strict=True)}


def _split(system: str) -> tuple[str, str]:
    name, equals, path = system.partition("=")
    if not os.path.exists(path if equals else name):
        lacking = path if equals else name
        raise InputError(f"there is no file {lacking}{did_you_mean_path(lacking) or '; check the path'}")
    return name, path


def _decisions(paths: dict[str, str], inputs: Inputs) -> tuple[list[Labels], dict[str, list[Labels]], list[str]]:
    """True labels, decisions of each system on the same documents, and all labels that occur or could."""

    models = {name: store.load_categorizer(path) for name, path in paths.items() if zipfile.is_zipfile(path)}
    files = {name: read_decisions(path) for name, path in paths.items() if name not in models}
    decided: dict[str, list[Labels]] = {name: [] for name in paths}
    seen = {name: SeenTexts(model, name) for name, model in models.items()}
    ids: list[str] = []
    truth: list[Labels] = []
    for model in models.values():
        inputs = inputs.of_model(model)
    for batch in batches(inputs.documents()):
        ids += [document.id for document in batch]
        truth += [_with_labels_above(document.labels, models.values()) for document in batch]
        for name, model in models.items():
            decided[name] += model.predict_labels([document.text for document in batch])
            seen[name].add(batch)
    require_documents(ids, inputs)
    if not any(truth):
        raise no_label(inputs)
    for texts in seen.values():
        texts.warn(len(ids))
    for name, found in files.items():
        decided[name] = aligned(found, ids, paths[name], inputs.name)
    known = {label for model in models.values() for label in class_names(model)}
    return truth, decided, sorted(known.union(*truth, *(row for rows in decided.values() for row in rows)))


def _with_labels_above(labels: Labels, models: Iterable[TextCategorizer]) -> Labels:
    """Labels with those above them in the trees of models."""
    for tree in (model.model_.label_tree for model in models):
        labels = labels if tree is None else tree.complete(labels)
    return labels


def _kind(multi_label: bool | None, n_labels: int) -> Literal["auto", "binary", "multiclass", "multilabel"]:
    if multi_label is None:
        return "auto"
    return "multilabel" if multi_label else "binary" if n_labels == 2 else "multiclass"


def _summary(comparison: Comparison) -> dict[str, Any]:
    exclusive = comparison.kind != "multilabel"
    return {
        "n_docs": comparison.n_docs,
        "n_labels": len(comparison.winners),
        "kind": comparison.kind,
        "systems": {
            name: {
                "accuracy" if exclusive else "subset_accuracy": comparison.accuracy[name],
                "micro_f1": comparison.micro_f1[name],
                "macro_f1": comparison.macro_f1[name],
                "labels_won": comparison.labels_won(name),
            }
            for name in comparison.systems
        },
        "tests": comparison.to_rows(),
        "rope": comparison.rope,
        "posteriors": [
            {"first": first, "second": second, **posterior._asdict()}
            for (first, second), posterior in comparison.posteriors.items()
        ],
        "notes": list(comparison.notes),
    }


_REPORT = "textbayes.tune.links:link_report"


@cloup.command()
@most_used("family", "scales", "cv", "text_field", "label_field", "corpus", "as_json")
@label_options()
@cloup.option_group(
    "Comparison",
    option(
        "--family",
        cls=NameOption,
        type=RegistryName("textbayes.priors:priors"),
        default="laplace",
        help="Family of the words' priors.",
    ),
    option("--scales", type=COUNT, default=5, help="Prior scales to try."),
    mirrored(_REPORT, "--folds", "cv", type=click.IntRange(min=2), help="Of cross-validation."),
    jobs_option,
    seed_option("Of the folds.", "random_state"),
)
@text_options
@input_options(usual_part="train")
@output_options
@common_options
def link(
    inputs: Inputs,
    labelling: Labelling,
    family: str,
    text: TextChoices,
    n_jobs: int | None,
    output: Output,
    **search: Any,
) -> None:
    """Compare link functions: heavy tails, asymmetry.

    Compares logit, probit, Student-t and skewed Student-t links on held-out texts, each with the best scale of its
    prior, and the best degrees of freedom and skewness, found on the other folds. Verdicts rest on paired tests. Takes
    minutes on a thousand texts: every link is cross-validated at every scale.

    Every label is a yes-or-no question of its own here (of two classes the second), and the log-loss is that of its
    decisions.

    \b
    textbayes link train.jsonl
    textbayes train train.csv --link skew_t:df=1,skew=1.5 --family laplace -o m.tb
    """
    given = read_labelled(inputs, labelling)
    from textbayes.core.labels import encode_labels
    from textbayes.text.copies import copies_in_words, find_copies, text_sketches

    vectorizer = text.vectorizer()
    X = text.term_weighting().fit_transform(vectorizer.fit_transform(given.texts))
    note(f"comparing links on {plural(X.shape[0], 'text')} and {plural(X.shape[1], 'word')}")
    copies = find_copies(text_sketches(given.texts, vectorizer))
    if message := copies_in_words(copies.numbers(), len(given.texts)):
        note(message)
        n_folds = min(search["cv"], len(given.texts))
        positive, _ = encode_labels(given.labels)
        search["cv"] = stratified_folds(positive, n_folds, search["random_state"], copies=copies.first)
    with waiting("cross-validating links and scales"):
        report = tune.link_report(X, given.labels, prior=family, n_jobs=n_jobs or -1, **search)
    rows = _rows(report)
    names = {"label": "label", "links": "links", "chosen": "chosen"}
    output.write_table(rows, list(rows[0]), names | {"log-loss per decision": "log_loss:.5f", "F1": "f1:.4f"})
    for verdict in report.verdicts():
        (echo if output.is_table else note)(verdict)


def _rows(report: LinkReport) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "links": family,
            "chosen": report.links[i][j],
            "scale": float(report.scale[i, j]),
            "log_loss": float(report.log_loss[i, j]),
            "log_loss_per": "decision",
            "f1": float(report.f1[i, j]),
        }
        for j, label in enumerate(report.labels)
        for i, family in enumerate(report.families)
    ]
