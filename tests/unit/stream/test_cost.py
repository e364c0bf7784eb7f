"""What a document costs does not depend on the past: neither on words that were met nor on the size of the state."""

from __future__ import annotations

import tracemalloc
from itertools import product

from textbayes.stream import FilterFolder
from textbayes.stream import folder as folders
from textbayes.stream.run import run

from .conftest import draw


def test_a_judgement_costs_the_same_however_many_words_were_met(make):
    """More than a million words that are in none of the documents, as many streams bring in the end."""

    def room(desk):
        """Bytes that half of the judgements take at most while they last: nothing goes through all words."""
        documents = [*draw(7, 60, first=7000)]
        for document in documents:
            desk.see(document, 0.0)
        taken = []
        tracemalloc.start()
        for document in documents:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            for topic in ("grain", "money"):
                desk.judge(document.id, topic, topic in document.labels)
            taken.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
        return sorted(taken)[len(taken) // 2]

    desk = make(threshold=0.0, ask="never", word_threshold=1e9)
    long = desk.copy()
    letters = "abcdefghijklmnopqrst"
    long.lexicon.add(["".join(word) for word in product(letters[:10], *[letters] * 4)])
    assert len(long.lexicon) > 1_600_000
    assert room(long) < 200_000


def test_a_large_state_is_written_less_often(make, stream, tmp_path, monkeypatch):
    written = []
    write = folders.write_snapshot
    monkeypatch.setattr(folders, "write_snapshot", lambda *args: written.append(write(*args)) or written[-1])
    monkeypatch.setattr(folders, "_SNAPSHOT_JUDGEMENTS", 1)

    def count(name, bytes_per_judgement):
        monkeypatch.setattr(folders, "_BYTES_PER_JUDGEMENT", bytes_per_judgement)
        FilterFolder.create(tmp_path / name, make())
        written.clear()
        with FilterFolder.open(tmp_path / name) as folder:
            folder.begin("stream")
            deliveries = list(run(folder, [stream[:60]], by_labels=True))
            return len(deliveries), len(written)

    n_judged, n_written = count("often", 10**9)
    assert n_written == n_judged > 10
    size = max(place.stat().st_size for place in (tmp_path / "often" / "snapshots").iterdir())
    n_judged, n_written = count("seldom", size // 10)  # a judgement pays for a tenth of one
    assert n_written <= n_judged // 5
