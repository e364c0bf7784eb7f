"""RCV1-v2 as distributed with Lewis, Yang, Rose & Li (JMLR 5, 2004): token files, vector files, topic judgements.

>>> import io
>>> list(FORMATS.get("lyrl2004").read(io.StringIO(".I 2286\\n.W\\nrecov recov\\nexpect\\n\\n")))
[Document(id='2286', text='recov recov\\nexpect', labels=())]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._dotted import read_dotted
from textbayes.data.formats.ohsumed import read_qrels
from textbayes.data.formats.svmlight import read_svmlight
from textbayes.data.records import Record
from textbayes.data.streams import Source, source_label

N_FEATURES = 47_236


def read_tokens(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read documents of ``lyrl2004_tokens_*.dat``: stemmed, stopped words, several lines a document, without labels."""
    label = source_label(source)
    for identity, line, fields in read_dotted(source, "W", encoding, errors):
        if "W" not in fields:
            raise MalformedFileError(label, f"document {identity} has no .W field (its words)", line)
        yield Record(fields["W"], id=identity, line=line)


def read_vectors(source: Source) -> tuple[Any, list[str]]:
    """Matrix (n_docs, 47236) and document ids of ``lyrl2004_vectors_*.dat``, lines of ``id  term:weight …``."""
    X, labels = read_svmlight(source, n_features=N_FEATURES, zero_based=False)
    return X, [ids[0] for ids in labels]


def read_topic_labels(source: Source) -> dict[str, tuple[str, ...]]:
    """Topics of each document id from ``rcv1-v2.topics.qrels``, lines of ``topic id 1``."""
    labels: dict[str, list[str]] = {}
    for topic, document, grade in read_qrels(source):
        if grade > 0:
            labels.setdefault(document, []).append(topic)
    return {document: tuple(sorted(topics)) for document, topics in labels.items()}


FORMATS.register("lyrl2004")(
    Format(
        "lyrl2004",
        "RCV1-v2 token files (.I .W)",
        read_tokens,
        (".dat",),
        lambda head: head.startswith(b".I ") and b"\n.W" in head and b"\n.U" not in head,
    )
)
