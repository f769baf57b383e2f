"""The examples of the paper on stream joins by epochs, with answers that were computed by hand.

Chen and Hsu, "Stream-join revisited in the context of epoch-based SQL continuous query", IDEAS
2012. The host-to-host traffic is its query Q_B, and the packets at two routers are Q_C. Q_D has no
join, and the calls are those of section 3.5. Each is compared with one-time SQL over longer
streams, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, Result

Row = tuple[object, ...]
Columns = Mapping[str, Sequence[object]]

HOSTS = {
    "host_id": ["alpha", "alpha", "beta", "gamma"],
    "ip": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"],
}
Q_B = """
    SELECT floor(s.t_s / 60) AS minute, h1.host_id AS from_host, h2.host_id AS to_host,
        sum(s.bytes) AS bytes
    FROM epochs(packets, INTERVAL '60 seconds') s, hosts h1, hosts h2
    WHERE h1.ip = s.from_ip AND h2.ip = s.to_ip
    GROUP BY minute, from_host, to_host"""
Q_C = """
    SELECT floor(s1.t_s / 60) AS minute, avg(s2.t_rt - s1.t_rt) AS milliseconds
    FROM epochs(rt1, INTERVAL '60 seconds') s1, epochs(rt2, INTERVAL '60 seconds') s2
    WHERE s1.pid = s2.pid
    GROUP BY minute"""
Q_D = """
    SELECT floor(t_s / 60) AS minute, avg(s.bytes) AS bytes
    FROM epochs(packets, INTERVAL '60 seconds') s
    GROUP BY minute"""
CALLS = """
    SELECT DISTINCT *
    FROM epochs(cdrs, INTERVAL '5 seconds') scf_1,
        epochs(cdrs, INTERVAL '5 seconds', keep => 12) scf_2
    WHERE scf_1.caller = scf_2.caller AND scf_1.callee = scf_2.callee
        AND ((scf_1.t_s > scf_2.t_s AND scf_1.t_s - scf_2.t_s < 0.2)
            OR (scf_2.t_s > scf_1.t_s AND scf_2.t_s - scf_1.t_s < 0.2))"""

AT_ONCE = {
    "Q_B": Q_B.replace("epochs(packets, INTERVAL '60 seconds')", "packets"),
    "Q_C": """
        SELECT floor(s1.t_s / 60) AS minute, avg(s2.t_rt - s1.t_rt) AS milliseconds
        FROM rt1 s1, rt2 s2
        WHERE s1.pid = s2.pid AND floor(s1.t_s / 60) = floor(s2.t_s / 60)
        GROUP BY minute""",
    "Q_D": Q_D.replace("epochs(packets, INTERVAL '60 seconds')", "packets"),
    "calls": CALLS.replace("epochs(cdrs, INTERVAL '5 seconds')", "cdrs").replace(
        "epochs(cdrs, INTERVAL '5 seconds', keep => 12)", "cdrs"
    )
    + " AND floor(scf_1.t_s / 5) - floor(scf_2.t_s / 5) BETWEEN 0 AND 11",
}
"""The same queries over everything that was recorded, with the chunks in the join condition."""
STANDING = {"Q_B": Q_B, "Q_C": Q_C, "Q_D": Q_D, "calls": CALLS}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.create_table("hosts", HOSTS)
        packet = "pid BIGINT, t_s DOUBLE, from_ip TEXT, to_ip TEXT, bytes BIGINT"
        engine.sql(f"CREATE STREAM packets ({packet}) TIME (t_s)")
        for router in ("rt1", "rt2"):
            engine.sql(f"CREATE STREAM {router} ({packet}, t_rt BIGINT) TIME (t_s)")
        engine.sql("CREATE STREAM cdrs (caller TEXT, callee TEXT, t_s DOUBLE) TIME (t_s)")
        yield engine


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows in an order of their own; several columns may have one name."""
    return sorted(zip(*(each.to_pylist() for each in table.columns), strict=True), key=repr)


