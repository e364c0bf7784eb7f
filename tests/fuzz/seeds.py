"""A small sound file of every kind, with what mutations put into it and how it is packed again."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from typing import NamedTuple

Mutated = tuple[str, bytes]
Repack = Callable[[random.Random, bytes, Callable[[bytes], Mutated]], Mutated]


class Seed(NamedTuple):
    """``repack`` has a change made to what is packed in the file: a checksum would hide the damage otherwise."""

    ending: str
    data: bytes
    tokens: list[bytes]
    repack: Repack | None = None


# -- packed files ---------------------------------------------------------------------------------------------------
FILES = {
    "a/1.txt": b"one two\n",
    "a/2.txt": b"From: a@b\n\nthree\n-- \nme\n",
    "b/3.txt": b"In article <1>:\n> four\nfive\n",
}


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.pax_headers = len(data), {"comment": "é"}
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def _rezip(rng: random.Random, data: bytes, change: Callable[[bytes], Mutated]) -> Mutated:
    """Change one file of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    name = rng.choice([*files, *(name for name in files if "sheet" in name or "shared" in name)])
    what, files[name] = change(files[name])
    return f"{what} in {name}", zipped(files)


def _recompress(compress: Callable[[bytes], bytes], decompress: Callable[[bytes], bytes]) -> Repack:
    def repack(rng: random.Random, data: bytes, change: Callable[[bytes], Mutated]) -> Mutated:
        what, inner = change(decompress(data))
        return f"{what} inside", compress(inner)

    return repack


def workbook() -> bytes:
    import datetime

    from openpyxl import Workbook

    book, stream = Workbook(), io.BytesIO()
    for row in (["id", "text", "label", "on"], [1, "one & two", "a", datetime.date(2024, 5, 1)], [2, 3.5, True, None]):
        book.active.append(row)
    book.active["B4"] = "=1+2"
    book.active.merge_cells("C2:C3")
    book.save(stream)
    return stream.getvalue()


def table() -> bytes:
    import pyarrow
    from pyarrow import parquet

    stream = io.BytesIO()
    columns = {"id": [1, 2, 3], "text": ["one", "two", "three"], "labels": [["a"], ["a", "b"], None]}
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


# -- what mutations put in ------------------------------------------------------------------------------------------
_CSV = [*b'" "" , ; | "\n text,label\n'.split(b" "), b"\t", b",".join([b"c"] * 50)]
_JSON = rb'{ [ " } ] , : \ud800 \u0000 {"text": "id": null NaN 1e400'.split(b" ")
_MARKUP = [*b"< > <! <!-- --> </ <b> <div> </p> & &# &#1 <script> <![CDATA[".split(b" "), b"<a "]
_MAIL = [
    *_MARKUP,
    *b'=?utf-8?q? =?utf-8?b? ?= --b --b--\n ; " \nFrom\tx\n charset=punycode'.split(b" "),
    b"From ",
    b"Subject: ",
    b"Content-Type: multipart/mixed; boundary=b\n\n--b\n",
    b"Content-Type: message/rfc822\n\n",
    b"Content-Type: text/html\n\n",
    b"Content-Transfer-Encoding: base64\n",
    b"Content-Type: text/plain; charset=utf-7\nContent-Transfer-Encoding: quoted-printable\n\n+2AA-",
    b"Content-Type: text/plain; charset*" + b"1" * 5000 + b"=x\n",
]
_STORY = [
    *_MARKUP,
    *b'<TITLE> <TOPICS> <D> </D> <TEXT> <BODY> </TEXT> <DATE> </REUTERS> a=" &#99999999999'.split(b" "),
    b"<REUTERS ",
    b"<TEXT ",
    b"a" * 99,
]
_DOTTED = [*b".I 1\n|.I |.W\n|.U\n|.M\n|.T\n|.|;".split(b"|")]
_XML = [
    *_MARKUP,
    *b'<v> </v> t="s" t="e" r=" <si><t> <is> &a; 1e999'.split(b" "),
    b'<row r="99999999999">',
    b'<!DOCTYPE x [<!ENTITY a "tea tea">',
    b'<!ENTITY a "&a;&a;">',
    b'<c r="ZZZ1">',
    b'<c r="A1048577"/>',
    b'<!DOCTYPE x [<!ENTITY a "b">]>',
]
_YAML = b"[|{|- |? |: |&a |*w|!!python/object |\n  |---\n|%|'|\"|{a: ".split(b"|")
_YAML += [b"\na: &a [tea, rye]\n", b"\na: &a [*a, *a]\n", b"\na: &a {<<: *a}\n"]
_TOPIC = b"<top>|</top>|<num>|<title>|<desc>| ".split(b"|")

