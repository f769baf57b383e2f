"""Queries of the Nexmark benchmark: the first rows of groups over everything that came, and joins.

The auctions are a table, or a stream that is grouped before it is joined, or one whose rows are
joined with bids in an interval, or with persons or bids by epochs. The bids are a stream. Results
are compared with those of the same query over tables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from tests.queries.differential.comparison import difference
from tests.queries.setting import asked, held
from upstream import Engine, ManualClock, UnboundedQueryError

AUCTIONS, BIDS = 40, 3_000

IN_TIME = "a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires"
WINNING = f"""
    SELECT * FROM (
        SELECT a.*, b.bidder, b.price, b.date_time AS bid_time,
            row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) AS rownum
        FROM auctions a, BID b WHERE {IN_TIME}
    ) WHERE rownum <= 1"""
QUERIES = {
    "q4": f"""
        SELECT category, avg(final) AS price FROM (
            SELECT max(b.price) AS final, a.category FROM auctions a, BID b
            WHERE {IN_TIME} GROUP BY a.id, a.category
        ) GROUP BY category""",
    "q6": f"""
        SELECT seller, id, avg(price) OVER (PARTITION BY seller ORDER BY bid_time
            ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
        FROM ({WINNING})""",
    "q9": WINNING,
    "q18": """
        SELECT auction, bidder, price, date_time FROM (
            SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC)
                AS rank_number FROM BID
        ) WHERE rank_number <= 1""",
    "q19": """
        SELECT * FROM (
            SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time)
                AS rank_number FROM BID
        ) WHERE rank_number <= 10""",
}
GROUPED = {
    "q4": """
        SELECT category, avg(final) AS price
        FROM (SELECT auction, max(price) AS final FROM BID GROUP BY auction) b
        JOIN (SELECT DISTINCT ON (id) * FROM AUCTION) a ON a.id = b.auction GROUP BY category""",
    "q6": """
        WITH auction AS (SELECT id, any_value(seller) AS seller FROM AUCTION GROUP BY id),
        bid AS (SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time)
            AS i FROM BID)
        SELECT seller, id, avg(price) OVER (PARTITION BY seller ORDER BY date_time
            ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
        FROM auction JOIN bid ON id = auction AND i = 1""",
    "q9": """
        SELECT a.*, b.* FROM (SELECT DISTINCT ON (id) * FROM AUCTION) a
        JOIN (SELECT * FROM BID
            QUALIFY row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time) = 1) b
        ON a.id = b.auction""",
}
"""With auctions as a stream: a winning bid is the highest one, in time or not."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        engine.create_table("auctions", _auctions())
        for name, table in (("auction", _auctions()), ("bid", _bids())):
            engine.create_table(f"all_{name}s", table.slice(0, 0))
        columns = "id BIGINT, seller BIGINT, category BIGINT, date_time BIGINT, expires BIGINT"
        engine.sql(f"CREATE STREAM auction ({columns}) KEY (id) TIME (date_time)")
        columns = "auction BIGINT, bidder BIGINT, price BIGINT, date_time BIGINT"
        engine.sql(f"CREATE STREAM bid ({columns}) KEY (auction) TIME (date_time)")
        yield engine


def _auctions() -> pa.Table:
    random = np.random.default_rng(4)
    begins = np.sort(random.integers(0, BIDS, AUCTIONS))
    return pa.table(
        {
            "id": np.arange(AUCTIONS),
            "seller": random.integers(0, 6, AUCTIONS),
            "category": random.integers(0, 5, AUCTIONS),
            "date_time": begins,
            "expires": begins + random.integers(200, 2_000, AUCTIONS),
        }
    )


def _bids() -> pa.Table:
    random = np.random.default_rng(9)
    return pa.table(
        {
            "auction": random.integers(0, AUCTIONS, BIDS),
            "bidder": random.integers(0, 20, BIDS),
            "price": random.integers(1, 400, BIDS),
            "date_time": np.arange(BIDS),
        }
    )


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_over_bids_is_answered_by_increments(engine: Engine, name: str) -> None:
    _compare(engine, QUERIES[name])


@pytest.mark.parametrize("name", GROUPED)
def test_a_query_over_grouped_auctions_and_bids_is_as_well(engine: Engine, name: str) -> None:
    _compare(engine, GROUPED[name])


def _compare(engine: Engine, text: str) -> None:
    """Assert that a query returns after each batch what it returns over tables."""
    streaming = text.replace("BID", "landmark(bid)").replace("AUCTION", "landmark(auction)")
    at_once = text.replace("BID", "all_bids").replace("AUCTION", "all_auctions")
    query = engine.continuous_query(streaming, emit="asked")
    for name, table, size in (("auction", _auctions(), 7), ("bid", _bids(), 500)):
        for start in range(0, table.num_rows, size):
            batch = table.slice(start, size)
            engine.append(name, batch)
            engine.create_table("batch", batch)
            engine.sql(f"INSERT INTO all_{name}s SELECT * FROM batch")
            engine.sql("DROP TABLE batch")
            told = difference(engine.sql(at_once), asked(query).table, is_ordered=False)
            assert not told, told
    assert asked(query).table.num_rows > 0
    assert held(query) <= 20 * AUCTIONS, "a bid for each auction and bidder at most"


