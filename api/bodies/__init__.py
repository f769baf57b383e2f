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
    TooManyRowsError,
    UnsupportedContentTypeError,
)
from .formats import Format, choose_answer
from .keys import read_path_key
from .reader import UpdateReader
from .reasons import Limits
from .stored import StoredValueCodec, python_value, stored_length

__all__ = [
    "Batch",
    "BodyError",
    "Format",
    "InvalidKeyError",
    "Limits",
    "MalformedBodyError",
    "NotAcceptableError",
    "Rejection",
    "StoredValueCodec",
    "TooManyRowsError",
    "UnsupportedContentTypeError",
    "UpdateReader",
    "choose_answer",
    "json_fragment",
    "python_value",
    "read_path_key",
    "stored_length",
    "write_update",
    "write_updates",
]
