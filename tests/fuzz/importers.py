"""Mutated files for every reader of documents, priors and judgements.

python tests/fuzz/importers.py                       20,000 mutations for each reader
python tests/fuzz/importers.py csv xlsx --seconds 60
python tests/fuzz/importers.py mail --only 1234      one case again
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # pytest imports by path, a command by folder

import seeds
import worker
from mutations import mutated

from textbayes.core.errors import TextBayesError
from textbayes.data import open_documents, read_svmlight
from textbayes.data.formats.smart import read_qrels, read_topics
from textbayes.knowledge import WordPriors, read_bxr
from textbayes.stream.judgements import open_source, parse_judgement

_FOLDER = Path(tempfile.gettempdir())


def documents(format: str | None = None, **options: Any) -> Callable[[Path], int]:
    """Reads all documents of a file, each of which must be text that can be written again."""

    def read(path: Path) -> int:
        n = 0
        for document in open_documents(path, format, **options):
            n += 1
            written = "\t".join((document.id, document.text, *document.labels, *document.fields.values()))
            try:
                written.encode()
            except UnicodeEncodeError as error:
                raise worker.LateFailureError(str(error)) from error
        return n

    return read


def judgements(path: Path) -> int:
    lines = [line for line, _ in open_source(str(path)).lines(0)]
    return len([parse_judgement(line) for line in lines])


READERS: dict[str, Callable[[Path], Any]] = {
    "csv": documents("csv", keep_fields=True),
    "tsv": documents("tsv"),
    "jsonl": documents("jsonl", keep_fields=True),
    "lines": documents("lines"),
    "text": documents("text"),
    "guessed": documents(),
    "folder": documents("folder"),
    "mail": documents("mail"),
    "mbox": documents("mbox"),
    "newsgroups": documents("newsgroups", remove=("headers", "footers", "quotes")),
    "ohsumed": documents("ohsumed"),
    "lyrl2004": documents("lyrl2004"),
    "reuters": documents("reuters"),
    "parquet": documents("parquet", keep_fields=True),
    "xlsx": documents("xlsx", keep_fields=True),
    "ris": documents("ris", keep_fields=True),
    "nbib": documents("nbib", keep_fields=True),
    "bibtex": documents("bibtex", keep_fields=True),
    "endnote": documents("endnote", keep_fields=True),
    "feed": documents("feed", keep_fields=True),
    "packed": documents("lines", errors="replace"),
    "wide": documents("csv", encoding="utf-16"),
    "prior_csv": lambda path: len(WordPriors.read(path, "csv")),
    "prior_yaml": lambda path: len(WordPriors.read(path, "yaml")),
    "prior_bxr": lambda path: len(read_bxr(path)),
    "topics": lambda path: len(read_topics(path)),
    "qrels": lambda path: len(list(read_qrels(path))),
    "svmlight": lambda path: read_svmlight(path)[0].shape,
    "counts": documents("svmlight"),
    "judgements": judgements,
}


def target_of(name: str) -> worker.Target:
    """The reader of a kind of file as the worker takes it: bytes in, how it ended out."""

    def target(made: tuple[str, bytes]) -> str:
        ending, data = made
        with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
            path = Path(folder, f"f{ending}")
            path.write_bytes(data)
            READERS[name](path)
        return "read"

    return target


def mutate_of(name: str) -> worker.Mutate:
    """Makes a mutated file of a kind."""

    def mutate(rng: random.Random) -> tuple[str, tuple[str, bytes]]:
        seed = rng.choice(seeds.SEEDS[name])
        if seed.repack is not None and rng.random() < 0.7:
            what, made = seed.repack(rng, seed.data, lambda inner: mutated(rng, inner, seed.tokens))
        else:
            what, made = mutated(rng, seed.data, seed.tokens)
        return what, (seed.ending, made)

    return mutate


def run(name: str, n: int, seed: int, seconds: float | None = None, first: int = 0) -> worker.Findings:
    """Mutations of one kind of file; the seed itself is read before, so that the child has all modules loaded."""
    for seed_file in seeds.SEEDS[name]:
        # An archive without its ending is rightly refused; every other seed is sound.
        with contextlib.suppress(*(TextBayesError,) if name == "guessed" else ()):
            target_of(name)((seed_file.ending, seed_file.data))
    return worker.run(target_of(name), mutate_of(name), n, seed, seconds, first)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[[], *READERS], default=[])
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="begin no case of a reader after so long")
    parser.add_argument("--only", type=int, help="repeat the case of this number alone")
    given = parser.parse_args()
    n, first = (given.mutations, 0) if given.only is None else (1, given.only)
    bad = False
    for name in given.names or READERS:
        found = run(name, n, given.seed, given.seconds, first)
        for one in found.findings[:20]:
            print(one, file=sys.stderr)
        print(f"{name}: {found}", flush=True)
        bad = bad or bool(found.findings)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
