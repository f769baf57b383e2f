"""What is told of a profile, to programs and to people."""

from __future__ import annotations

import json

from pyspark.sql.types import LongType, StructField, StructType

from datasets.profile.arrivals import ArrivalProfile
from datasets.profile.keys import BusyKey, KeyProfile
from datasets.profile.report import MEANINGS, Profile, card_of
from datasets.profile.zipf_fit import ZipfFit

KEYS = KeyProfile(
    keys=3_000,
    busiest=(BusyKey("IBM", 4_305, 0.25), BusyKey("GE", 9, None)),
    slowest_updates=1,
    mean_updates=10.4,
    percentiles={50: 3, 99: 200},
    share_of_busiest_1_percent=0.5,
    share_of_busiest_10_percent=0.75,
    gini=0.8,
    zipf=ZipfFit(1.045, 460),
    ranks=((1, 4_305), (2, 2_000), (3_000, 1)),
    duplicates=50,
    burstiness_median=None,
)
ARRIVALS = ArrivalProfile(
    updates=10_000,
    first_time=34_200.0,
    last_time=57_600.0,
    interval=1.0,
    dispersion=3.5,
    peak_rate=90.0,
    peak_over_mean=200.0,
    gap_variation=None,
    out_of_order=100,
    buckets=((34_200.0, 4_000), (45_900.0, 6_000)),
)
PROFILE = Profile("day $1", KEYS, ARRIVALS)


def test_programs_read_numbers_by_name() -> None:
    shown = json.loads(json.dumps(PROFILE.as_json(), allow_nan=False))
    expected = {
        "name": "day $1",
        "keys": 3_000,
        "updates": 10_000,
        "seconds": 23_400.0,
        "zipf_theta": 1.045,
        "zipf_keys": 460,
        "out_of_order_share": 0.01,
        "duplicate_share": 0.005,
        "percentiles": {"50": 3, "99": 200},
        "gap_variation": None,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["busiest"][0] == {"key": "IBM", "updates": 4_305, "burstiness": 0.25}


def test_people_read_words_and_a_dash_for_unknown_numbers() -> None:
    facts = dict(PROFILE.as_facts())
    assert facts["busiest key"] == "IBM, 4,305 updates"
    assert facts["theta of Zipf's law"].startswith("1.045, of the 460 keys")
    assert facts["variation of times between"].startswith("- ")
    assert facts["burstiness of the busiest"] == "IBM 0.25"
    assert facts["before the row above"] == "100 updates, 1.000%"


def test_the_card_has_the_numbers_of_the_profile_and_every_column() -> None:
    schema = StructType([StructField(name, LongType()) for name in MEANINGS])
    card = card_of(PROFILE, schema, "python -m datasets profile x", {"time": "T"})
    assert (card.trace.updates, card.read, card.dropped) == (ARRIVALS.updates, ARRIVALS.updates, {})
    assert (card.trace.first_time, card.trace.last_time) == (
        ARRIVALS.first_time,
        ARRIVALS.last_time,
    )
    assert (card.trace.keys, card.trace.skew.busiest_key) == (KEYS.keys, KEYS.busiest[0].key)
    assert [(each.name, each.kind) for each in card.trace.columns] == [
        (name, "bigint") for name in MEANINGS
    ]
    assert "| time | T |" in card.as_page()
