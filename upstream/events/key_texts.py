"""Keys in event logs: each is a text that no other key has, on one line, in any format of file."""

from __future__ import annotations

import json
import re
from typing import Final

from ..updates import Key

_AS_JSON: Final = re.compile('$|-?[0-9]+$|[\\["]|.*[\x00-\x1f\x7f-\x9f\u2028\u2029]', re.DOTALL)
"""Which strings are written as JSON: an empty one, what looks like an integer or like JSON, and
what a reader of lines would take for the end of one."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def key_text(key: Key) -> str:
    """Return the text of a key: its own, or JSON where it is no string, or looks like JSON.

    >>> key_text("IBM"), key_text(7), key_text("7"), key_text(("a", 1))
    ('IBM', '7', '"7"', '["a",1]')
    """
    if isinstance(key, str) and not _AS_JSON.match(key) and not _SURROGATES.search(key):
        return key
    text = json.dumps(key, ensure_ascii=False, separators=(",", ":"))
    # JSON has escapes for some of these; the others would end a line, or are in no UTF-8.
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_UNWRITABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
