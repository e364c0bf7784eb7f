"""Reuters-21578, Distribution 1.0: newswire stories of 1987 with economic topics.

corpus = load_corpus("reuters21578", topics="top10")
corpus.train, corpus.test
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, pick
from textbayes.data.download import PublicFile
from textbayes.data.formats import Record
from textbayes.data.formats.reuters import read_reuters

_ARCHIVES = ("reuters21578*.tar*", "reuters21578*.tgz", "reuters21578*.zip")


def load_reuters(path: Path, *, split: str = "modapte", topics: str = "r90", unlabelled: str = "keep") -> Corpus:
    """Stories in order of time (NEWID).

    Parameters
    ----------
    path : Path
        The archive, or a folder that holds it or the 22 ``.sgm`` files.
    split : {"modapte", "modlewis", "all"}
        ``modapte``: 9,603 training and 3,299 test stories (LEWISSPLIT TRAIN or TEST and TOPICS="YES").
        ``modlewis``: also the stories with TOPICS="NO", 13,625 and 6,188. ``all``: every story; those in neither set
        are the part ``unused``.
    topics : {"r90", "top10", "all"}
        Labels kept: the 90 topics with a training and a test story in ModApte, the 10 of them with most training
        stories, or all. Which they are is counted, not listed.
    unlabelled : {"keep", "drop"}
        What to do with stories that carry none of these topics.
    """
    check_choice("split", split, tuple(_SPLITS))
    check_choice("topics", topics, ("r90", "top10", "all"))
    check_choice("unlabelled", unlabelled, ("keep", "drop"))
    records = _records(path)
    names = _topic_names(records, topics)
    stories = []
    for record in records:
        labels = tuple(sorted(set(record.labels).intersection(names)))
        part = _part(record, split)
        if part is not None and (labels or unlabelled == "keep"):
            fields = {"split": part, "date": record.fields.get("date", "")}
            stories.append(record._replace(labels=labels, fields=fields))
    return Corpus.of_records("reuters21578", stories, names)


_SPLITS = {"modapte": ("YES",), "modlewis": ("YES", "NO"), "all": ("YES", "NO", "BYPASS")}


def _records(path: Path) -> list[Record]:
    if path.is_dir() and not any(path.glob("*.sgm")):
        path = pick(path, "reuters21578", *_ARCHIVES)
    return sorted(read_reuters(path), key=lambda record: int(record.id or 0))


def _part(record: Record, split: str) -> str | None:
    part = record.fields.get("LEWISSPLIT", "").lower()
    if part in ("train", "test") and record.fields.get("TOPICS") in _SPLITS[split]:
        return str(part)
    return "unused" if split == "all" else None


def _topic_names(records: Sequence[Record], topics: str) -> list[str]:
    counts = {
        part: Counter(label for record in records if _part(record, "modapte") == part for label in record.labels)
        for part in ("train", "test")
    }
    if topics == "all":
        return sorted({label for record in records for label in record.labels})
    names = sorted(counts["train"].keys() & counts["test"].keys())
    if topics == "top10":
        names = sorted(sorted(names, key=lambda name: (-counts["train"][name], name))[:10])
    return names


def _count(path: Path) -> dict[str, int]:
    records = _records(path)
    parts = {part: [record for record in records if _part(record, "all") == part] for part in ("train", "test")}
    modapte = {part: [r for r in chosen if _part(r, "modapte") == part] for part, chosen in parts.items()}
    topics = {part: {label for record in chosen for label in record.labels} for part, chosen in modapte.items()}
    return {
        "documents": len(records),
        "train": len(modapte["train"]),
        "test": len(modapte["test"]),
        "train with a topic": sum(bool(record.labels) for record in modapte["train"]),
        "test with a topic": sum(bool(record.labels) for record in modapte["test"]),
        "topics in train": len(topics["train"]),
        "topics in test": len(topics["test"]),
        "topics in both": len(topics["train"] & topics["test"]),
    }


CORPORA.register("reuters21578")(
    CorpusInfo(
        name="reuters21578",
        title="Reuters-21578, Distribution 1.0: newswire stories of 1987, 90 topics (ModApte)",
        homepage="http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="copyright Reuters Ltd. and Carnegie Group; for research only, cite Reuters-21578 Distribution 1.0",
        load=load_reuters,
        expected={
            "documents": 21_578,
            "train": 9_603,
            "test": 3_299,
            "train with a topic": 7_775,
            "test with a topic": 3_019,
            "topics in train": 115,
            "topics in test": 93,
            "topics in both": 90,
        },
        files=(*_ARCHIVES, "reut2-*.sgm"),
        obtain="fetch reuters21578.tar.gz from the homepage and give its path",
        downloads=(
            PublicFile(
                "reuters21578.tar.gz",
                (
                    "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
                    "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
                ),
                # as Hugging Face's datasets publishes it for the first address
                sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
                largest=8_150_596,
            ),
        ),
        count=_count,
    )
)
