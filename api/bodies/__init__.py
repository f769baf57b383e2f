"""Bodies: updates as they are received and answered, in four content types.

Values stay encoded: they are checked once, stored as the bytes that came, and transcoded only for
an answer of another type. Every valid value can be written in every type.
"""

from .answers import json_fragment, write_update, write_updates
from .batch import Batch, Rejection
from .errors import (
    BodyError,
    InvalidKeyError,
    MalformedBodyError,
    NotAcceptableError,
    RefusedRowError,
    TooManyRowsError,
    UnsupportedColumnError,
    UnsupportedContentTypeError,
)
from .formats import Answer, Format, choose_answer, format_of
from .keys import read_key, read_path_key
from .reader import UpdateReader
from .reasons import Limits
from .stored import PackedValue, StoredValueCodec, json_value, python_value, stored_length

__all__ = [
    "Answer",
    "Batch",
    "BodyError",
    "Format",
    "InvalidKeyError",
    "Limits",
    "MalformedBodyError",
    "NotAcceptableError",
    "PackedValue",
    "RefusedRowError",
    "Rejection",
    "StoredValueCodec",
    "TooManyRowsError",
    "UnsupportedColumnError",
    "UnsupportedContentTypeError",
    "UpdateReader",
    "choose_answer",
    "format_of",
    "json_fragment",
    "json_value",
    "python_value",
    "read_key",
    "read_path_key",
    "stored_length",
    "write_update",
    "write_updates",
]
