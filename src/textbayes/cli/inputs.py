"""Documents that the user named: files, corpora and the options that say how they are read."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import data, store
from textbayes.cli.errors import as_options, offers, typed_again, typed_with
from textbayes.cli.options import COUNT, KeyValue, NameOption, RegistryName, download_option, option
from textbayes.cli.terminal import counting, downloading, note, reporting
from textbayes.core.errors import InputError, MalformedFileError, TextBayesError, plural
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.formats import svmlight
from textbayes.data.formats._fields import NoNamedFieldError, NoTextFieldError
from textbayes.data.layout import Columns, Layout, listed_columns
from textbayes.stream.judgements import read_config

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.scorer import Scorer

_MOST_NAMED = 3  # files by their names
_READER = (
    *("text_field", "label_field", "id_field", "label_separator", "sheet", "header_row", "encoding", "errors"),
)  # fmt: skip


@dataclass(frozen=True)
class Inputs:
    """Documents that the user named, not yet opened."""

    paths: tuple[str, ...]
    format: str | None = None
    corpus: str | None = None
    parts: tuple[str, ...] = ()
    usual_part: str = "train"
    download: bool = False
    duplicates: str = "refuse"
    options: tuple[tuple[str, Any], ...] = ()
    layout: Layout = field(default_factory=lambda: Layout(say=_say), compare=False)
    known: tuple[str, ...] = field(default=(), compare=False)  # labels of the model that the texts are for
    takes_counts: bool = field(default=False, compare=False)  # whether the command reads files of counted words too

    @property
    def name(self) -> str:
        """Name of the inputs in messages."""
        if self.corpus is not None:
            return f"corpus {self.corpus!r}"
        names = ["standard input" if path == "-" else path for path in self.paths]
        if len(names) > _MOST_NAMED:
            return f"{names[0]} and {len(names) - 1:,} other files"
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

    def documents(self, count: bool = True) -> Iterator[Document]:
        """Iterate over the documents, counted on the terminal as they come unless ``count`` is false."""
        documents = self._from_corpus() if self.corpus is not None else self._from_files()
        return counting(documents, "reading") if count else documents

    @property
    def counted(self) -> bool:
        """Whether what has been read are words that were counted before (svmlight)."""
        return self.layout.found is not None and self.layout.found.format == svmlight.NAME

    def columns(self) -> Columns | None:
        """Columns that were found, and how the file is written (``in_words`` says it); None of what is no table.

        Where nothing was read yet, a look is taken at the first document.
        """
        if self.layout.found is None and self.paths and os.path.isfile(self.paths[0]):  # no pipe, which was read
            with contextlib.suppress(InputError):
                next(self._from_files(), None)
        found = self.layout.found
        return found if found is not None and found.text else None

    def of_model(self, model: Scorer | TextCategorizer) -> Inputs:
        """Inputs whose columns are looked for where those of the model's training texts were; options still win."""
        known = tuple(str(name) for name in model.label_space_.classes)
        return replace(self.read_by(model.columns_), known=known)

    def read_by(self, columns: Mapping[str, Any] | None) -> Inputs:
        """Inputs that are read as the file with these columns was (see ``Columns.to_state``); options still win."""
        if self.corpus is not None or columns is None:
            return self
        return replace(self, layout=Layout(Columns.from_state(columns), _say))

    def skipping(self, report: Callable[[MalformedFileError], None]) -> Inputs:
        """Inputs that go on after a line that cannot be read: ``report`` is given its error."""
        return replace(self, layout=replace(self.layout, skip=report))

    def remembered_by(self, model: TextCategorizer) -> TextCategorizer:
        """The model, which remembers the columns of these inputs in its file."""
        found = self.columns()
        model.columns_ = None if found is None else found.to_state()
        return model

    def without_label(self, error: InputError) -> InputError:
        """The refusal of inputs without labels, with the columns that there are and what to type."""
        layout = self.layout
        expected = () if layout.expected is None else layout.expected.label
        lacking = [name for name in expected if layout.rows and not layout.found_label()]
        if lacking and "label_field" not in dict(self.options):
            error = InputError(f"{self.name} has no column {lacking[0]!r}; to label new texts use:")
            context = click.get_current_context(silent=True)
            model = "MODEL" if context is None else context.params.get("model", "MODEL")
            error.add_note(f"  {shlex.join(['textbayes', 'classify', model, *self.paths])}")
            return error
        likely = layout.likely_label(self.known)
        for line in [] if likely is None else _advice(layout.rows[0], "--label-field", likely):
            error.add_note(line)
        if likely is None and self.known and layout.rows:
            text = "" if layout.found is None else f"; the text is read from {' + '.join(layout.found.text)}"
            for line in [*listed_columns(layout.rows[0]), f"no column has labels of the model{text}"]:
                error.add_note(line)
        return error

    def hidden_label(self, likely: str) -> InputError:
        """The refusal of inputs without a column of labels, where one column may be it."""
        error = InputError(
            f"{self.name} has no column that is called as labels are, and {likely!r} may be it: name the column of the "
            "labels with --label-field, or say with --no-labels that no text has one yet"
        )
        for line in [*_advice(self.layout.rows[0], "--label-field", likely), f"  {typed_again('--no-labels')}"]:
            error.add_note(line)
        return error

    def _from_files(self) -> Iterator[Document]:
        options = dict(self.options)
        opened = open_documents(
            list(self.paths), self.format, duplicates=self.duplicates, layout=self.layout, **options
        )

        def documents() -> Iterator[Document]:
            try:
                for document in opened:
                    if self.counted and not self.takes_counts:
                        why = "of words counted before, which train and classify read, and this command does not"
                        raise svmlight.not_counts(self.name, why)
                    yield document
            except NoTextFieldError as error:
                for line in self._without_text(error):
                    error.add_note(line)
                raise
            except NoNamedFieldError as error:
                for line in self._other_name(error):
                    error.add_note(line)
                raise

        return documents()

    def _without_text(self, error: NoTextFieldError) -> list[str]:
        """The columns that there are, and what to type: another sheet, or the text's column and that of the labels."""
        if not error.examples:
            return []
        example = error.examples[0]
        if error.sheet is not None:
            return _advice(example, "--sheet", error.sheet)
        expected = () if self.layout.expected is None else self.layout.expected.text
        longest = sorted(example, key=lambda name: -sum(len(row.get(name, "")) for row in error.examples))
        ranked = [*(name for name in expected if name in example), *(name for name in longest if name not in expected)]
        texts = ranked[: max(len(expected), 1)]  # as many as the model was trained on
        typed = [part for name in texts for part in ("--text-field", name)]
        if offers("merge_case") and "label_field" not in dict(self.options) and not error.has_label:
            label = Layout(rows=error.examples, found=Columns(text=tuple(texts))).likely_label(self.known)
            typed += [] if label is None else ["--label-field", label]
        return _advice(example, *typed)

    def _other_name(self, error: NoNamedFieldError) -> list[str]:
        """The columns that there are, and the command with one of them instead of the name that none has."""
        if not error.examples:
            return []
        likely = error.close or Layout(rows=error.examples).likely_label(self.known)
        if error.close is None and error.option == "text_field":
            likely = max(error.examples[0], key=lambda name: sum(len(row.get(name, "")) for row in error.examples))
        elif error.close is None and error.option != "label_field":
            likely = error.names[0]
        listed = listed_columns(error.examples[0])
        if likely is None:
            return listed
        option = f"--{error.option.replace('_', '-')}"
        return [*listed, "type, for example:", f"  {typed_with(option, error.wanted, likely)}"]

    def _from_corpus(self) -> Iterator[Document]:
        assert self.corpus is not None
        with downloading(self.corpus) if self.download else reporting("wait") as progress:
            progress(f"corpus {self.corpus}", 0, None)
            corpus = data.load_corpus(self.corpus, download=self.download, progress=progress, **dict(self.options))
        parts = self.parts or ((self.usual_part,) if self.usual_part in corpus.parts else ())
        if parts:
            corpus = corpus.part(*parts)
        which = f"part {' + '.join(parts)}" if parts else "all parts"
        note(f"corpus {self.corpus!r}, {which}: {plural(len(corpus), 'document')}")
        return corpus.documents()

    def keeping_fields(self) -> Inputs:
        """Inputs whose documents carry the input's own columns."""
        if self.corpus is not None:
            raise InputError(f"{self.name} has no columns of its own to keep; name files to keep theirs")
        return replace(self, options=(*self.options, ("keep_fields", True)))

    def whereabouts(self, number: int, document: Document) -> str:
        """Name of the ``number``-th document in messages."""
        named = "" if document.id == str(number) else f" (id {document.id!r})"
        if self.layout.found is not None and self.layout.found.is_numbered:
            named = ", not counting the header row"
        return f"document {number:,} of {self.name}{named}"


