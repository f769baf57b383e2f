"""The bytes of files: what they begin with."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.taq.bytes_of_files import BEGINNING_BYTES, beginning, is_gzip

from .daily_files import write

_numbers = random.Random(1)
LINES = [f"{number}|{_numbers.randrange(10**9)}" for number in range(20_000)]
TEXT = ("\n".join(LINES) + "\n").encode()
PACKED = gzip.compress(TEXT, mtime=0)


def refusal(path: Path) -> BadFileError:
    with pytest.raises(BadFileError) as caught:
        beginning(path)
    return caught.value


@pytest.mark.parametrize("packed", [False, True])
def test_the_first_lines_come_without_their_ends(tmp_path: Path, packed: bool) -> None:
    path = write(tmp_path / "x", b"\xef\xbb\xbfone\r\n two \r\nthree", is_gzip=packed)
    assert is_gzip(path) == packed
    assert beginning(path) == ["one", " two ", "three"]


@pytest.mark.parametrize("packed", [False, True])
def test_of_a_long_file_only_whole_lines_of_the_beginning_come(
    tmp_path: Path, packed: bool
) -> None:
    lines = beginning(write(tmp_path / "x", TEXT, is_gzip=packed))
    assert lines == LINES[: len(lines)]
    assert BEGINNING_BYTES - 20 < len("\n".join(lines)) < BEGINNING_BYTES


def test_compression_is_told_by_the_bytes_and_not_by_the_name(tmp_path: Path) -> None:
    assert not is_gzip(write(tmp_path / "x.gz", b"text"))
    assert is_gzip(write(tmp_path / "x.txt", PACKED))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "the file is empty", id="nothing"),
        pytest.param(gzip.compress(b""), "it is empty", id="nothing, packed"),
        pytest.param(b" \r\n\n", "the file has only blanks", id="blanks"),
        pytest.param(b"PK\x03\x04...", "a zip archive", id="zip"),
        pytest.param("Time|".encode("utf-16"), "in UTF-16", id="UTF-16"),
        pytest.param(b"PAR1....", "a Parquet file", id="Parquet"),
        pytest.param(
            b"x" * 2 * BEGINNING_BYTES,
            "line 1: the first line does not end",
            id="a line without end",
        ),
        pytest.param(
            gzip.compress(b"one line")[:-12], "the gzip data ends here", id="packed, cut short"
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in str(refusal(write(tmp_path / "x.txt", content)))


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").reason == "there is no such file"
    assert "a folder" in refusal(tmp_path).reason


def test_a_named_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trades.csv")
    assert "not a regular file" in refusal(tmp_path / "trades.csv").reason
