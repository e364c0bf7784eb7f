"""Kill screenings 200 times and look whether an answer was lost or doubled, and whether every log replays.

Two kinds are killed by SIGKILL at random moments: sessions that read on and on, and ``textbayes screen judge`` for one
record. What was acknowledged is written to a file of its own before the next step. At the end of each trial every
acknowledged answer must be in the log, none twice, and the log alone must lead to the same state, to the last bit.

    python benchmarks/bench_screen_crash.py [--kills 200]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from _common import close
from textbayes.core.types import Document
from textbayes.screen import ScreenFolder, ScreenSettings
from textbayes.screen import folder as folders
from textbayes.screen.folder import replay

WORDS = {True: ("tea", "leaves", "pots", "kettle", "cups"), False: ("ore", "iron", "shaft", "slag", "zinc")}


def make_records(seed: int, n: int) -> tuple[list[Document], dict[str, bool]]:
    """Records about tea, which are relevant, and about ore."""
    draw = random.Random(seed)
    records, truth = [], {}
    for i in range(n):
        relevant = draw.random() < 0.2
        text = " ".join([*draw.choices(WORDS[relevant], k=4), *draw.choices(["study", "group", "year"], k=6)])
        records.append(Document(f"r{i}", text))
        truth[f"r{i}"] = relevant
    return records, truth


def fork(work) -> int:
    """Run a function in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


class Trial:
    """One folder through many deaths."""

    def __init__(self, place: Path, seed: int, n_records: int) -> None:
        self.draw = random.Random(seed)
        records, self.truth = make_records(seed, n_records)
        self.path, self.told = place / f"review{seed}", place / f"told{seed}"
        ScreenFolder.create(self.path, records, ScreenSettings(questions={"relevant": "tea leaves"}))
        self.told.touch()
        self.kills = Counter()

    def answer(self, id: str) -> str:
        return "relevant" if self.truth[id] else "irrelevant"

    def session(self) -> None:
        """Read on and on; every answer that is acknowledged is told."""
        folder = ScreenFolder.open(self.path)
        ids = folder.screening.collection.ids
        with self.told.open("ab", buffering=0) as stream:
            while picks := folder.next_records(1):
                id = ids[picks[0].row]
                folder.judge(id, self.answer(id))
                stream.write(f"{id}\n".encode())

    def command(self) -> None:
        """``textbayes screen judge`` for a record that has no answer."""
        from textbayes.cli.main import cli

        screening = ScreenFolder.open(self.path).screening
        unread = screening.topic().unread()
        if len(unread):
            id = screening.collection.ids[self.draw.choice(unread.tolist())]
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
            cli(["screen", "judge", str(self.path), id, self.answer(id)], standalone_mode=False)
            with self.told.open("ab", buffering=0) as stream:
                stream.write(f"{id}\n".encode())

    def kill_one(self) -> bool:
        """Start one and kill it; whether it was still at work."""
        kind = "command" if self.draw.random() < 0.4 else "session"
        child = fork(getattr(self, kind))
        time.sleep(self.draw.random() * (0.6 if kind == "session" else 0.3))
        at_work = os.waitpid(child, os.WNOHANG)[0] == 0
        if at_work:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.kills[kind] += 1
        return at_work

    def check(self) -> list[str]:
        """What is wrong."""
        folder = ScreenFolder.open(self.path)
        judged = Counter(entry["id"] for entry in folder.log() if entry["kind"] == "judgement")
        told = Counter(self.told.read_text().split())
        faults = []
        if told - judged:
            faults.append(f"{len(told - judged)} acknowledged answers are not in the log")
        if max(judged.values(), default=0) > 1:
            faults.append("an answer is in the log twice")
        screening, again = folder.screening, replay(folder)
        one, other = screening.to_state(), again.to_state()
        same = one[0] == other[0] and all((one[1][name] == other[1][name]).all() for name in one[1])
        if not same or screening.next_records(10**6) != again.next_records(10**6):
            faults.append("the log leads to another state or ranking")
        return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--records", type=int, default=400)
    given = parser.parse_args()
    folders._SNAPSHOT_ENTRIES = 5
    faults: list[str] = []
    kills, answers, trials = Counter(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        warm = Trial(Path(name), 10**6, 30)
        warm.session()  # everything is compiled and imported before the forks
        os.waitpid(fork(warm.command), 0)
        while sum(kills.values()) < given.kills:
            trial = Trial(Path(name), trials, given.records)
            while sum(kills.values()) + sum(trial.kills.values()) < given.kills:
                trial.kill_one()
                if not len(ScreenFolder.open(trial.path).screening.topic().unread()):
                    break
            found = trial.check()
            faults += found
            kills += trial.kills
            answers += len(trial.told.read_text().split())
            trials += 1
            print(
                f"trial {trials}: {dict(kills)} kills so far, {answers:,} answers acknowledged, faults: {found}",
                flush=True,
            )
    figures = (
        f"{kills['session']} kills of a session and {kills['command']} of `screen judge`, {answers:,} answers "
        f"acknowledged in {trials} trial(s): "
        + ("none lost, none doubled, every log replays" if not faults else "; ".join(faults))
    )
    close("screening crash test", not faults and sum(kills.values()) >= given.kills, figures)


if __name__ == "__main__":
    main()
