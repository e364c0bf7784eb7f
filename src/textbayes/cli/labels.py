"""Labelled documents for training and measuring: one label each or many, as the documents say or as the user does.

Where every labelled text has exactly one label the task is to give one label. A text or two without any do not change
that: fewer than a tenth of the texts are left out with a warning that names them, more are refused until the user says
what they mean. Texts with several labels, or with an explicit list of none, make the task multi-label.
"""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import click
import cloup

from textbayes.cli.errors import offers
from textbayes.cli.inputs import Inputs, require_documents
from textbayes.cli.options import option
from textbayes.cli.terminal import note, warn
from textbayes.core.errors import InputError, plural
from textbayes.core.types import Document
from textbayes.data import open_documents, read_parents
from textbayes.data.documents import examine_labels, merge_case, relabel
from textbayes.data.layout import Columns
from textbayes.data.skos import described, is_vocabulary, read_concepts
from textbayes.decide import LabelTree

Unlabelled = Literal["learn", "skip", "keep"]


@dataclass(frozen=True)
class Labelling:
    """Options on labels; the defaults leave them to the documents."""

    multi_label: bool | None = None
    unlabelled: Unlabelled | None = None
    merge_case: bool = False
    missing: frozenset[str] = frozenset()  # in small letters
    min_texts: int = 1
    label_tree: str | None = None

    def as_trained(self, columns: Columns | None) -> Labelling:
        """The same, with the labels that meant none in the training texts, whose columns are given."""
        return self if columns is None else replace(self, missing=self.missing | {*columns.missing_label})


_OPTIONS = {
    "multi_label": click.option(
        "--multi-label/--single-label",
        "multi_label",
        default=None,
        help="Whether a document has any number of labels, or exactly one; by their labels if not given.",
    ),
    "unlabelled": option(
        "--unlabelled",
        choices=["skip", "keep"],
        help="Texts without a label: leave them out, or keep them as texts of none of the labels (multi-label).",
    ),
    "learn": option(
        "--unlabelled",
        "unlabelled",
        choices=["learn", "skip", "keep"],
        help="Texts without a label: learn from them which words go together (automatic choice only), leave them out, "
        "or keep them as texts of none of the labels (multi-label).",
    ),
    "merge_case": click.option(
        "--merge-case", is_flag=True, help="Labels that differ by letter case only are one, spelt as most texts do."
    ),
    "missing": click.option(
        "--missing-label", "missing", multiple=True, metavar="TEXT", help="A label that means there is none: N/A, …"
    ),
    "min_texts": option(
        "--min-texts",
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Leave out labels that fewer texts have.",
    ),
    "label_tree": click.option(
        "--label-tree",
        metavar="FILE",
        help="Labels above others: a table with the columns child and parent, or a SKOS vocabulary. Texts get the "
        "labels above theirs too, and all answers of the model agree with the tree.",
    ),
}


