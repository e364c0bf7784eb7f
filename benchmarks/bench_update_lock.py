"""Two processes teach one model file at once: every text that was acknowledged is in it.

    python benchmarks/bench_update_lock.py [--updates 50]

First two loops of ``textbayes update``, then two servers (``textbayes serve``) of one file, then all three at once. A
text counts as acknowledged when the command has ended with status 0 or the server has answered.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from _common import close
from textbayes import TextCategorizer, load_model, save_model

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import _forked  # processes of their own, without the seconds of their start

PROGRAM = [sys.executable, "-m", "textbayes.cli.main"]
TOKEN = "a-token-of-the-benchmark"
TEXTS = ["corn harvest", "wheat and corn", "corn prices", "bank rates", "the bank cuts rates", "loans of the bank"]
LABELS = ["grain"] * 3 + ["money"] * 3


def update(model: Path, texts: Path) -> bool:
    """Teach a file by the command."""
    done = subprocess.run([*_forked.command(), "update", model, texts, "--quiet", "--json"], stdout=subprocess.DEVNULL)
    return done.returncode == 0


def ask(url: str, what: str, body: object) -> object:
    """Ask a server; the answer as JSON."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/{what}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def learn(url: str) -> bool:
    """Teach a file by its server."""
    return ask(url, "learn", {"documents": [{"text": "corn loans", "labels": ["money"]}]}) == {"n_learnt": 1}


@contextmanager
def served(model: Path) -> Iterator[str]:
    """The address of a process that serves a model."""
    own = {**os.environ, "TEXTBAYES_TOKEN": TOKEN}
    process = subprocess.Popen([*PROGRAM, "serve", model, "--json"], stdout=subprocess.PIPE, env=own)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def at_once(*teachers: Callable[[], bool], times: int) -> int:
    """Texts that were acknowledged when all teach without pause, each some times."""
    acknowledged: list[bool] = []

    def work(teach: Callable[[], bool]) -> None:
        acknowledged.extend(teach() for _ in range(times))

    threads = [threading.Thread(target=work, args=(teach,)) for teach in teachers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(acknowledged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=50, help="by each of the two")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, texts = Path(folder) / "model.tb", Path(folder) / "texts.jsonl"
        save_model(TextCategorizer(model="counts", cv=2).fit(TEXTS, LABELS), model)
        texts.write_text(json.dumps({"id": "1", "text": "corn loans", "labels": "money"}) + "\n", encoding="utf-8")

        def kept() -> int:
            return int(load_model(model).label_counts_.sum()) - len(TEXTS)

        results = []
        before = kept()
        acknowledged = at_once(lambda: update(model, texts), lambda: update(model, texts), times=given.updates)
        results.append(("two of update", acknowledged, kept() - before))
        with served(model) as one, served(model) as other:
            before = kept()
            acknowledged = at_once(lambda: learn(one), lambda: learn(other), times=given.updates)
            results.append(("two of serve", acknowledged, kept() - before))
            before = kept()
            acknowledged = at_once(
                lambda: learn(one), lambda: learn(other), lambda: update(model, texts), times=given.updates // 5
            )
            results.append(("all three", acknowledged, kept() - before))
            said = [ask(url, "classify", {"texts": ["corn loans"]}) for url in (one, other)]
        left = sorted(path.name for path in Path(folder).iterdir())
        truth = load_model(model).predict_proba(["corn loans"])[0]
    for who, acknowledged, found in results:
        print(f"{who}: {acknowledged} texts acknowledged, {found} kept")
    asked = given.updates * 4 + given.updates // 5 * 3
    alike = all(list(one[0]["probabilities"].values()) == truth.tolist() for one in said)  # type: ignore[index]
    clean = left == ["model.tb", "texts.jsonl"]
    total, found = (sum(row[place] for row in results) for place in (1, 2))
    passed = total == found == asked and all(row[1] == row[2] for row in results) and alike and clean
    figures = (
        f"{asked} texts taught by two or three processes at once, {total} acknowledged, {found} kept; "
        f"both servers answer as the file does: {'yes' if alike else 'no'}"
    )
    close("model file shared by processes", passed, figures)


if __name__ == "__main__":
    main()