def told(results: Sequence[Result]) -> list[tuple[object, list[Row]]]:
    """Return the start of each epoch, and its rows."""
    return [(each.window_start, rows_of(each.table)) for each in results]


def packets(*rows: tuple[int, int, int, int, int]) -> Columns:
    """Return packets: an identity, a time in seconds, the last numbers of two addresses, bytes."""
    pids, times, senders, receivers, sizes = zip(*rows, strict=True)
    return {
        "pid": pids,
        "t_s": times,
        "from_ip": [f"10.0.0.{number}" for number in senders],
        "to_ip": [f"10.0.0.{number}" for number in receivers],
        "bytes": sizes,
    }


def seen(*rows: tuple[int, int, int]) -> Columns:
    """Return packets at a router: an identity, seconds at the source, milliseconds here."""
    pids, times, here = zip(*rows, strict=True)
    sent = packets(*((pid, time, 1, 3, 100) for pid, time in zip(pids, times, strict=True)))
    return {**sent, "t_rt": here}


def calls(*rows: tuple[str, str, float]) -> Columns:
    """Return call detail records: the caller, the callee, and when the call started."""
    callers, callees, times = zip(*rows, strict=True)
    return {"caller": callers, "callee": callees, "t_s": times}


# By hand

MINUTES = packets(
    (1, 0, 1, 3, 100),
    (2, 20, 2, 3, 50),
    (3, 59, 3, 1, 70),
    (4, 60, 1, 2, 10),
    (5, 61, 9, 1, 999),  # not in the table of hosts
    (6, 190, 4, 4, 20),  # the third minute has no packets
    (7, 240, 1, 3, 5),
)


def test_host_to_host_traffic_has_a_result_each_minute(engine: Engine) -> None:
    query = engine.continuous_query(Q_B)
    engine.append("packets", MINUTES)
    assert told(query.results()) == [
        (0, [(0.0, "alpha", "beta", 150), (0.0, "beta", "alpha", 70)]),
        (60, [(1.0, "alpha", "alpha", 10)]),
        (120, []),
        (180, [(3.0, "gamma", "gamma", 20)]),
    ]


def test_a_single_stream_is_aggregated_each_minute(engine: Engine) -> None:
    query = engine.continuous_query(Q_D)
    engine.append("packets", MINUTES)
    means = [(0, [(0.0, 220 / 3)]), (60, [(1.0, 1009 / 2)]), (120, []), (180, [(3.0, 20.0)])]
    assert told(query.results()) == means


def test_a_packet_is_joined_with_itself_at_the_other_router_of_the_same_minute(
    engine: Engine,
) -> None:
    """The first router has rows of a later minute before the second one has its first."""
    query = engine.continuous_query(Q_C)
    engine.append("rt1", seen((1, 0, 500), (2, 30, 30_000), (3, 59, 59_000), (4, 60, 60_000)))
    assert query.results() == []
    engine.append("rt2", seen((2, 30, 30_040), (1, 0, 520), (9, 31, 31_000)))
    assert query.results() == [], "the second router may see more of this minute"
    engine.append("rt2", seen((4, 60, 60_010), (5, 120, 120_000)))
    assert told(query.results()) == [(0, [(0.0, 30.0)])]
    engine.append("rt1", seen((5, 120, 119_000)))
    assert told(query.results()) == [(60, [(1.0, 10.0)])]


def test_a_call_is_found_twice_if_two_probes_recorded_it(engine: Engine) -> None:
    query = engine.continuous_query(CALLS)
    recorded = calls(
        ("Ann", "Bob", 1.0),
        ("Ann", "Bob", 1.125),  # of the same chunk: either is the newer one of a pair
        ("Ann", "Cy", 1.0),
        ("Dee", "Eve", 4.9375),
        ("Dee", "Eve", 5.0625),  # of the next chunk, so only this one is newest
        ("Dee", "Eve", 6.0),  # another call
        ("Ann", "Bob", 10.0),
    )
    engine.append("cdrs", recorded)
    assert told(query.results()) == [
        (0.0, [("Ann", "Bob", 1.0, "Ann", "Bob", 1.125), ("Ann", "Bob", 1.125, "Ann", "Bob", 1.0)]),
        (5.0, [("Dee", "Eve", 5.0625, "Dee", "Eve", 4.9375)]),
    ]


