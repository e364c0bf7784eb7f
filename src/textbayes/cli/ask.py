"""``textbayes ask``: of texts without a label those to label next, written back with a column to fill in."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import cloup

from textbayes import store
from textbayes.cli.errors import typed_again
from textbayes.cli.inputs import Inputs, input_options, is_model, require_documents
from textbayes.cli.labels import Labelling, label_options, read_descriptions
from textbayes.cli.options import COUNT, FloatRange, mirrored, most_used, option, seed_option
from textbayes.cli.output import (
    Output,
    ResultColumns,
    check_output,
    console,
    kind_by_ending,
    make_table,
    open_results,
    output_options,
)
from textbayes.cli.terminal import common_options, echo, note, waiting
from textbayes.core.errors import InputError, TextBayesError, plural
from textbayes.core.types import Document
from textbayes.data.documents import guess_from_name, relabel
from textbayes.data.layout import Columns
from textbayes.data.layout import Layout as SourceLayout

if TYPE_CHECKING:
    from textbayes.categorizer.suggest import LabellingSession, Suggestion
    from textbayes.evaluate.intervals import Growth, Share

_SESSION = "textbayes.categorizer.suggest:LabellingSession"
_ASKED = "asked"  # the column that says why a text was asked about
_AT_RANDOM = "random"
_WITH_COLUMNS = ("csv", "tsv", "xlsx", "parquet", "jsonl")
_AHEAD = (50, 100, 200)
_WHY = {
    "random": "at random",
    "typical": "typical of many",
    "clusters": "uncertain, different",
    "information": "informative: {score:.2f} bits",
    "error": "fewer errors expected",
    "margin": "uncertain",
    "entropy": "uncertain: {score:.2f} bits",
}


class _Source(NamedTuple):
    """A file that was read: its documents, and how it is laid out."""

    inputs: Inputs
    documents: list[Document]


@cloup.command()
@most_used("number", "target", "strategy", "random_share", "multi_label", "text_field", "label_field", "as_json")
@cloup.option_group(
    "Questions",
    option("-n", "--number", type=COUNT, default=10, metavar="N", help="How many texts to ask about."),
    click.option(
        "-o",
        "--output",
        "target",
        metavar="FILE",
        help="Write their rows, with an empty column for the label: .csv, .tsv, .jsonl or .xlsx, by its ending.",
    ),
    mirrored(
        _SESSION,
        "--strategy",
        "strategy",
        type=click.Choice(["clusters", "information", "error", "margin", "entropy", "random"]),
        help="clusters: uncertain texts, typical of others but unlike one another; information: the most bits expected "
        "of the model's weights; error: the fewest errors expected afterwards; margin, entropy: the most uncertain.",
    ),
    mirrored(
        _SESSION,
        "--random-share",
        "random_share",
        type=FloatRange(0.0, 1.0),
        metavar="SHARE",
        help="Share of the texts drawn at random, by which figures stay right for all texts.",
    ),
    click.option("--growth", is_flag=True, help="Print how accuracy is expected to grow with more labels; no texts."),
    seed_option("Of the draws."),
)
@cloup.option_group(
    "What is known of labels",
    click.option(
        "--no-labels", "unlabelled", is_flag=True, help="No text has a label yet, whatever columns are there."
    ),
    click.option(
        "--labels",
        "names",
        metavar="A,B,C",
        help="Names of labels; their words give guesses before any text has a label.",
    ),
    click.option(
        "--descriptions",
        "described_by",
        metavar="FILE",
        help="Table with the columns label and description, whose words give guesses likewise; or a SKOS vocabulary "
        "(RDF/XML), with --labels those of its concepts alone.",
    ),
    option("--language", default="en", metavar="CODE", help="Of the names and definitions of a SKOS vocabulary."),
)
@label_options("multi_label", "missing")
@input_options(usual_part="train", duplicates="keep", metavar="[MODEL] FILE...")
@output_options
@common_options
def ask(
    inputs: Inputs,
    number: int,
    target: str | None,
    strategy: str,
    random_share: float,
    growth: bool,
    seed: int,
    unlabelled: bool,
    names: str | None,
    described_by: str | None,
    language: str,
    labelling: Labelling,
    output: Output,
) -> None:
    """List the texts whose labels would help the model most.

    Files hold texts with a label and texts without one, together or each in their own; texts without a label are those
    to choose from. With no label yet, texts typical of many others come first; --labels or --descriptions give first
    guesses, with the words that led to them, and answers soon outweigh these. With a model file in front, texts are
    chosen by that model's guesses. Copies of a labelled text, and texts unlike all others, are never chosen.

    With -o the chosen rows are written as they were read, with an empty column for the label and a column "asked".
    Fill in the labels, and give the file to train together with the others. The column "asked" should stay: texts that
    were asked for are not typical, so that figures are computed with weights. A text asked for stands for itself, one
    drawn at random for all that had no label at the time. Labelled texts without "asked" count as drawn at random.

    \b
    textbayes ask labelled.csv new.csv
    textbayes ask labelled.csv new.csv -n 20 -o to-label.csv
    textbayes train labelled.csv to-label.csv -o model.tb
    textbayes ask model.tb new.csv --strategy information
    textbayes ask labelled.csv to-label.csv new.csv --growth
    textbayes ask new.csv --labels politics,sport,business
    """
    path, written = None, output
    if target is not None:
        written = replace(output, kind=kind_by_ending(target))
        path = check_output(target)
        _refuse_filled_in(target, inputs)
    model, inputs = _model_of(inputs)
    descriptions = _descriptions(names, described_by, language)
    sources = _sources(inputs, labelling, None if model is None else model.columns_)
    documents = [document for source in sources for document in source.documents]
    require_documents(documents, inputs)
    if model is None and not unlabelled and not descriptions:
        _refuse_hidden_labels(sources)
    multi_label = _is_multi_label(documents, labelling) if model is None else model.label_space_.kind == "multilabel"
    labels = _labels(sources, multi_label)
    if None not in labels:
        raise InputError(f"every text of {inputs.name} has a label; name a file of texts without one as well")
    _tell(labels, descriptions, model is not None)
    from textbayes.categorizer.suggest import LabellingSession

    drawn = [document.fields.get(_ASKED, "").strip() in ("", _AT_RANDOM) for document in documents]
    with waiting(f"reading the words of {plural(len(documents), 'text')}"):
        session = LabellingSession(
            [document.text for document in documents],
            labels,
            multi_label=multi_label,
            drawn=drawn,
            strategy=strategy,  # type: ignore[arg-type]  # one of the choices
            random_share=random_share,
            seed=seed,
            model=model,
            descriptions=descriptions or None,
        )
        if descriptions and session.proba is None:
            note("no text has a word of the labels' names or descriptions, so that there are no guesses yet")
        share, grown = (session.share_right(), session.growth(_AHEAD)) if model is None else (None, None)
    if growth:
        _show_growth(session, share, grown, output)
        return
    found = session.suggest(number)
    if path is not None:
        _write(path, written, found, documents, sources, inputs)
    if output.is_table:
        _show(found, documents, sources, with_words=bool(descriptions))
        if model is None:
            _print_growth(session, share, grown)
    elif path is None:
        rows = [_row(one, documents[one.index]) for one in found]
        lists = ("guess", "words")
        output.write(
            [row | {name: _joined(row[name]) for name in lists} for row in rows] if output.kind == "csv" else rows, _ROW
        )


def _refuse_filled_in(target: str, inputs: Inputs) -> None:
    """Refuse to replace questions of an earlier round that have been answered."""
    earlier = replace(inputs, paths=(target,), corpus=None, layout=SourceLayout()).keeping_fields()
    answered = 0
    if os.path.isfile(target):
        with contextlib.suppress(TextBayesError):  # it is no such file
            answered = sum(_ASKED in one.fields and bool(one.labels) for one in earlier.documents(count=False))
    if not answered:
        return
    stem, ending = os.path.splitext(target)
    other = next(name for n in itertools.count(2) if not os.path.exists(name := f"{stem}-{n}{ending}"))
    error = InputError(
        f"{target} has {plural(answered, 'label')} that you filled in, and would be replaced; learn from it and write "
        "the next questions to another file:"
    )
    error.add_note(f"  {typed_again(target, instead={target: other})}")
    raise error


_ROW = ("id", "text", "guess", "probability", "words", _ASKED, "score")


def _descriptions(names: str | None, file: str | None, language: str) -> dict[str, str]:
    """Labels that are told of, by name alone or with a description."""
    found = {} if names is None else {name.strip(): "" for name in names.split(",") if name.strip()}
    if names is not None and not found:
        raise click.UsageError("--labels names no label; give names with commas between them, such as sport,politics.")
    return found if file is None else found | read_descriptions(file, language, list(found))


def _model_of(inputs: Inputs) -> tuple[Any, Inputs]:
    """The model that comes first, if one does, and the other files."""
    models = [file for file in inputs.paths if is_model(file)]
    if not models:
        return None, inputs
    others = tuple(file for file in inputs.paths if file not in models)
    if len(models) > 1 or not others:
        raise InputError("give one model file at most, and a file of texts to choose from")
    with waiting(f"loading {models[0]}"):
        return store.load_categorizer(models[0]), replace(inputs, paths=others)


def _sources(inputs: Inputs, labelling: Labelling, columns: Mapping[str, Any] | None) -> list[_Source]:
    """The files, each by itself; later ones are read by the columns of the first that has any."""
    if inputs.corpus is not None:
        return [_Source(inputs, list(inputs.documents()))]
    expected = None if columns is None else Columns.from_state(columns)
    missing = labelling.as_trained(expected).missing
    found: list[_Source] = []
    for file in inputs.paths:
        own = replace(inputs, paths=(file,), layout=SourceLayout(expected, inputs.layout.say))
        if found and expected is not None:  # where labels are is known now, and need not be in every file
            own = replace(own, options=tuple(one for one in own.options if one[0] != "label_field"))
        if (inputs.format or guess_from_name(Path(file))) in _WITH_COLUMNS:
            own = own.keeping_fields()
        documents = [relabel(document, {}, missing) if missing else document for document in own.documents()]
        found.append(_Source(own, documents))
        expected = expected or own.columns()
    return found


def _refuse_hidden_labels(sources: Sequence[_Source]) -> None:
    """Refuse files without a column of labels where another column may be it: few values, which repeat."""
    if any(_label_column(source) or "label_field" in dict(source.inputs.options) for source in sources):
        return
    for source in sources:
        found = source.inputs.layout.found
        taken = {_ASKED} if found is None else {_ASKED, found.id, *found.text}
        for name in source.documents[0].fields if source.documents else ():
            values = [value for one in source.documents if (value := one.fields.get(name, "").strip())]
            if name not in taken and 2 <= len(set(values)) <= len(values) / 2:
                raise source.inputs.hidden_label(name)


def _is_multi_label(documents: Sequence[Document], labelling: Labelling) -> bool:
    several = any(len(document.labels) > 1 for document in documents)
    if several and labelling.multi_label is False:
        document = next(document for document in documents if len(document.labels) > 1)
        raise InputError(f"document {document.id!r} has {len(document.labels)} labels; leave --single-label out")
    return several if labelling.multi_label is None else labelling.multi_label


def _labels(sources: Sequence[_Source], multi_label: bool) -> list[Any]:
    """The label or labels of each text, None where it has none; where labels are many an empty list is an answer."""
    found: list[Any] = []
    for _, documents in sources:
        some = any(document.labels for document in documents)
        for document in documents:
            if document.labels:
                found.append(document.labels if multi_label else document.labels[0])
            else:
                found.append(() if multi_label and some and not document.lacks_label else None)
    return found


def _tell(labels: Sequence[Any], descriptions: Mapping[str, str], with_model: bool) -> None:
    known = sum(label is not None for label in labels)
    note(f"{known:,} of {plural(len(labels), 'text')} labelled; asking about the others")
    if not known and not with_model:
        said = "guesses are by the words of names and descriptions; " if descriptions else ""
        note(f"without any label, {said}texts typical of many others are chosen")


def _row(one: Suggestion, document: Document) -> dict[str, Any]:
    guess = None if one.guess is None else list(one.guess)
    text = " ".join(document.text.split())
    values = (document.id, text, guess, one.probability, list(one.words), one.reason, one.score)
    return dict(zip(_ROW, values, strict=True))


def _joined(guess: Sequence[str] | None) -> str:
    return "" if guess is None else "; ".join(guess)


def _write(
    path: Path,
    output: Output,
    found: Sequence[Suggestion],
    documents: Sequence[Document],
    sources: Sequence[_Source],
    inputs: Inputs,
) -> None:
    """The rows as they were read, with a place for the label."""
    of = {id(document): source for source in sources for document in source.documents}
    label = next((names[0] for source in sources if (names := _label_column(source))), "label")
    chosen = [documents[one.index] for one in found]
    bare = not any(document.fields for document in chosen)
    extra = ["id", "text"] if bare else []
    lacking = [] if any(label in document.fields for document in chosen) else [label]
    layout = ResultColumns.of(chosen, [*extra, *lacking, "guess", "guess_probability", "guess_words"])
    columns = [*layout.columns, *([] if _ASKED in layout.columns else [_ASKED])]
    rows = []
    for one, document in zip(found, chosen, strict=True):
        probability = None if one.probability is None else float(f"{one.probability:.3g}")
        own = {"id": document.id, "text": document.text, label: None, "guess": _joined(one.guess)}
        words = ", ".join(one.words)
        row = layout.row(document, own | {"guess_probability": probability, "guess_words": words})
        row[_ASKED] = one.reason
        names = _label_column(of[id(document)])
        row |= dict.fromkeys(names)
        rows.append(
            row if output.kind == "json" else {name: "" if row.get(name) is None else row[name] for name in row}
        )
    with open_results(path, output, of[id(chosen[0])].inputs if chosen else inputs) as write:
        write(rows, columns)
    note(f"fill in the column {label!r} of {path}, and give it to train with the other files")


def _label_column(source: _Source) -> tuple[str, ...]:
    found = source.inputs.layout.found
    return () if found is None else found.label


def _show(
    found: Sequence[Suggestion], documents: Sequence[Document], sources: Sequence[_Source], with_words: bool
) -> None:
    from textbayes.display import shortened

    layouts = [source.inputs.layout.found for source in sources]
    place = "no." if all(one is not None and one.is_numbered for one in layouts) else "id"
    reason = "words" if with_words else "why"
    table, screen = make_table(place, "text", "guess", "p", reason, right=("p",)), console()
    for one in found:
        document = documents[one.index]
        guess = "–" if one.guess is None else ", ".join(one.guess) or "none of the labels"
        words = shortened(", ".join(one.words[:3]), screen.width // 4)
        table.add_row(
            shortened(document.id, screen.width // 4),
            shortened(document.text, screen.width // (5 if with_words else 3)),
            shortened(guess, screen.width // 5),
            "" if one.probability is None else f"{one.probability:.2f}",
            words if with_words else _WHY[one.reason].format(score=one.score),
        )
    screen.print(table)
    if place == "no.":
        echo("no.: number of the text in its file, not counting the header row")


def _print_growth(session: LabellingSession, share: Share | None, grown: Growth | None) -> None:
    if share is None or grown is None:
        echo(
            "Estimates of the accuracy, now and with more labels, need 20 labels, 10 of them of texts drawn at random."
        )
        return
    what = "Labels in common" if session.multi_label else "Accuracy"
    echo(f"{what} {share.value:.2f}, 95% interval {share.low:.2f} to {share.high:.2f}, estimated for all texts")
    if not grown.can_be_told:
        low, more = float(grown.low[-1]), int(grown.sizes[-1]) - len(session.labelled)
        echo(f"Too few labels to forecast growth: with {more:,} more it may be anything from {low:.2f} up.")
        return
    ahead = [
        f"{size - len(session.labelled):,} more labels {value:.2f} ({low:.2f} to {high:.2f})"
        for size, value, low, high in zip(grown.sizes.tolist(), grown.share, grown.low, grown.high, strict=True)
    ]
    echo(f"Expected with {', '.join(ahead)}; in brackets a 95% band")
    if grown.enough is None:
        echo("More labels still help: another 100 may add a point or more, as far as the curve can be extrapolated.")
    else:
        enough = max(grown.enough, len(session.labelled))
        echo(f"From about {enough:,} labels on, another 100 add less than a point (95% sure).")
    echo(
        "These figures are of one linear model, cross-validated with weights; train combines several models and is "
        "usually better."
    )


def _show_growth(session: LabellingSession, share: Share | None, grown: Growth | None, output: Output) -> None:
    if output.is_table:
        _print_growth(session, share, grown)
        return
    rows = [] if share is None else [{"labels": len(session.labelled), **share._asdict()}]
    if grown is not None:
        ends = zip(grown.sizes.tolist(), grown.share.tolist(), grown.low.tolist(), grown.high.tolist(), strict=True)
        rows += [dict(zip(("labels", "value", "low", "high"), row, strict=True)) for row in ends]
    output.write(rows, ("labels", "value", "low", "high"))
