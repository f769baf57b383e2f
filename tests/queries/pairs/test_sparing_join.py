"""A join leaves out the pairs on which it fails, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.failure import DatabaseError
from upstream.queries.chunks.cutter import Piece
from upstream.queries.pairs.sparing_join import Joined, sparing_join

texts = st.lists(st.sampled_from(["1", "2", "bad", "worse"]), max_size=6)


class Cross:
    """Puts each text before each of the others; fails on pairs, or on rows by themselves."""

    def __init__(self, is_bad: Callable[[str, str], bool], *, alone: str = "") -> None:
        self.is_bad = is_bad
        self.alone = alone
        self.runs = 0

    def __call__(self, number: int, rows: pa.Table, others: Mapping[int, pa.Table]) -> pa.Table:
        """Join rows of an input with those of the others."""
        self.runs += 1
        own = rows["t"].to_pylist()
        if self.alone and self.alone in own:
            raise DatabaseError(f"cannot read {self.alone!r}")
        pairs = [("", own_text) for own_text in own]
        for _, other in sorted(others.items()):
            pairs = [(a + b, c) for a, c in pairs for b in other["t"].to_pylist()]
        for theirs, mine in pairs:
            if self.is_bad(mine, theirs):
                raise DatabaseError(f"cannot join {mine!r} with {theirs!r}")
        return pa.table(
            {"p": pa.array([mine + "-" + theirs for theirs, mine in pairs], pa.string())}
        )


def table(rows: list[str]) -> pa.Table:
    return pa.table({"t": pa.array(rows, pa.string())})


def joined(join: Cross, own: list[str], *others: list[str]) -> Joined:
    """Join rows of input 0 with those of the others; each row is in the chunk of its place."""
    tables = {number: table(rows) for number, rows in enumerate((own, *others))}
    pieces = {
        number: [(chunk, rows.slice(chunk, 1)) for chunk in range(rows.num_rows)]
        for number, rows in tables.items()
    }
    return sparing_join(join, 0, tables.pop(0), tables, pieces)


def values(found: Joined) -> list[str]:
    return sorted(text for each in found.results for text in each["p"].to_pylist())


def are_both_bad(one: str, other: str) -> bool:
    return one == "bad" and other == "worse"


@given(own=texts, others=texts)
def test_only_pairs_that_fail_are_left_out(own: list[str], others: list[str]) -> None:
    found = joined(Cross(are_both_bad), own, others)
    pairs = [(i, a, j, b) for i, a in enumerate(own) for j, b in enumerate(others)]
    assert values(found) == sorted(f"{a}-{b}" for _, a, _, b in pairs if not are_both_bad(a, b))
    bad = [((0, i), (1, j)) for i, a, j, b in pairs if are_both_bad(a, b)]
    assert found.failed == Counter(bad)
    assert (found.error is None) == (not bad)


def test_a_row_that_fails_by_itself_is_left_out_of_all_its_pairs() -> None:
    found = joined(Cross(lambda *_: False, alone="bad"), ["1", "bad", "2"], ["3", "4"])
    assert values(found) == ["1-3", "1-4", "2-3", "2-4"]
    assert found.failed == Counter([((0, 1), (1, 0)), ((0, 1), (1, 1))])
    assert found.error is not None
    assert "'bad'" in found.error


def test_where_there_are_several_others_a_row_is_left_out_with_all_its_pairs() -> None:
    join = Cross(lambda one, other: one == "bad" and "worse" in other)
    found = joined(join, ["1", "bad"], ["worse", "2"], ["3"])
    assert values(found) == ["1-23", "1-worse3"]
    assert found.failed == Counter([((0, 1),)])


def test_a_join_that_does_not_fail_runs_once_and_asks_for_no_chunks() -> None:
    join = Cross(are_both_bad)

    def unasked() -> Iterator[Piece]:
        yield pytest.fail("nothing has failed")

    pieces = {0: unasked(), 1: unasked()}
    found = sparing_join(join, 0, table(["bad", "1"]), {1: table(["2"])}, pieces)
    assert (values(found), join.runs) == (["1-2", "bad-2"], 1)
    assert (found.failed, found.error) == (Counter(), None)


def test_a_failure_that_no_row_causes_is_not_counted_for_rows() -> None:
    def broken(*_: object) -> pa.Table:
        raise KeyError("a mistake of ours")

    with pytest.raises(KeyError):
        sparing_join(broken, 0, table(["1"]), {1: table(["2"])}, {})


def test_each_row_has_the_chunk_of_its_piece() -> None:
    rows, join = table(["1", "bad", "2", "bad"]), Cross(lambda *_: False, alone="bad")
    pieces = {0: [(3, rows.slice(0, 2)), (5, rows.slice(2, 2))], 1: [(4, table(["9"]))]}
    found = sparing_join(join, 0, rows, {1: table(["9"])}, pieces)
    assert found.failed == Counter([((0, 3), (1, 4)), ((0, 5), (1, 4))])
