"""References as databases and reference managers export them: the same record in four formats, and what goes wrong."""

from __future__ import annotations

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.data import open_documents

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