REPEATED = """
    SELECT later.caller, earlier.t_s AS first, later.t_s AS again
    FROM epochs(cdrs, INTERVAL '5 seconds') later
    JOIN epochs(cdrs, INTERVAL '5 seconds', keep => 12) earlier USING (caller, callee)
    WHERE later.t_s > earlier.t_s"""


def test_a_call_is_compared_with_the_past_minute_and_no_more(engine: Engine) -> None:
    query = engine.continuous_query(REPEATED)
    engine.append("cdrs", calls(*(("Ann", "Bob", time) for time in (0.0, 4.0, 55.0, 60.0, 65.0))))
    assert [row for _, rows in told(query.results()) for row in rows] == [
        ("Ann", 0.0, 4.0),
        ("Ann", 0.0, 55.0),
        ("Ann", 4.0, 55.0),
        ("Ann", 55.0, 60.0),
    ]


def test_chunks_are_cut_by_the_number_of_packets(engine: Engine) -> None:
    """Section 2.4, chunking by cardinality: the last chunk waits for its third packet."""
    query = engine.continuous_query(
        "SELECT epoch, window_start, window_end, sum(bytes) AS bytes"
        " FROM epochs(packets, rows => 3) GROUP BY ALL"
    )
    engine.append("packets", MINUTES)
    rows = [row for each in query.results() for row in rows_of(each.table)]
    assert rows == [(0, 0.0, 59.0, 220), (1, 60.0, 190.0, 1_029)]


def test_chunks_are_cut_by_the_graph_that_edges_belong_to(engine: Engine) -> None:
    """Section 2.4, chunking by object: each graph is joined with itself to find its triangles."""
    engine.sql("CREATE STREAM edges (graph TEXT, a BIGINT, b BIGINT)")
    query = engine.continuous_query(
        """
        SELECT x.graph, count(*) AS triangles
        FROM epochs(edges, by => graph) x
        JOIN epochs(edges, by => graph) y ON x.b = y.a
        JOIN epochs(edges, by => graph) z ON y.b = z.b AND x.a = z.a
        GROUP BY x.graph
        """
    )
    edges = [("P", 1, 2), ("P", 2, 3), ("P", 1, 3), ("P", 3, 4), ("P", 2, 4), ("Q", 1, 2)]
    edges += [("P", 2, 3), ("P", 1, 3)]  # another object, although it has the same name
    graphs, starts, ends = zip(*edges, strict=True)
    engine.append("edges", {"graph": graphs, "a": starts, "b": ends})
    engine.punctuate("edges")
    assert [rows_of(each.table) for each in query.results()] == [[("P", 2)], [], []]


def test_chunks_are_cut_by_a_mark_of_the_source(engine: Engine) -> None:
    engine.sql("CREATE STREAM readings (sensor TEXT, degrees BIGINT, is_last BOOLEAN)")
    query = engine.continuous_query(
        "SELECT epoch, max(degrees) - min(degrees) AS spread"
        " FROM epochs(readings, punctuation => is_last) GROUP BY epoch"
    )
    rows = [("a", 20, False), ("b", 23, True), ("a", 21, True), ("a", 22, False)]
    sensors, degrees, marks = zip(*rows, strict=True)
    engine.append("readings", {"sensor": sensors, "degrees": degrees, "is_last": marks})
    assert [rows_of(each.table) for each in query.results()] == [[(0, 3)], [(1, 0)]]
    engine.punctuate("readings")
    assert [rows_of(each.table) for each in query.results()] == [[(2, 0)]]


