"""Estimates of time by curves whose constants are known, of samples by their chances, of sizes by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from textbayes.core.types import Document
from textbayes.scale import estimate as estimating
from textbayes.scale.estimate import estimate, grown, sample, too_large


@pytest.mark.parametrize(("constant", "power"), [(0.0, 1.3), (3.0, 1.2), (0.5, 1.4)])
def test_the_curve_goes_on_as_it_began(constant, power):
    def curve(n):
        return constant + 1e-3 * n**power

    found, seconds = grown([(n, curve(n)) for n in (250, 500, 1_000)], 100_000)
    assert found == pytest.approx(power)
    assert seconds == pytest.approx(curve(100_000))


def test_noise_does_not_make_it_absurd():
    _, seconds = grown([(250, 1.0), (500, 3.0), (1_000, 2.9)], 10_000)
    assert 2.9 <= seconds <= 2.9 * 10**1.5
    assert grown([(100, 2.0)], 100)[1] == 2.0


def test_parts_grow_until_there_are_no_more_documents():
    asked = []

    def train(n_docs):
        asked.append(n_docs)
        return 10 * n_docs

    found = estimate(train, 1_100, 11_000, reading=5.0, seconds=60.0)
    assert asked == [250, 250, 500, 1_000, 1_100]  # the first time is not counted
    assert found.documents == 11_000
    assert found.disk == 110_000
    assert found.seconds >= 5.0


def test_a_training_of_fewer_fits_takes_less(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(estimating.time, "perf_counter", lambda: clock[0])

    def n_fits(n_docs):
        return 5.0 if n_docs <= 1_000 else 2.5

    def train(n_docs):
        clock[0] += n_fits(n_docs) * 1e-3 * n_docs**1.3
        return 0

    found = estimate(train, 1_000, 50_000, seconds=1e9, n_fits=n_fits)
    assert found.seconds == pytest.approx(2.5 * 1e-3 * 50_000**1.3)
    assert found.power == pytest.approx(1.3)


def test_every_document_has_the_same_chance():
    documents = [Document(str(i), "word") for i in range(40)]
    counts = Counter()
    for seed in range(400):
        kept, total, characters = sample(iter(documents), 10, seed)
        assert (len(kept), total, characters) == (10, 40, 160)
        counts.update(int(one.id) < 10 for one in kept)
    # 4,000 draws, a quarter of the first ten documents: 1,000 ± 4 standard deviations of 27.
    assert abs(counts[True] - 1_000) < 110


def test_what_is_too_large_is_said_with_figures(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b"x" * 1_000)
    (tmp_path / "b.jsonl.gz").write_bytes(b"x" * 1_000)
    monkeypatch.setattr(estimating, "available_memory", lambda: 60_000)
    assert too_large([str(tmp_path / "a.jsonl")]) is None  # 12 bytes of memory a byte of text: 12,000
    said = too_large([str(tmp_path)])  # packed fourfold: 12,000 + 48,000, and four fifths of 60,000 may be used
    assert said is not None
    assert "GiB of memory of the" in said
    assert too_large(["-"]) is None
    monkeypatch.setattr(estimating, "available_memory", lambda: None)
    assert too_large([str(tmp_path)]) is None
