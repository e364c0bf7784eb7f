"""Answers of a model that was trained before, beside those of scikit-learn: a command, a server, and more cores.

Both sides learn from the training half of the BBC news and are asked about texts of the other half. The peer is a
pickled pipeline of TF-IDF and logistic regression, in a script and behind FastAPI as an engineer would write them.
Sides take turns, and medians are compared. ``bench_first_minute.py`` has the bars.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import os
import pickle
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

N_TEXTS = 300  # that are classified
TURNS = 5
SECONDS = 2.0  # of a turn, in slices
SLICE = 0.1  # turns are so short that other work on the machine slows both sides alike

_SCRIPT = """
import json, pickle, sys
import sklearn

with open(sys.argv[1], "rb") as stream:
    model = pickle.load(stream)
with open(sys.argv[2]) as stream:
    documents = [json.loads(line) for line in stream]
proba = model.predict_proba([document["text"] for document in documents])
for document, row in zip(documents, proba):
    label = str(model.classes_[row.argmax()])
    print(json.dumps({"id": document["id"], "label": label, "probabilities": dict(zip(model.classes_, row.tolist()))}))
"""

_SERVER = """
import pickle, sys
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

class Texts(BaseModel):
    texts: list[str]

class Answer(BaseModel):
    label: str
    probabilities: dict[str, float]

app = FastAPI()
with open(sys.argv[1], "rb") as stream:
    model = pickle.load(stream)

@app.post("/classify")
def classify(given: Texts) -> list[Answer]:
    proba = model.predict_proba(given.texts)
    return [
        Answer(label=model.classes_[row.argmax()], probabilities=dict(zip(model.classes_, row.tolist())))
        for row in proba
    ]

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


class Trained(NamedTuple):
    """Files of both sides, and the texts that they are asked about."""

    ours: Path
    pickled: Path
    new: Path
    script: Path
    server: Path
    texts: list[str]


def classify_ratio() -> float:
    """CPU seconds of ``textbayes classify`` for 300 texts in units of the scikit-learn script's."""
    trained = _trained()
    ours = [*_COMMAND, "classify", str(trained.ours), str(trained.new)]
    peer = [sys.executable, str(trained.script), str(trained.pickled), str(trained.new)]
    _cpu(ours), _cpu(peer)  # compiled kernels and files are in the caches
    turns = [(_cpu(ours), _cpu(peer)) for _ in range(TURNS)]
    mine, other = (statistics.median(side) for side in zip(*turns, strict=True))
    print(f"classify, {N_TEXTS} texts: {mine:.2f} s of CPU, scikit-learn's script {other:.2f} s")
    return mine / other


def serve_ratios() -> dict[int, float]:
    """Requests a second of ``textbayes serve``, one client, in units of FastAPI's, by the number of texts a request.

    The servers are asked in turns; what other work does to the machine it does to both.
    """
    trained = _trained()
    free, token = _free_port(), "bench-token"
    served = [*_COMMAND, "serve", str(trained.ours), "--port", str(free)]
    other = _free_port()
    with (
        _running(served, free, {"TEXTBAYES_TOKEN": token}) as ours,
        _running([sys.executable, str(trained.server), str(trained.pickled), str(other)], other, {}) as peers,
    ):
        sides = (_Client(ours, free, "/api/v1/classify", token), _Client(peers, other, "/classify", token))
        ratios = {}
        for n in (1, 10):
            for client in sides:
                client.ask(trained.texts, n, SECONDS)
            turns = [
                [client.ask(trained.texts, n, SLICE) for client in sides] for _ in range(round(TURNS * SECONDS / SLICE))
            ]
            ours_asked, peers_asked = (_together(side) for side in zip(*turns, strict=True))
            (mine, cpu), (peer, peer_cpu) = ours_asked, peers_asked
            ratios[n] = mine / peer
            print(
                f"serve, {n} text(s) a request: {mine:.0f} requests/s, {1e3 * cpu:.2f} ms of CPU each; FastAPI with "
                f"scikit-learn {peer:.0f} requests/s, {1e3 * peer_cpu:.2f} ms: {ratios[n]:.2f} × the requests/s"
            )
    return ratios


