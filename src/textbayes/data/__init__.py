"""Documents from files of many formats, and corpora by name.

>>> import io
>>> from textbayes.data import open_documents
>>> next(open_documents(io.StringIO("id,text,label\\n1,five goals,sport\\n")))
Document(id='1', text='five goals', labels=('sport',))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.data.catalogue import CORPORA as CORPORA
    from textbayes.data.catalogue import Corpus as Corpus
    from textbayes.data.catalogue import CorpusInfo as CorpusInfo
    from textbayes.data.catalogue import CorpusReport as CorpusReport
    from textbayes.data.catalogue import check_corpus as check_corpus
    from textbayes.data.catalogue import corpus_path as corpus_path
    from textbayes.data.catalogue import data_home as data_home
    from textbayes.data.catalogue import download_corpus as download_corpus
    from textbayes.data.catalogue import list_corpora as list_corpora
    from textbayes.data.catalogue import load_corpus as load_corpus
    from textbayes.data.catalogue import search_folders as search_folders
    from textbayes.data.documents import open_documents as open_documents
    from textbayes.data.formats import FORMATS as FORMATS
    from textbayes.data.formats import Format as Format
    from textbayes.data.formats.svmlight import read_svmlight as read_svmlight
    from textbayes.data.skos import Concept as Concept
    from textbayes.data.skos import described as described
    from textbayes.data.skos import read_concepts as read_concepts
    from textbayes.data.skos import read_parents as read_parents


__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.data.catalogue": (
            "CORPORA",
            "Corpus",
            "CorpusInfo",
            "CorpusReport",
            "check_corpus",
            "corpus_path",
            "data_home",
            "download_corpus",
            "list_corpora",
            "load_corpus",
            "search_folders",
        ),
        "textbayes.data.documents": ("open_documents",),
        "textbayes.data.formats": ("FORMATS", "Format"),
        "textbayes.data.formats.svmlight": ("read_svmlight",),
        "textbayes.data.skos": ("Concept", "described", "read_concepts", "read_parents"),
    },
)
