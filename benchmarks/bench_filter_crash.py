"""Kill a running filter 200 times at random moments; no judgement may be lost or learnt twice, and every log replays.

A filter reads a stream while judgements are given to it: most by this process, some by processes that are killed as
well. Each filter is forked from this process, so that starting it costs little, and runs the command itself. It is
killed when its log has grown by a random length, however fast it is, by a process that watches the log; one in six is
killed while it starts. A snapshot is written every few judgements, so many kills fall into one. At the end of each
stream:

- every judgement that was acknowledged is in the inbox, and the inbox is in the log: in its order, each once;
- every document is in the log once, in its order;
- the filter believes of each document what was said of it last;
- every decision is the same, bit for bit, when computed anew.

    python benchmarks/bench_filter_crash.py [--kills 200] [--documents 2500] [--between 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from _common import close
from textbayes.core.types import Document
from textbayes.store.event_folder import read_log
from textbayes.stream import AdaptiveFilter, FilterFolder, give_judgements, replay_log
from textbayes.stream import folder as folders
from textbayes.stream.judgements import INBOX, Judgement, parse_judgement, read_pending

TOPICS = {
    "grain": ["corn", "wheat", "harvest", "rain", "farm", "crop", "soybean", "tractor", "barley", "mill"],
    "money": ["bank", "rates", "loans", "credit", "interest", "dollar", "yen", "bond", "deficit", "treasury"],
}
SHARED = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in ("ner", "tol", "rik", "sup")]


def draw(random_: random.Random, n_docs: int) -> list[Document]:
    """Documents of which a tenth is relevant to each topic, in part by words of their own."""
    documents = []
    for i in range(n_docs):
        labels = tuple(topic for topic in TOPICS if random_.random() < 0.1)
        words = random_.choices(SHARED, k=12)
        for topic in labels:
            words += [*random_.choices(TOPICS[topic], k=4), f"{topic}{random_.randrange(40)}x"]
        documents.append(Document(f"d{i}", " ".join(words), labels))
    return documents


def fork(work: Callable[[], None]) -> int:
    """Do some work in a process of its own."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def filter_process(state: Path, feed: Path, output: Path) -> int:
    """``textbayes filter STATE FEED --continue``, writing to a file."""

    def work() -> None:
        from textbayes.cli.filter import filter_stream

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with output.open("w") as stream:
            sys.stdout = sys.stderr = stream
            filter_stream([str(state), str(feed), "--continue", "--quiet"], standalone_mode=False)

    return fork(work)


def killer_process(victim: int, log: Path, length: float, seconds: float) -> int:
    """Kill a process once the log has a length, or after some seconds."""

    def work() -> None:
        end = time.monotonic() + seconds
        while log.stat().st_size < length and time.monotonic() < end:
            time.sleep(0.0005)
        os.kill(victim, signal.SIGKILL)  # it is there, or waits for its parent, which ends this process first

    return fork(work)


