"""References as databases and reference managers export them: the same record in four formats, and what goes wrong."""

from __future__ import annotations

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.data import open_documents
from textbayes.data.documents import guess_format

RIS = """TY  - JOUR
AU  - Smith, Ann
AU  - Åberg, Bo
TI  - Green tea in adults:
 a trial
JO  - Journal of Tea
PY  - 1999
AB  - Background. We brewed.
DO  - 10.1000/tea.7
AN  - 10123456
XX  - a tag of its own
ER  -

TY  - JOUR
T1  - Iron ore
N2  - Mining.
Y1  - 2001/05/01/
ER  -
"""
NBIB = """PMID- 10123456
TI  - Green tea in adults:
      a trial
FAU - Smith, Ann
FAU - Åberg, Bo
JT  - Journal of Tea
DP  - 1999 May
AB  - Background. We
      brewed.
LID - 10.1000/tea.7 [doi]
MH  - Tea

PMID- 2
TI  - Iron ore
AB  - Mining.
DP  - 2001
"""
BIBTEX = r"""@article{smith1999,
  title = {Green {T}ea in adults: a trial},
  author = {Smith, Ann and {\AA}berg, Bo},
  journal = {Journal of Tea}, year = 1999,
  abstract = {Background. We brewed.}, doi = {10.1000/tea.7}, pmid = {10123456}
}
@inproceedings{ore, title = "Iron ore", abstract = {Mining.}, year = {2001}}
"""
ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?><xml><records>
<record><contributors><authors><author><style>Smith, Ann</style></author><author><style>Åberg, Bo</style></author>
</authors></contributors><titles><title><style>Green tea in adults: </style><style>a trial</style></title></titles>
<periodical><full-title>Journal of Tea</full-title></periodical><dates><year><style>1999</style></year></dates>
<abstract><style>Background. We brewed.</style></abstract><accession-num><style>10123456</style></accession-num>
<electronic-resource-num><style>10.1000/tea.7</style></electronic-resource-num></record>
<record><titles><title><style>Iron ore</style></title></titles><abstract><style>Mining.</style></abstract>
<dates><year><style>2001</style></year></dates></record></records></xml>
"""
FILES = {"refs.ris": RIS, "pubmed.nbib": NBIB, "refs.bib": BIBTEX, "library.xml": ENDNOTE}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_the_same_record_in_every_format(tmp_path, name, named):
    path = tmp_path / (name if named else "export")
    path.write_text(FILES[name], encoding="utf-8")
    tea, ore = open_documents(path, keep_fields=True)
    assert tea.text.lower() == "green tea in adults: a trial\nbackground. we brewed."
    assert ore.text == "Iron ore\nMining."
    wanted = {"authors": "Smith, Ann; Åberg, Bo", "year": "1999", "journal": "Journal of Tea"}
    wanted |= {"doi": "10.1000/tea.7", "pmid": "10123456"}
    assert {field: tea.fields[field] for field in wanted} == wanted
    assert ore.fields["year"] == "2001"


@pytest.mark.parametrize(
    ("name", "text"), [("nbib", "\nPMID- 7\nTI  - Tea\n"), ("ris", "TY  - JOUR\nTI  - Tea\nER  - \n")]
)
def test_a_text_file_of_references_is_read_as_such(tmp_path, name, text):
    path = tmp_path / "pubmed-tea.txt"  # as PubMed calls what it saves
    path.write_text(text)
    assert guess_format(path) == name
    path.write_text("PMID is a number.\nTI is a title.\n")
    assert guess_format(path) == "text"


def test_faults_are_named(tmp_path):
    cut = tmp_path / "cut.xml"
    cut.write_text(ENDNOTE[:400], encoding="utf-8")
    with pytest.raises(MalformedFileError, match=r"cut\.xml.*not valid XML"):
        list(open_documents(cut))
    stray = tmp_path / "stray.nbib"
    stray.write_text("PMID- 1\nTI  - Tea\nhello\n", encoding="utf-8")
    with pytest.raises(MalformedFileError, match=r"stray\.nbib, line 3: neither a tag"):
        list(open_documents(stray))


def test_entities_of_xml_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret words", encoding="utf-8")
    path = tmp_path / "x.xml"
    path.write_text(
        f'<!DOCTYPE xml [<!ENTITY s SYSTEM "{secret.as_uri()}">]><xml><records><record><titles><title>Tea &s;</title>'
        "</titles></record></records></xml>",
        encoding="utf-8",
    )
    assert "secret" not in "".join(document.text for document in open_documents(path))


def test_a_bibtex_string_that_nobody_defined_is_named(tmp_path):
    (tmp_path / "a.bib").write_text('@article{a, title = "Tea " # nowhere}\n', encoding="utf-8")
    with pytest.raises(MalformedFileError, match=r"a\.bib: undefined string in line 1: nowhere.*as RIS"):
        list(open_documents(tmp_path / "a.bib"))


def test_bibtex_of_many_hands(tmp_path):
    path = tmp_path / "a.bib"
    path.write_text(
        r"""% Encoding: UTF-8
