"""Partitions scored into a folder: each once, whole or not at all, and resumed."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest

from textbayes import TextCategorizer, load_model, save_model
from textbayes.core.errors import InputError
from textbayes.scale import make_partitions, score_partitions
from textbayes.scale.scoring import MANIFEST

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

WORDS = {"sea": "ship sail wave salt", "farm": "corn cow barn field"}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.tb"
    texts = [text for words in WORDS.values() for text in (words, words[:9], words[5:])]
    save_model(TextCategorizer(model="counts:model=multinomial").fit(texts, ["sea"] * 3 + ["farm"] * 3), path)
    return path


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(0)
    words = " ".join(WORDS.values()).split()
    for number, size in enumerate([5, 1, 9, 4]):
        texts = [" ".join(rng.choice(words, 4)) for _ in range(size)]
        ids = [f"{number}-{i}" for i in range(size)]
        parquet.write_table(pa.table({"id": ids, "text": texts}), tmp_path / f"part {number}.parquet")
    return f"{tmp_path}/part*.parquet"


def read(folder):
    return [parquet.read_table(path) for path in sorted(folder.glob("*.parquet"))]


def test_each_partition_has_its_scores(cluster, model_file, parts, tmp_path):
    done = score_partitions(model_file, make_partitions(parts), tmp_path / "scores", cluster)
    assert done == (4, 0, 19)
    found = read(tmp_path / "scores")
    assert [len(table) for table in found] == [5, 1, 9, 4]
    model = load_model(model_file)
    for number, table in enumerate(found):
        given = parquet.read_table(tmp_path / f"part {number}.parquet")
        assert table.column("id").to_pylist() == given.column("id").to_pylist()
        texts = given.column("text").to_pylist()
        np.testing.assert_array_equal(table.column("p_sea").to_numpy(), model.predict_proba(texts)[:, 1])
        assert [tuple(row) for row in table.column("labels").to_pylist()] == model.predict_labels(texts)
    assert sorted(path.name for path in (tmp_path / "scores").iterdir()) == [
        *(f"0000{number}-part_{number}.parquet" for number in range(4)), MANIFEST,
    ]  # fmt: skip


def test_what_is_finished_is_not_done_again(executors, model_file, parts, tmp_path):
    folder, executor = tmp_path / "scores", executors("serial")
    score_partitions(model_file, make_partitions(parts), folder, executor)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.glob("*.parquet")}
    lost = sorted(before)[2]
    lost.unlink()
    assert score_partitions(model_file, make_partitions(parts), folder, executor) == (4, 3, 9)
    assert lost.read_bytes() == before[lost][0]
    for path, (content, time) in before.items():
        assert path.read_bytes() == content
        assert path == lost or path.stat().st_mtime_ns == time


def test_a_fault_leaves_what_is_finished_and_nothing_half_written(executors, model_file, parts, tmp_path):
    folder, broken = tmp_path / "scores", tmp_path / "part 2.parquet"
    content, times = broken.read_bytes(), broken.stat()
    broken.write_bytes(b"x" * len(content))
    os.utime(broken, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InputError, match=r"part 2\.parquet"):
        score_partitions(model_file, make_partitions(parts), folder, executors("serial"))
    assert sorted(path.name for path in folder.iterdir()) == ["00000-part_0.parquet", "00001-part_1.parquet", MANIFEST]
    broken.write_bytes(content)
    os.utime(broken, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert score_partitions(model_file, make_partitions(parts), folder, executors("serial")) == (4, 2, 13)


def test_other_models_inputs_settings_and_folders_are_refused(executors, model_file, parts, tmp_path):
    folder, executor = tmp_path / "scores", executors("serial")
    score_partitions(model_file, make_partitions(parts), folder, executor)
    other = tmp_path / "other.tb"
    save_model(TextCategorizer(model="counts:model=poisson").fit(["ship", "corn"] * 3, ["a", "b"] * 3), other)
    with pytest.raises(InputError, match=r"holds scores by another model than .*other\.tb; remove it"):
        score_partitions(other, make_partitions(parts), folder, executor)
    with pytest.raises(InputError, match="with other settings"):
        score_partitions(model_file, make_partitions(parts), folder, executor, guess=True)
    parquet.write_table(pa.table({"text": ["new"]}), tmp_path / "part 1.parquet")
    with pytest.raises(InputError, match=r"part 1\.parquet is new or has changed"):
        score_partitions(model_file, make_partitions(parts), folder, executor)
    with pytest.raises(InputError, match="holds other files"):
        score_partitions(model_file, make_partitions(parts), tmp_path, executor)
    (folder / MANIFEST).write_text(json.dumps({"format": "something"}))
    with pytest.raises(InputError, match="is not a manifest"):
        score_partitions(model_file, make_partitions(parts), folder, executor)


def test_a_worker_killed_midway_leaves_each_partition_scored_once(cluster, model_file, parts, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    score_partitions(model_file, make_partitions(parts), undisturbed, cluster)
    [victim, *_] = cluster.map(lambda _: os.getpid(), range(4))

    def kill(what, done, total):
        if done == 1:
            os.kill(victim, signal.SIGKILL)

    done = score_partitions(model_file, make_partitions(parts), tmp_path / "scores", cluster, progress=kill)
    assert done == (4, 0, 19)
    for one, other in zip(read(tmp_path / "scores"), read(undisturbed), strict=True):
        assert one.equals(other)
    assert not [path for path in (tmp_path / "scores").iterdir() if path.suffix == ".tmp"]
