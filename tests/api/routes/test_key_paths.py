"""Keys in paths may be any text."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from starlette.routing import compile_path

from api.routes.key_paths import KEY


@pytest.mark.parametrize("text", ["IBM", "a/b", "a\nb", "", "ä?"])
def test_any_text_is_a_key(text: str) -> None:
    pattern, template, convertors = compile_path("/keys/" + KEY)
    found = pattern.match("/keys/" + quote(text))
    assert found is not None
    assert convertors["key"].convert(found["key"]) == text
    assert template == "/keys/{key}"
    assert convertors["key"].convert(convertors["key"].to_string(text)) == text
