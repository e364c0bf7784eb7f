"""Kill the server of a review room 100 times under load: no answer that was acknowledged is lost or doubled.

    python benchmarks/bench_room_crash.py [--kills 100] [--database postgresql://…]

Four people answer without pause; what the server acknowledged is remembered. After every SIGKILL the database must
open, be sound, and have every such answer once.
"""

from __future__ import annotations

import argparse
import http.client
import random
import signal
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from pathlib import Path

from sqlalchemy import select, text

from _common import close
from _room import Person, make_room, start
from bench_screen_crash import make_records
from textbayes.app.database import Event, Store


def sound(store: Store) -> bool:
    """Whether the database says of itself that it is whole."""
    if store.engine.dialect.name != "sqlite":
        return True  # PostgreSQL was not killed
    with store.read() as session:
        return session.scalar(text("PRAGMA integrity_check")) == "ok"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", help="empty; SQLite in a temporary folder if not given")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    records, truth = make_records(given.seed, 6_000)
    acknowledged: list[str] = []
    lost = doubled = unsound = 0
    with tempfile.TemporaryDirectory() as folder:
        database = given.database or f"sqlite:///{Path(folder) / 'room.sqlite3'}"
        project, tokens = make_room(database, records, 4, "tea leaves")
        for _ in range(given.kills):
            process = start(database, Path(folder))

            def read_on(token: str) -> None:
                person = Person(token, project)
                try:
                    queue = person.ask("/queue")
                    while queue:
                        id = queue[0]["id"]
                        said = "relevant" if truth[id] else "irrelevant"
                        queue = person.ask("/judgements", {"id": id, "answer": said}) or person.ask("/queue")
                        acknowledged.append(id)
                except (urllib.error.URLError, http.client.HTTPException, OSError):
                    return  # it was killed

            threads = [threading.Thread(target=read_on, args=(token,)) for token in tokens]
            for thread in threads:
                thread.start()
            before = len(acknowledged)
            while len(acknowledged) == before and any(thread.is_alive() for thread in threads):
                time.sleep(0.01)  # until the project is open and answers come
            time.sleep(draw.uniform(0.0, 1.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            for thread in threads:
                thread.join()
            store = Store(database)
            with store.read() as session:
                bodies = session.scalars(select(Event.body).where(Event.project_id == project)).all()
            unsound += not sound(store)
            store.close()
            kept = Counter(body["id"] for body in bodies if body["kind"] == "judgement")
            lost += sum(kept[id] == 0 for id in acknowledged)
            doubled += sum(number > 1 for number in kept.values())
    figures = (
        f"{given.kills} kills, {len(acknowledged):,} answers acknowledged: {lost} lost, {doubled} doubled, "
        f"{unsound} times the database was not sound"
    )
    close("kills of the review room", not lost and not doubled and not unsound and bool(acknowledged), figures)


if __name__ == "__main__":
    main()
