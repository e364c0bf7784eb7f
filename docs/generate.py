"""Bring README.md and docs/ up to date with the code.

    python docs/generate.py                    rewrite what is stale
    python docs/generate.py --check            change nothing, name what is stale, exit 1 if anything is
    python docs/generate.py --check README.md  these pages only

Two things are written. Between ``<!-- generated: NAME -->`` and ``<!-- end -->`` stands what the block of that name
says, see BLOCKS. And every Python and bash block is run, page by page and in order, in a temporary folder; a ``text``
block right after it holds what it printed. A line ``<!-- not run -->`` before a block (installation) leaves it alone.

Numbers that differ by one in their last digit, or in their fourth after the point, are not stale: another processor
rounds differently.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.registry import Registry

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page]

_MARKED = re.compile(r"<!-- generated: (?P<name>[\w -]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
_FENCED = re.compile(
    r"(?P<not_run><!-- not run -->\n)?"
    r"^```(?P<language>python|bash)\n(?P<code>.*?)^```\n"
    r"(?P<printed>\n?^```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WIDTH = 80  # columns of the terminal; click leaves two of them free
_PUBLIC: dict[str, tuple[str, ...]] = {  # modules of the reference, and which names where they do not say
    "textbayes": (),
    "textbayes.categorizer": ("Assessment",),
    "textbayes.explain": ("Explanation", "Contribution"),
    "textbayes.text": (),
    "textbayes.select": (),
    "textbayes.decide": (),
    "textbayes.evaluate": (),
    "textbayes.data": (),
    "textbayes.report": (),
    "textbayes.links": (),
    "textbayes.priors": (),
    "textbayes.inference": (),
    "textbayes.core.errors": (
        "InputError",
        "NotSupportedError",
        "MalformedFileError",
        "CorpusNotFoundError",
        "ModelFileError",
        "MissingExtraError",
    ),
}


# -- generated blocks -----------------------------------------------------------------------------------------------
def links() -> str:
    """The links and what they are."""
    from textbayes.links import links

    rows = ((code(name), summary(links.get(name)), parameters(links.get(name))) for name in links.names())
    return table(("link", "what it is", "parameters"), rows)


def priors() -> str:
    """The priors, what they are, and which properties they have."""
    from textbayes.priors import priors

    def row(name: str) -> tuple[str, ...]:
        prior = priors.get(name)
        properties = ("no" if prior.smooth else "yes", "yes" if prior.log_concave else "no")
        return code(name), summary(prior), parameters(prior), *properties

    header = ("prior", "what it is", "parameters", "weights exactly at the mean", "log-concave")
    return table(header, map(row, priors.names()))


def inferences() -> str:
    """The inferences and what they are."""
    from textbayes.inference import inferences

    names = inferences.names()
    return table(("inference", "what it is"), ((code(name), summary(inferences.get(name))) for name in names))


def support() -> str:
    """Which links every prior and inference work with, found by asking the inference; an example of a refusal."""
    from textbayes.core.errors import NotSupportedError
    from textbayes.inference import inferences
    from textbayes.links import links
    from textbayes.priors import priors

    refusals = []

    def cell(prior: str, inference: str) -> str:
        works = []
        for link in links.names():
            try:
                inferences.get(inference).check(links.get(link)(), priors.get(prior)())
            except NotSupportedError as error:
                refusals.append(str(error))
            else:
                works.append(link)
        return "every link" if len(works) == len(links.names()) else ", ".join(map(code, works)) or "–"

    names = inferences.names()
    rows = [(code(prior), *(cell(prior, name) for name in names)) for prior in priors.names()]
    lines = [table(("prior", *map(code, names)), rows)]
    if refusals:
        lines.append(f"What is not there is refused in a sentence, for example: “{escaped(refusals[0])}.”\n")
    return "\n".join(lines)


def score_functions() -> str:
    """The score functions, what they are, and whether they have p-values."""
    import numpy as np

    from textbayes.select import scores

    X, Y = np.array([[1, 0], [3, 1], [0, 1], [0, 1]]), np.array([[1], [1], [0], [0]])

    def has_p_values(name: str) -> str:
        return "no" if scores.get(name)(X, Y).p_values is None else "yes"

    rows = ((code(name), summary(scores.get(name)), has_p_values(name)) for name in scores.names())
    return table(("score", "what it is", "p-values"), rows)


def decision_rules() -> str:
    """The decision rules, what they do, and their parameters."""
    from textbayes.decide import rules

    rows = ((code(name), summary(rules.get(name)), parameters(rules.get(name))) for name in rules.names())
    return table(("rule", "what it does", "parameters"), rows)


def measures() -> str:
    """The functions of textbayes.evaluate."""
    import textbayes.evaluate

    members = ((name, getattr(textbayes.evaluate, name)) for name in textbayes.evaluate.__all__)
    rows = ((code(name), summary(member)) for name, member in members if inspect.isfunction(member))
    return table(("function", "what it gives"), rows)


def stemmers() -> str:
    """The stemmers there are."""
    import Stemmer

    return ", ".join(map(code, Stemmer.algorithms())) + "\n"


def formats() -> str:
    """The file formats, how they are recognised, and their options."""
    from textbayes.data import FORMATS
    from textbayes.data.options import option_defaults

    def row(name: str) -> tuple[str, ...]:
        format = FORMATS.get(name)
        endings = ", ".join(map(code, format.suffixes)) or "–"
        return code(name), sentence(format.title), endings, ", ".join(map(code, option_defaults(format.records)))

    return table(("format", "what it is", "endings", "options"), map(row, FORMATS.names()))


def corpora() -> str:
    """The corpora known by name."""
    from textbayes.data import list_corpora

    def row(info: Any) -> tuple[str, ...]:
        numbers = (f"{info.expected[what]:,}" if what in info.expected else "–" for what in ("documents", "labels"))
        return code(info.name), sentence(info.title), *numbers, sentence(info.licence)

    return table(("corpus", "what it is", "documents", "labels", "licence"), map(row, list_corpora()))


def parts() -> str:
    """What every part of the package offers, by name."""
    from textbayes.data import CORPORA, FORMATS
    from textbayes.decide import rules
    from textbayes.inference import inferences
    from textbayes.links import links
    from textbayes.priors import priors
    from textbayes.select import scores
    from textbayes.text.weight import SCHEMES

    rows = [
        ("links", "links", links.names()),
        ("priors", "priors", priors.names()),
        ("inferences", "inference", inferences.names()),
        ("term weights", "text", SCHEMES),
        ("word scores", "select", scores.names()),
        ("decision rules", "decide", rules.names()),
        ("formats", "data", FORMATS.names()),
        ("corpora", "data", CORPORA.names()),
    ]
    named = ((what, code(f"textbayes.{module}"), ", ".join(map(code, names))) for what, module, names in rows)
    return table(("part", "module", "members"), named)


def api() -> str:
    """Autodoc directives for every public name and every member of a registry, each once."""
    lines: list[str] = []
    done: set[Any] = set()
    for name, chosen in _PUBLIC.items():
        module = importlib.import_module(name)
        lines += [f"## {name}", "", "```{eval-rst}", f".. currentmodule:: {name}", ""]
        public = {key: getattr(module, key) for key in chosen or module.__all__}
        for registry in [member for member in public.values() if isinstance(member, Registry)]:
            members = map(registry.get, registry.names())
            public |= {f"{member.__module__}.{member.__name__}": member for member in members if callable(member)}
        for key, member in public.items():
            if callable(member) and member not in done:
                done.add(member)
                is_error = inspect.isclass(member) and issubclass(member, Exception)
                kind = "exception" if is_error else "class" if inspect.isclass(member) else "function"
                in_full = kind == "class" and "." not in key  # members of registries do what their base says
                lines += [f".. auto{kind}:: {key}", *(["   :members:"] if in_full else []), ""]
        lines += ["```", ""]
    return "\n".join(lines)


def command_help(*path: str) -> Callable[[], str]:
    """A block with the help of a command."""

    def block() -> str:
        import click

        from textbayes.cli.main import cli

        command: Any = cli
        context = click.Context(
            cli, info_name="textbayes", terminal_width=_WIDTH - 2, help_option_names=["-h", "--help"]
        )
        for name in path:
            command = command.get_command(context, name)
            context = click.Context(command, parent=context, info_name=name)
        return fenced(command.get_help(context))

    return block


def demo() -> str:
    """What `textbayes demo` prints, up to the second decision explained and without the seconds it took."""
    with page_folder() as folder:
        shown = run_bash("textbayes --quiet demo", folder, terminal=False)
    third = list(re.finditer(r"^\S+/\d+ “", shown, re.MULTILINE))[2].start()
    return fenced(shown[:third] + "…\n" + shown[shown.index("\nReport: ") :])


BLOCKS: dict[str, Callable[[], str]] = {
    function.__name__.replace("_", " "): function
    for function in (
        links,
        priors,
        inferences,
        support,
        score_functions,
        decision_rules,
        measures,
        stemmers,
        formats,
        corpora,
        parts,
        api,
        demo,
    )
}
BLOCKS["help"] = command_help()
for _path in (
    ("train",),
    ("classify",),
    ("evaluate",),
    ("explain",),
    ("words",),
    ("select",),
    ("compare",),
    ("datasets",),
    ("datasets", "list"),
    ("datasets", "check"),
    ("datasets", "show"),
    ("demo",),
):
    BLOCKS[f"help {' '.join(_path)}"] = command_help(*_path)


# -- words ----------------------------------------------------------------------------------------------------------
def summary(member: Any) -> str:
    """The first paragraph of a docstring as one line of Markdown, up to a list or a formula of its own."""
    text = inspect.getdoc(member) or ""
    return sentence(" ".join(text.split("\n\n")[0].split()))


def sentence(text: str) -> str:
    """Docstring markup as Markdown, in a table cell."""
    text = re.sub(r":\w+:`~?([^`]*)`", lambda role: f"``{role[1].rpartition('.')[2]}``", text)
    pieces = re.split(r"(``.*?``)", text)
    return "".join(
        code(piece.strip("`")) if piece.startswith("``") else escaped(piece.replace(r"\|", "|")) for piece in pieces
    )


def escaped(text: str) -> str:
    """Plain text that Markdown leaves alone, also in a table."""
    return re.sub(r"([|*<>\[\]])", r"\\\1", text)


def parameters(member: Any) -> str:
    """What a class takes, with its defaults."""
    given = [] if member.__init__ is object.__init__ else inspect.signature(member).parameters.values()
    return ", ".join(code(f"{item.name}={item.default!r}") for item in given) or "–"


def code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(header)]
    lines.append(re.sub(r"[^|]+", "---", lines[0]))
    lines += [" | ".join(row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def fenced(text: str) -> str:
    return "```text\n" + text.strip("\n") + "\n```\n"


# -- examples -------------------------------------------------------------------------------------------------------
class Example(NamedTuple):
    """A block of a page that is run: where it and its output stand, and what the page says it prints."""

    start: int
    end: int
    line: int
    language: str
    source: str
    shown: str


def examples(text: str) -> Iterator[Example]:
    """The blocks of a page that are run, in order."""
    for found in _FENCED.finditer(text):
        if not found["not_run"]:
            line = text[: found.start("code")].count("\n")
            yield Example(*found.span(), line, found["language"], found["code"], found["output"] or "")


def not_run(text: str) -> Iterator[str]:
    """The blocks of a page that are not run."""
    return (found["code"] for found in _FENCED.finditer(text) if found["not_run"])


@contextlib.contextmanager
def page_folder() -> Iterator[Path]:
    """A temporary folder to run a page's examples in, and ``textbayes`` on its path: warnings are errors there."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as bin_:
        program = Path(bin_, "textbayes")
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -W error -m textbayes.cli.main "$@"\n')
        program.chmod(0o755)
        old_path = os.environ.get("PATH", "")
        os.environ["PATH"] = os.pathsep.join((bin_, old_path))
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ["PATH"] = old_path


