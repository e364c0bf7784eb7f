"""OpenStax textbook modules by subject: long documents (mean 2,500 words) in 15 domains.

corpus = load_corpus("openstax", extra=True)

The corpus is built from the public sources of the books. Only the text is fetched, a file at a time: the repositories
hold gigabytes of pictures. Two open textbooks go with it: geology in R Markdown, electronics in HTML.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.core.progress import Progress, silent
from textbayes.core.types import NO_FIELDS
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.decoding import html_text
from textbayes.data.download import PublicFile, fetch
from textbayes.data.formats.jsonl import read_jsonl, write_jsonl

_DROPPED = {"math", "media", "metadata", "solution", "table"}
_ON_LINES_OF_THEIR_OWN = {
    *("caption", "commentary", "definition", "equation", "example", "exercise", "figure", "footnote", "item", "list"),
    *("meaning", "newline", "note", "para", "problem", "quote", "section", "subfigure", "title"),
}


class Module(NamedTuple):
    """A module of a book: a section or chapter, with its title and plain text."""

    title: str
    text: str


def read_cnxml(data: bytes, name: str) -> Module:
    """Read a module's title and its text, a line a paragraph, without mathematics, tables, solutions and images.

    Parameters
    ----------
    data : bytes
    name : str
        What to call it in a refusal.

    >>> read_cnxml(b"<document><title>Tea</title><content><para>One <term>pot</term>.</para></content></document>", "")
    Module(title='Tea', text='One pot.')
    """
    root = _parse(data, name)
    pieces: list[str] = []
    for content in root.iterfind("{*}content"):
        _collect(content, pieces)
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return Module(" ".join(root.findtext("{*}title", "").split()), "\n".join(line for line in lines if line))


def read_collection(data: bytes, name: str) -> list[str]:
    """Names of the modules of a collection, in the order of the book."""
    return [module.get("document") for module in _parse(data, name).iterfind(".//{*}module")]


def _parse(data: bytes, name: str) -> Any:
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
    except etree.XMLSyntaxError as error:
        raise MalformedFileError(name, f"not valid XML ({error.msg}): delete it and download it again") from error


def _collect(element: Any, pieces: list[str]) -> None:
    tag = str(element.tag).rpartition("}")[2]
    if tag in _DROPPED:
        return
    edge = "\n" if tag in _ON_LINES_OF_THEIR_OWN else ""
    pieces += [edge, element.text or ""]
    for child in element:
        _collect(child, pieces)
        pieces.append(child.tail or "")
    pieces.append(edge)


_MARKDOWN_SECTION = re.compile(r"^(?=##? )", re.MULTILINE)
_HTML_SECTION = re.compile(r"(?=<h[12][ >])", re.IGNORECASE)
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_UNREAD = re.compile(r"<!--.*?-->|<pre[ >].*?</pre>", re.DOTALL | re.IGNORECASE)  # listings of circuits, mostly numbers
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\\@ref\([^)]*\)|</?div[^>]*>|^#+|\{[^}]*\}|\*+|_", re.MULTILINE)


def markdown_sections(source: str) -> Iterator[Module]:
    """Sections of a chapter in R Markdown under headings of the first and second level, without code and figures.

    >>> [section.title for section in markdown_sections("# Rocks\\n\\nHard.\\n\\n## Lava {-}\\n\\n_Hot_.\\n")]
    ['Rocks', 'Lava']
    """
    for section in _MARKDOWN_SECTION.split(_FENCED.sub("", source))[1:]:
        yield _section(_MARKS.sub("", _LINK.sub(r"\1", section)))


def html_sections(source: str) -> Iterator[Module]:
    """Sections of a chapter in HTML under headings of the first and second level, without preformatted listings.

    >>> [section.text for section in html_sections("<h1>AC</h1><p>Current.<h2>Power</h2>In <b>watts</b><pre>1 2</pre>")]
    ['AC\\nCurrent.', 'Power\\nIn watts']
    """
    for section in _HTML_SECTION.split(_UNREAD.sub("", source))[1:]:
        heading, closing, rest = section.partition("</h")
        yield _section(f"{html_text(heading)}\n{closing}{rest}")


def _section(source: str) -> Module:
    lines = [" ".join(line.split()) for line in html_text(source).split("\n")]
    return Module(lines[0], "\n".join(line for line in lines if line))


_RAW = "https://raw.githubusercontent.com"
_FEWEST_WORDS = 300


class Book(NamedTuple):
    """Books of one domain: their repository on GitHub at a commit, and the collections or chapters there to take."""

    domain: str
    repository: str
    commit: str
    contents: tuple[str, ...]

    def fetch(self, path: str, folder: Path) -> bytes:
        """Fetch a file of the repository, or take it from the folder if it was fetched before."""
        url = f"{_RAW}/{self.repository}/{self.commit}/{path}"  # the commit says what is in it
        file = PublicFile(path.replace("/", "+"), (url,), largest=20_000_000)
        return fetch(file, folder / self.domain).read_bytes()


# Domain, repository on GitHub and commit; below them the collections to take. The licence is CC BY-NC-SA 4.0, of
# computer science and economics CC BY 4.0, as each collection says. Geology, CC BY-NC-SA 4.0, is Physical Geology,
# University of Saskatchewan edition, by K. Panchuk; its chapters are R Markdown.
_TABLE = """
astronomy openstax/osbooks-astronomy dff6acf8df597ceda73985308f838ed38417a606
    astronomy-2e
