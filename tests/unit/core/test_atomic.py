from __future__ import annotations

import os
import stat

import pytest

from textbayes.core.atomic import atomic_write


@pytest.fixture
def open_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize(
    ("before", "private", "after"),
    [(None, False, 0o644), (None, True, 0o600), (0o600, False, 0o600), (0o640, False, 0o640), (0o644, True, 0o600)],
)
def test_a_file_that_only_its_owner_reads_stays_so(open_umask, tmp_path, before, private, after):
    path = tmp_path / "file"
    if before is not None:
        path.touch()
        path.chmod(before)
    with atomic_write(path, private=private) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == after
