"""Files whose last record lacks its end, or is cut anywhere: what has begun is read, or the file is refused."""

from __future__ import annotations

import io
import re

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS

# For each format: two records, and what a record begins with.
FILES: dict[str, tuple[str, str]] = {
    "ris": ("TY  - JOUR\nTI  - Tea\nAB  - Leaves\n in pots\nER  - \n\nTY  - JOUR\nTI  - Rye\nER  - \n", r"TY  ?-"),
    "nbib": ("PMID- 1\nTI  - Tea\n      and pots\n\nPMID- 2\nTI  - Rye\n", r"PMID ?-"),
    "bibtex": ("@article{a, title = {Tea},\n year = 1999}\n\n@article{b, title = {Rye}}\n", r"@"),
    "endnote": (
        "<xml><records><record><titles><title>Tea</title></titles></record>\n"
        "<record><titles><title>Rye</title></titles></record></records></xml>\n",
        r"<record>",
    ),
    "feed": (
        "<rss><channel><item><title>Tea</title></item>\n<item><title>Rye</title></item></channel></rss>\n",
        r"<item>",
    ),
    "jsonl": ('{"id": "1", "text": "Tea"}\n{"id": "2", "text": "Rye"}\n', r"(?m)^\{"),
    "csv": ('id,text\n1,"Tea\nleaves"\n2,Rye\n', r"(?m)^\d"),
    "tsv": ("id\ttext\n1\tTea\n2\tRye\n", r"(?m)^\d"),
    "mbox": ("From a Mon\nSubject: Tea\n\nLeaves\n\nFrom b Tue\nSubject: Rye\n\nBread\n", r"(?m)^From "),
    "reuters": (
        '<REUTERS NEWID="1">\n<TEXT><BODY>Tea</BODY></TEXT>\n</REUTERS>\n'
        '<REUTERS NEWID="2">\n<TEXT><BODY>Rye</BODY></TEXT>\n</REUTERS>\n',
        r"<REUTERS",
    ),
    "ohsumed": (".I 1\n.U\n871\n.T\nTea\n.I 2\n.U\n872\n.T\nRye\n", r"(?m)^\.I \d"),
    "lyrl2004": (".I 1\n.W\ntea\n\n.I 2\n.W\nrye\n", r"(?m)^\.I \d"),
    "lines": ("Tea\nRye\n", r"(?m)^."),
}


def read(name: str, text: str) -> list[str]:
    return [document.text for document in FORMATS.get(name).read(io.BytesIO(text.encode()))]


@pytest.mark.parametrize("name", FILES)
def test_a_last_record_without_its_end(name):
    text, _ = FILES[name]
    for ending in ("\n", "\r\n"):
        whole = read(name, text.replace("\n", ending))
        assert [document.split()[0].lower() for document in whole if document] in (["tea", "rye"], ["leaves", "bread"])
        assert read(name, text.replace("\n", ending).rstrip()) == whole


@pytest.mark.parametrize("name", FILES)
def test_nothing_that_has_begun_is_dropped(name):
    text, begins = FILES[name]
    n_read = 0
    for end in range(len(text)):
        cut = text[:end]
        try:
            documents = read(name, cut)
        except MalformedFileError:
            continue
        assert len(documents) == len(re.findall(begins, cut)), cut
        n_read += 1
    assert n_read or name in ("endnote", "feed")  # XML is refused wherever it is cut


def ris(text: str) -> list[str]:
    return read("ris", text)


def test_a_reference_of_ris_without_its_end_is_kept():
    first, last = "TY  - JOUR\nTI  - Tea\nAB  - Leaves\n", "TY  - JOUR\nTI  - Rye\n"
    assert ris(first + "ER  - \n" + last) == ["Tea\nLeaves", "Rye"]
    assert ris(first + last + "ER  - \n") == ["Tea\nLeaves", "Rye"]
    assert ris(first + last) == ["Tea\nLeaves", "Rye"]
    many = last * 1203
    assert ris(many) == ["Rye"] * 1203
    assert ris(many.replace("TI", "ER  - \n\nTY  - JOUR\nTI")) == ["", "Rye"] * 1203


@pytest.mark.parametrize(
    "text",
    [
        "TY - JOUR\nTI - Tea\nUK - no tag that counts\nER - \nTY - JOUR\nTI - Rye\nER -\n",  # one space
        "  TY  - JOUR\n  TI  - Tea\n  ER  - \n  TY  - JOUR\n  TI  - Rye\n  ER  - \n",
        "TY  - JOUR\rTI  - Tea\rER  - \rTY  - JOUR\rTI  - Rye\rER  - \r",
        "Provider: somebody\n\n1.\nTY  - JOUR\nTI  - Tea\nER  - \n\n2.\nTY  - JOUR\nTI  - Rye\nER  - \n",
    ],
)
def test_ris_of_many_hands(text):
    assert ris(text) == ["Tea", "Rye"]


def test_a_line_of_an_abstract_is_no_field():
    [text] = ris("TY  - JOUR\nTI  - Tea\nAB  - In the\nUK - and elsewhere\nER  - \n")
    assert text == "Tea\nIn the UK - and elsewhere"


def test_ris_that_would_lose_something_is_refused_with_its_line():
    with pytest.raises(MalformedFileError, match=r"line 4: a field \(TI\) outside of a reference"):
        ris("TY  - JOUR\nTI  - Tea\nER  - \nTI  - Rye\nER  - \n")
    with pytest.raises(MalformedFileError, match="no reference: each begins with a line 'TY  - '"):
        ris("FN Clarivate\nPT J\n")


def test_pubmed_with_carriage_returns():
    assert read("nbib", "PMID- 1\rTI  - Tea\r      leaves\rPMID- 2\rTI  - Rye\r") == ["Tea leaves", "Rye"]


def test_an_entry_of_bibtex_within_a_line_is_not_passed_over():
    text = "@article{a, title = {Tea}} @article{b, title = {Rye"
    with pytest.raises(MalformedFileError, match="premature end of file"):
        read("bibtex", text)
    assert read("bibtex", text + "}} by me@home.org\n") == ["Tea", "Rye"]


def test_reuters_stories_in_one_line():
    text, _ = FILES["reuters"]
    assert read("reuters", text.replace("\n", "")) == ["Tea", "Rye"]
    assert read("reuters", text.replace("</REUTERS>\n<", "</REUTERS><")) == ["Tea", "Rye"]
