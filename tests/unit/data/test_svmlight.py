from __future__ import annotations

import io

import numpy as np
import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data import read_svmlight

ROWS = b"2,7 1:0.5 4:1 # a comment\n 2:3\n-1 qid:3 1:1\n+1\n1.5 4:2\n"


def test_rows_in_every_compression(write_compressed):
    X, labels = read_svmlight(write_compressed("a.svm", ROWS))
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 0, 1], [0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]])
    assert labels == [("2", "7"), (), ("-1",), ("1",), ("1.5",)]


def test_width_and_base():
    assert read_svmlight(io.BytesIO(ROWS), n_features=9)[0].shape == (5, 9)
    assert read_svmlight(io.BytesIO(b"1 0:1 2:1\n"))[0].shape == (1, 3)
    assert read_svmlight(io.BytesIO(b"1 1:1 2:1\n"), zero_based=True)[0].shape == (1, 3)
    assert read_svmlight(io.BytesIO(b"1 1:1 2:1\n"), zero_based=False)[0].shape == (1, 2)
    with pytest.raises(InputError, match="zero_based='yes' is not known"):
        read_svmlight(io.BytesIO(ROWS), zero_based="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "line", "cause"),
    [
        (b"", None, "no rows"),
        (b"1 1:1\nspam 2:1\n", 2, "not svmlight .*spam"),
        (b"1 1:1\n1 1:1\n1 2:x\n", 3, "not svmlight"),
        (b"1 4:1 2:1\n", 1, "sorted and unique"),
        (b"1 1:1\n1 2\n", 2, "not svmlight"),
        (b"1 -3:1\n", 1, "Invalid index"),
        (b"1 99999999999999:1\n", 1, "not svmlight"),
        (b"1 1:1\n\0\0\n", 2, "NUL bytes"),
        (b"1 1:nan\n", None, "1 NaN or infinite"),
    ],
)
def test_malformed_files_are_refused_with_line_and_cause(data, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read_svmlight(io.BytesIO(data))
    assert caught.value.line == line


def test_an_index_0_in_a_one_based_file_and_too_few_columns():
    with pytest.raises(MalformedFileError, match=r"line 1: .*Invalid index 0"):
        read_svmlight(io.BytesIO(b"1 0:1\n"), zero_based=False)
    with pytest.raises(MalformedFileError, match="column 4 was found where n_features=3; raise n_features"):
        read_svmlight(io.BytesIO(ROWS), n_features=3)


def test_a_file_cut_short_is_refused(tmp_path):
    import lzma

    path = tmp_path / "cut.svm.xz"
    path.write_bytes(lzma.compress(ROWS * 1000)[:-40])
    with pytest.raises(MalformedFileError, match="cut short or damaged"):
        read_svmlight(path)
