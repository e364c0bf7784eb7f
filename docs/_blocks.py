"""What the generated blocks of the pages say: tables of names, the reference, help texts, the demo's output."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from _benchmarks import page as benchmarks_page
from _cells import page as cells_page
from _equations import rows as equation_rows
from _examples import WIDTH, page_folder, run_bash
from _formulas import split_formulas
from _reference import page as reference_page


def kinds() -> str:
    """The model types, what they are, and the estimator whose parameters they take."""
    from textbayes.models import model_types

    def row(name: str) -> tuple[str, ...]:
        return code(name), summary(model_types.get(name)), code(model_types.get(name).__name__)

    return table(("model", "what it is", "estimator"), map(row, model_types.names()))


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
        lines.append(f"Other combinations give an error that says why, for example: “{escaped(refusals[0])}.”\n")
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


def equations() -> str:
    """The papers' equations and the tests that hold them."""
    rows = ((paper, number, escaped(what), tests) for paper, number, what, tests in equation_rows())
    return table(("paper", "equation", "content", "test"), rows)


def published_cells() -> str:
    """Every published cell of the papers and what became of it."""
    return cells_page()


def benchmarks() -> str:
    """The closing lines of the benchmarks."""
    return benchmarks_page()


def stemmers() -> str:
    """The stemmers there are."""
    import Stemmer

    return ", ".join(map(code, Stemmer.algorithms())) + "\n"


def formats() -> str:
    """The file formats, how they are recognised, and their options."""
    from textbayes.core.parameters import option_defaults
    from textbayes.data import FORMATS

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
    """The reference of all public names."""
    return reference_page()


def command_help(*path: str) -> Callable[[], str]:
    """A block with the whole help of a command, as ``--help-all`` shows it."""

    def block() -> str:
        import click

        from textbayes.cli.main import cli, full_help

        command: Any = cli
        context = click.Context(
            cli, info_name="textbayes", terminal_width=WIDTH - 2, help_option_names=["-h", "--help"]
        )
        for name in path:
            command = command.get_command(context, name)
            context = command.context_class(command, parent=context, info_name=name)
        return fenced(full_help(command, context))

    return block


def demo() -> str:
    """What `textbayes demo` prints, up to the second decision explained and without the seconds it took."""
    with page_folder() as folder:
        shown = run_bash("textbayes --quiet demo", folder, terminal=False)
    third = list(re.finditer(r"^“", shown, re.MULTILINE))[2].start()
    return fenced(shown[:third] + "…\n" + shown[shown.index("\nReport: ") :])


BLOCKS: dict[str, Callable[[], str]] = {
    function.__name__.replace("_", " "): function
    for function in (
        kinds,
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
        equations,
        published_cells,
        benchmarks,
        demo,
    )
}
BLOCKS["help"] = command_help()
for _path in (
    ("train",),
    ("classify",),
    ("evaluate",),
    ("update",),
    ("serve",),
    ("report",),
    ("show",),
    ("export",),
    ("explain",),
    ("prior",),
    ("words",),
    ("select",),
    ("keyness",),
    ("ask",),
    ("clusters",),
    ("filter",),
    ("judge",),
    ("screen",),
    ("screen", "start"),
    ("screen", "add"),
    ("screen", "next"),
    ("screen", "judge"),
    ("screen", "words"),
    ("screen", "status"),
    ("screen", "export"),
    ("screen", "prior"),
    ("app",),
    ("app", "user"),
    ("app", "reset-password"),
    ("app", "invite"),
    ("app", "move"),
    ("app", "backup"),
    ("simulate",),
    ("link",),
    ("compare",),
    ("datasets",),
    ("datasets", "list"),
    ("datasets", "check"),
    ("datasets", "show"),
    ("reproduce",),
    ("compile",),
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
    return "".join(code(piece.strip("`")) if piece.startswith("``") else typeset(piece) for piece in pieces)


def typeset(text: str) -> str:
    """Plain text as Markdown, its formulas between dollar signs."""
    pieces = split_formulas(text.replace(r"\|", "|"))
    return "".join(f"${piece}$" if is_formula else escaped(piece) for piece, is_formula in pieces)


def escaped(text: str) -> str:
    """Plain text that Markdown leaves alone, also in a table."""
    return re.sub(r"([|*<>\[\]])", r"\\\1", text)


def parameters(member: Any) -> str:
    """What a class takes, with its defaults."""
    given = [] if member.__init__ is object.__init__ else inspect.signature(member).parameters.values()
    named = (item for item in given if item.kind is not item.VAR_KEYWORD)
    return ", ".join(code(f"{item.name}={item.default!r}") for item in named) or "–"


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
