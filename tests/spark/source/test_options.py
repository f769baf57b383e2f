"""Options: what they may be, and how a wrong one is named."""

from __future__ import annotations

import pytest

from upstream.spark.source.errors import OptionError
from upstream.spark.source.options import (
    Address,
    QueueOptions,
    queue_options,
    table_options,
    write_options,
)

URL = "http://127.0.0.1:8000"


def test_names_of_options_are_taken_in_any_case() -> None:
    options = queue_options(
        {
            "URL": URL,
            "Queue": "prices",
            "Max_Updates": "500",
            "header.Authorization": "Bearer x",
            "timeout": "2.5",
            "retries": "0",
            "partitions": "3",
        }
    )
    assert options == QueueOptions(
        Address(URL, 2.5, 0, {"authorization": "Bearer x"}), "prices", None, 500, 3
    )


def test_options_have_defaults() -> None:
    assert queue_options({"url": URL, "queue": "q"}).max_updates == 10_000
    assert table_options({"url": URL, "stream": "s"}).stream == "s"
    assert write_options({"url": URL, "stream": "s"}).does_fail


@pytest.mark.parametrize(
    ("most", "partitions", "answers", "limit"),
    [
        (10_000, 1, 1, 10_000),
        (10_001, 1, 2, 5_000),
        (25_000, 1, 3, 8_333),
        (1_000_000, 1, 100, 10_000),
        (1_000, 4, 4, 250),
        (3, 8, 3, 1),
    ],
)
def test_a_batch_is_made_of_answers_of_one_size(
    most: int, partitions: int, answers: int, limit: int
) -> None:
    options = QueueOptions(Address(URL), "q", max_updates=most, partitions=partitions)
    assert (options.most_answers, options.answer_limit) == (answers, limit)
    assert answers * limit <= most


@pytest.mark.parametrize(
    ("changed", "option"),
    [
        ({"url": ""}, "url"),
        ({"url": "127.0.0.1:8000"}, "url"),
        ({"queue": " "}, "queue"),
        ({"stream": ""}, "stream"),
        ({"max_updates": "many"}, "max_updates"),
        ({"max_updates": "0"}, "max_updates"),
        ({"max_updates": "1000001"}, "max_updates"),
        ({"partitions": "1.5"}, "partitions"),
        ({"timeout": "0"}, "timeout"),
        ({"timeout": "nan"}, "timeout"),
        ({"retries": "-1"}, "retries"),
        ({"header.X-A": "two\nlines"}, "header.NAME"),
        ({"path": "somewhere"}, "path"),
        ({"max_update": "5"}, "max_update"),
        ({"batch_rows": "5"}, "batch_rows"),
    ],
)
def test_an_invalid_option_is_reported_by_name(changed: dict[str, str], option: str) -> None:
    with pytest.raises(OptionError, match=f"option `{option}`") as raised:
        queue_options({"url": URL, "queue": "q"} | changed)
    assert raised.value.option == option


def test_a_mistyped_option_is_reported_with_a_suggestion() -> None:
    with pytest.raises(OptionError, match="did you mean `max_updates`"):
        queue_options({"url": URL, "queue": "q", "maxupdates": "5"})


def test_a_queue_cannot_be_read_as_a_table() -> None:
    with pytest.raises(OptionError, match="is for readStream"):
        table_options({"url": URL, "queue": "q"})
    with pytest.raises(OptionError, match="readStream needs the option `queue`"):
        table_options({"url": URL})


@pytest.mark.parametrize(
    ("changed", "option"),
    [
        ({"on_rejected": "ignore"}, "on_rejected"),
        ({"batch_rows": "200001"}, "batch_rows"),
        ({"queue": "q"}, "queue"),
        ({"stream": ""}, "stream"),
    ],
)
def test_an_invalid_option_of_writing_is_reported_by_name(
    changed: dict[str, str], option: str
) -> None:
    with pytest.raises(OptionError) as raised:
        write_options({"url": URL, "stream": "s"} | changed)
    assert raised.value.option == option


def test_options_of_spark_itself_are_ignored() -> None:
    assert write_options({"url": URL, "stream": "s", "checkpointLocation": "there"}).stream == "s"


def test_a_password_in_the_address_is_not_shown() -> None:
    with pytest.raises(OptionError) as raised:
        table_options({"url": "ftp://me:secret@example.org", "stream": "s"})
    assert "secret" not in str(raised.value)
