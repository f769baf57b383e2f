"""The options of any stream, and what the card says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasets.commands.generated import Generated
from datasets.commands.stream_options import StreamOptions
from datasets.errors import BadOptionError
from datasets.generators.arrivals import FixedInterval
from datasets.generators.key_shares import EvenShares

OPTIONS = StreamOptions(
    updates=10,
    rate=2.0,
    start=5.0,
    value="value:double,size:int",
    key_prefix="",
    seed=4,
    partitions=None,
)


def generated(options: StreamOptions) -> Generated:
    return options.generated("uniform", "Even", EvenShares(3), FixedInterval(), {"keys": 3})


def test_all_that_the_data_depend_on_is_told() -> None:
    stream = generated(OPTIONS)
    assert (stream.command, stream.title, stream.seed) == ("uniform", "Even", 4)
    assert stream.options == {
        "keys": 3,
        "updates": 10,
        "rate": 2.0,
        "start": 5.0,
        "value": "value:double,size:int",
    }
    assert set(stream.meanings) == {"time", "key", "value", "size"}


def test_partitions_are_not_told_as_nothing_depends_on_them() -> None:
    parted = generated(replace(OPTIONS, partitions=3))
    assert parted.command_line() == generated(OPTIONS).command_line()


def test_a_prefix_is_told_if_there_is_one() -> None:
    stream = generated(replace(OPTIONS, key_prefix="sym"))
    assert stream.options["key-prefix"] == "sym"
    assert "sym" in stream.meanings["key"]


def test_what_makes_no_sense_is_refused_before_anything_runs() -> None:
    with pytest.raises(BadOptionError, match="--value 'x'"):
        generated(replace(OPTIONS, value="x"))
    with pytest.raises(BadOptionError, match="--rate 0"):
        generated(replace(OPTIONS, rate=0.0))
