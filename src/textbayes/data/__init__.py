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
    from textbayes.data.catalogue import (
        CORPORA,
        Corpus,
        CorpusInfo,
        CorpusReport,
        check_corpus,
        corpus_path,
        data_home,
        download_corpus,
        list_corpora,
        load_corpus,
        search_folders,
    )
    from textbayes.data.documents import open_documents
    from textbayes.data.formats import FORMATS, Format
    from textbayes.data.formats.svmlight import read_svmlight

# Public name → module that defines it, loaded on first use: `import textbayes.data` costs nothing.
_PUBLIC = {
    "CORPORA": "textbayes.data.catalogue",
    "FORMATS": "textbayes.data.formats",
    "Corpus": "textbayes.data.catalogue",
    "CorpusInfo": "textbayes.data.catalogue",
    "CorpusReport": "textbayes.data.catalogue",
    "Format": "textbayes.data.formats",
    "check_corpus": "textbayes.data.catalogue",
    "corpus_path": "textbayes.data.catalogue",
    "data_home": "textbayes.data.catalogue",
    "download_corpus": "textbayes.data.catalogue",
    "list_corpora": "textbayes.data.catalogue",
    "load_corpus": "textbayes.data.catalogue",
    "open_documents": "textbayes.data.documents",
    "read_svmlight": "textbayes.data.formats.svmlight",
    "search_folders": "textbayes.data.catalogue",
}

__all__ = [
    "CORPORA",
    "FORMATS",
    "Corpus",
    "CorpusInfo",
    "CorpusReport",
    "Format",
    "check_corpus",
    "corpus_path",
    "data_home",
    "download_corpus",
    "list_corpora",
    "load_corpus",
    "open_documents",
    "read_svmlight",
    "search_folders",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
