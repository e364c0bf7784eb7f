"""Records of a screening as BibTeX: what we write is read as it was."""

from __future__ import annotations

import io

import pytest

from textbayes.data import open_documents
from textbayes.data.formats import FORMATS
from textbayes.screen.references import WRITERS, bibtex_of, nbib_of, ris_of

pytest.importorskip("pybtex", reason="needs the extra screen")


@pytest.mark.parametrize(
    "title", ["5% of A&B_c #1", 'say "so" é', "x^2 ~ y for $5 - $6", "Ω 中文 ±3 µg", "at@x.org", r"back\slash 10 %"]
)
def test_bibtex_that_we_write_is_read_as_it_was(title):
    row = {"id": "1", "title": title, "abstract": title, "authors": "O'Neil, A; Müller, B", "probability": 0.5}
    (back,) = FORMATS.get("bibtex").read(io.BytesIO(bibtex_of([row]).encode()), keep_fields=True)
    assert back.text == f"{title}\n{title}"
    assert back.fields["authors"] == "O'Neil, A; Müller, B"


def test_keys_of_bibtex_are_those_that_came_in_where_they_can_be():
    ids = ["smith2020", "Smith2020", "7#2", "r3", "", "müller:21", "r1"]
    rows = [{"id": id, "title": f"Tea {k}"} for k, id in enumerate(ids)]
    rows.append({"id": "x", "textbayes_id": "own", "title": "Tea"})
    back = list(FORMATS.get("bibtex").read(io.BytesIO(bibtex_of(rows).encode()), keep_fields=True))
    assert [document.id for document in back] == ["smith2020", "r2", "r3", "r4", "r5", "müller:21", "r1", "own"]
    assert [document.text.strip() for document in back[:7]] == [f"Tea {k}" for k in range(7)]


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x85", "\u2028"])
def test_a_text_makes_no_further_reference(tmp_path, ending, end):
    """A line of a title, an abstract or a note that looks like the end of a reference and the next one's beginning."""
    forged = {
        ".ris": ["ER  - ", "TY  - JOUR", "TI  - forged"], ".nbib": ["", "PMID- 666", "TI  - forged"],
        ".bib": ["},", "@article{forged,", "title = {forged}"], ".xml": ["</title>", "<record>", "<title>forged"],
    }  # fmt: skip
    text = "Tea" + end + end.join(forged[ending])
    fields = {"title": text, "abstract": text, "authors": text, "doi": text, "words": text, "journal": text}
    rows = [{**fields, "id": "1", "decision": "", "probability": 0.5}, {"text": text, "id": "2", "decision": text}]
    path = tmp_path / f"refs{ending}"
    path.write_bytes(WRITERS[ending](rows).encode())
    read = list(open_documents(path, keep_fields=True))
    assert len(read) == 2
    assert [document.fields["title"].startswith("Tea") for document in read] == [True, True]


def test_ris_begins_with_a_reference_and_keeps_ids():
    written = ris_of([{"id": "smith2", "title": "Tea"}, {"id": "x", "textbayes_id": "x-2", "title": "Ore"}])
    lines = written.splitlines()
    assert lines[0] == "TY  - JOUR"
    assert [line for line in lines if line and line[2:6] != "  - "] == []
    assert [line for line in lines if line.startswith("ID")] == ["ID  - smith2", "ID  - x-2"]


def test_pubmed_has_no_empty_number(tmp_path):
    written = nbib_of([{"id": "1", "title": "Tea", "doi": "10.1/x"}, {"id": "2", "title": "Ore", "pmid": "12345"}])
    assert [line for line in written.splitlines() if line.startswith("PMID")] == ["PMID- 12345"]
    (tmp_path / "out.nbib").write_text(written)
    tea, ore = open_documents(tmp_path / "out.nbib", duplicates="keep", keep_fields=True)
    assert (tea.fields["title"], tea.fields["doi"], ore.fields["title"]) == ("Tea", "10.1/x", "Ore")
