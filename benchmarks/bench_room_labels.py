"""How long a person waits in a project of categories with 20,000 texts: from an answer to the next text.

    python benchmarks/bench_room_labels.py [--texts 20000] [--answers 60]

Paragraphs of posts to ten newsgroups, each labelled with its group. Everything goes by the REST interface of a server
in a process of its own; a person answers after reading for a second, as fast as people do.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from _common import close
from _room import Person, serving
from textbayes import load_corpus
from textbayes.app.accounts import create_token, create_user
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.database import Store
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.core.types import Document

LARGEST_MS = 200.0
N_GROUPS = 10


def labelled_texts(n: int) -> tuple[list[Document], dict[str, int], list[str]]:
    """Paragraphs of posts, the place of the group of each, and the groups."""
    posts = load_corpus("20newsgroups", remove=("headers", "footers", "quotes"))
    groups = sorted(set(posts.targets))[::2][:N_GROUPS]
    texts: list[Document] = []
    place: dict[str, int] = {}
    for text, group in zip(posts.texts, posts.targets, strict=True):
        if group in groups:
            for piece in text.split("\n\n"):
                if len(piece.split()) >= 5:
                    id = f"p{len(texts)}"
                    texts.append(Document(id, piece, (), {}))
                    place[id] = groups.index(group)
    rows = np.random.default_rng(0).permutation(len(texts))[:n]
    return [texts[i] for i in rows], place, groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--reading", type=float, default=1.0, help="seconds that a person reads a text")
    given = parser.parse_args()
    texts, place, groups = labelled_texts(given.texts)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'room.sqlite3'}"
        store = Store(database)
        person = create_user(store, "person", None)
        plan = NewCategories("Groups", dict.fromkeys(groups, ""))
        project = create_categories(ReviewRegistry(store, ReviewCache(None)), person, plan, texts)
        token = create_token(store, person, "bench")
        store.close()
        with serving(database, Path(folder)):
            asked = Person(token, project)
            started = time.perf_counter()
            text = asked.ask("/queue")[0]
            print(f"{len(texts):,} texts: opened in {time.perf_counter() - started:.1f} s", flush=True)
            waits = []
            for _ in range(given.answers):
                time.sleep(given.reading)
                started = time.perf_counter()
                answer = {"id": text["id"], "answer": str(1 + place[text["id"]])}
                text = (asked.ask("/judgements", answer) or asked.ask("/queue"))[0]
                waits.append(time.perf_counter() - started)
            stands = asked.ask("/labels")
    wait = 1000 * float(np.quantile(waits, 0.95))
    print(f"answer to next text: median {1000 * np.median(waits):.0f} ms, p95 {wait:.0f} ms; {stands['accuracy']}")
    figures = f"{len(texts):,} texts: p95 {wait:.0f} ms from an answer to the next text (≤ {LARGEST_MS:.0f})"
    close("waits while labelling", wait <= LARGEST_MS, figures)


if __name__ == "__main__":
    main()