biology openstax/osbooks-biology-bundle 63f8b6f8d129dd1582989bb755011e9a6d523471
    biology-2e
mathematics openstax/osbooks-calculus-bundle 8dbc2ce19e804924b2517b89ac72ee45be949d15
    calculus-volume-1
    calculus-volume-2
    calculus-volume-3
chemistry openstax/osbooks-chemistry-bundle 3be4b60ff501f29a445f0cacf003e5f5cc16244d
    chemistry-2e
philosophy openstax/osbooks-introduction-philosophy ec6340117385f06d8e094850bade8948fe7ba002
    introduction-philosophy-2e
psychology openstax/osbooks-psychology de7e40c91813dabdc2875df9d0709fc4f46080bb
    psychology-2e
physics openstax/osbooks-university-physics-bundle d0ed34a5851119a42e3d972dfc0ff49e4663977c
    university-physics-volume-1
    university-physics-volume-2
    university-physics-volume-3
neuroscience gbeckers/osbooks-neuroscience bd60c8666f3770e0b58da04065f2db370fd82a60
    introduction-behavioral-neuroscience
computer_science openstax/osbooks-introduction-python-programming d6d069bb24677a375aa28a574bd506d4b893cfdf
    introduction-python-programming
statistics openstax/osbooks-introductory-statistics-bundle 1f6a35825395bb4aa2834cf1eca37512655f920c
    introductory-business-statistics-2e
    introductory-statistics-2e
economics openstax/osbooks-principles-economics-bundle cd31beb103fffbc09cc81ebfe117d8c40cc12d1a
    principles-economics-3e
    principles-macroeconomics-3e
    principles-macroeconomics-ap-courses-2e
    principles-microeconomics-3e
    principles-microeconomics-ap-courses-2e
political_science openstax/osbooks-introduction-political-science 61afbf50d27ba833feb64b66ba06a5384e9f371c
    introduction-political-science
us_history openstax/osbooks-us-history c05b860a035ff59a2ca1fd44339ef86694e09b57
    us-history
sociology openstax/osbooks-introduction-sociology ab8839c5c5340cb4dffbc310699da450549deb20
    introduction-sociology-3e
anatomy openstax/osbooks-anatomy-physiology f3a1239631d5cc525e4b46874b6cdc3ca4fda15a
    anatomy-and-physiology-2e
geology paleolimbot/physical-geology 6bbfdd6102801e853cb1d44c71dffc55f4eeec0d
    01-introduction-to-geology.Rmd
    02-the-origin-of-earth-and-the-solar-system.Rmd
    03-earths-interior.Rmd
    04-plate-tectonics.Rmd
    05-minerals.Rmd
    06-the-rock-cycle.Rmd
    07-igneous-rocks.Rmd
    08-weathering-sediment-and-soil.Rmd
    09-sedimentary-rocks.Rmd
    10-metamorphism-and-metamorphic-rocks.Rmd
    11-volcanism.Rmd
    12-earthquakes.Rmd
    13-geological-structures-and-mountain-building.Rmd
    14-streams-and-floods.Rmd
    15-mass-wasting.Rmd
    16-earth-system-change.Rmd
    17-glaciation.Rmd
    18-geological-resources.Rmd
    19-measuring-geological-time.Rmd
