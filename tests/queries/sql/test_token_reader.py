"""Names, words and brackets are read from tokens, one after the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from upstream.errors import QuerySyntaxError, UnknownColumnError
from upstream.queries.sql.source_text import SourceText
from upstream.queries.sql.token_reader import TokenReader

from .example_streams import refused

FORM = "write it like this"


def reader(text: str) -> TokenReader:
    source = SourceText(text)
    return TokenReader(source, source.one_statement(), 0, FORM)


def test_words_are_skipped_together_in_any_case_or_not_at_all() -> None:
    tokens = reader("If nOt EXISTS s")
    assert not tokens.skip("IF", "EXISTS")
    assert tokens.index == 0
    assert tokens.skip("IF", "NOT", "EXISTS")
    assert tokens.name("a name") == "s"
    assert tokens.is_at_end
    assert not tokens.skip("MORE")


def test_a_quoted_word_is_a_name_and_not_a_word() -> None:
    tokens = reader('"IF" AS')
    assert not tokens.skip("IF")
    assert tokens.name("a name") == "IF"
    assert tokens.skip("AS")


def test_the_place_is_that_of_the_next_token_and_at_last_the_end_of_the_text() -> None:
    tokens = reader("one   two")
    assert tokens.place == 0
    tokens.token("a word")
    assert tokens.place == 6
    tokens.token("a word")
    assert tokens.place == 9
    with refused(QuerySyntaxError, "", "expected a word"):
        tokens.token("a word")


def test_what_comes_next_can_be_asked_without_reading_it() -> None:
    tokens = reader("( a")
    assert tokens.is_next("(")
    assert not tokens.is_next("A")
    assert tokens.index == 0
    assert not reader("a").is_next("(")


@pytest.mark.parametrize(
    ("text", "name"),
    [("s", "s"), ("Größe", "Größe"), ('"a b"', "a b"), ("key", "key"), ('"a""b"', 'a"b')],
)
def test_a_name_is_read_as_it_is_written(text: str, name: str) -> None:
    assert reader(text).name("a name") == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("'s'", "expected a name"),
        ("7", "expected a name"),
        ("(s)", "expected a name"),
        ('""', "expected a name, which must not be empty"),
        ("chunk_7", "the name chunk_7 is reserved"),
        ('"__lent_3"', "the name __lent_3 is reserved"),
    ],
)
def test_what_is_not_a_name_is_refused_with_the_form_that_works(text: str, reason: str) -> None:
    with refused(QuerySyntaxError, text, reason) as caught:
        reader(text).name("a name")
    assert caught.value.hint == FORM


def test_brackets_are_skipped_with_those_inside_them() -> None:
    tokens = reader("(a INT[], b DECIMAL(8, (2))) KEY")
    tokens.skip_brackets("columns")
    assert tokens.skip("KEY")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [("a", "a", "expected columns, in brackets"), ("(a, (b)", "", r"expected \)")],
)
def test_missing_brackets_are_refused(text: str, place: str, reason: str) -> None:
    with refused(QuerySyntaxError, place, reason):
        reader(text).skip_brackets("columns")


def test_names_of_columns_are_found_in_any_case() -> None:
    assert reader('(A, "b c")').names(["b c", "a", "d"]) == ["a", "b c"]


def test_an_unknown_column_is_refused_with_a_hint() -> None:
    with refused(UnknownColumnError, "prize", "no column named prize") as caught:
        reader("(size, prize)").names(["price", "size"])
    assert caught.value.hint == "did you mean price?"


def test_new_names_differ_whatever_their_case() -> None:
    assert reader('(a, "B c")').new_names("the name of a column") == ["a", "B c"]
    with refused(QuerySyntaxError, "A)", "A is named twice") as caught:
        reader("(a, A)").new_names("the name of a column")
    assert caught.value.hint == FORM


def _names(tokens: TokenReader) -> list[str]:
    return tokens.names(["a", "b"])


def _new_names(tokens: TokenReader) -> list[str]:
    return tokens.new_names("the names of columns")


@pytest.mark.parametrize("read", [_names, _new_names], ids=["names", "new_names"])
@pytest.mark.parametrize(
    ("text", "place"), [("a", "a"), ("(a", ""), ("(a b)", "b)"), ("(a,", ""), ("()", ")")]
)
def test_a_list_of_names_has_brackets_and_commas(
    read: Callable[[TokenReader], list[str]], text: str, place: str
) -> None:
    with refused(QuerySyntaxError, place, "expected the name"):
        read(reader(text))


def test_a_column_is_named_once() -> None:
    with refused(QuerySyntaxError, "A)", "A is named twice"):
        reader("(a, A)").names(["a", "b"])
