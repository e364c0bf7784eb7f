"""The documents say what the code does: blocks are up to date, examples run and print what the page shows."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import click
import pytest

import textbayes
from textbayes.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
generate = importlib.import_module("generate")  # conftest.py puts docs/ on the path
examples = importlib.import_module("_examples")
reference = importlib.import_module("_reference")

TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in generate.PAGES}
WITH_EXAMPLES = [page for page, text in TEXTS.items() if any(examples.examples(text))]
WITH_BLOCKS = [page for page, text in TEXTS.items() if "<!-- generated:" in text]
MODULES = ["textbayes", *(module.name for module in pkgutil.walk_packages(textbayes.__path__, "textbayes."))]
SET_UP = r"make |pip install |pip wheel |python3 -m venv |\. \.venv/bin/activate"
OF_EXTRAS = ("docs/guide/encoder.md",)  # its commands need PyTorch; tests/interface/test_encoder.py runs them

_STALE = "is stale: run python docs/generate.py and read what it changed"
_needs_a_shell = pytest.mark.skipif(
    not (shutil.which("bash") and hasattr(os, "openpty")), reason="needs bash and a pseudo-terminal"
)


def _assert_fresh(page, stale):
    for part in list(stale):  # to the end, so that the folder of the examples is left
        old = TEXTS[page][part.start : part.end]
        assert part.new.splitlines() == old.splitlines(), f"{page}: {part.what} {_STALE}"


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_generated_blocks(page):
    _assert_fresh(page, generate.stale_blocks(TEXTS[page], leave_out=["demo"]))


@_needs_a_shell
def test_what_the_demo_prints():
    left_out = set(generate.BLOCKS) - {"demo"}
    _assert_fresh("docs/start.md", generate.stale_blocks(TEXTS["docs/start.md"], left_out))


@pytest.mark.slow
@_needs_a_shell
@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples(page):
    _assert_fresh(page, generate.stale_outputs(page, TEXTS[page]))


def test_the_pages_there_should_be():
    guides = ("text", "selection", "decisions", "evaluation", "corpora", "knowledge", "intervals", "filter")
    guides += ("python", "gibbs", "keyness", "counts", "clusters", "online", "room", "export", "scale", "many-machines")
    tutorials = ("route-messages", "few-labels", "priors-intervals", "news-filter", "literature-review")
    others = {"README.md", "docs/start.md", "docs/concepts/models.md", "docs/concepts/kinds.md"}
    others |= {"docs/reference/api.md", "docs/reference/command-line.md", "docs/benchmarks.md"}
    assert others < set(WITH_EXAMPLES) | set(WITH_BLOCKS)
    assert {f"docs/guide/{name}.md" for name in guides} <= set(WITH_EXAMPLES)
    assert {f"docs/tutorials/{name}.md" for name in tutorials} <= set(WITH_EXAMPLES)
    assert {"demo", "support", "decision rules", "score functions", "formats", "corpora", "help train"} <= {
        found["name"] for text in TEXTS.values() for found in generate._MARKED.finditer(text)
    }


def test_the_reference_has_every_command():
    def paths(command, path):
        yield " ".join(("help", *path))
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                yield from paths(command.get_command(context, name), (*path, name))

    there = {found["name"] for found in generate._MARKED.finditer(TEXTS["docs/reference/command-line.md"])}
    assert set(paths(cli, ())) - there == set()


def test_every_public_name_has_a_description_of_one_line():
    """The first paragraph of its own docstring: what the tables of the reference show."""
    for modules in reference.members().values():
        for module, public in modules.items():
            for name, member in public.items():
                first = (member.__doc__ or "").strip().split("\n\n")[0]
                assert 10 < len(first) < 240, f"{module}.{name}: {first!r}"
                assert not first.startswith(f"{member.__name__}("), f"{module}.{name} has no docstring of its own"


@pytest.mark.parametrize("page", TEXTS)
def test_nothing_is_left_out_silently(page):
    """Only what sets a machine up is not run, and no block is in a language that is never run."""
    for source in examples.not_run(TEXTS[page]):
        for line in source.splitlines():
            assert re.match(SET_UP, line) or page in OF_EXTRAS, f"{page} does not run {line!r}"
    languages = re.findall(r"^```(\S+).*$", TEXTS[page], re.MULTILINE)
    assert set(languages) <= {"python", "bash", "text", "{toctree}", "{eval-rst}", "{image}"}


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"```.*?```|`[^`]*`", "", TEXTS[page], flags=re.DOTALL)):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}, which is not there"


@pytest.mark.parametrize("page", TEXTS)
def test_fractions_have_braces(page):
    """Docutils reads \\frac12 as 12 over what comes next."""
    assert not re.search(r"\\d?frac[^{]", TEXTS[page])


@pytest.mark.parametrize("page", TEXTS)
def test_no_page_speaks_of_the_machine_it_was_made_on(page):
    assert not re.search(r"(?<![\w.])/(tmp|home|root|work|Users)/|\b0x[0-9a-f]{6,}", TEXTS[page])


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        pytest.skip(f"the package {error.name} of an extra is not installed")
    source = Path(module.__file__).read_text(encoding="utf-8")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
    assert result.attempted == _n_examples(source), "an example is where doctest does not look"


def _n_examples(source: str) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, documented))
    return sum(len(doctest.DocTestParser().get_examples(text)) for text in texts)


# -- the generator itself --------------------------------------------------------------------------------------------
def test_examples_of_the_generator():
    assert doctest.testmod(generate).failed == 0


PAGE = """# A page

