"""The page of figures about epochs: its tables are written by a command."""

from __future__ import annotations

import pytest

from tests.benchmarks.epoch_page import PAGE, SECTIONS, table_of, with_section


def test_each_section_has_its_place_in_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in SECTIONS:
        page = with_section(page, name, "written")
    assert page.count("written") == len(SECTIONS) == page.count("<!-- end -->")


def test_a_section_is_replaced_and_the_rest_of_the_page_stays() -> None:
    page = (
        "before\n<!-- one -->\nold\ntable\n<!-- end -->\nbetween\n<!-- two -->\n2\n<!-- end -->\n"
    )
    expected = page.replace("old\ntable", r"new \1")
    assert with_section(page, "one", r"new \1") == expected


def test_a_section_that_the_page_does_not_have_is_refused() -> None:
    with pytest.raises(AssertionError, match="0 sections named three"):
        with_section("<!-- one -->\nold\n<!-- end -->\n", "three", "new")


def test_rows_are_written_as_a_table() -> None:
    assert table_of([("rows", "ms"), ("1,000", 2)]) == "| rows | ms |\n| --- | --- |\n| 1,000 | 2 |"
