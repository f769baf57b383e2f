"""The bytes of TAQ files: compressed or not, and how they begin.

Compression is told by the first bytes, not by the name.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path
from typing import Final

from ..errors import BadFileError
from ..spark.failure import gzip_fault

BEGINNING_BYTES: Final = 1 << 16

_GZIP: Final = b"\x1f\x8b"
_OTHERS: Final = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"PAR1": "a Parquet file",
    codecs.BOM_UTF16_LE: "in UTF-16",
    codecs.BOM_UTF16_BE: "in UTF-16",
}


def is_gzip(path: Path) -> bool:
    """Tell whether a file is compressed by gzip; BadFileError for one that cannot be read."""
    return _first_bytes(path).startswith(_GZIP)


def beginning(path: Path) -> list[str]:
    """Return the first lines of a file, uncompressed, without the ends of lines.

    BadFileError for a file that is empty, broken from the beginning, or has no lines.
    """
    first = _first_bytes(path)
    if not first:
        raise BadFileError(path, "the file is empty")
    for magic, what in _OTHERS.items():
        if first.startswith(magic):
            raise BadFileError(path, f"this is {what}; give the text, as it is or as gzip")
    is_compressed = first.startswith(_GZIP)
    text = _uncompressed_beginning(path) if is_compressed else _read(path, BEGINNING_BYTES)
    text = text.removeprefix(codecs.BOM_UTF8)
    if not text.strip():
        raise BadFileError(path, "the file has only blanks" if text else "it is empty")
    lines = text.decode("utf-8", errors="replace").split("\n")
    if len(text) >= BEGINNING_BYTES - len(codecs.BOM_UTF8):
        lines.pop()  # it may go on
    if not lines:
        raise BadFileError(path, "the first line does not end; this is not a text file", line=1)
    return [line.rstrip("\r") for line in lines]


def _first_bytes(path: Path) -> bytes:
    return _read(path, max(map(len, _OTHERS)))


def _read(path: Path, size: int) -> bytes:
    try:
        if path.is_dir():
            raise BadFileError(path, "this is a folder; give the files in it")
        if path.exists() and not path.is_file():  # a named pipe would be waited for, without end
            raise BadFileError(path, "not a regular file; copy its contents into one")
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise BadFileError(path, "there is no such file") from None
    except OSError as error:
        raise BadFileError(path, error.strerror or str(error)) from error


def _uncompressed_beginning(path: Path) -> bytes:
    text = b""
    try:
        with gzip.open(path) as file:
            while len(text) < BEGINNING_BYTES and (more := file.read1(BEGINNING_BYTES)):
                text += more
    except (OSError, EOFError, zlib.error) as error:
        if b"\n" not in text:
            raise gzip_fault(path) or BadFileError(path, str(error)) from error
    return text[:BEGINNING_BYTES]