<!-- generated: stemmers -->
<!-- end -->

```python
word = "corn"
```

```python
print(word, 1 / 3)
```

```text
wheat
```

<!-- not run -->
```bash
make demo
```

```bash
echo "{'seconds': 3}" > file.txt && cat file.txt
```
"""


@_needs_a_shell
def test_stale_parts_are_named_and_rewritten(tmp_path, monkeypatch, capsys):
    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["generate.py", *arguments, "page.md"])
        return generate.main(), capsys.readouterr().out

    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)

    code, said = run("--check")
    assert code == 1
    assert "page.md: block 'stemmers' is stale" in said
    assert "page.md: the output of the example in line 10 is stale" in said
    assert "page.md: the output of the example in line 23 is stale" in said
    assert said.count("is stale") == 3
    assert page.read_text(encoding="utf-8") == PAGE

    code, said = run()
    assert code == 0
    assert said.count("was rewritten") == 3
    written = page.read_text(encoding="utf-8")
    assert "`german`" in written
    assert "```text\ncorn 0.3333333333333333\n```" in written
    assert "```text\n{'seconds': 3}\n```" in written
    assert "wheat" not in written
    assert run("--check") == (0, "")
    assert page.read_text(encoding="utf-8") == written
    assert os.listdir(tmp_path) == ["page.md"]


@pytest.mark.parametrize(
    ("language", "source", "cause"),
    [
        ("python", "1 / 0", "division by zero"),
        ("python", "import warnings; warnings.warn('old')", "old"),
        ("bash", "textbayes train missing.jsonl -o model.tb", "there is no file or folder missing.jsonl"),
        ("bash", "false\ntrue", "exit code 1"),
    ],
)
@_needs_a_shell
def test_an_example_that_fails_is_an_error(language, source, cause):
    text = f"```{language}\n{source}\n```\n"
    before = os.getcwd()
    with pytest.raises(Exception, match=cause):
        list(generate.stale_outputs("page.md", text))
    assert os.getcwd() == before


def test_an_unknown_block_is_an_error():
    with pytest.raises(KeyError, match="no block 'nonsense'"):
        list(generate.stale_blocks("<!-- generated: nonsense -->\n<!-- end -->"))


def test_seconds_are_masked():
    assert examples.tidy("seconds   3.21  \r\nTook 5.0 s, 2 s of it training.\nend\n") == "seconds   …\nend\n"


def test_formulas_in_generated_tables_are_typeset():
    formulas, blocks = importlib.import_module("_formulas"), importlib.import_module("_blocks")
    tables = "".join(blocks.BLOCKS[name]() for name in ("links", "priors", "score functions"))
    unused = [plain for plain, tex in formulas.FORMULAS.items() if f"${tex}$" not in tables]
    assert unused == []  # the docstring was changed: change the formula too
    left = re.sub(r"\$[^$]*\$|`[^`]*`", "", tables)
    assert re.findall("[²³½√ΣΦΔδχλπνω⁻]", left) == []