class Asked(NamedTuple):
    """Requests of some seconds, and CPU seconds that the server took for them."""

    n: int
    seconds: float
    cpu: float


def _together(asked: Sequence[Asked]) -> tuple[float, float]:
    """Requests a second, and CPU seconds of each."""
    n, seconds, cpu = (sum(column) for column in zip(*asked, strict=True))
    return n / seconds, cpu / n


class _Client:
    """One client that keeps its connection."""

    def __init__(self, server: int, port: int, path: str, token: str) -> None:
        self._server = server
        self._connection, self._path = http.client.HTTPConnection("127.0.0.1", port, timeout=60), path
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, texts: list[str], n: int, seconds: float) -> Asked:
        """Ask about ``n`` texts a request, for some seconds."""
        start, spent, done = time.perf_counter(), _cpu_of(self._server), 0
        while (passed := time.perf_counter() - start) < seconds:
            some = [texts[(done * n + k) % len(texts)] for k in range(n)]
            self._connection.request("POST", self._path, json.dumps({"texts": some}).encode(), self._headers)
            answer = self._connection.getresponse()
            told = json.loads(answer.read())
            assert answer.status == 200, told
            assert len(told) == n
            done += 1
        return Asked(done, passed, _cpu_of(self._server) - spent)


@functools.cache
def _trained() -> Trained:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from textbayes import TextCategorizer, load_corpus, save_model

    corpus = load_corpus("bbc")
    train, test = corpus.train, corpus.test
    folder = Path(_FOLDER.name)
    found = Trained(*(folder / name for name in ("m.tb", "m.pkl", "new.jsonl", "script.py", "server.py")), test.texts)
    save_model(TextCategorizer(embeddings="off").fit(train.texts, train.targets), found.ours)
    peer = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)).fit(train.texts, train.targets)
    found.pickled.write_bytes(pickle.dumps(peer))
    chosen = range(0, len(test), len(test) // N_TEXTS)[:N_TEXTS]
    lines = [json.dumps({"id": test.ids[i], "text": test.texts[i]}) + "\n" for i in chosen]
    found.new.write_text("".join(lines))
    found.script.write_text(_SCRIPT)
    found.server.write_text(_SERVER)
    return found


_FOLDER = tempfile.TemporaryDirectory()  # removed when the process ends
_COMMAND = [sys.executable, "-m", "textbayes.cli.main"]


def _cpu(command: list[str]) -> float:
    """CPU seconds of a command, of all its threads and children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cpu_of(process: int) -> float:
    """CPU seconds of a process so far, of all its threads; NaN where the system does not say."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return float("nan")
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextlib.contextmanager
def _running(command: list[str], port: int, environment: dict[str, Any]) -> Iterator[int]:
    """A server, until the block ends; gives its process id."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            if process.poll() is not None:
                raise RuntimeError("a server did not start")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def n_jobs_ratio() -> float:
    """Wall time of a grid search with ``n_jobs=2`` in units of that with 1, worker processes started before.

    The estimator reads a matrix that joblib maps into its processes so that it can only be read.
    """
    from joblib import parallel_config
    from sklearn.model_selection import GridSearchCV

    from textbayes import BayesOnlineClassifier, TextVectorizer, load_corpus

    train = load_corpus("bbc").train
    X = TextVectorizer(ngram_range=(1, 2)).fit_transform(train.texts).astype(float)
    grid = {"passes": [2, 4]}
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with parallel_config(backend="loky"):
        for _ in range(3):
            for n_jobs, measured in seconds.items():
                start = time.perf_counter()
                GridSearchCV(BayesOnlineClassifier(), grid, cv=2, n_jobs=n_jobs).fit(X, train.targets)
                measured.append(time.perf_counter() - start)
    print(f"grid search: first {seconds[1][0]:.1f} s with one process, {seconds[2][0]:.1f} s with two")
    one, two = (statistics.median(measured[1:]) for measured in seconds.values())
    print(f"grid search: later {one:.1f} s with one process, {two:.1f} s with two")
    return two / one