def label_options(*names: str, learn: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options on labels, all of them or those named; the command is given them as ``labelling``.

    Parameters
    ----------
    *names : str
    learn : bool
        Whether the command can learn from texts without a label.
    """
    chosen = names or tuple(name for name in _OPTIONS if name != "learn" and (learn or name != "label_tree"))
    shown = ["learn" if learn and name == "unlabelled" else name for name in chosen]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:
            values = {name: given.pop(name) for name in chosen}
            if values.get("multi_label") is False and values.get("unlabelled") == "keep":
                raise click.UsageError(
                    "--single-label and --unlabelled keep contradict each other: a text without a label has none of "
                    "them, so that labels are many (--multi-label). Leave one out, or take --unlabelled skip."
                )
            if values.get("multi_label") is False and values.get("label_tree") is not None:
                raise click.UsageError(
                    "--single-label and --label-tree contradict each other: a text with a label has those above it "
                    "too. Leave one out."
                )
            if "missing" in values:
                values["missing"] = frozenset(text.strip().casefold() for text in values["missing"])
            return function(*args, labelling=Labelling(**values), **given)

        return cloup.option_group("Labels", *(_OPTIONS[name] for name in shown))(command)

    return decorate


_MOST = 6  # labels named in a summary
_EXAMPLES = 3


def summarise(counts: Mapping[str, int], n_docs: int, total: int | None = None) -> None:
    """Say how many texts have which label, the most frequent ones by name; ``total`` where these are some of more."""
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    shown = len(ranked) if len(ranked) <= _MOST + 1 else _MOST  # "and 1 more" takes as long as naming it
    listed = ", ".join(f"{repr(label) if ',' in label else label} {counts[label]:,}" for label in ranked[:shown])
    texts = plural(n_docs, "text") if total in (None, n_docs) else f"a sample of {n_docs:,} of {plural(total, 'text')}"
    note(f"{texts}, {plural(len(ranked), 'label')}: {listed}{_more(len(ranked) - shown)}")


def name_oddities(counts: Mapping[str, int], separated: bool) -> tuple[str, ...]:
    """Warn of labels that may not mean what they say, and give the warnings.

    Parameters
    ----------
    counts : mapping of label to number of texts
    separated : bool
        Whether the user has said how several labels are written.
    """
    found, told = examine_labels(counts), []
    if found.case_twins:
        pairs = [" ~ ".join(f"{label!r} ({counts[label]:,})" for label in twins) for twins in found.case_twins]
        told.append(f"labels differ by letter case only: {_listed(pairs)}; make them one with --merge-case")
    if found.missing_words:
        options = " ".join(_missing_options(found.missing_words))
        named = _listed([f"{label!r} ({counts[label]:,})" for label in found.missing_words])
        treated = "is treated as a label" if len(found.missing_words) == 1 else "are treated as labels"
        told.append(f"{named} {treated}; if that means a missing label, use {options}")
    for mark, labels in found.unsplit.items() if not separated else ():
        named = _listed([f"{label!r} ({counts[label]:,})" for label in labels])
        told.append(f"several labels seem to be in one: {named}; split them with --label-separator {shlex.quote(mark)}")
    slips = {one: other for one, other in found.slips.items() if one not in chain(*found.case_twins)}
    if slips:
        pairs = [f"{one!r} (1) for {other!r} ({counts[other]:,})" for one, other in slips.items()]
        told.append(f"labels that may be misspelt: {_listed(pairs)}; if so, correct the file")
    for sentence in told:
        warn(sentence)
    before = set(chain(*found.case_twins, found.missing_words, *found.unsplit.values(), slips))  # named once is enough
    lone = [label for label in found.lone if label not in before]
    if lone:
        word = "labels have one text only" if len(lone) > 1 else "label has one text only"
        named = _listed([repr(label) for label in lone])
        note(f"{len(lone):,} {word}: {named}{_how_to_leave_out()}")
    return tuple(told)


def _how_to_leave_out() -> str:
    """The option of the command at hand that leaves rare labels out."""
    if offers("min_texts"):
        return "; leave such labels out with --min-texts 2"
    return "; --topic names the labels to filter for" if offers("topics") else ""


def remedies(unknown: Mapping[str, int], known: Sequence[str]) -> str:
    """The options that would make known labels, or none, of unknown ones; empty if there are none."""
    found = examine_labels(unknown)
    spelt = {name.casefold() for name in known}
    options = ["--merge-case"] if any(label.casefold() in spelt for label in unknown) else []
    options += _missing_options(found.missing_words)
    return f"; see {' and '.join(options)}" if options else ""


def name_documents(documents: Sequence[Document]) -> str:
    """Name the first few documents by id."""
    shown = ", ".join(repr(document.id) for document in documents[:_EXAMPLES])
    return f"{'id' if len(documents) == 1 else 'ids'} {shown}{_more(len(documents) - _EXAMPLES)}"


def _missing_options(labels: Sequence[str]) -> list[str]:
    once = {label.casefold(): label for label in reversed(labels)}  # the option is blind to case
    return [f"--missing-label {shlex.quote(label)}" for label in reversed(once.values())]


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:_EXAMPLES]) + _more(len(items) - _EXAMPLES)


def _more(number: int) -> str:
    return f" and {number:,} more" if number > 0 else ""


_FEW = 0.1  # share of texts without a label below which they are left out unasked


@dataclass(frozen=True)
class LabelledTexts:
    """Documents, and their labels as estimators take them: a string each, or a tuple each.

    ``left_out`` says in words how many were left out, and why. ``unlabelled`` are texts to learn from without a label.
    """

    documents: list[Document]
    labels: list[str] | list[tuple[str, ...]]
    left_out: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()  # warnings of labels that may not mean what they say

    @property
    def texts(self) -> list[str]:
        return [document.text for document in self.documents]

    @property
    def ids(self) -> list[str]:
        return [document.id for document in self.documents]


def read_labelled(
    inputs: Inputs, labelling: Labelling, documents: list[Document] | None = None, total: int | None = None
) -> LabelledTexts:
    """Read all documents that have what the task needs; what was found and what was left out is said on stderr.

    Parameters
    ----------
    inputs : Inputs
    labelling : Labelling
    documents : list of Document, optional
        Those of the inputs, where they have been read before.
    total : int, optional
        How many the inputs have, where these are a sample.
    """
    documents = _read(inputs, labelling, documents)
    if not any(document.labels for document in documents):
        raise no_label(inputs)
    multi_label = _task(documents, labelling, separated="label_separator" in dict(inputs.options))
    if not multi_label:
        _refuse_several(documents, inputs)
    bare = [document for document in documents if not document.labels]
    left_out: list[str] = []
    unlabelled: list[Document] = []
    if labelling.unlabelled == "learn":  # of many labels, a list that is there and empty says that none applies
        unlabelled = [document for document in bare if document.lacks_label or not multi_label]
        documents = [
            document for document in documents if document.labels or (multi_label and not document.lacks_label)
        ]
        note(f"{_counted(len(unlabelled))} of {inputs.name} without a label to learn from")
    elif bare and (labelling.unlabelled == "skip" or not multi_label):
        documents = _without(bare, documents, inputs, labelling)
        left_out.append(f"{_counted(len(bare))} without a label")
    if labelling.min_texts > 1:
        remaining = _without_rare(documents, labelling.min_texts, multi_label)
        if len(remaining) < len(documents):
            rare = f"of labels with fewer than {_counted(labelling.min_texts)}"
            left_out.append(f"{_counted(len(documents) - len(remaining))} {rare}")
        documents = remaining
    oddities = _describe(documents, inputs, total)
    labels: list[Any] = [document.labels if multi_label else document.labels[0] for document in documents]
    return LabelledTexts(documents, labels, tuple(left_out), tuple(document.text for document in unlabelled), oddities)


def label_tree_for(labelling: Labelling, labels: Iterable[Iterable[str]]) -> dict[str, tuple[str, ...]] | None:
    """The label tree that a model of these labels is given, as its parameter; None without one.

    A vocabulary has more labels than a model, and rare ones may have been left out: those of the texts are taken.
    """
    if labelling.label_tree is None:
        return None
    tree = LabelTree(read_parents(labelling.label_tree))
    if labelling.min_texts > 1 or is_vocabulary(labelling.label_tree):
        tree = tree.among({name for own in labels for name in own})
    return tree.parents


def read_topics(inputs: Inputs, labelling: Labelling) -> list[Document]:
    """Read all documents, whatever labels they have: a text without any is relevant to none."""
    documents = _read(inputs, labelling)
    _describe(documents, inputs)
    return documents


def read_truth(
    inputs: Inputs, labelling: Labelling, names: list[str], multi_label: bool, tree: LabelTree | None = None
) -> Iterator[Document]:
    """Read documents to measure a model on, one by one; texts without a label are left out where each must have one.

    Parameters
    ----------
    inputs : Inputs
    labelling : Labelling
    names : list of str
        The labels that the model knows: with ``merge_case`` others are spelt as it spells them.
    multi_label : bool
    tree : LabelTree, optional
        That of the model: texts have the labels above theirs too.
    """
    labelling = labelling.as_trained(inputs.layout.expected)
    spelling = {name.casefold(): name for name in names} if labelling.merge_case else {}
    known = set(names)
    labelled, skipped = False, []
    for number, document in enumerate(inputs.documents(), start=1):
        other = {label: spelling.get(label.casefold(), label) for label in document.labels if label not in known}
        read = relabel(document, other, labelling.missing)
        read = read if tree is None else read._replace(labels=tree.complete(read.labels))
        labelled = labelled or bool(read.labels)
        if not read.labels and (labelling.unlabelled == "skip" or (labelling.unlabelled is None and not multi_label)):
            skipped.append(read._replace(text=""))  # named below; its text is not needed any more
            continue
        if not multi_label and len(read.labels) != 1:
            raise _not_one_label(read, number, inputs)
        yield read
    if not labelled:
        raise no_label(inputs)
    if skipped:
        tell = note if labelling.unlabelled == "skip" else warn
        tell(f"{_counted(len(skipped))} of {inputs.name} without a label left out ({name_documents(skipped)})")


def no_label(inputs: Inputs) -> InputError:
    """The refusal of documents of which none is labelled."""
    message = f"no document of {inputs.name} has a label; name the column that holds it with --label-field"
    if offers("unlabelled_texts") and inputs.paths:
        ask = shlex.join(["textbayes", "ask", *inputs.paths])
        message += f", or if none has one yet, see with `{ask}` which to label first"
    return inputs.without_label(InputError(message))


def _not_one_label(document: Document, number: int, inputs: Inputs) -> InputError:
    """The refusal of a document with none or several labels."""
    found = f"{len(document.labels)} labels ({', '.join(document.labels)})" if document.labels else "no label"
    return InputError(
        f"{inputs.whereabouts(number, document)} has {found} where exactly one is needed; correct it, or train "
        "with --multi-label"
    )


def _refuse_several(documents: list[Document], inputs: Inputs) -> None:
    for number, document in enumerate(documents, start=1):
        if len(document.labels) > 1:
            raise _not_one_label(document, number, inputs)


def _read(inputs: Inputs, labelling: Labelling, documents: list[Document] | None = None) -> list[Document]:
    documents = list(inputs.documents()) if documents is None else documents
    require_documents(documents, inputs)
    labelling = labelling.as_trained(inputs.layout.expected)
    if labelling.missing:
        if inputs.layout.found is not None:  # for the model to remember
            inputs.layout.add(missing_label=tuple(sorted(labelling.missing)))
        documents = [relabel(document, {}, labelling.missing) for document in documents]
    if labelling.merge_case and (names := merge_case(_counts(documents))):
        documents = [relabel(document, names) for document in documents]
        note(f"{_counted(len(names), 'label')} merged into others that differ by letter case only")
    if labelling.label_tree is not None:
        tree, before = LabelTree(read_parents(labelling.label_tree)), sum(len(one.labels) for one in documents)
        documents = [one._replace(labels=tree.complete(one.labels)) if one.labels else one for one in documents]
        note(
            f"{sum(len(one.labels) for one in documents) - before:,} labels above others added ({labelling.label_tree})"
        )
    return documents


def _task(documents: list[Document], labelling: Labelling, separated: bool) -> bool:
    """Whether documents may have any number of labels; those of an empty place have none where several may be there."""
    if labelling.multi_label is not None:
        return labelling.multi_label
    none = sum(not document.labels for document in documents)
    several = sum(len(document.labels) > 1 for document in documents)
    lacking = sum(document.lacks_label for document in documents)
    usual = none if separated and labelling.unlabelled is None else none - lacking
    meant = {"skip": 0, "keep": none}.get(labelling.unlabelled or "", usual)  # to have none of the labels
    if several or meant or labelling.label_tree is not None:
        note(f"multi-label: {none:,} of {len(documents):,} documents have no label, {several:,} have several")
        return True
    note(f"single-label: every {'labelled ' if none else ''}document has exactly one label")
    return False


def _without(bare: list[Document], documents: list[Document], inputs: Inputs, labelling: Labelling) -> list[Document]:
    """The labelled documents; that others are left out is the user's word, or said aloud, or refused."""
    what = f"{len(bare):,} of {_counted(len(documents))} of {inputs.name}"
    if labelling.unlabelled == "skip":
        note(f"{what} without a label left out")
    elif len(bare) >= _FEW * len(documents):
        raise InputError(
            f"{what} have no label ({name_documents(bare)}) and the others exactly one; {_learn('them')}leave them out "
            "with --unlabelled skip, or keep them as texts of none of the labels with --unlabelled keep"
        )
    else:
        warn(
            f"{what} {'has' if len(bare) == 1 else 'have'} no label and {'is' if len(bare) == 1 else 'are'} left out "
            f"({name_documents(bare)}); {_learn('such texts')}leave them out without this warning with --unlabelled "
            "skip, or keep them as texts of none of the labels with --unlabelled keep"
        )
    return [document for document in documents if document.labels]


def _learn(what: str) -> str:
    """How to learn from texts without a label, where the command at hand can."""
    return f"learn from {what} with --unlabelled learn, " if offers("unlabelled_texts") else ""


def _without_rare(documents: list[Document], least: int, multi_label: bool) -> list[Document]:
    """Documents without the labels that too few have; where each has one label, without such documents."""
    counts = _counts(documents)
    rare = {label for label, n in counts.items() if n < least}
    remaining = [
        document._replace(labels=tuple(label for label in document.labels if label not in rare))
        for document in documents
        if multi_label or not rare & set(document.labels)
    ]
    if not any(document.labels for document in remaining):
        raise InputError(f"no label has min_texts={least} texts; the most frequent has {max(counts.values()):,}")
    if rare:
        left = f", and {_counted(len(documents) - len(remaining))} with them" if len(remaining) < len(documents) else ""
        note(f"{_counted(len(rare), 'label')} with fewer than {least:,} texts left out{left}")
    return remaining


def _describe(documents: list[Document], inputs: Inputs, total: int | None = None) -> tuple[str, ...]:
    counts = _counts(documents)
    if not counts:
        return ()
    found, others = inputs.layout.found, inputs.layout.other_labels
    if found is not None and others and "label_field" not in dict(inputs.options):
        other = " or ".join(map(repr, others))
        note(f"the label is read from the column {found.label[0]!r}; --label-field takes {other} instead")
    summarise(counts, len(documents), total)
    if inputs.corpus is None:  # the labels of a corpus known by name are as its makers meant them
        return name_oddities(counts, separated="label_separator" in dict(inputs.options))
    return ()


def _counts(documents: list[Document]) -> Counter[str]:
    return Counter(label for document in documents for label in document.labels)


def _counted(number: int, what: str = "text") -> str:
    return plural(number, what)


def read_descriptions(file: str, language: str, names: Sequence[str] = ()) -> dict[str, str]:
    """Descriptions of labels from a table with the columns label and description, or from a SKOS vocabulary.

    Parameters
    ----------
    file : path
    language : str
        Of the names and definitions of a vocabulary.
    names : sequence of str
        Of a vocabulary these concepts alone; all of them if none is named.
    """
    if is_vocabulary(file):
        concepts = described(read_concepts(file, language))
        if missing := [name for name in names if name not in concepts]:
            raise InputError(f"{file} has no concept named {missing[0]!r} in language {language!r}; see its prefLabels")
        return {name: concepts[name] for name in names} or concepts
    rows = open_documents(file, label_field="label", text_field="description", duplicates="keep")
    return {label: one.text for one in rows for label in one.labels}
