from __future__ import annotations

import io

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS

REUTERS = FORMATS.get("reuters")
NORMAL = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="12" NEWID="7">
<DATE> 3-MAR-1987 15:01:01.79</DATE>
<TOPICS><D>tea</D><D>trade</D></TOPICS>
<PLACES><D>uk</D></PLACES>
<UNKNOWN>
&#5;&#5;&#5;C T
&#22;&#22;&#1;f0704&#31;reute</UNKNOWN>
<TEXT>&#2;
<TITLE>TEA &amp; TOAST UP</TITLE>
<DATELINE>    LONDON, March 3 - </DATELINE><BODY>Tea rose 5 pct at &lt;Leaf Ltd>.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
"""
BRIEF = b"""<REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="8">
<DATE>unreadable</DATE>
<TOPICS></TOPICS>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>LEAF SEES RECORD YEAR
</TITLE>Blah blah blah.
&#3;

</TEXT>
</REUTERS>
"""
UNPROC = b"""<REUTERS TOPICS="YES" LEWISSPLIT="NOT-USED" NEWID="9">
<TOPICS><D>money</D></TOPICS>
<TEXT TYPE="UNPROC">&#2;
WEEKLY REPORT
 Reserves....644 vs 1,337\xe9
&#3;

</TEXT>
</REUTERS>
"""


def read(data):
    return list(REUTERS.records(io.BytesIO(data)))


def test_the_three_kinds_of_story():
    normal, brief, unprocessed = read(NORMAL + BRIEF + UNPROC)
    assert normal.text == "TEA & TOAST UP\nTea rose 5 pct at <Leaf Ltd>.\n Reuter"
    assert normal.labels == ("tea", "trade")
    assert (normal.id, normal.line) == ("7", 2)
    assert normal.fields["date"] == "1987-03-03"
    assert normal.fields["LEWISSPLIT"] == "TRAIN"
    assert brief.text == "LEAF SEES RECORD YEAR"
    assert brief.labels == ()
    assert "date" not in brief.fields
    assert unprocessed.text == "WEEKLY REPORT\n Reserves....644 vs 1,337é"


def test_a_file_in_every_compression_with_either_line_end(write_compressed):
    path = write_compressed("reut2-000.sgm", NORMAL.replace(b"\n", b"\r\n"))
    [document] = REUTERS.read(path)
    assert document.id == "7"
    assert document.labels == ("tea", "trade")


def test_a_folder_or_archive_of_files(pack):
    path = pack("reuters", {"README.txt": b"about", "reut2-000.sgm": NORMAL, "reut2-001.sgm": BRIEF})
    assert [doc.id for doc in REUTERS.read(path)] == ["7", "8"]


@pytest.mark.parametrize(
    ("data", "line", "cause"),
    [
        (b"", None, "no <REUTERS> story"),
        (b"some text\n", None, "no <REUTERS> story"),
        (NORMAL.replace(b"</REUTERS>\n", b"") + BRIEF, 14, "a story begins before </REUTERS> of the one in line 2"),
        (NORMAL + b"</REUTERS>\n", 15, "</REUTERS> without <REUTERS"),
        (NORMAL + BRIEF[:-20], 15, "the story has no </REUTERS>: the file is cut short"),
        (NORMAL.replace(b"NEWID", b"NOID"), 2, "lacks a NEWID attribute"),
        (NORMAL.replace(b"TEXT", b"WORDS"), 2, "lacks a <TEXT> element"),
        (b"\0" + NORMAL, 1, "NUL bytes"),
    ],
)
def test_malformed_files_are_refused_with_line_and_cause(data, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read(data)
    assert caught.value.line == line


def test_duplicate_ids_and_folders_without_stories(tmp_path):
    with pytest.raises(MalformedFileError, match=r"line 16: id '7' was used before \(line 2\)"):
        list(REUTERS.read(io.BytesIO(NORMAL + NORMAL)))
    with pytest.raises(MalformedFileError, match=r"holds no \.sgm file"):
        list(REUTERS.read(tmp_path))


def test_a_plain_document_comes_out():
    assert list(REUTERS.read(io.BytesIO(BRIEF))) == [Document("8", "LEAF SEES RECORD YEAR", ())]
