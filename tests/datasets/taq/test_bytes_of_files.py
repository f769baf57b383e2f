"""The bytes of files: what they begin with, and where compressed ones are broken."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.taq.bytes_of_files import BEGINNING_BYTES, beginning, gzip_fault, is_gzip

from .daily_files import write

_numbers = random.Random(1)
LINES = [f"{number}|{_numbers.randrange(10**9)}" for number in range(20_000)]
TEXT = ("\n".join(LINES) + "\n").encode()
PACKED = gzip.compress(TEXT)


def refusal(path: Path) -> BadFileError:
    with pytest.raises(BadFileError) as caught:
        beginning(path)
    return caught.value


def fault(tmp_path: Path, content: bytes) -> BadFileError:
    found = gzip_fault(write(tmp_path / "x.gz", content))
    assert found is not None
    return found


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
        (b"", "the file is empty"),
        (gzip.compress(b""), "it is empty"),
        (b" \r\n\n", "nothing but blanks"),
        (b"PK\x03\x04...", "a zip archive"),
        ("Time|".encode("utf-16"), "in UTF-16"),
        (b"PAR1....", "a Parquet file"),
        (b"x" * 2 * BEGINNING_BYTES, "line 1: the first line does not end"),
        (gzip.compress(b"one line")[:-12], "the gzip data ends here"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in str(refusal(write(tmp_path / "x.txt", content)))


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").reason == "there is no such file"
    assert "a folder" in refusal(tmp_path).reason


def test_a_whole_file_has_no_fault_also_in_several_members(tmp_path: Path) -> None:
    assert gzip_fault(write(tmp_path / "x.gz", PACKED)) is None
    assert gzip_fault(write(tmp_path / "y.gz", PACKED + gzip.compress(b"more"))) is None


def test_a_file_that_is_cut_is_broken_in_its_last_line(tmp_path: Path) -> None:
    cut = fault(tmp_path, PACKED[: len(PACKED) // 2])
    assert "not whole" in cut.reason
    assert cut.line is not None
    assert 8_000 < cut.line < 12_000
    assert fault(tmp_path, PACKED[:-3]).line == 20_000  # all data, and half of its checksum


def test_bytes_that_were_changed_are_noticed(tmp_path: Path) -> None:
    changed = bytearray(PACKED)
    changed[-6] ^= 1
    assert "incorrect data check" in fault(tmp_path, bytes(changed)).reason


@pytest.mark.parametrize("more", [b"garbage", b"\0" * 512])
def test_something_else_after_the_end_is_noticed(tmp_path: Path, more: bytes) -> None:
    assert "after the end" in fault(tmp_path, PACKED + more).reason


def test_the_beginning_of_another_member_is_noticed(tmp_path: Path) -> None:
    assert "not whole" in fault(tmp_path, PACKED + b"\x1f\x8b").reason
