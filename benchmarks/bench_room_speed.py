"""How long a reviewer waits in a room with 100,000 records: from an answer to the next record, and after a word.

    python benchmarks/bench_room_speed.py [--records 100000]

The records are those of ``bench_screen_speed``. Everything goes by the REST interface of a server in a process of its
own; a person answers after reading for a second, as fast as people do.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from _common import close
from _room import Person, make_room, serving
from _screen import reviews
from bench_screen_speed import write_ris
from textbayes.data import open_documents
from textbayes.screen.duplicates import merge_duplicates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--judgements", type=int, default=100)
    parser.add_argument("--reading", type=float, default=1.0, help="seconds that a person reads a record")
    given = parser.parse_args()
    all_reviews = reviews()
    texts = [text for review in all_reviews for text in review.texts]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_ris(texts, given.records, place / "refs.ris")
        records, _ = merge_duplicates(list(open_documents(place / "refs.ris", keep_fields=True)))
        database = f"sqlite:///{place / 'room.sqlite3'}"
        project, (token,) = make_room(database, records, 1, all_reviews[0].question)
        with serving(database, place):
            person = Person(token, project)
            started = time.perf_counter()
            record = person.ask("/queue")[0]
            print(f"{len(records):,} records: opened in {time.perf_counter() - started:.1f} s", flush=True)
            waits = []
            for k in range(given.judgements):
                time.sleep(given.reading)
                started = time.perf_counter()
                answer = "relevant" if k % 3 == 0 else "irrelevant"
                record = person.ask("/judgements", {"id": record["id"], "answer": answer})[0]
                waits.append(time.perf_counter() - started)
            ranks = []
            for word in ("trial", "placebo", "mice", "randomized", "children"):
                started = time.perf_counter()
                person.ask("/words", {"word": word, "direction": "for"})
                person.ask("/queue")
                ranks.append(time.perf_counter() - started)
    wait, rank = float(np.quantile(waits, 0.95)), max(ranks)
    print(f"answer to next record: median {1000 * np.median(waits):.0f} ms, p95 {1000 * wait:.0f} ms")
    figures = (
        f"{given.records:,} records: p95 {1000 * wait:.0f} ms (≤ 150), ranked anew after a word in {rank:.2f} s (≤ 1)"
    )
    close("waits in the review room", wait <= 0.15 and rank <= 1.0, figures)


if __name__ == "__main__":
    main()
