"""The lines of CSV files, whole and broken, by their numbers."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.profile.csv_lines import csv_header, encoding_fault, line_with


def written(folder: Path, content: bytes, *, is_gzip: bool = False) -> Path:
    path = folder / ("x.csv.gz" if is_gzip else "x.csv")
    path.write_bytes(gzip.compress(content) if is_gzip else content)
    return path


@pytest.mark.parametrize("is_gzip", [False, True])
def test_the_line_is_found_by_the_column(tmp_path: Path, is_gzip: bool) -> None:
    content = b'\xef\xbb\xbfkey,"the, time"\r\n\r\n3,1\r\n"a, b", 3 \r\nc\r\n'
    path = written(tmp_path, content, is_gzip=is_gzip)
    assert csv_header(path) == ["key", "the, time"]
    assert [line_with(path, "the, time", text) for text in ("3", None, "4")] == [4, 5, None]
    assert line_with(path, "key", "a, b") == 4
    assert encoding_fault(path) is None


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"time,key\n" + b"1,a\n" * 5_000 + b"2,\xe9\n3,\xe8\n")
    assert csv_header(path) == ["time", "key"]  # of the first line only
    fault = encoding_fault(path)
    assert fault is not None
    assert (fault.path, fault.line) == (path, 5_002)
    assert "0xe9 is not UTF-8; convert the file" in fault.reason
    assert line_with(path, "time", "1") == 2
    with pytest.raises(BadFileError, match="line 5002: the byte 0xe9"):
        line_with(path, "time", "3")
    with pytest.raises(BadFileError, match="line 1: the byte 0xff"):
        csv_header(written(tmp_path, "time,key".encode("utf-16")))


def test_a_broken_gzip_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"time,key\n")
    with pytest.raises(BadFileError, match="line 1: the gzip data is broken here"):
        csv_header(path)
    path.write_bytes(gzip.compress(b"time,key\n1,a\n2,b\n")[:-8])
    with pytest.raises(BadFileError, match="line 3: the gzip data ends here"):
        line_with(path, "time", "7")
