"""Corpora that are built from their public sources: the formats of these, written small, behind a local server."""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from textbayes.core.errors import CorpusNotFoundError, MalformedFileError
from textbayes.data import CORPORA, check_corpus, corpus_path, load_corpus
from textbayes.data.corpora import openstax as books
from textbayes.data.corpora.openstax import html_sections, markdown_sections, read_cnxml, read_collection
from textbayes.data.download import PublicFile

NS = 'xmlns="http://cnx.rice.edu/cnxml" xmlns:m="http://www.w3.org/1998/Math/MathML"'
LONG = "word " * 300


class Server(ThreadingHTTPServer):
    """Serves ``files`` by path on 127.0.0.1; what is not among them is not found."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, str] = {}
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        found = self.server.files.get(self.path)
        data = (found or "").encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def server(tmp_path, monkeypatch) -> Iterator[Server]:
    """A server, and an empty folder for corpora."""
    monkeypatch.setenv("TEXTBAYES_DATA", str(tmp_path))
    monkeypatch.setattr("textbayes.data.catalogue.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def essay(number: int, author: str, text: str) -> str:
    head = f"FEDERALIST No. {number}\n\nOn tea\n\nFor the Journal.\n\n\n{author}\n\nTo the People:\n\n"
    return f"{head}{text}\n\nPUBLIUS\n\n\n\n"


def gutenberg(left_out: int = 0) -> str:
    """The book as Project Gutenberg prints it, with a table of contents and a second version of No. 70."""
    by = dict.fromkeys(range(1, 86), "HAMILTON")
    by |= dict.fromkeys((10, 14, *range(37, 59), 62, 63), "MADISON") | dict.fromkeys((2, 3, 4, 5, 64), "JAY")
    by |= dict.fromkeys((18, 19, 20), "MADISON, with HAMILTON")
    essays = [essay(number, author, f"HAMILTON wrote {number}.") for number, author in by.items() if number != left_out]
    essays.insert(70, essay(70, "HAMILTON", "Another version."))
    contents = "".join(f" FEDERALIST No. {number}\n" for number in by)
    return (
        "\ufeffThe Project Gutenberg EBook\n\n*** START OF THIS PROJECT GUTENBERG EBOOK ***\n\n" + contents
        + "THE FEDERALIST PAPERS\n\nBy Alexander Hamilton, John Jay, and James Madison\n\n" + "".join(essays)
        + "End of the Project Gutenberg EBook of The Federalist Papers, by\nHAMILTON\n\n*** END OF THIS PROJECT"
    ).replace("\n", "\r\n")  # fmt: skip


@pytest.fixture
def federalist(server, monkeypatch) -> Server:
    server.files["/pg1404.txt"] = gutenberg()
    file = PublicFile("pg1404.txt", (f"{server.url}/moved.txt", f"{server.url}/pg1404.txt"))
    info = dataclasses.replace(CORPORA.get("federalist"), downloads=(file,))
    monkeypatch.setitem(CORPORA._members, "federalist", info)
    return server


UNCHECKED = pytest.mark.filterwarnings("ignore:pg1404.txt is unchecked")


@UNCHECKED
def test_federalist_is_built_from_gutenbergs_text(federalist):
    with pytest.raises(CorpusNotFoundError, match=r"pass download=True, or write federalist\.jsonl"):
        load_corpus("federalist")
    corpus = load_corpus("federalist", download=True)
    assert check_corpus("federalist").problem == ""
    # Mosteller & Wallace: 51 by Hamilton, 14 by Madison, 5 by Jay, 12 disputed, 3 joint
    assert Counter(labels[0] for labels in corpus.labels) == {
        "HAMILTON": 51, "MADISON": 14, "JAY": 5, "HAMILTON OR MADISON": 12, "HAMILTON AND MADISON": 3
    }  # fmt: skip
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert texts["1"] == "On tea\n\nFor the Journal.\n\nTo the People:\n\nHAMILTON wrote 1.\n\nPUBLIUS"
    assert "HAMILTON wrote 70." in texts["70"]
    assert texts["85"].endswith("HAMILTON wrote 85.\n\nPUBLIUS")
    load_corpus("federalist", download=True)
    assert federalist.requests == ["/moved.txt", "/pg1404.txt"]  # the second time it was there


@UNCHECKED
def test_a_book_that_lacks_an_essay_is_refused(federalist):
    federalist.files["/pg1404.txt"] = gutenberg(left_out=33)
    with pytest.raises(MalformedFileError, match="84 essays with an author's line are found where 85 are needed"):
        load_corpus("federalist", download=True)
    assert corpus_path("federalist") is None


@UNCHECKED
def test_stines_text_is_not_in_what_is_built(federalist):
    with pytest.raises(CorpusNotFoundError, match=r"has Project Gutenberg's text only.*take text='gutenberg', or add"):
        load_corpus("federalist", download=True, text="stine")


def module(title: str, body: str) -> str:
    return f"<document {NS}><title>{title} </title><metadata><x>M</x></metadata><content>{body}</content></document>"


def collection(*names: str) -> str:
    inside = "".join(f'<module document="{name}"/>' for name in names)
    return f'<collection xmlns="http://cnx.rice.edu/collxml"><content><subcollection>{inside}</subcollection></content></collection>'


@pytest.fixture
def openstax(server, monkeypatch) -> Server:
    at = "/openstax/physics/c0"
    server.files = {
        f"{at}/collections/one.collection.xml": collection("m1", "m2", "m3"),
        f"{at}/collections/two.collection.xml": collection("m2", "m4"),
        **{f"{at}/modules/m{i}/index.cnxml": module("T", f"<para>{LONG}{i}</para>") for i in (1, 2)},
        f"{at}/modules/m3/index.cnxml": module("T", f"<para>{LONG[:-5]}</para>"),  # 299 words
        f"{at}/modules/m4/index.cnxml": module("Other", f"<para>{LONG}1</para>"),  # the text of m1
        "/geo/rocks/g0/01-rocks.Rmd": f"# Rocks\n\nHard.\n\n## Lava\n\n{LONG}\n",
        "/circuits/e0/html/AC/AC_1.html": f"<h1>AC</h1><h2>Power</h2><p>{LONG}",
    }
    monkeypatch.setattr(books, "_RAW", server.url)
    monkeypatch.setattr(books, "BOOKS", (books.Book("physics", "openstax/physics", "c0", ("one", "two")),))
    monkeypatch.setattr(books, "GEOLOGY", books.Book("geology", "geo/rocks", "g0", ("01-rocks.Rmd",)))
    monkeypatch.setattr(books, "ELECTRONICS", books.Book("electronics", "circuits", "e0", ("html/AC/AC_1.html",)))
    return server


def test_openstax_is_built_from_its_modules(openstax, tmp_path):
    calls = []
    corpus = load_corpus("openstax", download=True, progress=lambda *call: calls.append(call))
    assert corpus.ids == ["physics/m1", "physics/m2"]  # without the short one and the second of two alike
    assert corpus.texts[0] == f"{LONG}1"
    assert calls == [
        *(("chapters of geology and electronics", done, 2) for done in range(2)),
        *(("modules of OpenStax's books", done, 4) for done in range(4)),
    ]
    both = load_corpus("openstax", extra=True)
    assert both.ids[2:] == ["geology/01.2", "electronics/AC_1.2"]
    assert sorted(file.name for file in (tmp_path / "openstax").iterdir()) == [
        "extra_geology_electronics.jsonl", "openstax_domains.jsonl"
    ]  # fmt: skip


def test_openstax_goes_on_where_it_stopped(openstax, tmp_path):
    missing = "/openstax/physics/c0/modules/m2/index.cnxml"
    data = openstax.files.pop(missing)
    with pytest.raises(CorpusNotFoundError, match="the server answered 404 Not Found"):
        load_corpus("openstax", download=True)
    assert corpus_path("openstax") is None
    openstax.files[missing] = data
    before = list(openstax.requests)
    assert len(load_corpus("openstax", download=True)) == 2
    assert set(openstax.requests[len(before) :]) & set(before) == {missing}


def test_cnxml_is_read_as_lines():
    text = read_cnxml(
        module(
            "Tea\n and pots",
            "<!-- a note --><section><title>Leaves</title><para>Boil <term>water</term> to "
            "<m:math><m:mn>100</m:mn></m:math> degrees,<newline/>then<footnote>Not before.</footnote> pour.</para>"
            "<list><item>green</item><item>black, <code>tea()</code></item></list></section>"
            "<figure><media alt='pot'><image src='p.png'/></media><caption>A pot.</caption></figure>"
            "<table><row><entry>1</entry></row></table>"
            "<exercise><problem><para>Why?</para></problem><solution><para>Because.</para></solution></exercise>",
        ).encode(),
        "m1",
    )
    assert text.title == "Tea and pots"
    assert text.text.split("\n") == [
        *(
            "Leaves",
            "Boil water to degrees,",
            "then",
            "Not before.",
            "pour.",
            "green",
            "black, tea()",
            "A pot.",
            "Why?",
        ),
    ]
    assert read_collection(collection("m2", "m1").encode(), "c") == ["m2", "m1"]
    with pytest.raises(MalformedFileError, match=r"m1.*not valid XML.*delete it and download it again"):
        read_cnxml(b"<document><title>", "m1")


def test_sections_of_r_markdown():
    source = (
        "---\ntitle: x\n---\n\n# The Earth {-}\n\n_Adapted from [a book](https://x.org/_a_)_\n\n"
        "```{r fig, fig.cap='## no'}\nx\n```\n"
        '<div class="box>\n\n##### Aims\n\nFigure \\@ref(fig:1) shows **rock** &amp; ice.\n\n</div>\n## Lava\n\nHot.\n'
    )
    first, second = markdown_sections(source)
    assert first == ("The Earth", "The Earth\nAdapted from a book\nAims\nFigure shows rock & ice.")
    assert second == ("Lava", "Lava\nHot.")


def test_sections_of_html():
    chapter = "<title>x</title><h1>Chapter 1</h1><!-- <h2>no</h2> -->"
    first, second = html_sections(f"{chapter}<h2><u>&ldquo;AC&rdquo;</u></h2><p>In <i>volts</i>.<pre>v1 0</pre>")
    assert first == ("Chapter 1", "Chapter 1")
    assert second == ("“AC”", "“AC”\nIn volts .")
