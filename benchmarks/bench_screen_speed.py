"""Judgements a second, each with a refit and a full ranking, at 2,500 records; and 100,000 records, import and waits.

    python benchmarks/bench_screen_speed.py [--large 100000]

The records are those of 23 reviews; more than there are of them are made of two halves of others. The large
collection is read from a RIS file, duplicates and all, into a folder; then records are judged one by one, each answer
on disk, learnt, and followed by the next record.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from _common import close
from _screen import Review, reviews
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.screen import ScreenFolder
from textbayes.screen.duplicates import merge_duplicates
from textbayes.screen.simulate import TopicReader, draw_start


def judgements_a_second(review: Review, n: int = 1000) -> float:
    """Judgements a second of one process over the first ``n`` records read."""
    records = review.collection(review.question)
    TopicReader(records)  # compiled, and loaded
    reader = TopicReader(records)
    for row in draw_start(review.relevant, 0):
        reader.answer(int(row), bool(review.relevant[row]))
    started, cpu = time.perf_counter(), time.process_time()
    for _ in range(n):
        row = reader.next_row()
        reader.answer(row, bool(review.relevant[row]))
    print(f"{n / (time.process_time() - cpu):,.0f} judgements a second of processor time", flush=True)
    return n / (time.perf_counter() - started)


def write_ris(texts: list[str], n: int, path: Path) -> None:
    """A file of ``n`` references."""
    random = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as stream:
        for i in range(n):
            if i < len(texts):
                text = texts[i]
            else:
                one, other = (texts[k].split() for k in random.integers(len(texts), size=2))
                text = " ".join(one[: len(one) // 2] + other[len(other) // 2 :])
            text = " ".join(text.split())
            stream.write(f"TY  - JOUR\nTI  - {text[:100]}\nAB  - {text[100:]}\nDO  - 10.1/{i}\nER  - \n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--judgements", type=int, default=60, help="in the large collection")
    given = parser.parse_args()
    all_reviews = reviews()
    review = next(review for review in all_reviews if review.name == "ACEInhibitors")
    speed = judgements_a_second(review)
    print(f"{review.name}, {len(review.texts):,} records: {speed:,.0f} judgements a second", flush=True)
    texts = [text for review in all_reviews for text in review.texts]
    folder = Path(tempfile.mkdtemp())
    try:
        write_ris(texts, given.large, folder / "refs.ris")
        started = time.perf_counter()
        records, merged = merge_duplicates(list(open_documents(folder / "refs.ris", keep_fields=True)))
        read = time.perf_counter() - started
        ScreenFolder.create(folder / "review", records, prior=all_reviews[0].others)
        seconds = time.perf_counter() - started
        print(
            f"{given.large:,} records ({len(merged):,} duplicates): read in {read:.1f} s, import {seconds:.1f} s",
            flush=True,
        )
        waits, cpu = large_waits(folder / "review", records, given.judgements)
    finally:
        shutil.rmtree(folder)
    wait = float(np.median(waits))
    print(
        f"judgement to next record: median {1000 * wait:.0f} ms, worst {1000 * max(waits):.0f} ms; "
        f"{1000 * float(np.median(cpu)):.0f} ms of processor time"
    )
    figures = (
        f"{speed:,.0f} judgements a second at {len(review.texts):,} records (≥ 500); {given.large:,} records: "
        f"judgement to next record {1000 * wait:.0f} ms (≤ 150), import {seconds:.1f} s (≤ 90)"
    )
    close("screening speed", speed >= 500 and wait <= 0.15 and seconds <= 90.0, figures)


def large_waits(path: Path, records: list[Document], n: int) -> tuple[list[float], list[float]]:
    """Seconds from a judgement, put on disk, to the next record, and of processor time; a third are relevant."""
    folder = ScreenFolder.open(path)
    (pick,) = folder.next_records(1)
    waits, cpu = [], []
    for k in range(n):
        started, used = time.perf_counter(), time.process_time()
        folder.judge(records[pick.row].id, "relevant" if k % 3 == 0 else "irrelevant")
        (pick,) = folder.next_records(1)
        waits.append(time.perf_counter() - started)
        cpu.append(time.process_time() - used)
    return waits[5:], cpu[5:]


if __name__ == "__main__":
    main()
