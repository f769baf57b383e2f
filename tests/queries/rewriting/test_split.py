"""Every fixture is split as its file says, and gives the same in parts as whole."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from upstream.queries.duck import Duck

from .both_ways import BothWays
from .fixture_files import fixtures, new_duck, parts_of, rules
from .random_steps import SCHEMAS, STEPS


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    """A DuckDB with the tables that the queries read."""
    duck = new_duck()
    yield duck
    duck.close()


@pytest.mark.parametrize("rule", rules())
def test_a_query_is_split_as_its_fixture_says(rule: str, duck: Duck) -> None:
    for fixture in fixtures(rule):
        assert parts_of(fixture.sql, duck) == fixture.parts, fixture.title


@pytest.mark.parametrize("rule", rules())
def test_a_query_in_parts_gives_what_it_gives_whole(rule: str, duck: Duck) -> None:
    ways = [BothWays(fixture.sql, SCHEMAS, duck) for fixture in fixtures(rule)]

    @settings(
        max_examples=4,
        phases=[Phase.generate],
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(STEPS)
    def both_agree(steps: dict[str, list[pa.Table]]) -> None:
        for way in ways:
            way.check(steps)

    both_agree()
    for way in ways:
        way.close()
