"""Snapshots of filters and states of Gibbs runs are read by the reader of model files, and hostile ones refused."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from textbayes.core.errors import ModelFileError
from textbayes.store.checkpoint import read_states, write_states
from textbayes.store.container import open_container, read_container, write_container
from textbayes.store.event_folder import snapshot_path
from textbayes.stream.judgements import FILTER_FILE

META = {"filter": {"ids": {"a": 0}}, "log": [0, 0, ""]}
STATE = ({"random": {"state": 2**127 + 1}, "min_ess": float("inf")}, {"weights": np.arange(6.0).reshape(2, 3)})


def a_snapshot(folder: Path) -> Path:
    path = snapshot_path(folder, 7)
    write_container(path, FILTER_FILE, META, {"terms": np.arange(4, dtype=np.uint8)})
    return path


def read_snapshot(path):
    return read_container(path, FILTER_FILE)


def a_run(folder: Path) -> Path:
    path = folder / "run.state"
    write_states(path, {3: STATE})
    return path


KINDS: dict[str, tuple[Any, Any]] = {"snapshot": (a_snapshot, read_snapshot), "run": (a_run, read_states)}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, packing: int = zipfile.ZIP_STORED, **changes: bytes) -> None:
    """Write the file again, with other members (their names without the ending)."""
    kept = {name: changes.get(name.split(".")[0], content) for name, content in members(path).items()}
    more = {name: content for name, content in changes.items() if not any(one.startswith(name) for one in kept)}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (kept | more).items():
            archive.writestr(name, content, packing)


def test_a_state_comes_back_as_it_was(tmp_path):
    meta, arrays = read_snapshot(a_snapshot(tmp_path))
    assert META.items() <= meta.items()
    assert arrays["terms"].tolist() == [0, 1, 2, 3]
    with open_container(tmp_path / "000000000007.snapshot", FILTER_FILE) as container:
        assert container.mark == meta
    states = read_states(a_run(tmp_path))
    assert list(states) == [3]
    assert states[3][0] == STATE[0]
    np.testing.assert_array_equal(states[3][1]["weights"], STATE[1]["weights"])


def header(**arrays: Any) -> bytes:
    told = json.dumps(arrays).encode()
    return struct.pack("<Q", len(told)) + told


ARRAYS = {
    "more than there is": header(a={"dtype": "F64", "shape": [1 << 40], "data_offsets": [0, 1 << 43]}) + bytes(8),
    "with a gap": header(a={"dtype": "U8", "shape": [1], "data_offsets": [4, 5]}) + bytes(5),
    "followed by others": save({"a": np.zeros(2)}) + b"more",
    "of Python objects": header(a={"dtype": "OBJ", "shape": [1], "data_offsets": [0, 8]}) + bytes(8),
    "without a header": b"",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_do_not_hold_what_they_claim_are_refused(kind, name, tmp_path):
    path = kind[0](tmp_path)
    rewrite(path, arrays=ARRAYS[name])
    with pytest.raises(ModelFileError, match=str(path)):
        kind[1](path)


def changed(text: bytes, **changes: Any) -> bytes:
    return json.dumps(json.loads(text) | changes).encode()


TEXT = {
    "a key twice": (lambda text: b'{"format": "x",' + text[1:], "a key twice"),
    "a number of 400 digits": (lambda text: changed(text, more=10**400), "a number of 401 digits"),
    "deep": (lambda text: changed(text, more=json.loads("[" * 100 + "]" * 100)), "nested more than 32 deep"),
    "cut": (lambda text: text[:-1], "cannot be read"),
    "of something else": (lambda text: changed(text, format="other"), "is not a textbayes"),
    "a list": (lambda text: b"[]", "is not a textbayes"),
    "of a later version": (lambda text: changed(text, format_version=99), "has format version 99.*upgrade textbayes"),
    "of no version": (lambda text: changed(text, format_version=True), "is not a textbayes"),
}


@pytest.mark.parametrize("name", TEXT)
def test_a_description_that_is_none_is_refused(kind, name, tmp_path):
    change, message = TEXT[name]
    path = kind[0](tmp_path)
    rewrite(path, state=change(members(path)["state.json"]))
    with pytest.raises(ModelFileError, match=message) as caught:
        kind[1](path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_unpacks_to_much_more_is_refused(kind, tmp_path):
    path = kind[0](tmp_path)
    rewrite(path, zipfile.ZIP_DEFLATED, arrays=save({"a": np.zeros(40 << 20)}))  # 320 MiB
    with pytest.raises(ModelFileError, match="claims to unpack to 320 MiB"):
        kind[1](path)


def test_members_that_do_not_belong_are_refused(kind, tmp_path):
    path = kind[0](tmp_path)
    rewrite(path, other=b"x")
    with pytest.raises(ModelFileError, match="it has more in it than a"):
        kind[1](path)


def test_states_that_are_none_are_refused(tmp_path):
    path = a_run(tmp_path)
    for states in ([], {"first": {}}, None):
        rewrite(path, state=changed(members(path)["state.json"], states=states))
        with pytest.raises(ModelFileError, match=r"is a damaged Gibbs run.*delete it to start anew"):
            read_states(path)
