"""``textbayes train``: labelled texts in, a model file out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import categorizer, store
from textbayes.cli.cluster import cluster_option, on_cluster, partitioned_inputs
from textbayes.cli.errors import INTERRUPTED
from textbayes.cli.inputs import Inputs, groups_of, input_options, more_texts, with_group_field
from textbayes.cli.labels import Labelling, label_options, label_tree_for, read_labelled
from textbayes.cli.model_options import ModelChoices, SamplingChoices, model_options, sampling_options
from textbayes.cli.options import (
    COUNT,
    SEED,
    CountOrCv,
    NameOption,
    RegistryName,
    RuleSpec,
    TextChoices,
    jobs_option,
    mirrored,
    most_used,
    text_options,
)
from textbayes.cli.output import Output, check_output, check_report_target, output_options
from textbayes.cli.terminal import common_options, echo, note, reporting

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer

_CATEGORIZER = "textbayes.categorizer.estimator:TextCategorizer"
_SCORES = RegistryName("textbayes.select:scores", "textbayes.select.score_functions")


@cloup.command()
@most_used(
    "target", "report", "cv_only", "models", "budget", "prior", "rule", "multi_label", "text_field", "label_field"
)
@click.option("-o", "--output", "target", metavar="FILE", help="Model file to write; needed without --cv-only.")
@click.option("--report", metavar="FILE", help="Write an HTML page about the cross-validated decisions as well.")
@click.option("--cv-only", is_flag=True, help="Cross-validate and print the figures; write no model.")
@label_options(learn=True)
@cloup.option_group(
    "Automatic choice, where no model is named",
    click.option(
        "--keep-partial",
        is_flag=True,
        help="On Ctrl-C, write a model of the members that are done; without it nothing is written.",
    ),
    mirrored(
        _CATEGORIZER,
        "--preset",
        "preset",
        type=click.Choice(["auto", "linear"]),
        help="auto: an ensemble over several views of the texts, weighted by cross-validation; linear: a sparse and a "
        "dense logistic regression on one view.",
    ),
    mirrored(
        _CATEGORIZER,
        "--budget",
        "budget",
        type=click.Choice(["quick", "normal", "thorough"]),
        help="How many models training tries.",
    ),
    click.option(
        "--unlabelled-texts",
        "unlabelled_texts",
        metavar="FILE",
        help="Further texts without labels to learn from, of the kind that the model is for; any labels in it are not "
        "read.",
    ),
    mirrored(
        _CATEGORIZER,
        "--embeddings",
        "embeddings",
        metavar="auto|off|NAME",
        help="Sentence vectors beside words: auto tries them on small data if textbayes[embeddings] is installed; NAME "
        "is a sentence-transformers model or its folder.",
    ),
    mirrored(
        _CATEGORIZER,
        "--encoder",
        "encoder",
        metavar="auto|off|FOLDER",
        help="A pretrained encoder fine-tuned beside words: auto tries the packaged one if textbayes[encoder] is "
        "installed and the budget allows it.",
    ),
)
@model_options
@cloup.option_group(
    "Words of each label",
    click.option("--select", cls=NameOption, type=_SCORES, help="Score by which each label chooses its words."),
    click.option(
        "--top-k",
        "select_k",
        type=CountOrCv(),
        help="Words per label at most, or cv: as many as predict held-out texts best; needs --select.",
    ),
    click.option("--select-threshold", type=float, help="Least score of a word; needs --select."),
    click.option("--refit-top", "refit_k", type=COUNT, help="Fit again with this many words of each label alone."),
    mirrored(
        _CATEGORIZER,
        "--refit-by",
        "refit_by",
        type=click.Choice(["mean", "sign", "inclusion"]),
        help="How words are ranked for it: size of the mean, sureness of the sign, chance of a weight that matters.",
    ),
    mirrored(
        _CATEGORIZER,
        "--refit/--no-refit",
        "refit",
        help="Fit again with these words, or keep their weights (means of the posterior, with gibbs) as they are.",
    ),
)
@sampling_options
@cloup.option_group(
    "Decisions and cross-validation",
    mirrored(
        _CATEGORIZER,
        "--pool",
        "pool",
        type=click.Choice(["shared", "label", "best"]),
        help="How several named models are combined: one weight for each; one for each and label; or for each label "
        "the model that fits held-out texts best.",
    ),
    mirrored(
        _CATEGORIZER, "--rule", "rule", cls=NameOption, type=RuleSpec(), help="How probabilities become decisions."
    ),
    mirrored(
        _CATEGORIZER,
        "--folds",
        "cv",
        type=click.IntRange(min=2),
        help="For held-out decisions; budget quick takes three at most, and of many texts some are held out.",
    ),
    click.option(  # the name is the reader's, so that its messages are put in words of this option
        "--group-field",
        "keep_fields",
        metavar="FIELD",
        help="Texts that are equal in this field are in one fold: no leaks.",
    ),
    click.option(
        "--per-label", is_flag=True, help="Show all labels and figures in tables and CSV (JSON always has them)."
    ),
    mirrored(_CATEGORIZER, "--seed", "random_state", type=SEED, help="Of folds and draws."),
    jobs_option,
    cluster_option,
)
@cloup.option_group(
    "Large inputs",
    click.option(
        "--out-of-core/--in-memory",
        "out_of_core",
        default=None,
        help="Whether words are kept in files and read from there; only if the input would not fit into memory, unless "
        "given.",
    ),
    click.option("--estimate", is_flag=True, help="Print the seconds, memory and disk it will need; train nothing."),
    mirrored(
        _CATEGORIZER,
        "--device",
        "device",
        type=click.Choice(["auto", "cpu", "cuda"]),
        help="Where regressions and encoders are fitted: auto takes a graphics card if there is one and much to fit; "
        "needs textbayes[gpu].",
    ),
)
@text_options
@input_options(usual_part="train", counts=True)
@output_options
@common_options
def train(
    inputs: Inputs,
    target: str | None,
    report: str | None,
    cv_only: bool,
    keep_partial: bool,
    per_label: bool,
    keep_fields: str | None,
    out_of_core: bool | None,
    estimate: bool,
    cluster: str | None,
    unlabelled_texts: str | None,
    labelling: Labelling,
    choices: ModelChoices,
    sampling: SamplingChoices,
    text: TextChoices,
    output: Output,
    **rest: Any,
) -> None:
    """Learn a model from labelled texts.

    Documents with exactly one label each make a model that gives one label; any others make one that gives none to
    several. Where fewer than a tenth of the texts lack the one label that the others have, they are left out with a
    warning; where more do, say what it means: --unlabelled learn, skip or keep. With learn, and with
    --unlabelled-texts FILE, texts without a label tell which words go together, which helps where few texts have one;
    held-out labelled texts decide whether this is used. Decision thresholds are chosen on held-out
    probabilities by cross-validation, which also gives the figures printed, on texts outside the training set of each
    fold; --cv-only gives these alone, for those with one file.

    Ctrl-C ends with status 130 and leaves the model file as it was. With --keep-partial, an automatic training that is
    interrupted in its cross-validation writes a model of the members that are done (the status is 130 all the same).

    \b
    textbayes train train.csv -o model.tb --report report.html
    textbayes train survey.xlsx --sheet 2024 -o model.tb
    textbayes train posts.csv --text-field post --label-field team -o model.tb
    textbayes train news/ -o model.tb        (a folder per label, a file per text)
    textbayes train --corpus bbc --cv-only
    textbayes train train.jsonl -o model.tb
    textbayes train posts.csv --group-field author --cv-only
    textbayes train some.csv -o model.tb --unlabelled learn
    textbayes train thirty.csv -o model.tb --unlabelled-texts thousands.csv
    textbayes train train.csv -o model.tb --model counts:model=poisson
    textbayes train counts.svm -o model.tb --reader-option vocabulary=words.txt
    textbayes train train.csv -o model.tb --model linear --model counts (ensemble)
    textbayes train train.csv -o model.tb --model svm --model online --pool best
    textbayes train huge.jsonl --estimate
    textbayes train huge.jsonl -o model.tb --preset linear --out-of-core
    textbayes train 'parts/*.parquet' --cluster tcp://host:8786 -o model.tb

    A decision rule may have parameters after a colon: fixed:threshold=0.3, max_f1:fbr=0.3,fallback=never,
    unsure:low=0.3,high=0.7. With auto the likelier class is taken, or for many labels a threshold per label.

    With --inference gibbs the whole posterior is sampled: intervals for every word, probabilities averaged over it.

    With --cluster labels, folds and chains are fitted by its workers. Files that are named by a pattern or an address
    (s3://…) are read by them and stay there: for documents that do not fit one machine, with linear or count models.
    """
    started = time.perf_counter()
    path = None if estimate else _target(target, cv_only)
    page = None if report is None else check_report_target(report)
    sampling.check(choices.samples)
    text.check_can_be_kept()
    model = _untrained(choices, sampling, text, **rest)
    from textbayes.categorizer.reading import language_of
    from textbayes.cli import figures, large_inputs, model_output

    if cluster is not None and out_of_core:
        raise click.UsageError("--out-of-core and --cluster are two ways with large inputs; choose one of them.")
    if unlabelled_texts is not None or labelling.unlabelled == "learn":
        _check_can_learn(model, cluster is not None or bool(out_of_core), estimate)
    inputs = with_group_field(inputs, keep_fields)
    from_disk = large_inputs.chosen_place(model, inputs, out_of_core if cluster is None else False)
    if estimate:
        large_inputs.print_estimate(model, inputs, labelling, from_disk, output)
        return
    executor = click.get_current_context().with_resource(on_cluster(cluster))
    partitioned = None if executor is None else partitioned_inputs(inputs, executor, report, keep_fields)
    if keep_partial:
        _check_has_parts(model, partitioned is not None)
    if rest["device"] == "cuda" and (from_disk or partitioned is not None):
        raise click.UsageError(
            "--device cuda is for texts in memory; leave it out, or leave out --out-of-core and --cluster."
        )
    if from_disk:
        if page is not None:
            raise click.UsageError("--report shows texts, which --out-of-core does not keep; leave out one of them.")
        given = large_inputs.fit_from_shards(model, inputs, labelling, keep_fields, text)
    else:
        given = read_labelled(partitioned or inputs, labelling)
        groups = groups_of(given.documents, keep_fields, inputs)
        if inputs.counted:
            text = text.of_counted_words()
        if text.changes and partitioned is None:
            model.vectorizer = text.vectorizer(language_of(given.texts))
        model.label_tree = label_tree_for(labelling, given.labels)
    unlabelled = [*given.unlabelled, *([] if unlabelled_texts is None else more_texts(inputs, unlabelled_texts))]

    folder = None
    if partitioned is not None:
        with reporting() as progress:
            partitioned.train(model, given, progress)
    elif choices.samples and not from_disk:
        folder = sampling.run_folder(given, _deciding(choices, text, {**rest, "group field": keep_fields}))
        try:
            with model_output.watching(folder) as watch:
                model.fit(given.texts, given.labels, sampling=watch, groups=groups)
        except KeyboardInterrupt:
            if folder is not None:
                note(f"the run is kept in {folder.path}; the same command goes on with it")
            raise
    elif not from_disk:
        with reporting() as progress:
            model.fit(
                given.texts,
                given.labels,
                progress=progress,
                groups=groups,
                keep_partial=keep_partial,
                unlabelled=unlabelled or None,
            )
    if path is not None:
        store.save_model(inputs.remembered_by(model), path)
    if folder is not None:
        folder.remove()  # only now: nothing is lost whatever happens before
        note(f"the run in {folder.path} is finished and was removed")
    summary = {"model": None if path is None else str(path), **model_output.summary_of(model, len(given.documents))}
    if not output.is_table:
        model_output.note_copies(model, len(given.documents))
    if page is not None:
        model_output.write_training_report(page, model, given, inputs.name, path)
        summary["report"] = str(page)
    partial = summary.get("partial")
    summary["seconds"] = round(time.perf_counter() - started, 2)
    if output.is_table:
        model_output.print_trained(model, given, inputs, path, page, per_label)
    elif output.kind == "json":
        output.write([summary], [])
    elif per_label:
        rows = [{"label": name} | row for name, row in model.held_out_["labels"].items()]
        output.write(rows, ["label", *figures.LABEL_COLUMNS])
    else:
        row = {name: value for name, value in summary.items() if name != "held_out"}
        row |= {f"held_out_{name}": value for name, value in figures.flat_figures(model.held_out_).items()}
        output.write([row], list(row))
    if partial:
        what = "the figures are those" if path is None else f"{path} is a model"
        echo(f"textbayes: interrupted; {what} of {partial} alone (--keep-partial)", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def _check_has_parts(model: TextCategorizer, partitioned: bool) -> None:
    """Refuse --keep-partial where no part of a training is a model."""
    from textbayes.categorizer.prepare import uses_auto

    if partitioned or not uses_auto(model):
        raise click.UsageError(
            "--keep-partial keeps members of an automatic training, and this is none; leave it out. Sampling "
            "(--inference gibbs) is kept with --checkpoint."
        )


def _check_can_learn(model: TextCategorizer, elsewhere: bool, estimate: bool) -> None:
    """Refuse unlabelled texts where no member of the training learns from them."""
    from textbayes.categorizer.prepare import uses_auto

    if not uses_auto(model):
        raise click.UsageError(
            "--unlabelled learn and --unlabelled-texts belong to automatic training; leave them out, or leave out "
            "--model and --preset."
        )
    if estimate or elsewhere:
        what = "--estimate" if estimate else "--out-of-core and --cluster"
        raise click.UsageError(
            f"--unlabelled learn and --unlabelled-texts need all texts in memory, and {what} cannot be combined with "
            "them; leave out one of them."
        )


def _target(target: str | None, cv_only: bool) -> Path | None:
    """Path of the model file; None if only figures are wanted."""
    if cv_only and target is not None:
        raise click.UsageError("--cv-only writes no model; leave out -o, or leave out --cv-only to have both.")
    if target is None and not cv_only:
        raise click.UsageError(
            "There is no file for the model: name it with -o, or pass --cv-only for the cross-validated figures alone."
        )
    return None if target is None else check_output(target)


def _deciding(choices: ModelChoices, text: TextChoices, rest: dict[str, Any]) -> dict[str, Any]:
    """All that decides what is drawn, by name; how decisions are made and how many threads there are does not."""
    said = {**vars(choices), **dict(text.changes), "weighting": text.weighting}
    del said["prior"]  # a path, or standard input; the model knows what was read there
    return said | {name: value for name, value in rest.items() if name not in ("rule", "n_jobs", "device")}


def _untrained(
    choices: ModelChoices, sampling: SamplingChoices, text: TextChoices, **rest: Any
) -> categorizer.TextCategorizer:
    if (rest["select_k"] is not None or rest["select_threshold"] is not None) and rest["select"] is None:
        raise click.UsageError("--top-k and --select-threshold choose words by a score; name it with --select as well.")
    if rest["select"] is not None and rest["select_k"] is None and rest["select_threshold"] is None:
        raise click.UsageError("--select needs --top-k or --select-threshold to choose words by.")
    vectorizer = text.vectorizer() if text.changes else None
    rest["n_jobs"] = rest["n_jobs"] or -1
    members, settings = choices.members(), choices.settings()
    if choices.samples and members is not None:
        members, settings = sampling.classifiers(members, rest["random_state"]), settings | sampling.settings()
    return categorizer.TextCategorizer(vectorizer, text.weighting, model=members, **settings, **rest)
