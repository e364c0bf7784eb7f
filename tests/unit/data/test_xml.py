"""XML files that would fill the memory: elements nobody asked for, entries without an end, concepts in concepts."""

from __future__ import annotations

import gzip
import io

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.data import open_documents, read_concepts
from textbayes.data.streams import open_input, read_elements

SKOS = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="http://www.w3.org/2004/02/skos/core#">{}</rdf:RDF>'
)
CONCEPT = '<skos:Concept rdf:about="{0}"><skos:prefLabel>{0}</skos:prefLabel></skos:Concept>'
FILES = {
    "feed.rss": ("<rss>{}</rss>", "<item><guid>{0}</guid><title>{1}</title></item>"),
    "feed.atom": ("<feed>{}</feed>", "<entry><id>{0}</id><title>{1}</title><summary>Tea.</summary></entry>"),
    "library.xml": ("<xml><records>{}</records></xml>", "<record><titles><title>{1}</title></titles></record>"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_nobody_asked_for_is_bounded(tmp_path, name):
    path, (file, entry) = tmp_path / name, FILES[name]
    path.write_text(file.format(entry.format("a", "Tea") + "<other/>" * 40_000 + entry.format("b", "Milk")))
    assert [one.text.split("\n")[0] for one in open_documents(path)] == ["Tea", "Milk"]
    with pytest.raises(MalformedFileError, match="longer than 100,000 bytes"):
        list(open_documents(path, max_record=100_000))


@pytest.mark.parametrize("name", FILES)
def test_an_entry_with_a_long_title_is_refused(tmp_path, name):
    path, (file, entry) = tmp_path / name, FILES[name]
    path.write_text(file.format(entry.format("a", "Tea " * 1_000)))
    with pytest.raises(MalformedFileError, match="longer than 2,000 bytes"):
        list(open_documents(path, max_record=2_000))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", ["<b/>", "<b/>t", '<b c="1"/>', "<!---->", "<?b?>"])
def test_an_entry_of_millions_of_empty_elements_is_refused(tmp_path, name, part):
    """A tree of them takes thirty times their bytes and more; a long HTML text has few for its length."""
    path, (file, entry) = tmp_path / name, FILES[name]
    path.write_text(file.format(entry.format("a", "Tea").replace(">Tea", ">Tea" + part * 100_000)))
    with pytest.raises(MalformedFileError, match="more than 65,536 tags and attributes, which no text needs"):
        list(open_documents(path, max_record=1 << 21))
    html = "<![CDATA[" + '<p class="a">Tea leaves, dried and rolled by hand.</p>' * 20_000 + "]]>"
    path.write_text(file.format(entry.format("a", html)))
    [read] = open_documents(path, max_record=1 << 21)
    assert read.text.count("Tea leaves") == 20_000


@pytest.mark.parametrize("name", FILES)
def test_a_compressed_file_that_is_cut_short_is_refused(tmp_path, name):
    file, entry = FILES[name]
    text = file.format("".join(entry.format(k, f"Tea {k * k}") for k in range(500)))
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(text.encode())[:-200])
    with pytest.raises(MalformedFileError, match="cut short or damaged"):
        list(open_documents(path))


def test_a_vocabulary_that_is_cut_short_or_hides_its_concepts(tmp_path):
    packed = gzip.compress(SKOS.format("".join(CONCEPT.format(k * k) for k in range(500))).encode())
    with pytest.raises(MalformedFileError, match="cut short or damaged"):
        read_concepts(io.BytesIO(packed[:-200]))
    path = tmp_path / "within.rdf"
    path.write_text(SKOS.format(f"<more><and>{CONCEPT.format('tea')}</and></more>"))
    assert [one.name for one in read_concepts(path)] == ["tea"]


def test_elements_are_thrown_away_wherever_they_stand():
    inside = "".join(f"<part><more/><item>{k}</item></part><more/>" for k in range(2_000))
    with open_input(io.BytesIO(f"<!-- ours --><list>{inside}</list>".encode())) as stream:
        sizes = {
            sum(1 for _ in item.getroottree().iter()) for item in read_elements(stream, "item", "a list", "fetch it")
        }
    # The whole of the file would have 8,001. What the parser reads ahead stays: 32 KiB of 96.
    assert max(sizes) < 4_000
    assert min(sizes) < 10


def test_concepts_in_names_of_concepts_are_told_once():
    opened = "".join(f'<skos:Concept rdf:about="{k}"><skos:prefLabel>' for k in range(100))
    text = SKOS.format(f"{opened}tea{'</skos:prefLabel></skos:Concept>' * 100}")
    assert [one.name for one in read_concepts(io.BytesIO(text.encode()))] == ["tea"]
