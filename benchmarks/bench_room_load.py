"""Twenty reviewers at once for two minutes: no error, short waits, every answer in the database exactly once.

python benchmarks/bench_room_load.py [--people 20] [--seconds 120] [--database postgresql://…]
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sqlalchemy import select

from _common import close
from _room import Person, make_room, serving
from _screen import reviews
from textbayes.app.database import Event, Store
from textbayes.core.types import Document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--reading", type=float, default=1.0, help="seconds that a person reads a record")
    parser.add_argument("--database", help="empty; SQLite in a temporary folder if not given")
    given = parser.parse_args()
    texts = [text for review in reviews() for text in review.texts]
    records = [Document(f"r{i}", text) for i, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        database = given.database or f"sqlite:///{Path(folder) / 'room.sqlite3'}"
        project, tokens = make_room(database, records, given.people, "randomized trials")
        waits: list[float] = []
        answered: list[str] = []
        errors: list[str] = []
        with serving(database, Path(folder)):
            Person(tokens[0], project).ask("/queue")  # opened
            end = time.perf_counter() + given.seconds

            def read_on(token: str) -> None:
                person = Person(token, project)
                try:
                    queue = person.ask("/queue")
                    while time.perf_counter() < end:
                        time.sleep(given.reading)
                        started = time.perf_counter()
                        answer = "relevant" if len(answered) % 5 == 0 else "irrelevant"
                        id = queue[0]["id"]
                        queue = person.ask("/judgements", {"id": id, "answer": answer})
                        waits.append(time.perf_counter() - started)
                        answered.append(id)
                        queue = queue or person.ask("/queue")
                except Exception as error:
                    errors.append(repr(error))

            threads = [threading.Thread(target=read_on, args=(token,)) for token in tokens]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        store = Store(database)
        with store.read() as session:
            bodies = session.scalars(select(Event.body).where(Event.project_id == project)).all()
        store.close()
    kept = Counter(body["id"] for body in bodies if body["kind"] == "judgement")
    once = kept == Counter(answered) and max(kept.values()) == 1
    wait = float(np.quantile(waits, 0.95))
    for error in errors[:5]:
        print(error)
    figures = (
        f"{given.people} people, {len(records):,} records, {len(answered):,} answers in {given.seconds:.0f} s: "
        f"{len(errors)} errors, p95 {1000 * wait:.0f} ms (≤ 400), every answer once: {once}"
    )
    close("twenty reviewers at once", not errors and once and wait <= 0.4, figures)


if __name__ == "__main__":
    main()