Made by ann@example.org, 10 % of all.
@String(jot = "Journal of {T}ea")
@Comment{jabref-meta: databaseType:bibtex;}
@ARTICLE(m1, Title = "5% of {M}{\"u}ller's {\o}l \& 10\% of $\alpha$", Journal = jot # { II}, month = jan)
@article{m2, title = {Another}, title = {said twice}}
""",
        encoding="utf-8",
    )
    first, second = open_documents(path, keep_fields=True)
    assert first.text.strip() == "5% of Müller's øl & 10% of α"
    assert first.fields["journal"] == "Journal of Tea II"
    assert second.text.strip() == "said twice"


@pytest.mark.parametrize("fault", ["@article{b, title = {Tea}", "@article{b, title = Tea}}", "@article{b title}"])
def test_a_broken_entry_of_bibtex_is_named(tmp_path, fault):
    (tmp_path / "a.bib").write_text(f"@article{{a, title = {{Ore}}}}\n{fault}\n", encoding="utf-8")
    with pytest.raises(MalformedFileError, match=r"a\.bib: .*line [23].*mend the entry"):
        list(open_documents(tmp_path / "a.bib"))


def test_a_reference_in_ris_keeps_its_own_id_where_it_is_unique(tmp_path):
    path = tmp_path / "a.ris"
    ids = ["smith2", "5", "smith2", "", "jones", "3"]
    path.write_text("".join(f"TY  - JOUR\nID  - {id}\nTI  - Tea\nER  - \n" for id in ids))
    assert [document.id for document in open_documents(path)] == ["smith2", "5", "3", "4", "jones", "6"]


def test_references_of_pubmed_without_a_number_are_told_apart_by_their_titles(tmp_path):
    path = tmp_path / "a.nbib"
    path.write_text("TI  - Tea\nAB  - Leaves.\n\nTI  - Ore\n\nPMID- 7\nTI  - Iron\n\nAB  - Mining.\n")
    assert [document.text.strip() for document in open_documents(path, duplicates="keep")] == [
        "Tea\nLeaves.", "Ore", "Iron\nMining."
    ]  # fmt: skip


def read_fields(tmp_path, name, text):
    """The texts of a file, and the fields of its first reference."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    documents = list(open_documents(tmp_path / name, keep_fields=True))
    return [document.text for document in documents], documents[0].fields


def test_ris_fields_with_one_space_among_others_with_two(tmp_path):
    text = "TY  - JOUR\nT1 - Green tea\nAU - Smith, Ann\nPY - 1999\nAB  - Leaves.\nDO - 10.1000/tea.7\nER  - \n"
    texts, fields = read_fields(tmp_path, "a.ris", text)
    assert texts == ["Green tea\nLeaves."]
    assert (fields["authors"], fields["year"], fields["doi"]) == ("Smith, Ann", "1999", "10.1000/tea.7")


def test_ris_without_an_end_and_with_a_bad_tag(tmp_path):
    text = "TY  - JOUR\nTI  - Tea\nTY  - JOUR\nDO: 10.1000/x\nTI  - Ore\nER  - \n"
    with pytest.raises(MalformedFileError, match=r"a\.ris, line 4: 'DO: 10\.1000/x' is neither a field.*'TI  - '"):
        read_fields(tmp_path, "a.ris", text)
    text = "TY  - JOUR\nTI  - Tea\nDO  - 10.1000/x\nDO: 10.1000/y\nTY  - JOUR\nDO - 10.1000/z\nsee there\nTI  - Ore\n"
    assert read_fields(tmp_path, "b.ris", text)[0] == ["Tea", "Ore"]


@pytest.mark.parametrize("line", ["TY - pe II diabetes", "ER - positive tumours", "CA - 125 levels", "PY - 40 smokers"])
def test_a_line_of_an_abstract_in_ris_that_looks_like_a_field(tmp_path, line):
    text = f"TY  - JOUR\nTI  - Tea\nAB  - Patients with\n{line}\nwere asked.\nER  - \nTY  - JOUR\nTI  - Ore\nER  - \n"
    assert read_fields(tmp_path, "a.ris", text)[0] == [f"Tea\nPatients with {line} were asked.", "Ore"]


@pytest.mark.parametrize("end", ["", "ER - \n"])
def test_a_reference_in_ris_begins_below_an_abstract(tmp_path, end):
    text = f"TY  - JOUR\nTI  - Tea\nAB  - Leaves.\n{end}TY - JOUR\nTI - Ore\nAB - Mining.\nER - \n"
    assert read_fields(tmp_path, "a.ris", text)[0] == ["Tea\nLeaves.", "Ore\nMining."]


def test_nothing_of_a_messy_reference_in_ris_is_lost(tmp_path):
    text = (
        "TY  - BOOK\nBT  -Green tea\nA1  - Smith, Ann\nAU  - Berg, Bo\nAB  - Leaves.\nAB  - Pots.\nJA  - J Tea\n"
        "DA  - 1999/05/01\nKW  - tea\ncup\nUR  - https://tea.org\nER  - \n"
    )
    texts, fields = read_fields(tmp_path, "a.ris", text)
    assert texts == ["Green tea\nLeaves. Pots."]
    wanted = {"authors": "Smith, Ann; Berg, Bo", "journal": "J Tea", "year": "1999", "keywords": "tea; cup"}
    assert {name: fields[name] for name in wanted} == wanted


def test_nothing_of_a_messy_reference_of_pubmed_is_lost(tmp_path):
    text = "PMID- 7\nTT  - Thé vert\nOAB - Leaves.\nLID - doi: 10.1000/tea.7 [doi]\nDCOM- 20010501\nTA  - J Tea\n"
    texts, fields = read_fields(tmp_path, "a.nbib", text)
    assert texts == ["Thé vert\nLeaves."]
    assert (fields["doi"], fields["journal"]) == ("10.1000/tea.7", "J Tea")
    lost = "PMID- 7\nAB  - We study\nRNA-binding proteins.\n"  # the indentation of a line is gone
    with pytest.raises(MalformedFileError, match=r"b\.nbib, line 3: neither a tag"):
        read_fields(tmp_path, "b.nbib", lost)


def test_nothing_of_a_messy_reference_of_endnote_is_lost(tmp_path):
    text = (
        "<xml><records><record><titles><secondary-title>Teas</secondary-title><short-title>Green tea</short-title>"
        "</titles><abstract>Leaves.</abstract><accession-num> PMID: 10123456\n</accession-num><periodical>"
        "<abbr-1>J Tea</abbr-1></periodical><dates><pub-dates><date>May 1999</date></pub-dates></dates><urls>"
        "<web-urls><url>https://tea.org</url></web-urls></urls></record></records></xml>"
    )
    texts, fields = read_fields(tmp_path, "a.xml", text)
    assert texts == ["Green tea\nLeaves."]
    wanted = {"pmid": "10123456", "journal": "Teas", "year": "1999", "url": "https://tea.org"}
    assert {name: fields[name] for name in wanted} == wanted


def test_fields_of_biblatex_are_read(tmp_path):
    text = (
        "@article{a, title = {Green tea}, subtitle = {A trial}, journaltitle = {J Tea}, date = {1999-05},\n"
        "  abstract = {Leaves.}, eprint = {10123456}, eprinttype = {pubmed}, author = {Smith, Ann AND Berg, Bo}}\n"
    )
    texts, fields = read_fields(tmp_path, "a.bib", text)
    assert texts == ["Green tea: A trial\nLeaves."]
    wanted = {"journal": "J Tea", "year": "1999", "pmid": "10123456", "authors": "Smith, Ann; Berg, Bo"}
    assert {name: fields[name] for name in wanted} == wanted