class Trial:
    """One state folder, from its start to the end of its stream, through many deaths; ``between``: bytes of the log."""

    def __init__(self, folder: Path, start: Path, documents: list[Document], between: float, seed: int) -> None:
        self.random = random.Random(seed)
        self.documents, self.between = documents, between
        self.truth = {document.id: document.labels for document in documents}
        self.state = Path(shutil.copytree(start, folder / f"state{seed}"))
        self.feed, self.output = folder / f"feed{seed}.jsonl", folder / "output.txt"
        rows = ({"id": document.id, "text": document.text} for document in documents)
        self.feed.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.acknowledged: list[Judgement] = []
        self.kills = self.judge_kills = self.at_work = 0

    def run_once(self, may_kill: bool) -> bool:
        """Run the filter until it ends or is killed; whether it has come to the end of its stream."""
        runs, log = self.runs(), self.state / "log.jsonl"
        child = filter_process(self.state, self.feed, self.output)
        killer = None
        if may_kill and self.random.random() < 1 / 6:
            killer = killer_process(child, log, float("inf"), self.random.random() * 0.05)
        elif may_kill:
            length = log.stat().st_size + self.random.random() * 2.0 * self.between
            killer = killer_process(child, log, length, 600.0)
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            self.judge_some()
            time.sleep(0.002)
        if killer is not None:
            os.kill(killer, signal.SIGKILL)
            os.waitpid(killer, 0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 0 or (may_kill and code == -signal.SIGKILL), self.output.read_text()
        if code != 0:
            self.kills += 1
            self.at_work += self.runs() > runs
        return code == 0

    def runs(self) -> int:
        """How many filters have taken hold of the folder and begun."""
        return (self.state / "log.jsonl").read_bytes().count(b',"kind":"run",')

    def judge_some(self) -> None:
        """Judge some of what waits: mostly as it is, sometimes twice, wrongly first, or by a process that is killed."""
        waiting = list(read_pending(self.state))
        for row in self.random.sample(waiting, min(len(waiting), 3)):
            judgement = Judgement(row["id"], row["topic"], row["topic"] in self.truth[row["id"]])
            luck = self.random.random()
            if luck < 0.1:
                self.judge_and_kill(judgement)
                continue
            wrong = judgement._replace(relevant=not judgement.relevant)
            given = [wrong, judgement] if luck < 0.2 else [judgement] * (2 if luck < 0.3 else 1)
            give_judgements(self.state, given)
            self.acknowledged += given

    def judge_and_kill(self, judgement: Judgement) -> None:
        """A judge that dies: what it gave may be there or not, but whole or not at all."""
        child = fork(lambda: give_judgements(self.state, [judgement]))
        time.sleep(self.random.random() * 0.002)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.judge_kills += 1

    def check(self) -> list[str]:
        """What is wrong at the end."""
        faults = []
        inbox = [parse_judgement(line) for line in (self.state / INBOX).read_bytes().splitlines()]
        if Counter(self.acknowledged) - Counter(inbox):
            faults.append("an acknowledged judgement is not in the inbox")
        entries = [entry for entry, _ in read_log(self.state / "log.jsonl")]
        learnt = [Judgement(e["id"], e["topic"], e["relevant"]) for e in entries if e["kind"] == "judgement"]
        if learnt != inbox:
            faults.append(f"the inbox has {len(inbox)} judgements, the log {len(learnt)}, or they differ")
        seen = [entry["id"] for entry in entries if entry["kind"] == "document"]
        if seen != [document.id for document in self.documents]:
            faults.append(f"the log has {len(seen)} documents of {len(self.documents)}, or another order")
        last = {(judgement.id, judgement.topic): judgement.relevant for judgement in inbox}
        with FilterFolder.open(self.state) as folder:
            names = {number: name for name, number in folder.filter.ids.items()}
            believed = {(names[n], folder.filter.topics[k].name): y for (n, k), y in folder.filter.judgements.items()}
        if believed != last:
            faults.append("the filter believes other judgements than were given last")
        found = replay_log(self.state)
        if found.difference is not None:
            faults.append(f"the log does not replay: {found.difference}")
        return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="of filters at work")
    parser.add_argument("--documents", type=int, default=2500, help="of each stream")
    parser.add_argument("--between", type=int, default=100, help="documents that a filter sees before it is killed")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    folders._SNAPSHOT_JUDGEMENTS = 5
    faults: list[str] = []
    kills = judge_kills = judgements = trials = at_work = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        training = draw(random.Random(given.seed), 150)
        FilterFolder.create(folder / "start", AdaptiveFilter.start(training, n_jobs=1))
        between = given.between * warm_up(folder)
        while at_work < given.kills:
            documents = draw(random.Random(given.seed + 1 + trials), given.documents)
            trial = Trial(folder, folder / "start", documents, between, given.seed + trials)
            while not trial.run_once(may_kill=at_work + trial.at_work < given.kills):
                pass
            while list(read_pending(trial.state)):  # what is still not judged
                trial.judge_some()
                trial.run_once(may_kill=False)
            trial.run_once(may_kill=False)
            faults += trial.check()
            kills, judge_kills, trials = kills + trial.kills, judge_kills + trial.judge_kills, trials + 1
            judgements, at_work = judgements + len(trial.acknowledged), at_work + trial.at_work
            print(f"stream {trials}: {kills} kills so far, {judgements:,} judgements acknowledged, faults: {faults}")
    figures = f"{kills} kills of a filter ({at_work} at work, the others starting) and {judge_kills} of a judge, "
    figures += f"{judgements:,} judgements in {trials} stream(s): "
    figures += "none lost, none doubled, every log replays" if not faults else "; ".join(faults)
    close("filter crash test", not faults and at_work >= given.kills, figures)


def warm_up(folder: Path) -> float:
    """Compile and import everything once, so that forked filters begin at once; bytes of the log for each document."""
    state = Path(shutil.copytree(folder / "start", folder / "warm"))
    with FilterFolder.open(state) as warm:
        warm.begin("warm")
        from textbayes.cli import answers, filter  # noqa: F401
        from textbayes.stream.run import run

        list(run(warm, [draw(random.Random(1), 50)], by_labels=True))
    replay_log(state)
    return (state / "log.jsonl").stat().st_size / 50


if __name__ == "__main__":
    main()