def _advice(example: Mapping[str, str], *options: str) -> list[str]:
    """Columns with a value each, and the command with the options that it may lack."""
    return [*listed_columns(example), "type, for example:", f"  {typed_again(*options)}"]


def _refuse_swapped(model: Any, paths: tuple[str, ...]) -> None:
    """Refuse texts where the model belongs, if a model is among the texts."""
    if not isinstance(model, str) or not os.path.isfile(model):
        return
    found = next(filter(is_model, paths), None)
    if found is None or is_model(model):
        return
    error = InputError(f"{model} is not a model file; did you mean:")
    error.add_note(f"  {typed_again(instead={model: found, found: model})}")
    raise error


def is_model(path: str) -> bool:
    """Whether a path is that of a model file."""

    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return False
    try:
        return bool(store.written_by(path))
    except TextBayesError:
        return False


def is_filter(path: str) -> bool:
    """Whether a path is that of the folder of a filter."""
    if not os.path.isfile(os.path.join(path, "config.json")):
        return False

    try:
        return bool(read_config(Path(path)))
    except TextBayesError:
        return False


def check_filter_path(state: str) -> None:
    """Refuse a file where the folder of a filter is needed, with how to start one from it."""
    if not os.path.isfile(state):
        return
    model = is_model(state)
    what = "a model file" if model else "a file"
    error = InputError(f"{state} is {what}, where the folder of a filter is needed; to start one from it:")
    error.add_note(f"  {shlex.join(['textbayes', 'filter', 'desk', '--model' if model else '--train', state])}")
    raise error