# Chunks that are kept (section 3.4)

MEETINGS = """
    SELECT s1.pid AS at_first, s2.pid AS at_second
    FROM epochs(rt1, 60, keep => 3 {pairing}) s1 JOIN epochs(rt2, 60, keep => 2) s2 USING (bytes)"""


@pytest.mark.parametrize(
    ("pairing", "meetings"),
    [
        ("'newest'", ["00", "11", "22", "33"]),
        ("'newest-window'", ["00", "10 11", "21 22", "32 33"]),
        ("'window'", ["00", "01 10 11", "02 12 21 22", "13 23 32 33"]),
        (None, ["00", "01 10 11", "02 12 21 22", "13 23 32 33"]),
    ],
    ids=["newest", "newest-window", "window", "not given"],
)
def test_chunks_meet_as_the_pairing_says(
    engine: Engine, pairing: str | None, meetings: list[str]
) -> None:
    """A packet has the number of its minute; the first router keeps three minutes, the other two.

    No pair comes twice in any of the pairings.
    """
    argument = f", pairing => {pairing}" if pairing else ""
    query = engine.continuous_query(MEETINGS.format(pairing=argument))
    found: list[list[Row]] = []
    for router in ("rt1", "rt2"):  # the first router is ahead, and its rows have been read
        engine.append(router, seen(*((minute, 60 * minute, 0) for minute in range(5))))
        found += [rows_of(each.table) for each in query.results()]
    assert [" ".join(f"{first}{second}" for first, second in rows) for rows in found] == meetings


THREE = """
    SELECT x.epoch, y.epoch, z.epoch
    FROM epochs(rt1, 60, keep => {}, pairing => '{}') x
    JOIN epochs(rt2, 60, keep => {}) y USING (bytes) JOIN epochs(packets, 60, keep => {}) z
    USING (bytes)"""


@pytest.mark.parametrize("pairing", ["newest", "newest-window", "window"])
@pytest.mark.parametrize("kept", [(2, 1, 3), (3, 2, 2), (1, 1, 2)], ids=str)
def test_chunks_of_three_inputs_meet_as_well(
    engine: Engine, pairing: str, kept: tuple[int, int, int]
) -> None:
    query = engine.continuous_query(THREE.format(kept[0], pairing, *kept[1:]))
    rows = seen(*((minute, 60 * minute, 0) for minute in range(6)))
    for router in ("rt1", "rt2"):
        engine.append(router, rows)
    engine.append("packets", {name: rows[name] for name in rows if name != "t_rt"})
    newest = kept.index(1) if kept.count(1) == 1 else 0
    results = query.results()
    assert [result.epoch for result in results] == [0, 1, 2, 3, 4]
    for epoch, result in enumerate(results):
        spans = [range(max(0, epoch - keep + 1), epoch + 1) for keep in kept]
        if pairing == "newest":
            spans = [range(epoch, epoch + 1)] * 3
        elif pairing == "newest-window":
            spans[newest] = range(epoch, epoch + 1)
        chunks = [each for each in product(*spans) if pairing != "window" or max(each) == epoch]
        assert rows_of(result.table) == sorted(chunks, key=repr)


def test_an_aggregate_is_over_all_pairs_of_the_chunks_that_are_kept(engine: Engine) -> None:
    """Unless the query asks for the new pairs, of which there are fewer."""
    counts = """
        SELECT count(*) AS pairs
        FROM epochs(rt1, 60, keep => 3 {}) s1 JOIN epochs(rt2, 60, keep => 2) s2 USING (bytes)"""
    kept = engine.continuous_query(counts.format(""))
    new = engine.continuous_query(counts.format(", pairing => 'window'"))
    for router in ("rt1", "rt2"):
        engine.append(router, seen(*((minute, 60 * minute, 0) for minute in range(5))))
    assert [rows_of(each.table) for each in kept.results()] == [[(n,)] for n in (1, 4, 6, 6)]
    assert [rows_of(each.table) for each in new.results()] == [[(n,)] for n in (1, 3, 4, 4)]


