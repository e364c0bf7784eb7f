"""The books that the OpenStax corpus is made of, and how it is made from their public sources.

Only the text is fetched, a file at a time: the repositories hold gigabytes of pictures.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from textbayes.core.progress import Progress, silent
from textbayes.data.corpora._textbook_sections import html_sections, markdown_sections
from textbayes.data.download import Download, fetch
from textbayes.data.formats._cnxml import read_cnxml, read_collection
from textbayes.data.formats.jsonl import write_jsonl

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
        file = Download(path.replace("/", "+"), (url,), largest=20_000_000)
        return fetch(file, folder / self.domain).read_bytes()


# The licence is CC BY-NC-SA 4.0, of computer science and economics CC BY 4.0, as each collection says.
BOOKS = (
    Book("astronomy", "openstax/osbooks-astronomy", "dff6acf8df597ceda73985308f838ed38417a606", ("astronomy-2e",)),
    Book("biology", "openstax/osbooks-biology-bundle", "63f8b6f8d129dd1582989bb755011e9a6d523471", ("biology-2e",)),
    Book(
        "mathematics",
        "openstax/osbooks-calculus-bundle",
        "8dbc2ce19e804924b2517b89ac72ee45be949d15",
        ("calculus-volume-1", "calculus-volume-2", "calculus-volume-3"),
    ),
    Book(
        "chemistry", "openstax/osbooks-chemistry-bundle", "3be4b60ff501f29a445f0cacf003e5f5cc16244d", ("chemistry-2e",)
    ),
    Book(
        "philosophy",
        "openstax/osbooks-introduction-philosophy",
        "ec6340117385f06d8e094850bade8948fe7ba002",
        ("introduction-philosophy-2e",),
    ),
    Book("psychology", "openstax/osbooks-psychology", "de7e40c91813dabdc2875df9d0709fc4f46080bb", ("psychology-2e",)),
    Book(
        "physics",
        "openstax/osbooks-university-physics-bundle",
        "d0ed34a5851119a42e3d972dfc0ff49e4663977c",
        ("university-physics-volume-1", "university-physics-volume-2", "university-physics-volume-3"),
    ),
    Book(
        "neuroscience",
        "gbeckers/osbooks-neuroscience",
        "bd60c8666f3770e0b58da04065f2db370fd82a60",
        ("introduction-behavioral-neuroscience",),
    ),
    Book(
        "computer_science",
        "openstax/osbooks-introduction-python-programming",
        "d6d069bb24677a375aa28a574bd506d4b893cfdf",
        ("introduction-python-programming",),
    ),
    Book(
        "statistics",
        "openstax/osbooks-introductory-statistics-bundle",
        "1f6a35825395bb4aa2834cf1eca37512655f920c",
        ("introductory-business-statistics-2e", "introductory-statistics-2e"),
    ),
    Book(
        "economics",
        "openstax/osbooks-principles-economics-bundle",
        "cd31beb103fffbc09cc81ebfe117d8c40cc12d1a",
        (
            "principles-economics-3e",
            "principles-macroeconomics-3e",
            "principles-macroeconomics-ap-courses-2e",
            "principles-microeconomics-3e",
            "principles-microeconomics-ap-courses-2e",
        ),
    ),
    Book(
        "political_science",
        "openstax/osbooks-introduction-political-science",
        "61afbf50d27ba833feb64b66ba06a5384e9f371c",
        ("introduction-political-science",),
    ),
    Book("us_history", "openstax/osbooks-us-history", "c05b860a035ff59a2ca1fd44339ef86694e09b57", ("us-history",)),
    Book(
        "sociology",
        "openstax/osbooks-introduction-sociology",
        "ab8839c5c5340cb4dffbc310699da450549deb20",
        ("introduction-sociology-3e",),
    ),
    Book(
        "anatomy",
        "openstax/osbooks-anatomy-physiology",
        "f3a1239631d5cc525e4b46874b6cdc3ca4fda15a",
        ("anatomy-and-physiology-2e",),
    ),
)


# CC BY-NC-SA 4.0: Physical Geology, University of Saskatchewan edition, by K. Panchuk.
GEOLOGY = Book(
    "geology",
    "paleolimbot/physical-geology",
    "6bbfdd6102801e853cb1d44c71dffc55f4eeec0d",
    (
        "01-introduction-to-geology.Rmd",
        "02-the-origin-of-earth-and-the-solar-system.Rmd",
        "03-earths-interior.Rmd",
        "04-plate-tectonics.Rmd",
        "05-minerals.Rmd",
        "06-the-rock-cycle.Rmd",
        "07-igneous-rocks.Rmd",
        "08-weathering-sediment-and-soil.Rmd",
        "09-sedimentary-rocks.Rmd",
        "10-metamorphism-and-metamorphic-rocks.Rmd",
        "11-volcanism.Rmd",
        "12-earthquakes.Rmd",
        "13-geological-structures-and-mountain-building.Rmd",
        "14-streams-and-floods.Rmd",
        "15-mass-wasting.Rmd",
        "16-earth-system-change.Rmd",
        "17-glaciation.Rmd",
        "18-geological-resources.Rmd",
        "19-measuring-geological-time.Rmd",
    ),
)
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
