"""Twenty reviewers at once for two minutes: no error, short waits, every answer in the database exactly once.

python benchmarks/bench_room_load.py [--people 20] [--seconds 120] [--servers 2] [--database postgresql://…]

With two servers on one database half of the people ask each; no record goes to two people.
"""

from __future__ import annotations

import argparse
import contextlib
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
    parser.add_argument("--servers", type=int, default=1, help="that serve the one database")
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
        with contextlib.ExitStack() as servers:
            for server in range(given.servers):
                cache = Path(folder) / f"cache {server}"
                servers.enter_context(serving(database, cache, server))
                Person(tokens[0], project, server).ask("/queue")  # opened
            end = time.perf_counter() + given.seconds

            def read_on(number: int) -> None:
                person = Person(tokens[number], project, number % given.servers)
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

            threads = [threading.Thread(target=read_on, args=(token,)) for token in range(len(tokens))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        store = Store(database)
        with store.read() as session:
            log = session.execute(select(Event.user_id, Event.body).where(Event.project_id == project)).all()
        store.close()
    kept = Counter(one.body["id"] for one in log if one.body["kind"] == "judgement")
    handed = {(one.user_id, id) for one in log if one.body["kind"] == "handed_out" for id in one.body["records"]}
    n_shared = sum(number > 1 for number in Counter(id for _, id in handed).values())
    once = kept == Counter(answered) and max(kept.values()) == 1 and n_shared == 0
    wait = float(np.quantile(waits, 0.95))
    for error in errors[:5]:
        print(error)
    figures = (
        f"{given.people} people, {given.servers} servers, {len(records):,} records, {len(answered):,} answers in "
        f"{given.seconds:.0f} s: {len(errors)} errors, {n_shared} records with two people, p95 {1000 * wait:.0f} ms "
        f"(≤ 400), every answer once: {once}"
    )
    close("twenty reviewers at once", not errors and once and wait <= 0.4, figures)


if __name__ == "__main__":
    main()