LOST = """
    SELECT s1.pid, s2.t_rt
    FROM epochs(rt1, 60, keep => 2) s1 LEFT JOIN epochs(rt2, 60, keep => 2) s2 ON s1.pid = s2.pid"""


def test_a_packet_is_missed_once_it_can_have_no_partner_any_more(engine: Engine) -> None:
    """Packets 1 and 3 do not reach the second router, and packet 2 reaches it a minute later."""
    query = engine.continuous_query(LOST)
    engine.append("rt1", seen((0, 0, 0), (1, 1, 0), (2, 50, 0), (3, 61, 0), (4, 180, 0)))
    engine.append("rt2", seen((0, 0, 7), (2, 65, 8), (4, 190, 9)))
    found = [(each.window_start, rows_of(each.table)) for each in query.results()]
    assert found == [(0, [(0, 7)]), (60, [(1, None), (2, 8)]), (120, [(3, None)])]


@pytest.mark.parametrize(
    "text",
    [
        LOST,
        LOST.replace("epochs(rt1, 60, keep => 2)", "(SELECT * FROM epochs(rt1, 60, keep => 2))"),
        LOST.replace("epochs(rt2, 60, keep => 2)", "(SELECT * FROM epochs(rt2, 60, keep => 2))"),
    ],
    ids=["plain", "first in a subquery", "second in a subquery"],
)
def test_a_subquery_around_epochs_changes_no_answer(engine: Engine, text: str) -> None:
    query = engine.continuous_query(text)
    for router in ("rt1", "rt2"):
        engine.append(router, seen(*((minute, 60 * minute, 0) for minute in range(4))))
    assert [rows_of(each.table) for each in query.results()] == [[(0, 0)], [(1, 0)], [(2, 0)]]


KEPT = "epochs(rt2, 60, keep => 2) s2"
FOUND = {
    "SEMI JOIN": f"SEMI JOIN {KEPT} ON s1.pid = s2.pid",
    "EXISTS": f"WHERE EXISTS (FROM {KEPT} WHERE s1.pid = s2.pid)",
    "IN": f"WHERE s1.pid IN (SELECT pid FROM {KEPT})",
}
NOT_FOUND = {
    "ANTI JOIN": f"ANTI JOIN {KEPT} ON s1.pid = s2.pid",
    "NOT EXISTS": f"WHERE NOT EXISTS (FROM {KEPT} WHERE s1.pid = s2.pid)",
    "IS NULL": f"LEFT JOIN {KEPT} ON s1.pid = s2.pid WHERE s2.pid IS NULL",
}


@pytest.mark.parametrize("name", [*FOUND, *NOT_FOUND])
def test_a_packet_is_found_or_missed_once_in_every_spelling(engine: Engine, name: str) -> None:
    """The packets are those of the test above."""
    join = {**FOUND, **NOT_FOUND}[name]
    query = engine.continuous_query(f"SELECT s1.pid FROM epochs(rt1, 60, keep => 2) s1 {join}")
    engine.append("rt1", seen((0, 0, 0), (1, 1, 0), (2, 50, 0), (3, 61, 0), (4, 180, 0)))
    engine.append("rt2", seen((0, 0, 7), (2, 65, 8), (2, 66, 8), (4, 190, 9)))
    found, missed = [[(0,)], [(2,)], []], [[], [(1,)], [(3,)]]
    answers = [rows_of(each.table) for each in query.results()]
    assert answers == (found if name in FOUND else missed)


# Longer streams

CHUNKS = 24