# -- the files ------------------------------------------------------------------------------------------------------
_GZIP = _recompress(lambda data: gzip.compress(data, 1), gzip.decompress)
_CSV_FILE = b'id,text,label\n1,"one, ""two""\nthree",a\n2,four,"a;b"\n'
_WIDE_FILE = _CSV_FILE.decode().encode("utf-16")
_JSON_FILE = b'{"id": 1, "text": "one \\u00e9", "labels": ["a", "b"]}\n{"id": 2, "text": "two", "label": null}\n'
_LINES_FILE = b"one two three\nfour\n\nfive\n" * 20
_MAIL_FILE = b"""From: a@b
Message-ID: <1@b>
Subject: =?utf-8?q?caf=C3=A9?= =?iso-8859-1?b?6Q==?=
Content-Type: multipart/alternative; boundary="b"

preamble
--b

plain text
--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

=3Cp>one=C3=A9</p>
--b--
end
"""
_HTML_MAIL = b"""Subject: tea
Content-Type: text/html

<html><head><title>t</title><style>p {}</style></head><body><p>one <b>two</b> &amp; &#233;<br></body></html>
"""
_STORY_FILE = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>cocoa</D><D>tea</D></TOPICS>
<TEXT>&#2;
<TITLE>A title</TITLE><DATELINE> X </DATELINE><BODY>The body &lt;X>.
&#3;</BODY></TEXT>
</REUTERS>
"""
_OHSUMED_FILE = b".I 1\n.U\n87\n.S\nJ 1\n.M\nHuman; Heart/*SU.\n.T\nOn hearts.\n.W\nThey beat.\n.I 2\n.U\n88\n.T\nB\n"
_TOPIC_FILE = b"<top>\n<num> Number: O1\n<title> 60 year old\n<desc> Description:\nthe need\n</top>\n" * 2
_PRIOR_FILE = b"word,label,mean,scale,family,sign,source\nwheat,grain,2,0.5,laplace,+,me\ncorn,,for,,,,\n"
_YAML_FILE = b"""grain:
  wheat: {mean: 2, scale: 0.5}
  bank: against
trade: &w [tariff, 'import']
ship: *w
sea: Ships and ports
"""
_BXR_FILE = b"# c\nwheat 0 1 1\nclass grain corn 2.5 4 ABS\ntopic t\nrye 0 inf\nendoftopic\n"
_JUDGED_FILE = b"""{"id": "a7", "topic": "grain", "relevant": true}
{"document": 5, "topic": "t", "relevant": "no", "text": "x"}
"""

_RIS_FILE = (
    "TY  - JOUR\nAU  - Åberg, Bo\nTI  - Green tea:\n a trial\nPY  - 1999\nAB  - We brewed.\nDO  - 10.1/7\nER  - \n\n"
)
_NBIB_FILE = (
    "PMID- 7\nTI  - Green tea:\n      a trial\nFAU - Åberg, Bo\nDP  - 1999\nAB  - We brewed.\nLID - 10.1/7 [doi]\n\n"
    "PMID- 8\nTI  - Iron ore\n\n"
)
_BIBTEX_FILE = r"""@article{a1, title = {Green {T}ea: a trial}, author = {Smith, Ann and {\AA}berg, Bo}, year = 1999,
 abstract = "We brewed."}