def test_bids_in_time_of_auctions_that_are_a_stream_are_refused(engine: Engine) -> None:
    text = WINNING.replace("BID", "landmark(bid)").replace("auctions", "landmark(auction)")
    with pytest.raises(UnboundedQueryError, match="may join any row of another"):
        engine.continuous_query(text)


EXPANDED = """
    SELECT b.*, a.seller, a.category, a.expires
    FROM BID b JOIN AUCTION a ON b.auction = a.id WHERE a.category = 3"""
LONGEST = " AND b.date_time BETWEEN a.date_time AND a.date_time + 2000 AND b.date_time < a.expires"


def test_q20_in_an_interval_gives_each_bid_with_its_auction_once(engine: Engine) -> None:
    text = EXPANDED + LONGEST
    query = engine.continuous_query(text.replace("BID", "bid").replace("AUCTION", "auction"))
    auctions, bids = _auctions(), _bids()
    begins = auctions["date_time"].to_numpy()
    found: list[pa.Table] = []
    for start in range(0, BIDS, 100):
        new = (begins >= start) & (begins < start + 100)
        engine.append("auction", auctions.filter(pa.array(new)))
        engine.append("bid", bids.slice(start, 100))
        found += [result.table for result in query.results()]
        assert held(query) <= AUCTIONS + 500, "a bid is held until an auction is newer"
    engine.create_table("bids", bids)
    expected = engine.sql(text.replace("BID", "bids").replace("AUCTION", "auctions"))
    assert expected.num_rows > 50
    told = difference(expected, pa.concat_tables(found), is_ordered=False)
    assert not told, told
    assert query.statistics().rows_late == 0


def test_q20_without_an_interval_would_have_to_keep_all_auctions(engine: Engine) -> None:
    text = EXPANDED.replace("BID", "bid").replace("AUCTION", "auction")
    with pytest.raises(UnboundedQueryError, match="how much rows of a can be newer than the rows"):
        engine.continuous_query(text)


# Joins by epochs

CHUNK = 100
Q8 = """
    SELECT p.id, p.name, p.starttime
    FROM (
        SELECT id, name, window_start AS starttime, window_end AS endtime
        FROM PERSON GROUP BY id, name, window_start, window_end
    ) AS p JOIN (
        SELECT seller, window_start AS starttime, window_end AS endtime
        FROM AUCTION GROUP BY seller, window_start, window_end
    ) AS a ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime"""
"""The text of Nexmark: new persons who open an auction within the same time."""
IN_CHUNK = f"""(
    SELECT *, date_time // {CHUNK} * {CHUNK} AS window_start, window_start + {CHUNK} AS window_end
    FROM {{}})"""


def _persons() -> pa.Table:
    random = np.random.default_rng(8)
    ids = random.integers(0, 6, 90)
    columns = {
        "id": ids,
        "name": [f"person {number}" for number in ids],
        "date_time": np.sort(random.integers(0, BIDS, 90)),
    }
    return pa.table(columns)


def _epochs(engine: Engine, text: str, **tables: pa.Table) -> pa.Table:
    """Return the answers of all epochs; the streams advance together, and end after the rows."""
    query = engine.continuous_query(text)
    found: list[pa.Table] = []
    for start in range(0, BIDS, 70):
        for name, rows in tables.items():
            times = rows["date_time"].to_numpy()
            is_new = (times >= start) & (times < start + 70)
            engine.append(name, rows.filter(pa.array(is_new)))
        found += [result.table for result in query.results()]
    for name in tables:
        engine.punctuate(name)
    found += [result.table for result in query.results()]
    assert len(found) >= BIDS // CHUNK - 1, "the last chunk may have no auctions"
    assert query.statistics().rows_late == 0
    return pa.concat_tables(found)


def test_q8_joins_persons_and_auctions_of_the_same_epoch(engine: Engine) -> None:
    engine.sql("CREATE STREAM person (id BIGINT, name TEXT, date_time BIGINT) TIME (date_time)")
    engine.create_table("persons", _persons())
    streaming = Q8.replace("PERSON", f"epochs(person, {CHUNK})")
    streaming = streaming.replace("AUCTION", f"epochs(auction, {CHUNK})")
    found = _epochs(engine, streaming, person=_persons(), auction=_auctions())
    at_once = Q8.replace("PERSON", IN_CHUNK.format("persons"))
    expected = engine.sql(at_once.replace("AUCTION", IN_CHUNK.format("auctions")))
    assert expected.num_rows > 10
    told = difference(expected, found, is_ordered=False)
    assert not told, told


def test_q20_by_epochs_joins_bids_with_the_auctions_of_the_last_chunks(engine: Engine) -> None:
    streaming = EXPANDED.replace("BID", f"epochs(bid, {CHUNK})")
    streaming = streaming.replace("AUCTION", f"epochs(auction, {CHUNK}, keep => 10)")
    found = _epochs(engine, streaming, auction=_auctions(), bid=_bids())
    engine.create_table("bids", _bids())
    at_once = EXPANDED.replace("BID", "bids").replace("AUCTION", "auctions")
    kept = f" AND b.date_time // {CHUNK} - a.date_time // {CHUNK} BETWEEN 0 AND 9"
    expected = engine.sql(at_once + kept)
    assert expected.num_rows > 50
    told = difference(expected, found, is_ordered=False)
    assert not told, told
