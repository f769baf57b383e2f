"""TPC-H in small: its 22 queries as texts, and its eight tables with about 6,000 line items.

A query names its relations in braces, so that any of them can be read as a stream:

    text("Q6", lineitem="landmark(lineitem)")

The rows are made by DuckDB from hashes of their numbers, so they are the same every time. They have
the types and the relationships between keys of TPC-H. The values are chosen so that each query
returns rows with the parameters of the validation run.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import duckdb
import pyarrow as pa

RELATIONS: Final = (
    *("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"),
)
COLUMNS: Final = {
    "region": "r_regionkey BIGINT, r_name VARCHAR, r_comment VARCHAR",
    "nation": "n_nationkey BIGINT, n_name VARCHAR, n_regionkey BIGINT, n_comment VARCHAR",
    "supplier": (
        "s_suppkey BIGINT, s_name VARCHAR, s_address VARCHAR, s_nationkey BIGINT, "
        "s_phone VARCHAR, s_acctbal DECIMAL(15,2), s_comment VARCHAR"
    ),
    "customer": (
        "c_custkey BIGINT, c_name VARCHAR, c_address VARCHAR, c_nationkey BIGINT, "
        "c_phone VARCHAR, c_acctbal DECIMAL(15,2), c_mktsegment VARCHAR, c_comment VARCHAR"
    ),
    "part": (
        "p_partkey BIGINT, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, "
        "p_size INTEGER, p_container VARCHAR, p_retailprice DECIMAL(15,2), p_comment VARCHAR"
    ),
    "partsupp": (
        "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty BIGINT, "
        "ps_supplycost DECIMAL(15,2), ps_comment VARCHAR"
    ),
    "orders": (
        "o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus VARCHAR, o_totalprice DECIMAL(15,2), "
        "o_orderdate DATE, o_orderpriority VARCHAR, o_clerk VARCHAR, o_shippriority INTEGER, "
        "o_comment VARCHAR"
    ),
    "lineitem": (
        "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber BIGINT, "
        "l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), "
        "l_tax DECIMAL(15,2), l_returnflag VARCHAR, l_linestatus VARCHAR, l_shipdate DATE, "
        "l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR, l_shipmode VARCHAR, "
        "l_comment VARCHAR"
    ),
}
"""The columns of each relation, as CREATE TABLE and CREATE STREAM take them."""
KEYS: Final = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "supplier": "s_suppkey",
    "customer": "c_custkey",
    "part": "p_partkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
}
"""The primary key of each relation."""

_NATIONS: Final = (
    "ALGERIA:0 ARGENTINA:1 BRAZIL:1 CANADA:1 EGYPT:4 ETHIOPIA:0 FRANCE:3 GERMANY:3 INDIA:2 "
    "INDONESIA:2 IRAN:4 IRAQ:4 JAPAN:2 JORDAN:4 KENYA:0 MOROCCO:0 MOZAMBIQUE:0 PERU:1 CHINA:2 "
    "ROMANIA:3 SAUDI_ARABIA:4 VIETNAM:2 RUSSIA:3 UNITED_KINGDOM:3 UNITED_STATES:1"
)
_RANDOM: Final = "CREATE MACRO random(number, salt) AS (hash(number::VARCHAR || salt) >> 1)::BIGINT"
"""A number that is the same each time for the same number and salt."""
_ROWS: Final = {
    "region": (
        "SELECT i, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1], 'r' || i "
        "FROM range(5) r(i)"
    ),
    "nation": (
        "SELECT i - 1, replace(split_part(n, ':', 1), '_', ' '), split_part(n, ':', 2)::BIGINT, "
        f"'n' || i FROM (SELECT unnest(string_split('{_NATIONS}', ' ')) n, "
        "generate_subscripts(string_split(n, ' '), 1) i "
        f"FROM (SELECT '{_NATIONS}' n))"
    ),
    "supplier": (
        "SELECT i, format('Supplier#{:09d}', i), 's' || i, nation, "
        "format('{}-{:03d}-{:03d}-{:04d}', 10 + nation, h1 % 1000, h2 % 1000, i), "
        "(h1 % 1099998)::DECIMAL(15,2) / 100 - 999.99, "
        "CASE WHEN i % 9 = 0 THEN 'slow Customer and Complaints' ELSE 'fine' END "
        "FROM (SELECT i, h1, h2, [20, 3, 2, 6, 7, 19, 8, 12, 18, 24][1 + i % 10] AS nation "
        "FROM (SELECT i, random(i, 's1') h1, random(i, 's2') h2 FROM range(1, 31) r(i)))"
    ),
    "customer": (
        "SELECT i, format('Customer#{:09d}', i), 'c' || i, nation, "
        "format('{}-{:03d}-{:03d}-{:04d}', 10 + nation, h1 % 1000, h2 % 1000, i), "
        "(h1 % 1099998)::DECIMAL(15,2) / 100 - 999.99, "
        "['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'][1 + h2 % 5], 'c' || h1 "
        "FROM (SELECT i, random(i, 'c1') h1, random(i, 'c2') h2, random(i, 'c3') % 25 AS nation "
        "FROM range(1, 151) r(i))"
    ),
    "part": (
        "SELECT i, ['forest', 'green', 'almond', 'blue', 'lime'][1 + h1 % 5] || ' ' || "
        "['metallic', 'green', 'puff', 'linen'][1 + h2 % 4], 'Manufacturer#' || (1 + h1 % 5), "
        "['Brand#12', 'Brand#23', 'Brand#34', 'Brand#45', 'Brand#11'][1 + h3 % 5], "
        "['ECONOMY ANODIZED STEEL', 'LARGE BURNISHED BRASS', 'PROMO PLATED TIN', "
        "'MEDIUM POLISHED NICKEL', 'SMALL BRUSHED BRASS'][1 + h4 % 5], "
        "[15, 49, 14, 23, 45, 19, 3, 36, 9, 5][1 + h5 % 10], "
        "['MED BOX', 'SM CASE', 'MED BAG', 'LG BOX', 'JUMBO PKG'][1 + h6 % 5], "
        "900 + (h1 % 10000)::DECIMAL(15,2) / 100, 'p' || i "
        "FROM (SELECT i, random(i, 'p1') h1, random(i, 'p2') h2, random(i, 'p3') h3, "
        "random(i, 'p4') h4, random(i, 'p5') h5, random(i, 'p6') h6 FROM range(1, 201) r(i))"
    ),
    "partsupp": (
        "SELECT p, 1 + (p + s * 7) % 30, 1 + random(p || '-' || s, 'q') % 200, "
        "1 + (random(p || '-' || s, 'd') % 99900)::DECIMAL(15,2) / 100, 'ps' "
        "FROM range(1, 201) a(p), range(4) b(s)"
    ),
    "orders": (
        "SELECT i * 4 - 3, 1 + 3 * (h1 % 50) + h2 % 2, "
        "CASE WHEN h3 % 2 = 0 THEN 'F' WHEN h3 % 5 = 0 THEN 'P' ELSE 'O' END, "
        "1000 + (h1 % 30000000)::DECIMAL(15,2) / 100, DATE '1992-01-01' + (h2 % 2406)::INT, "
        "['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][1 + h3 % 5], "
        "format('Clerk#{:09d}', h1 % 10), 0, "
        "CASE WHEN h3 % 7 = 0 THEN 'very special packages and requests' ELSE 'o' || h3 % 20 END "
        "FROM (SELECT i, random(i, 'o1') h1, random(i, 'o2') h2, random(i, 'o3') h3 "
        "FROM range(1, 1501) r(i))"
    ),
    "lineitem": (
        "SELECT o_orderkey, p, 1 + (p + (h2 % 4) * 7) % 30, n, quantity, "
        "quantity * (900 + h1 % 100), "
        "(h3 % 11)::DECIMAL(15,2) / 100, (h4 % 9)::DECIMAL(15,2) / 100, "
        "CASE WHEN received <= DATE '1995-06-17' THEN ['R', 'A'][1 + h4 % 2] ELSE 'N' END, "
        "CASE WHEN shipped > DATE '1995-06-17' THEN 'O' ELSE 'F' END, shipped, "
        "o_orderdate + (30 + h4 % 61)::INT, received, "
        "['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'][1 + h1 % 4], "
        "['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'AIR REG'][1 + h2 % 7], 'l' || h3 % 9 "
        "FROM (SELECT *, shipped + (1 + h3 % 30)::INT AS received FROM "
        "(SELECT *, 1 + h1 % 200 AS p, o_orderdate + (1 + h2 % 121)::INT AS shipped, "
        "CASE WHEN o_orderkey % 50 = 1 THEN 45 + h2 % 6 ELSE 1 + h2 % 50 END AS quantity "
        "FROM (SELECT o_orderkey, o_orderdate, n, random(line, 'l1') h1, "
        "random(line, 'l2') h2, random(line, 'l3') h3, random(line, 'l4') h4 FROM "
        "(SELECT *, o_orderkey || '-' || n AS line "
        "FROM orders, range(1, 8) r(n) "
        "WHERE o_orderkey % 50 = 1 OR n <= 1 + random(o_orderkey, 'n') % 7))))"
    ),
}


@cache
def tables() -> dict[str, pa.Table]:
    """Return the rows of all eight relations."""
    with duckdb.connect() as database:
        database.execute(_RANDOM)
        for name in RELATIONS:
            database.execute(f"CREATE TABLE {name} ({COLUMNS[name]})")
            database.execute(f"INSERT INTO {name} {_ROWS[name]} ORDER BY ALL")
        return {name: database.sql(f"FROM {name}").to_arrow_table() for name in RELATIONS}


def text(name: str, **instead: str) -> str:
    """Return a query with its relations by their names, or by what is given instead."""
    return QUERIES[name].format(**{relation: relation for relation in RELATIONS} | instead)


def reads(name: str, relation: str) -> bool:
    """Tell whether a query reads a relation."""
    return f"{{{relation}}}" in QUERIES[name]


QUERIES: Final = {
    "Q1": """
        SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
            sum(l_extendedprice) AS sum_base_price,
            sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
            sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
            avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price,
            avg(l_discount) AS avg_disc, count(*) AS count_order
        FROM {lineitem}
        WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    "Q2": """
        SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
        FROM {part}, {supplier}, {partsupp}, {nation}, {region}
        WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15
            AND p_type LIKE '%BRASS' AND s_nationkey = n_nationkey
            AND n_regionkey = r_regionkey AND r_name = 'EUROPE' AND ps_supplycost = (
                SELECT min(ps_supplycost) FROM {partsupp}, {supplier}, {nation}, {region}
                WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey
                    AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
                    AND r_name = 'EUROPE')
        ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100""",
    "Q3": """
        SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue,
            o_orderdate, o_shippriority
        FROM {customer}, {orders}, {lineitem}
        WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
            AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority
        ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10""",
    "Q4": """
        SELECT o_orderpriority, count(*) AS order_count FROM {orders}
        WHERE o_orderdate >= DATE '1993-07-01'
            AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
            AND EXISTS (SELECT * FROM {lineitem}
                WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
        GROUP BY o_orderpriority ORDER BY o_orderpriority""",
    "Q5": """
        SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
        FROM {customer}, {orders}, {lineitem}, {supplier}, {nation}, {region}
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
            AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey
            AND n_regionkey = r_regionkey AND r_name = 'ASIA'
            AND o_orderdate >= DATE '1994-01-01'
            AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
        GROUP BY n_name ORDER BY revenue DESC""",
    "Q6": """
        SELECT sum(l_extendedprice * l_discount) AS revenue FROM {lineitem}
        WHERE l_shipdate >= DATE '1994-01-01'
            AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
            AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24""",
    "Q7": """
        SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
        FROM (
            SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation,
                extract(year FROM l_shipdate) AS l_year,
                l_extendedprice * (1 - l_discount) AS volume
            FROM {supplier}, {lineitem}, {orders}, {customer}, {nation} n1, {nation} n2
            WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
                AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
                AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY')
                    OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
                AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        ) AS shipping
        GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year""",
    "Q8": """
        SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume)
            AS mkt_share
        FROM (
            SELECT extract(year FROM o_orderdate) AS o_year,
                l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
            FROM {part}, {supplier}, {lineitem}, {orders}, {customer}, {nation} n1, {nation} n2,
                {region}
            WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey
                AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey
                AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
                AND s_nationkey = n2.n_nationkey
                AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
                AND p_type = 'ECONOMY ANODIZED STEEL'
        ) AS all_nations
        GROUP BY o_year ORDER BY o_year""",
    "Q9": """
        SELECT nation, o_year, sum(amount) AS sum_profit
        FROM (
            SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year,
                l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
            FROM {part}, {supplier}, {lineitem}, {partsupp}, {orders}, {nation}
            WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey
                AND p_partkey = l_partkey AND o_orderkey = l_orderkey
                AND s_nationkey = n_nationkey AND p_name LIKE '%green%'
        ) AS profit
        GROUP BY nation, o_year ORDER BY nation, o_year DESC""",
    "Q10": """
        SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal,
            n_name, c_address, c_phone, c_comment
        FROM {customer}, {orders}, {lineitem}, {nation}
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey
            AND o_orderdate >= DATE '1993-10-01'
            AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH
            AND l_returnflag = 'R' AND c_nationkey = n_nationkey
        GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
        ORDER BY revenue DESC, c_custkey LIMIT 20""",
    "Q11": """
        SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value
        FROM {partsupp}, {supplier}, {nation}
        WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
        GROUP BY ps_partkey
        HAVING sum(ps_supplycost * ps_availqty) > (
            SELECT sum(ps_supplycost * ps_availqty) * 0.0001
            FROM {partsupp}, {supplier}, {nation}
            WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
        ORDER BY value DESC""",
    "Q12": """
        SELECT l_shipmode,
            sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH'
                THEN 1 ELSE 0 END) AS high_line_count,
            sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH'
                THEN 1 ELSE 0 END) AS low_line_count
        FROM {orders}, {lineitem}
        WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
            AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
            AND l_receiptdate >= DATE '1994-01-01'
            AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR
        GROUP BY l_shipmode ORDER BY l_shipmode""",
    "Q13": """
        SELECT c_count, count(*) AS custdist
        FROM (
            SELECT c_custkey, count(o_orderkey)
            FROM {customer} LEFT OUTER JOIN {orders}
                ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
            GROUP BY c_custkey
        ) AS c_orders (c_custkey, c_count)
        GROUP BY c_count ORDER BY custdist DESC, c_count DESC""",
    "Q14": """
        SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%'
                THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
        FROM {lineitem}, {part}
        WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01'
            AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH""",
    "Q15": """
        WITH revenue (supplier_no, total_revenue) AS (
            SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) FROM {lineitem}
            WHERE l_shipdate >= DATE '1996-01-01'
                AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH
            GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
        FROM {supplier}, revenue
        WHERE s_suppkey = supplier_no
            AND total_revenue = (SELECT max(total_revenue) FROM revenue)
        ORDER BY s_suppkey""",
    "Q16": """
        SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt
        FROM {partsupp}, {part}
        WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45'
            AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
            AND ps_suppkey NOT IN (
                SELECT s_suppkey FROM {supplier} WHERE s_comment LIKE '%Customer%Complaints%')
        GROUP BY p_brand, p_type, p_size
        ORDER BY supplier_cnt DESC, p_brand, p_type, p_size""",
    "Q17": """
        SELECT sum(l_extendedprice) / 7.0 AS avg_yearly FROM {lineitem}, {part}
        WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
            AND l_quantity < (
                SELECT 0.2 * avg(l_quantity) FROM {lineitem} WHERE l_partkey = p_partkey)""",
    "Q18": """
        SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity)
        FROM {customer}, {orders}, {lineitem}
        WHERE o_orderkey IN (
                SELECT l_orderkey FROM {lineitem} GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
            AND c_custkey = o_custkey AND o_orderkey = l_orderkey
        GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
        ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100""",
    "Q19": """
        SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue FROM {lineitem}, {part}
        WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12'
                AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
                AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
            OR (p_partkey = l_partkey AND p_brand = 'Brand#23'
                AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
                AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
            OR (p_partkey = l_partkey AND p_brand = 'Brand#34'
                AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
                AND l_quantity >= 20 AND l_quantity <= 30 AND p_size BETWEEN 1 AND 15
                AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')""",
    "Q20": """
        SELECT s_name, s_address FROM {supplier}, {nation}
        WHERE s_suppkey IN (
                SELECT ps_suppkey FROM {partsupp}
                WHERE ps_partkey IN (SELECT p_partkey FROM {part} WHERE p_name LIKE 'forest%')
                    AND ps_availqty > (
                        SELECT 0.5 * sum(l_quantity) FROM {lineitem}
                        WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey
                            AND l_shipdate >= DATE '1994-01-01'
                            AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR))
            AND s_nationkey = n_nationkey AND n_name = 'CANADA'
        ORDER BY s_name""",
    "Q21": """
        SELECT s_name, count(*) AS numwait FROM {supplier}, {lineitem} l1, {orders}, {nation}
        WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
            AND l1.l_receiptdate > l1.l_commitdate
            AND EXISTS (
                SELECT * FROM {lineitem} l2
                WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
            AND NOT EXISTS (
                SELECT * FROM {lineitem} l3
                WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
                    AND l3.l_receiptdate > l3.l_commitdate)
            AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
        GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100""",
    "Q22": """
        SELECT cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
        FROM (
            SELECT substring(c_phone, 1, 2) AS cntrycode, c_acctbal FROM {customer}
            WHERE substring(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
                AND c_acctbal > (
                    SELECT avg(c_acctbal) FROM {customer}
                    WHERE c_acctbal > 0.00 AND substring(c_phone, 1, 2)
                        IN ('13', '31', '23', '29', '30', '18', '17'))
                AND NOT EXISTS (SELECT * FROM {orders} WHERE o_custkey = c_custkey)
        ) AS custsale
        GROUP BY cntrycode ORDER BY cntrycode""",
}
