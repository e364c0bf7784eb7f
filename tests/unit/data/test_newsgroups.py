from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import _twenty_newsgroups as theirs

from textbayes.core.errors import InputError
from textbayes.data.formats import FORMATS
from textbayes.data.formats.text_files import strip_footer, strip_headers, strip_quotes

NEWS = FORMATS.get("newsgroups")
POST = (
    b"From: ann@example.org\nSubject: Re: skates\n\nBob writes:\n> are they sharp?\n"
    b"Sharp enough, caf\xe9 tested.\n\n--\nAnn\n"
)
FILES = {"20news-bydate-train/rec.skates/101": POST, "20news-bydate-test/rec.tea/101": b"Subject: tea\n\nHot.\n"}


def test_posts_of_both_parts(pack):
    records = {record.id: record for record in NEWS.records(pack("news", FILES))}
    assert sorted(records) == ["rec.skates/101", "rec.tea/101"]
    assert records["rec.skates/101"].labels == ("rec.skates",)
    assert records["rec.skates/101"].fields["split"] == "train"
    assert records["rec.tea/101"].fields["split"] == "test"
    assert "café" in records["rec.skates/101"].text


def test_parts_are_removed_on_request(pack):
    path = pack("news", FILES)
    [text] = [doc.text for doc in NEWS.read(path, remove=("quotes", "headers", "footers")) if "skates" in doc.id]
    assert text == "Sharp enough, café tested.\n"
    [text] = [doc.text for doc in NEWS.read(path, remove=("headers",)) if "tea" in doc.id]
    assert text == "Hot.\n"
    with pytest.raises(InputError, match="remove='header' is not known; choose one of 'headers', 'footers', 'quotes'"):
        list(NEWS.read(path, remove=("header",)))


def test_other_folders_of_posts_keep_their_path(pack):
    [document] = NEWS.read(pack("mini", {"mini/rec.tea/5": b"Subject: x\n\ny"}))
    assert document.id.endswith("rec.tea/5")


@settings(deadline=None)
@given(st.text(alphabet="ab:>|-\n writes", max_size=60))
def test_removal_agrees_with_scikit_learn(text):
    assert strip_headers(text) == theirs.strip_newsgroup_header(text)
    assert strip_footer(text) == theirs.strip_newsgroup_footer(text)
    assert strip_quotes(text) == theirs.strip_newsgroup_quoting(text)
