"""The formats: what each is, by its name."""

from __future__ import annotations

from datasets.taq.formats import FORMATS, OPTIONAL, Format, Kind


def test_formats_are_found_by_their_names() -> None:
    assert all(str(format_) == name for name, format_ in FORMATS.items())
    assert len(FORMATS) == len(Format) == 6


def test_a_name_says_the_kind() -> None:
    for name, format_ in FORMATS.items():
        assert (format_.kind is Kind.TRADES) == name.endswith("-trades")


def test_each_format_tells_the_date_in_one_way() -> None:
    for format_ in Format:
        assert format_.is_monthly + format_.has_trailer + format_.is_fixed == 1


def test_no_name_is_that_of_two_columns() -> None:
    for format_ in Format:
        names = [name for aliases in format_.value.columns.values() for name in aliases]
        assert len(set(names)) == len(names)
        assert format_.is_fixed is not bool(names)
    assert "sequence" in OPTIONAL
