"""Keys in paths: any text, with slashes and line ends, which Starlette's convertors leave out."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote, unquote

from fastapi import Path, Query
from starlette.convertors import Convertor, register_url_convertor

PathKey = Annotated[str, Path(alias="key", description="The update key, a string.")]
AsJson = Annotated[
    bool,
    Query(alias="json", description='Read the key as JSON: an integer, or a list `["IBM", 1]`.'),
]
KEY: Final = "{key:anything}"


class _Anything(Convertor[str]):
    """Any text, also none."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return unquote(value)  # `routed_path` has left it as it was sent

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


# Starlette looks convertors up by name when a route is made, which is when its module is imported.
register_url_convertor("anything", _Anything())
