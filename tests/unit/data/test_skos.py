"""SKOS vocabularies: against the statements that another reader finds, in several languages, and what is refused."""

from __future__ import annotations

import bz2
import io

import pytest

from textbayes import LabellingSession
from textbayes.core.errors import MalformedFileError
from textbayes.data import Concept, described, read_concepts
from textbayes.data.skos import is_vocabulary

HEAD = '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
HEAD += 'xmlns:skos="http://www.w3.org/2004/02/skos/core#" xmlns:dct="http://purl.org/dc/terms/">'
FILE = (
    HEAD
    + """
<skos:ConceptScheme rdf:about="http://x/scheme"><dct:title>Goods</dct:title></skos:ConceptScheme>
<skos:Concept rdf:about="http://x/grain">
  <skos:prefLabel xml:lang="en">grain</skos:prefLabel><skos:prefLabel xml:lang="de">Getreide</skos:prefLabel>
  <skos:altLabel xml:lang="en">cereals</skos:altLabel><skos:altLabel xml:lang="en-GB">corn</skos:altLabel>
  <skos:altLabel xml:lang="de">Korn</skos:altLabel>
  <skos:definition xml:lang="en">Seeds of grasses,
     such as wheat &amp; maize.</skos:definition>
  <skos:narrower rdf:resource="http://x/rye"/>
</skos:Concept>
<rdf:Description rdf:about="http://x/wheat"><rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
  <skos:prefLabel>wheat</skos:prefLabel><skos:broader rdf:resource="http://x/grain"/></rdf:Description>
<rdf:Description rdf:about="http://x/wheat"><skos:scopeNote>Common wheat.</skos:scopeNote></rdf:Description>
<skos:Concept rdf:about="http://x/rye" xml:lang="en"><skos:prefLabel>rye</skos:prefLabel></skos:Concept>
<skos:Concept rdf:ID="durum"><skos:prefLabel xml:lang="it">grano duro</skos:prefLabel>
  <skos:broader><skos:Concept rdf:about="http://x/hard"><skos:prefLabel>hard wheat</skos:prefLabel></skos:Concept>
  </skos:broader></skos:Concept>
<skos:Concept rdf:about="http://x/nameless"/>
</rdf:RDF>"""
)


def read(text, language="en"):
    return read_concepts(io.BytesIO(text.encode()), language)


def test_names_descriptions_and_broader_concepts():
    assert read(FILE) == [
        Concept("http://x/grain", "grain", ("cereals", "corn"), "Seeds of grasses, such as wheat & maize."),
        Concept("http://x/rye", "rye", broader=("grain",)),
        Concept("http://x/wheat", "wheat", (), "Common wheat.", ("grain",)),
        Concept("http://x/hard", "hard wheat"),
        Concept("#durum", "grano duro", broader=("hard wheat",)),
    ]
    assert described(read(FILE))["grain"] == "cereals, corn. Seeds of grasses, such as wheat & maize."
    german = read(FILE, "de")[0]
    assert (german.name, german.others, german.definition) == (
        "Getreide",
        ("Korn",),
        "Seeds of grasses, such as wheat & maize.",
    )


def test_concepts_of_one_name_are_described_together():
    twice = [Concept("a", "bank", ("lender",)), Concept("b", "bank", (), "Side of a river."), Concept("c", "tea")]
    assert described(twice) == {"bank": "lender. Side of a river.", "tea": ""}


def test_compressed_files_and_what_begins_like_a_vocabulary(tmp_path):
    path = tmp_path / "goods.rdf.bz2"
    path.write_bytes(bz2.compress(FILE.encode()))
    assert len(read_concepts(path)) == 5
    assert is_vocabulary(path)
    assert not is_vocabulary(io.BytesIO(b"label,description\ntea,leaves\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<a> a skos:Concept .", "Turtle.*are not read"),
        ("# ours\nPREFIX skos: <x>\n", "Turtle.*are not read"),
        ('{"@context": {}}', "are not read"),
        (HEAD + "</rdf:RDF>", "no concept here has a skos:prefLabel"),
        (FILE[:-12], "not valid XML"),
        (FILE.replace("<rdf:RDF", '<!DOCTYPE rdf:RDF [<!ENTITY x "http://x/">]><rdf:RDF', 1), "declares entities"),
        (
            '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;"><!ENTITY d "&c;&c;&c;">]>' + FILE[21:],
            "declares entities",
        ),
        (
            FILE.replace("<rdf:RDF", '<!DOCTYPE rdf:RDF [<!ENTITY x SYSTEM "file:///etc/passwd">]><rdf:RDF', 1),
            "declares entities",
        ),
    ],
)
def test_refusals(text, said):
    with pytest.raises(MalformedFileError, match=said):
        read(text)


def test_a_session_guesses_by_a_vocabulary():
    texts = ["cereals fell", "maize and wheat", "rye bread", "the bank", "rye fields", "seeds of maize", "cereals rose"]
    session = LabellingSession(texts, descriptions=described(read(FILE)))
    guesses = {texts[one.index]: one.guess for one in session.suggest(7)}
    assert guesses["rye bread"] == ("rye",)
    assert guesses["cereals rose"] == ("grain",)