"""


def _books() -> Iterator[Book]:
    for entry in re.split(r"\n(?=\S)", _TABLE.strip()):
        domain, repository, commit, *contents = entry.split()
        yield Book(domain, repository, commit, tuple(contents))


*BOOKS, GEOLOGY = _books()
# Design Science License: Lessons In Electric Circuits by T. Kuphaldt, volumes I to IV.
_VOLUMES = (("AC", "AC", 14), ("DC", "DC", 16), ("Digital", "DIGI", 16), ("Semi", "SEMI", 13))
ELECTRONICS = Book(
    "electronics",
    "vikdotdev/lessons-in-electric-circuits",
    "12a44f4baa2e1f9df3250f489f71e9209661be71",
    tuple(sorted(f"html/{folder}/{name}_{i + 1}.html" for folder, name, n in _VOLUMES for i in range(n))),
)


def build_openstax(folder: Path, progress: Progress | None = None) -> None:
    """Write ``openstax_domains.jsonl`` from the books' modules, and geology and electronics beside it.

    Files that an interrupted attempt has fetched are kept for the next; there are some 2,500 of them.

    Parameters
    ----------
    folder : Path
    progress : function of (what, files so far, files in all), optional
    """
    sources, report = folder / "sources", progress or silent
    write_jsonl(folder / "extra_geology_electronics.jsonl", _long_enough(_sections(sources, report)))
    write_jsonl(folder / "openstax_domains.jsonl", _long_enough(_modules(sources, report)))
    shutil.rmtree(sources)


def _long_enough(documents: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Documents of 300 words or more, each text once."""
    seen = set()
    for document in documents:
        if len(document["text"].split()) >= _FEWEST_WORDS and document["text"] not in seen:
            seen.add(document["text"])
            yield document


def _sections(sources: Path, progress: Progress) -> Iterator[dict[str, str]]:
    chapters = [(book, path) for book in (GEOLOGY, ELECTRONICS) for path in book.contents]
    for done, (book, path) in enumerate(chapters):
        progress("chapters of geology and electronics", done, len(chapters))
        source = book.fetch(path, sources).decode("utf-8", "replace")
        chapter = Path(path).stem.partition("-")[0]
        sections = markdown_sections(source) if book is GEOLOGY else html_sections(source)
        for number, section in enumerate(sections, start=1):
            yield {"id": f"{chapter}.{number}", "domain": book.domain, **section._asdict()}


def _modules(sources: Path, progress: Progress) -> Iterator[dict[str, str]]:
    modules = [(book, name) for book in BOOKS for name in _names(book, sources)]
    for done, (book, name) in enumerate(modules):
        progress("modules of OpenStax's books", done, len(modules))
        path = f"modules/{name}/index.cnxml"
        module = read_cnxml(book.fetch(path, sources), f"{book.repository}/{path}")
        yield {"id": name, "domain": book.domain, **module._asdict()}


def _names(book: Book, sources: Path) -> list[str]:
    """Names of the modules of a domain's books in their order; one that several books share comes once."""
    paths = [f"collections/{name}.collection.xml" for name in book.contents]
    return list(dict.fromkeys(name for path in paths for name in read_collection(book.fetch(path, sources), path)))


def load_openstax(path: Path, *, extra: bool = False) -> Corpus:
    """Modules labelled by domain; ids are ``domain/module``, since books number their modules alike.

    Parameters
    ----------
    path : Path
        ``openstax_domains.jsonl``, compressed or not, or a folder that holds it.
    extra : bool
        Whether to add geology and electronics from ``extra_geology_electronics.jsonl`` beside it.
    """
    files = [pick(path, "openstax", "openstax*.jsonl*")]
    if extra:
        files.append(pick(files[0].parent, "openstax", "extra*.jsonl*"))
    records = (record for file in files for record in read_jsonl(file, text_field="text", label_field="domain"))
    return Corpus.of_records(
        "openstax", (record._replace(id=f"{record.labels[0]}/{record.id}", fields=NO_FIELDS) for record in records)
    )


CORPORA.register("openstax")(
    CorpusInfo(
        name="openstax",
        title="OpenStax textbook modules in 15 subject domains",
        homepage="https://openstax.org/subjects",
        licence="economics and computer science CC BY 4.0, the other 13 domains CC BY-NC-SA 4.0; "
        "geology CC BY-NC-SA 4.0, electronics Design Science License",
        load=load_openstax,
        expected={"documents": 2_097, "labels": 15},
        files=("openstax*.jsonl*",),
        folders=("openstax_domains",),
        build=build_openstax,
        obtain="write openstax_domains.jsonl, one object a module with id, domain and text, from OpenStax's books",
    )
)