@string{j = "Tea"}
@inproceedings{b2, title = "Iron " # j, year = {2001}}
"""
_ENDNOTE_FILE = """<?xml version="1.0" encoding="UTF-8"?><xml><records>
<record><titles><title><style>Green tea</style></title></titles><dates><year><style>1999</style></year></dates>
<abstract><style>We brewed.</style></abstract></record></records></xml>"""
_RSS_FILE = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>Green tea</title><guid>1</guid><category>drink</category>
<description>&lt;b&gt;Brewed&lt;/b&gt;</description></item>
<item><title>Ore</title><link>https://news.example/2</link><pubDate>Tue, 03 Jun 2003</pubDate></item></channel></rss>"""
_ATOM_FILE = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Tea</title><id>a</id><category term="drink"/>
<link href="https://news.example/1"/><content type="xhtml"><div>Brewed <i>green</i></div></content></entry></feed>"""
_TAGS = b"TY  - |ER  - |TI  - |AB  - |AU  - |PMID- |LID - |      |\n\n|  - |\r\n".split(b"|")
_BIBTEX = rb"""@ { } " # , = @string{a = @comment{ @preamble{ {{{{ }}}} \ {\"o} $""".split(b" ")
# Abbreviations made of themselves and of each other: repeated, they would stand for any amount of text.
_BIBTEX += [b"@string{j = j # j}\n", b"@string{k = j # j # j}\n@string{j = k # k}\n", b" # j", b"title = j # j, "]

SEEDS: dict[str, list[Seed]] = {
    "ris": [Seed(".ris", (2 * _RIS_FILE).encode(), _TAGS)],
    "nbib": [Seed(".nbib", _NBIB_FILE.encode(), _TAGS)],
    "bibtex": [Seed(".bib", _BIBTEX_FILE.encode(), _BIBTEX)],
    "endnote": [Seed(".xml", _ENDNOTE_FILE.encode(), _XML)],
    "feed": [Seed(".rss", _RSS_FILE.encode(), _XML), Seed(".atom", _ATOM_FILE.encode(), _XML)],
    "csv": [Seed(".csv", _CSV_FILE, _CSV)],
    "tsv": [Seed(".tsv", b"id\ttext\tlabel\n1\tone\ta\n2\ttwo\tb\n", _CSV)],
    "jsonl": [
        Seed(".jsonl", _JSON_FILE, _JSON),
        Seed(".json", b"[" + _JSON_FILE.replace(b"\n", b",\n")[:-2] + b"]", _JSON),
    ],
    "lines": [Seed(".lines", _LINES_FILE, _CSV)],
    "text": [Seed(".txt", _LINES_FILE, _CSV)],
    "folder": [
        Seed(".zip", zipped(FILES), _CSV, _rezip),
        Seed(".tar", tarred(FILES), [b"\0" * 512, b"9" * 99]),
        Seed(".tar.gz", gzip.compress(tarred(FILES), 1), [b"\0" * 512], _GZIP),
    ],
    "mail": [
        Seed(".eml", _MAIL_FILE, _MAIL),
        Seed(".eml", _HTML_MAIL, _MARKUP),
        Seed(".zip", zipped({"a/1": _MAIL_FILE}), _MAIL, _rezip),
    ],
    "mbox": [Seed(".mbox", b"From a Mon\n" + _MAIL_FILE + b"\nFrom b Tue\n" + _HTML_MAIL, _MAIL)],
    "newsgroups": [Seed(".zip", zipped(FILES), [b"\n\n", b"writes:\n", b"> ", b"--\n"], _rezip)],
    "ohsumed": [Seed(".87", _OHSUMED_FILE, _DOTTED)],
    "lyrl2004": [Seed(".dat", b".I 1\n.W\nrecov expect\nmore\n\n.I 2\n.W\ntea\n", _DOTTED)],
    "reuters": [Seed(".sgm", _STORY_FILE, _STORY)],
    "parquet": [Seed(".parquet", table(), [b"PAR1", b"\x15\x00", b"\x19\x5c"])],
    "xlsx": [Seed(".xlsx", workbook(), _XML, _rezip)],
    "packed": [
        Seed(".gz", gzip.compress(_LINES_FILE), [b"\x1f\x8b\x08\0"], _GZIP),
        Seed(".xz", lzma.compress(_LINES_FILE), [b"\xfd7zXZ\0"]),
        Seed(".bz2", bz2.compress(_LINES_FILE), [b"BZh91AY&SY"]),
    ],
    "wide": [
        Seed(".csv", _WIDE_FILE, [b",\0", b'"\0', b"\0\xd8"]),
        Seed(".csv.gz", gzip.compress(_WIDE_FILE), []),
        Seed(".csv.xz", lzma.compress(_WIDE_FILE), []),
        Seed(".csv.bz2", bz2.compress(_WIDE_FILE), []),
    ],
    "prior_csv": [Seed(".csv", _PRIOR_FILE, _CSV)],
    "prior_yaml": [Seed(".yaml", _YAML_FILE, _YAML)],
    "prior_bxr": [Seed(".bxr", _BXR_FILE, [b"class ", b"topic ", b" ABS", b" inf", b"nan "])],
    "topics": [Seed("", _TOPIC_FILE, _TOPIC)],
    "qrels": [Seed("", b"1 d1 2\n1 0 d2 1\n", [b" ", b"-", "²".encode()])],
    "svmlight": [Seed(".svm", b"2,7 1:0.5 4:1\n3 2:1\n", b": , # nan 1: qid:1 999999999:1".split(b" "))],
    "counts": [Seed(".svm", b"2,7 1:5 4:1\n3 2:1\n", b": , # nan 1: qid:1 999999999:1 :9999999999".split(b" "))],
    "judgements": [Seed(".jsonl", _JUDGED_FILE, _JSON)],
}
SEEDS["guessed"] = [seed._replace(ending="") for kind in SEEDS for seed in SEEDS[kind]]