def model_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument MODEL of a command: a model file; the folder of a filter is refused with how to export it."""
    return click.argument("model", callback=model_file)(function)


def model_file(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Callback of an argument or option that names a model file."""
    if value is not None and is_filter(value):
        error = InputError(f"{value} is the folder of a filter, where a model file is needed; to write one:")
        error.add_note(f"  {shlex.join(['textbayes', 'filter', value, '--export', 'model.tb'])}")
        raise error
    return value


def _say(message: str) -> None:
    context = click.get_current_context(silent=True)
    note(as_options(message, None if context is None else context.command))


def input_options(
    usual_part: str = "train",
    duplicates: str = "refuse",
    source: str | None = None,
    metavar: str = "[FILE|FOLDER|-]...",
    counts: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options of a command that reads documents; the command is given them as ``inputs``.

    ``usual_part`` of a corpus is read unless another is named; ``source`` is the option that names the files, by
    default they are the command's last arguments, which help calls ``metavar``. Files of counted words (svmlight) are
    refused unless ``counts``.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:
            inputs = replace(_collect(given, usual_part, source), takes_counts=counts)
            return function(*args, inputs=inputs, **given)

        options = _options(duplicates)
        if source is not None:
            help = "True labels: file, folder or '-'."
            options = [click.option(source, "paths", multiple=True, metavar="FILE", help=help), *options]
        command = cloup.option_group("Corpus by name, instead of files", *_corpus_options(usual_part))(command)
        command = cloup.option_group("Input", *options)(command)
        return click.argument("paths", nargs=-1, metavar=metavar)(command) if source is None else command

    return decorate


def _corpus_options(usual_part: str) -> list[Callable[..., Any]]:
    corpora = RegistryName("textbayes.data:CORPORA", "textbayes.data.corpora")
    return [
        click.option(
            "--corpus", type=corpora, metavar="NAME", help="Read a corpus by name (see `textbayes datasets`)."
        ),
        click.option(
            "--part", "parts", multiple=True, metavar="PART", help=f"Part of the corpus; {usual_part} if it has one."
        ),
        download_option,
    ]


def _options(duplicates: str) -> list[Callable[..., Any]]:
    formats = RegistryName("textbayes.data.formats:FORMATS")
    return [
        click.option("--format", cls=NameOption, type=formats, help="Format of the input; guessed if not given."),
        click.option("--text-field", multiple=True, metavar="COLUMN", help="Column of the text; several are joined."),
        click.option(
            "--label-field", multiple=True, metavar="COLUMN", help="Column of the label or labels; several are joined."
        ),
        click.option("--id-field", metavar="COLUMN", help="Column of the document's id."),
        click.option("--label-separator", metavar="TEXT", help="What separates several labels in one field."),
        click.option("--sheet", metavar="NAME|NUMBER", help="Sheet of a workbook; the first with a text if not given."),
        click.option(
            "--header-row", type=COUNT, metavar="N", help="Row with the names of the columns, in CSV and workbooks."
        ),
        click.option("--encoding", metavar="NAME", help="Encoding of the text; UTF-8 if not given."),
        option(
            "--encoding-errors",
            "errors",
            choices=["strict", "replace", "ignore"],
            help="What to do with bytes that are not valid in the encoding.",
        ),
        option("--duplicates", choices=["refuse", "keep"], default=duplicates, help="What to do with an id met twice."),
        click.option(
            "--reader-option",
            "reader_options",
            type=KeyValue(),
            multiple=True,
            help="Any other option of the format or the corpus.",
        ),
    ]


def _collect(given: dict[str, Any], usual_part: str, source: str | None) -> Inputs:
    """Take the options out of ``given`` and make one object of them."""
    paths, corpus, parts = given.pop("paths"), given.pop("corpus"), given.pop("parts")
    _refuse_swapped(given.get("model"), paths)
    reader = {name: given.pop(name) for name in _READER}
    for name in ("text_field", "label_field"):
        if len(reader[name]) == 1:
            reader[name] = reader[name][0]
    options = _with_others(
        {name: value for name, value in reader.items() if value not in (None, ())}, given.pop("reader_options")
    )
    download, duplicates, format = given.pop("download"), given.pop("duplicates"), given.pop("format")
    if corpus is not None and (paths or format):
        raise click.UsageError("--corpus and files were both given; choose one of them.")
    if corpus is None and (parts or download):
        raise click.UsageError("--part and --download belong to a corpus; name it with --corpus.")
    if corpus is None and not paths:
        if source is not None or sys.stdin is None or sys.stdin.isatty():
            how = "name a file, a folder or a corpus (--corpus), or '-' for standard input."
            raise click.UsageError(f"There is no input{f' for {source}' if source else ''}: {how}")
        paths = ("-",)
    if tuple(paths).count("-") > 1:
        raise click.UsageError("Standard input ('-') was named twice; it can be read once only.")
    return Inputs(paths, format, corpus, parts, usual_part, download, duplicates, tuple(options.items()))


def _with_others(options: dict[str, Any], others: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Options by name with those of ``--reader-option``; one that is given twice must have the same value."""
    for name, value in others:
        if name in ("format", "source", "duplicates"):
            raise click.UsageError(f"{name!r} is no option of the reader; files and --format, --duplicates say it.")
        if options.setdefault(name, value) != value:
            raise click.UsageError(
                f"the reader's option {name!r} was given twice, with {options[name]!r} and {value!r}; give it once."
            )
    return options


def require_documents(documents: list[Any], inputs: Inputs) -> None:
    """Refuse an input without documents."""
    if not documents:
        raise InputError(f"{inputs.name} holds no documents; check the path and the format (--format)")


def more_texts(inputs: Inputs, path: str) -> list[str]:
    """The texts of another file, read by the columns of the inputs; its labels are not looked at.

    Parameters
    ----------
    inputs : Inputs
        Which were read.
    path : str
    """
    found = inputs.columns()
    others = Inputs((path,), duplicates="keep").read_by(None if found is None else found.to_state())
    documents = list(others.documents())
    require_documents(documents, others)
    note(f"{plural(len(documents), 'text')} of {others.name} to learn from without labels")
    return [document.text for document in documents]


def with_group_field(inputs: Inputs, field: str | None) -> Inputs:
    """Inputs whose documents carry the field of the groups."""
    if field is None:
        return inputs
    if inputs.corpus is not None:
        raise click.UsageError(
            "--group-field names a field of CSV, TSV, JSON lines or Parquet files; a corpus has none."
        )
    return replace(inputs, options=(*inputs.options, ("keep_fields", (field,))))


def groups_of(documents: Sequence[Document], field: str | None, inputs: Inputs) -> list[str] | None:
    """The group of each document, as the field says; None if no field was named."""
    if field is None:
        return None
    groups = [document.fields[field].strip() for document in documents]
    without = [document.id for document, group in zip(documents, groups, strict=True) if not group]
    if without:
        more = f" and {len(without) - 1:,} more" if len(without) > 1 else ""
        raise InputError(
            f"document {without[0]!r}{more} of {inputs.name} has nothing in the field {field!r}; fill it in, for "
            "example with the document's own id where it stands alone"
        )
    sizes = Counter(groups)
    largest = plural(max(sizes.values()), "text")
    note(f"{plural(len(sizes), 'group')} by {field!r}, the largest of {largest}; each is in one fold")
    return groups
