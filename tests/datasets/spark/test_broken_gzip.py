"""Where compressed files are broken."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.spark.broken_gzip import gzip_fault

_numbers = random.Random(1)
TEXT = "".join(f"{number}|{_numbers.randrange(10**9)}\n" for number in range(20_000)).encode()
PACKED = gzip.compress(TEXT)


def fault(tmp_path: Path, content: bytes) -> BadFileError:
    path = tmp_path / "x.gz"
    path.write_bytes(content)
    found = gzip_fault(path)
    assert found is not None
    return found


def test_a_whole_file_has_no_fault_also_in_several_members(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    for content in (PACKED, PACKED + gzip.compress(b"more")):
        path.write_bytes(content)
        assert gzip_fault(path) is None


def test_a_file_that_is_cut_is_broken_in_its_last_line(tmp_path: Path) -> None:
    cut = fault(tmp_path, PACKED[: len(PACKED) // 2])
    assert "not whole" in cut.reason
    assert cut.line is not None
    assert 8_000 < cut.line < 12_000
    assert fault(tmp_path, PACKED[:-3]).line == 20_000  # all data, and half of its checksum
    assert fault(tmp_path, PACKED[:12]).line == 1  # nothing but the header


def test_bytes_that_were_changed_are_noticed(tmp_path: Path) -> None:
    changed = bytearray(PACKED)
    changed[-6] ^= 1
    assert "incorrect data check" in fault(tmp_path, bytes(changed)).reason


@pytest.mark.parametrize("more", [b"garbage", b"\0" * 512])
def test_something_else_after_the_end_is_noticed(tmp_path: Path, more: bytes) -> None:
    assert "after the end" in fault(tmp_path, PACKED + more).reason


def test_the_beginning_of_another_member_is_noticed(tmp_path: Path) -> None:
    assert "not whole" in fault(tmp_path, PACKED + b"\x1f\x8b").reason
