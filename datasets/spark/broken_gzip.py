"""Where a file that is compressed by gzip is broken, which Spark does not say by its lines."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final

from ..errors import BadFileError

CHUNK_BYTES: Final = 1 << 20


def gzip_fault(path: Path) -> BadFileError | None:
    """Return where and how a compressed file is broken, None if it is whole.

    This reads all of it, so it is asked only when Spark could not.
    """
    lines = 0
    last = b"\n"
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
    is_first = True
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                while chunk:
                    if decompressor.eof:
                        decompressor, is_first = zlib.decompressobj(zlib.MAX_WBITS | 16), False
                    text = decompressor.decompress(chunk, CHUNK_BYTES)
                    lines += text.count(b"\n")
                    last = text[-1:] or last
                    chunk = decompressor.unused_data or decompressor.unconsumed_tail
    except zlib.error as error:
        if not is_first and str(error).endswith("incorrect header check"):
            return BadFileError(path, "after the end of the gzip data there is something else")
        reason = f"the gzip data is broken here: {error}"
        return BadFileError(path, reason, line=lines + 1)
    except OSError as error:
        return BadFileError(path, error.strerror or str(error))
    if decompressor.eof:
        return None
    reason = "the gzip data ends here, in the middle; the file is not whole"
    return BadFileError(path, reason, line=max(1, lines + (last != b"\n")))
