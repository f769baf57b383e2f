"""What holds for every rule that has a fixture file.

Each query in the file is split as the file says, and gives the same in parts as whole, over random
steps: the same few each time, or as many others as `RULE_EXAMPLES` asks for.
"""

from __future__ import annotations

import os

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings

from upstream.database.duck import Duck
from upstream.queries.rewriting.explain import parts
from upstream.queries.rewriting.split_query import SplitQuery

from .both_ways import BothWays
from .fixture_files import fixtures, new_duck, windows_of
from .random_steps import SCHEMAS, STEPS

_EXAMPLES = os.environ.get("RULE_EXAMPLES")
_FEW = 3 if os.environ.get("CI") else 2


def is_bounded(split: SplitQuery) -> bool:
    """Tell whether the parts keep no rows, so that the query can stand over a landmark."""
    kept = (leaf.groups is not None or leaf.keep is not None for leaf in split.leaves)
    return all(kept) and all(len(leaf.windows) == 1 for leaf in split.leaves)


class RuleContract:
    """Tests of one rule, whose fixture file has its name."""

    rule: str

    ways: list[BothWays]
    _duck: Duck

    @classmethod
    def setup_class(cls) -> None:
        """Split the queries of the file."""
        cls._duck = new_duck()
        windows = windows_of(cls.rule)
        cls.ways = [
            BothWays(fixture.sql, SCHEMAS, cls._duck, windows) for fixture in fixtures(cls.rule)
        ]

    @classmethod
    def teardown_class(cls) -> None:
        """Close the database."""
        cls._duck.close()

    def test_queries_are_split_as_the_fixture_file_says(self) -> None:
        for way, fixture in zip(self.ways, fixtures(self.rule), strict=True):
            assert parts(way.split) == fixture.parts, fixture.title
            if self.rule.startswith("lasting/"):
                assert is_bounded(way.split), fixture.title

    def test_queries_in_parts_give_what_they_give_whole(self) -> None:
        @settings(
            max_examples=int(_EXAMPLES or _FEW),
            deadline=None,
            derandomize=not _EXAMPLES,
            phases=[Phase.generate],  # smaller examples are not worth the minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(STEPS)
        def both_agree(steps: dict[str, list[pa.Table]]) -> None:
            for way in self.ways:
                way.check(steps)

        both_agree()