def _recorded() -> dict[str, pa.Table]:
    """Return two streams of packets and one of calls, with gaps, and few keys for many partners."""
    random = np.random.default_rng(2012)
    times = np.sort(random.integers(0, 60 * CHUNKS, 900))
    times = times[(times < 600) | (times >= 800)]
    count = len(times)
    addresses = pa.array(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.9"])
    sent = {
        "pid": random.integers(0, 300, count),
        "t_s": times,
        "from_ip": addresses.take(pa.array(random.integers(0, 5, count))),
        "to_ip": addresses.take(pa.array(random.integers(0, 5, count))),
        "bytes": random.integers(40, 1_500, count),
    }
    first = 1_000 * times + random.integers(0, 1_000, count)
    is_seen = random.random(count) < 0.8
    packet = pa.table(sent)
    at_second = packet.append_column("t_rt", pa.array(first + random.integers(1, 90, count)))
    starts = np.sort(random.integers(0, 5 * CHUNKS * 64, 700)) / 64  # sums of these are exact
    people = pa.array(["Ann", "Bob", "Cy"])
    cdrs = {
        "caller": people.take(pa.array(random.integers(0, 3, len(starts)))),
        "callee": people.take(pa.array(random.integers(0, 3, len(starts)))),
        "t_s": starts,
    }
    return {
        "packets": packet,
        "rt1": packet.append_column("t_rt", pa.array(first)),
        "rt2": at_second.filter(pa.array(is_seen)),
        "cdrs": pa.table(cdrs),
    }


def _at_once(text: str, recorded: Mapping[str, pa.Table]) -> list[Row]:
    """Return what DuckDB answers over everything that was recorded."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, table in {"hosts": pa.table(HOSTS), **recorded}.items():
            connection.register(name, table)
        return sorted(connection.sql(text).fetchall(), key=repr)


def _fed(
    engine: Engine, query: ContinuousQuery, recorded: Mapping[str, pa.Table], piece: int
) -> list[Result]:
    """Append the streams in pieces, side by side, and end their last epochs."""
    results: list[Result] = []
    for start in range(0, max(table.num_rows for table in recorded.values()), piece):
        for name, table in recorded.items():
            engine.append(name, table.slice(start, piece))
        results += query.results()
    for name in recorded:
        engine.punctuate(name)
    return results + query.results()


@pytest.mark.parametrize("piece", [1_000, 37, 4], ids=lambda rows: f"{rows} rows at a time")
@pytest.mark.parametrize("name", STANDING)
def test_the_epochs_together_have_the_rows_of_one_query_over_everything(
    engine: Engine, name: str, piece: int
) -> None:
    query = engine.continuous_query(STANDING[name])
    recorded = _recorded()
    results = _fed(engine, query, recorded, piece)
    rows = [row for each in results for row in rows_of(each.table)]
    expected = _at_once(AT_ONCE[name], recorded)
    assert len(expected) >= CHUNKS - 4
    assert sorted(rows, key=repr) == expected
    epochs = np.array([each.epoch for each in results])
    assert (np.diff(epochs) > 0).all(), "each epoch is answered once, in order"
    length = 5 if name == "calls" else 60
    assert [each.window_start for each in results] == list(epochs * length)
    assert [each.number for each in results] == list(range(len(results)))


def test_the_traffic_of_all_minutes_adds_up_to_that_of_the_one_time_query(engine: Engine) -> None:
    """Q_A of the paper, over the table of packets."""
    query = engine.continuous_query(Q_B)
    recorded = _recorded()
    total: dict[tuple[object, object], int] = {}
    for result in _fed(engine, query, recorded, 50):
        for row in result.table.to_pylist():
            hosts = row["from_host"], row["to_host"]
            total[hosts] = total.get(hosts, 0) + row["bytes"]
    q_a = """
        SELECT h1.host_id AS from_host, h2.host_id AS to_host, sum(t.bytes)::BIGINT AS bytes
        FROM packets t, hosts h1, hosts h2
        WHERE h1.ip = t.from_ip AND h2.ip = t.to_ip
        GROUP BY from_host, to_host"""
    assert sorted((*hosts, number) for hosts, number in total.items()) == _at_once(q_a, recorded)
