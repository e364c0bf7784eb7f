from __future__ import annotations

import base64
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.formats import FORMATS
from textbayes.data.formats.mail import mail_text

MAIL = FORMATS.get("mail")


def test_plain_mail():
    assert mail_text("From ann Thu Aug 22\nSubject: Re:\n tea\nX-Y: z\n\nHot.\n") == "Re: tea\nHot."


def test_encoded_subject_and_body():
    body = base64.b64encode("Très chaud".encode("latin-1")).decode()
    raw = (
        "Subject: =?iso-8859-1?q?Th=E9?=\nContent-Type: text/plain; charset=iso-8859-1\n"
        f"Content-Transfer-Encoding: base64\n\n{body}\n"
    )
    assert mail_text(raw) == "Thé\nTrès chaud"


def test_plain_part_is_preferred_and_attachments_left_out():
    raw = (
        'Subject: s\nContent-Type: multipart/alternative; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nplain words\n"
        "--b\nContent-Type: text/html\n\n<p>html words</p>\n"
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment\n\nattached\n"
        "--b\nContent-Type: image/png\n\nAAAA\n--b--\n"
    )
    assert mail_text(raw) == "s\nplain words"


def test_html_the_parser_gives_up_on():
    assert mail_text("Content-Type: text/html\n\n<p>Buy <![foo]> now</p>") == "Buy now"


def test_html_without_tags_scripts_and_styles():
    raw = (
        "Subject: s\nContent-Type: text/html\n\n"
        "<html><style>p {x}</style><script>go()</script><p>Buy\n   <b>now</b> &amp; save</html>"
    )
    assert mail_text(raw) == "s\nBuy\nnow & save"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "no header at all",
        "Subject: =?utf-8?b?a?=\n\nx",
        "Subject: =?no-such-set?q?x=E9?=\n\nx",
        "Content-Type: text/plain; charset=no-such\nContent-Transfer-Encoding: base64\n\n!!!!\n",
        "Content-Type: multipart/mixed\n\nno boundary",
        "Content-Type: text/html\n\n<![if bad <!doctype <p",
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n=E9t=E9 =ZZ\n",
    ],
)
def test_broken_mail_is_read_as_it_stands(raw):
    assert isinstance(mail_text(raw), str)


@settings(deadline=None)
@given(st.text())
def test_anything_is_read(raw):
    mail_text(raw)
    mail_text(f"Subject: {raw}\nContent-Type: text/html\n\n{raw}")


def test_one_message(tmp_path):
    path = tmp_path / "1.eml"
    path.write_bytes(b"Subject: tea\n\nhot")
    assert list(open_documents(path)) == [Document("1.eml", "tea\nhot")]
    assert list(MAIL.read(io.BytesIO(b"Subject: tea\n\nhot"))) == [Document("1", "tea\nhot")]


def test_folders_of_mail(pack):
    path = pack("mail", {"ham/1": b"Subject: caf\xe9\n\nyes", "spam/2": b"Subject: $\n\nno"})
    found = {doc.id: (doc.text, doc.labels) for doc in MAIL.read(path)}
    assert found == {"ham/1": ("café\nyes", ("ham",)), "spam/2": ("$\nno", ("spam",))}
    raw = {doc.id: doc.text for doc in MAIL.read(path, part="raw")}
    assert raw["spam/2"] == "Subject: $\n\nno"
    with pytest.raises(InputError, match="part='all' is not known"):
        list(MAIL.read(path, part="all"))
