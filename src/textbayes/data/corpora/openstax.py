"""OpenStax textbook modules by subject: long documents (mean 2,500 words) in 15 domains.

corpus = load_corpus("openstax", extra=True)
"""

from __future__ import annotations

from pathlib import Path

from textbayes.data.catalogue import CORPORA, CorpusInfo, pick
from textbayes.data.corpora._openstax_books import build_openstax
from textbayes.data.corpus import Corpus
from textbayes.data.formats.jsonl import read_jsonl


def load_openstax(path: Path, *, extra: bool = False) -> Corpus:
    """Modules labelled by domain; ids are ``domain/module``, since books number their modules alike.

    Parameters
    ----------
    path : Path
        ``openstax_domains.jsonl``, compressed or not, or a folder that holds it.
    extra : bool
        Whether to add geology and electronics from ``extra_geology_electronics.jsonl`` beside it.
    """
    files = [pick(path, "openstax", "openstax*.jsonl*")]
    if extra:
        files.append(pick(files[0].parent, "openstax", "extra*.jsonl*"))
    records = [record for file in files for record in read_jsonl(file, text_field="text", label_field="domain")]
    return Corpus(
        "openstax",
        [f"{record.labels[0]}/{record.id}" for record in records],
        [record.labels for record in records],
        [record.text for record in records],
    )


CORPORA.register("openstax")(
    CorpusInfo(
        name="openstax",
        title="OpenStax textbook modules in 15 subject domains",
        homepage="https://openstax.org/subjects",
        licence="economics and computer science CC BY 4.0, the other 13 domains CC BY-NC-SA 4.0; "
        "geology CC BY-NC-SA 4.0, electronics Design Science License",
        load=load_openstax,
        expected={"documents": 2_097, "labels": 15},
        files=("openstax*.jsonl*",),
        folders=("openstax_domains",),
        build=build_openstax,
        obtain="write openstax_domains.jsonl, one object a module with id, domain and text, from OpenStax's books",
    )
)