def run_page(page: str, text: str) -> Iterator[tuple[Example, str]]:
    """Run the examples of a page one after the other; each with what it printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with page_folder() as folder:
        for example in examples(text):
            if example.language == "bash":
                yield example, run_bash(example.source, folder)
            else:
                yield example, run_python(example, page, namespace)


def run_python(example: Example, page: str, namespace: dict[str, Any]) -> str:
    """What a Python block prints; the names it makes stay for the blocks after it."""
    # Empty lines before it, so that a traceback shows the line of the page.
    compiled = compile("\n" * example.line + example.source, page, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compiled, namespace)
    return tidy(printed.getvalue())


def run_bash(script: str, folder: Path, terminal: bool = True) -> str:
    """What a shell script shows on a terminal of 80 columns without colours; what goes to stderr is left out."""
    environment = {**os.environ, "COLUMNS": str(_WIDTH), "TERM": "dumb"}
    with tempfile.TemporaryFile() as errors:
        ours, theirs = os.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=errors,
        )
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
        errors.seek(0)
        if process.wait():
            raise RuntimeError(f"exit code {process.returncode} of\n{script}\n{errors.read().decode()}")
    return tidy(shown.decode())


def tidy(text: str) -> str:
    """Without trailing blanks, and with … for the seconds that something took."""
    text = re.sub(r"[ \r]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(seconds +)\S+", r"\1…", text, flags=re.MULTILINE)
    return re.sub(r"^Took .*\n", "", text, flags=re.MULTILINE)


# -- old and new ----------------------------------------------------------------------------------------------------
class Stale(NamedTuple):
    """A stretch of a page and what should stand there."""

    what: str
    start: int
    end: int
    new: str


def agree(old: str, new: str) -> bool:
    """Whether the words are the same, and the numbers up to one in their last or fourth decimal; counts are exact.

    >>> agree("F1 0.979, bank +19.4", "F1 0.980, bank +19.4"), agree("F1 0.979", "F1 0.981"), agree("3 texts", "4")
    (True, False, False)
    """
    if _NUMBER.sub("#", old.strip()) != _NUMBER.sub("#", new.strip()):
        return False
    return all(map(_close, _NUMBER.findall(old), _NUMBER.findall(new)))


def _close(old: str, new: str) -> bool:
    digits, others = (min(4, len(number.partition(".")[2])) for number in (old, new))
    if digits == 0 or digits != others:
        return old == new
    return abs(float(old) - float(new)) < 1.5 * 10.0**-digits


def stale_blocks(text: str, leave_out: Iterable[str] = ()) -> Iterator[Stale]:
    """The marked blocks of a page that do not say what they should."""
    for found in _MARKED.finditer(text):
        name = found["name"]
        if name not in BLOCKS:
            raise KeyError(f"there is no block {name!r}; choose one of {', '.join(BLOCKS)}")
        if name not in leave_out:
            new = f"\n{BLOCKS[name]()}\n"
            if not agree(found["body"], new):
                yield Stale(f"block {name!r}", *found.span("body"), new)


def stale_outputs(page: str, text: str) -> Iterator[Stale]:
    """The examples of a page that print something other than the page says."""
    for example, printed in run_page(page, text):
        if not agree(example.shown, printed):
            new = f"```{example.language}\n{example.source}```\n" + (f"\n{fenced(printed)}" if printed.strip() else "")
            yield Stale(f"the output of the example in line {example.line}", example.start, example.end, new)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if anything is stale")
    parser.add_argument("pages", nargs="*", default=PAGES, help="README.md, docs/start.md, …; all of them by default")
    given = parser.parse_args()
    any_stale = False
    for page in given.pages:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        stale = sorted((*stale_blocks(text), *stale_outputs(page, text)), key=lambda part: -part.start)
        for part in stale:
            print(f"{page}: {part.what} {'is stale' if given.check else 'was rewritten'}")
            text = text[: part.start] + part.new + text[part.end :]
        if stale and not given.check:
            path.write_text(text, encoding="utf-8")
        any_stale |= bool(stale)
    if given.check and any_stale:
        print("Run python docs/generate.py and read what it changed.")
    return int(given.check and any_stale)


if __name__ == "__main__":
    sys.exit(main())
