-- Queries that can be views, as `test_views` runs them: over the streams trades, orders and beats,
-- the tables sectors, whose rows change, and rates, whose rows do not, and over these views:
--   by_k:     SELECT k, sum(x) AS s, count(*) AS n FROM trades GROUP BY k
--   by_lots:  SELECT k, g, max(lots) AS lots FROM orders GROUP BY k, g
--   newest:   SELECT k, g, x FROM latest(trades) AS t

-- sums
SELECT k, sum(x) AS s, count(*) AS n, count(x) AS c, avg(x) AS a FROM trades GROUP BY k

-- sum no group
SELECT sum(x) AS s, count(*) AS n, sum(y) AS z FROM trades

-- where
SELECT g, sum(x) AS s FROM trades WHERE x > 1 AND note IS NOT NULL GROUP BY g

-- null group
SELECT g, note, count(*) AS n FROM trades GROUP BY g, note

-- extremes
SELECT k, min(x) AS a, max(y) AS b, max(note) AS c, min(time) AS d FROM trades GROUP BY k

-- filter
SELECT k, sum(x) FILTER (WHERE g = 1) AS s, count(*) FILTER (WHERE note = 'p') AS n, max(y)
FILTER (WHERE x < 3) AS m FROM trades GROUP BY k

-- distinct
SELECT k, count(DISTINCT x) AS a, sum(DISTINCT g) AS b, avg(DISTINCT x) AS c, count(DISTINCT
note) FILTER (WHERE g > 0) AS d FROM trades GROUP BY k

-- two distinct
SELECT count(DISTINCT k) AS a, count(DISTINCT g) AS b FROM trades

-- spread
SELECT g, var_samp(x) AS a, var_pop(y) AS b, stddev_samp(x) AS c, stddev_pop(y) AS d, sem(x) AS
e FROM trades GROUP BY g

-- regression
SELECT g, corr(x, y) AS a, covar_samp(x, y) AS b, covar_pop(x, y) AS c, regr_slope(y, x) AS d,
regr_r2(y, x) AS e, regr_count(y, x) AS f FROM trades GROUP BY g

-- logic
SELECT k, bool_and(x > 0) AS a, bool_or(y < 0) AS b, bit_and(x) AS c, bit_or(g) AS d, bit_xor(x)
AS e, count_if(x > 2) AS f FROM trades GROUP BY k

-- chosen
SELECT k, arg_max(x, time * 1000 + x) AS a, arg_min(note, [time, x]) AS b FROM trades GROUP BY k

-- first
SELECT k, first(x) AS a, last(note) AS b, any_value(y) AS c FROM trades GROUP BY k

-- products
SELECT k, product(g) AS a, fsum(y) AS c FROM trades GROUP BY k

-- top values
SELECT k, max(x, 3) AS a, min(x, 2) AS b FROM trades GROUP BY k

-- having
SELECT k, sum(x) AS s FROM trades GROUP BY k HAVING count(*) > 1 AND max(y) > 0

-- having all
SELECT sum(x) AS s FROM trades HAVING count(*) > 3

-- expressions
SELECT upper(k) AS u, x % 2 AS p, sum(x * 2 + g) / count(*) AS r, coalesce(max(note), '-') || k
AS t FROM trades GROUP BY k, x % 2

-- group by alias
SELECT x // 2 AS h, count(*) AS n FROM trades GROUP BY h

-- group by all
SELECT k, g, count(*) AS n FROM trades GROUP BY ALL

-- distinct rows
SELECT DISTINCT k, g FROM trades WHERE x IS NOT NULL

-- rollup
SELECT k, g, sum(x) AS s, count(*) AS n FROM trades GROUP BY ROLLUP (k, g)

-- cube
SELECT k, g, sum(x) AS s, grouping(k) AS gk FROM trades GROUP BY CUBE (k, g)

-- grouping sets
SELECT k, note, max(x) AS s FROM trades GROUP BY GROUPING SETS ((k), (note), ())

-- nested
SELECT n, count(*) AS ks, sum(s) AS s FROM (SELECT k, count(*) AS n, sum(x) AS s FROM trades
GROUP BY k) GROUP BY n

-- nested twice
SELECT max(m) AS m, avg(c) AS c FROM (SELECT g, max(s) AS m, count(*) AS c FROM (SELECT g, k,
sum(x) AS s FROM trades GROUP BY g, k) GROUP BY g)

-- median of groups
SELECT median(s) AS m, list(k ORDER BY k) AS ks FROM (SELECT k, sum(x) AS s FROM trades GROUP BY
k)

-- static join
SELECT t.k, sum(x * rate) AS s, count(*) AS n FROM trades t JOIN rates r ON t.k = r.k GROUP BY
t.k

-- static left join
SELECT rate, count(*) AS n, sum(x) AS s FROM trades t LEFT JOIN rates r ON t.k = r.k GROUP BY
rate

-- static using
SELECT k, sum(rate) AS s FROM trades JOIN rates USING (k) WHERE rate > 2 GROUP BY k

-- static semi
SELECT k, count(*) AS n FROM trades WHERE k IN (SELECT k FROM rates WHERE rate < 6) GROUP BY k

-- static semi join
SELECT t.k, count(*) AS n FROM trades t SEMI JOIN rates r ON t.k = r.k AND r.rate > 2 GROUP BY
t.k

-- static anti join
SELECT t.k, count(*) AS n FROM trades t ANTI JOIN rates r ON t.k = r.k GROUP BY t.k

-- static exists
SELECT k, count(*) AS n FROM trades t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.k = t.k AND
r.rate > 2) GROUP BY k

-- static not in
SELECT k, sum(x) AS n FROM trades WHERE k NOT IN (SELECT k FROM rates WHERE k IS NOT NULL) GROUP
BY k

-- static theta
SELECT r.k, count(*) AS n FROM trades t JOIN rates r ON t.x < r.rate GROUP BY r.k

-- static cross
SELECT r.k, sum(x + rate) AS n FROM trades, rates r GROUP BY r.k

-- static scalar
SELECT k, sum(x * (SELECT max(rate) FROM rates)) AS n FROM trades WHERE x < (SELECT avg(rate)
FROM rates) GROUP BY k

-- static aggregate
SELECT k, sum(x * m) AS n FROM trades JOIN (SELECT k AS rk, max(rate) AS m FROM rates GROUP BY
k) ON k = rk GROUP BY k

-- static twice
SELECT a.k, count(*) AS n FROM trades t JOIN rates a ON a.k = t.k JOIN rates b ON b.rate = t.x
GROUP BY a.k

-- static natural
SELECT k, sum(x * rate) AS s FROM trades NATURAL JOIN rates GROUP BY k

-- static values
SELECT v.w, count(*) AS n FROM trades JOIN (VALUES ('a', 1), ('b', 2)) v(k, w) USING (k) GROUP
BY v.w

-- static unnest
SELECT u, count(*) AS n FROM trades, (VALUES (1), (2)) AS q(u) GROUP BY u

-- upper join
SELECT t.k, s, sector, weight FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t JOIN sectors
USING (k)

-- upper left join
SELECT t.k, s, sector FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t LEFT JOIN sectors c
ON c.k = t.k AND c.weight < s

-- upper right join
SELECT c.k, s, sector FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t RIGHT JOIN sectors c
ON c.k = t.k

-- upper full join
SELECT t.k, c.k AS ck, s, weight FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t FULL JOIN
sectors c ON c.k = t.k

-- upper semi
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) WHERE k IN (SELECT k FROM
sectors WHERE weight > 1)

-- upper anti
SELECT t.k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t ANTI JOIN sectors c ON c.k =
t.k

-- upper aggregate
SELECT sector, sum(s * weight) AS s, count(*) AS n FROM (SELECT k, sum(x) AS s FROM trades GROUP
BY k) JOIN sectors USING (k) GROUP BY sector

-- upper scalar
SELECT k, s, s > (SELECT max(weight) FROM sectors) AS more FROM (SELECT k, sum(x) AS s FROM
trades GROUP BY k)

-- upper exists
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t WHERE NOT EXISTS (SELECT 1
FROM sectors c WHERE c.k = t.k AND c.weight > t.s)

-- inner of streams
SELECT t.k, s, l FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t JOIN (SELECT k, sum(lots)
AS l FROM orders GROUP BY k) o ON o.k = t.k

-- left of streams
SELECT t.k, s, l FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t LEFT JOIN (SELECT k,
sum(lots) AS l FROM orders GROUP BY k) o ON o.k = t.k

-- full of streams
SELECT k, s, l FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) FULL JOIN (SELECT k,
sum(lots) AS l FROM orders GROUP BY k) USING (k)

-- theta of streams
SELECT t.k, o.k AS other FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t JOIN (SELECT k,
sum(lots) AS l FROM orders GROUP BY k) o ON l < s

-- semi of streams
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) WHERE k IN (SELECT k FROM
(SELECT DISTINCT k FROM orders))

-- anti of streams
SELECT t.k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t ANTI JOIN (SELECT DISTINCT k
FROM orders) o ON o.k = t.k

-- cross of streams
SELECT t.n AS a, o.n AS b, e.n AS c FROM (SELECT count(*) AS n FROM trades) t, (SELECT count(*)
AS n FROM orders) o, (SELECT sum(n) AS n FROM beats) e

-- three streams
SELECT k, s, l, n FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) LEFT JOIN (SELECT k,
max(lots) AS l FROM orders GROUP BY k) USING (k) LEFT JOIN (SELECT k, count(*) AS n FROM beats
GROUP BY k) USING (k)

-- grouped after join
SELECT g, sum(s) AS s, count(l) AS n FROM (SELECT k, g, sum(x) AS s FROM trades GROUP BY k, g)
JOIN (SELECT k, max(lots) AS l FROM orders GROUP BY k) USING (k) GROUP BY g

-- same stream twice
SELECT a.k, a.s, b.n FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) a JOIN (SELECT g,
count(*) AS n FROM trades GROUP BY g) b ON a.s > b.g

-- union all
SELECT k, sum(x) AS n FROM trades GROUP BY k UNION ALL SELECT k, sum(lots) FROM orders GROUP BY
k

-- union
SELECT k FROM trades UNION SELECT k FROM orders

-- except
SELECT k, g FROM trades EXCEPT SELECT k, g FROM orders

-- intersect
SELECT k, g FROM trades INTERSECT SELECT k, g FROM orders

-- union by name
SELECT k, count(*) AS n FROM trades GROUP BY k UNION ALL BY NAME SELECT sum(lots) AS n, g FROM
orders GROUP BY g

-- union grouped
SELECT k, sum(n) AS n, count(*) AS c FROM (SELECT k, x AS n FROM trades UNION ALL SELECT k, lots
FROM orders) GROUP BY k

-- union with table
SELECT k, sum(x) AS n FROM trades GROUP BY k UNION ALL SELECT k, weight FROM sectors

-- cte twice
WITH c AS (SELECT k, sum(x) AS s FROM trades GROUP BY k) SELECT a.k, a.s, b.k AS above FROM c a
LEFT JOIN c b ON b.s > a.s

-- cte max
WITH c AS (SELECT k, sum(x) AS s FROM trades GROUP BY k) SELECT k, s FROM c WHERE s = (SELECT
max(s) FROM c)

-- cte chain
WITH a AS (SELECT k, g, count(*) AS n FROM trades GROUP BY k, g), b AS (SELECT g, sum(n) AS n
FROM a GROUP BY g) SELECT a.k, b.n FROM a JOIN b USING (g)

-- cte of a table
WITH r AS (SELECT k, max(rate) AS m FROM rates GROUP BY k) SELECT k, sum(x * m) AS s FROM trades
JOIN r USING (k) GROUP BY k

-- cte hides a stream
WITH orders AS (SELECT 'a' AS k, 1 AS lots) SELECT k, sum(x + lots) AS s FROM trades JOIN orders
USING (k) GROUP BY k

-- alias hides a stream
SELECT orders.k, count(*) AS n FROM trades AS orders GROUP BY orders.k

-- ranked
SELECT k, s, rank() OVER (ORDER BY s) AS r FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k)

-- running
SELECT g, n, sum(n) OVER (ORDER BY g) AS t, lag(n) OVER (ORDER BY g) AS l FROM (SELECT g,
count(*) AS n FROM trades GROUP BY g)

-- share
SELECT k, sum(x) AS s, sum(x) * 1.0 / sum(sum(x)) OVER () AS share FROM trades GROUP BY k

-- qualify
SELECT g, k, sum(x) AS s FROM trades GROUP BY g, k QUALIFY row_number() OVER (PARTITION BY g
ORDER BY s DESC, k) = 1

-- limit of groups
SELECT k, sum(x) AS s FROM trades GROUP BY k ORDER BY s DESC NULLS LAST, k LIMIT 2

-- order of groups
SELECT k, sum(x) AS s FROM trades GROUP BY k ORDER BY s

-- scalar of a stream
SELECT k, sum(x) AS s, (SELECT count(*) FROM orders) AS n FROM trades GROUP BY k

-- scalar of itself
SELECT k, sum(x) AS s FROM trades GROUP BY k HAVING sum(x) > (SELECT avg(x) FROM trades)

-- scalar only
SELECT (SELECT sum(x) FROM trades) AS a, (SELECT max(lots) FROM orders) AS b, 7 AS c

-- in a stream
SELECT sector FROM sectors WHERE k IN (SELECT k FROM trades)

-- table first
SELECT c.k, c.sector, (SELECT count(*) FROM trades) AS n FROM sectors c

-- latest
SELECT k, x, y FROM latest(trades) t WHERE x > 0

-- latest grouped
SELECT g, count(*) AS n, sum(x) AS s FROM latest(trades) t GROUP BY g

-- latest median
SELECT median(x) AS m, string_agg(note, ',' ORDER BY k) AS a FROM latest(trades) t

-- latest with grouped
SELECT t.k, t.x, s FROM latest(trades) t JOIN (SELECT k, sum(x) AS s FROM trades GROUP BY k) g
ON g.k = t.k

-- latest with other grouped
SELECT t.k, t.x, l, sector FROM latest(trades) t LEFT JOIN (SELECT k, sum(lots) AS l FROM orders
GROUP BY k) o ON o.k = t.k LEFT JOIN sectors c ON c.k = t.k

-- two latest
SELECT t.k, x, lots FROM latest(trades) t FULL JOIN latest(orders) o ON o.k = t.k

-- latest of no key
SELECT n, k FROM latest(beats) b

-- latest correlated
SELECT k, x, (SELECT count(*) FROM latest(orders) o WHERE o.g = t.g) AS n FROM latest(trades) t

-- latest windowed
SELECT k, x, row_number() OVER (ORDER BY x, k) AS r FROM latest(trades) t

-- latest union
SELECT k FROM latest(trades) t UNION ALL SELECT k FROM latest(orders) o UNION ALL SELECT k FROM
sectors

-- star of groups
SELECT *, s + 1 AS more FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k)

-- from first
FROM trades SELECT k, count(*) AS n GROUP BY k

-- count no key
SELECT count(*) AS n, max(n) AS m FROM beats

-- case
SELECT CASE WHEN x > 2 THEN 'big' WHEN x > 0 THEN 'small' END AS size, count(*) AS n FROM trades
GROUP BY 1

-- constant
SELECT 1 AS one, 'a' AS a, count(*) AS n FROM trades

-- no row where
SELECT k, sum(x) AS s FROM trades WHERE false GROUP BY k

-- struct
SELECT k, {'s': sum(x), 'n': count(*)} AS both, max({'x': x, 'g': g}) AS m FROM trades GROUP BY
k

-- histogram
SELECT g, histogram(note) AS h FROM trades GROUP BY g

-- lateral
SELECT k, s, w FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t, LATERAL (SELECT
max(weight) AS w FROM sectors c WHERE c.k = t.k)

-- decimals
SELECT k, sum(x::DECIMAL(18, 3) / 3) AS s, sum(x::DECIMAL(9, 2)) AS d, avg(x::DECIMAL(9, 2)) AS
a FROM trades GROUP BY k

-- huge
SELECT sum(x::HUGEINT * 1000000000000)::DECIMAL(38, 0) AS s, max(x::HUGEINT) AS m FROM trades

-- dates
SELECT date '2026-01-01' + time::INT AS d, count(*) AS n FROM trades GROUP BY 1

-- floats
SELECT k, sum(y::FLOAT) AS s, min(y::FLOAT)::DOUBLE AS m FROM trades GROUP BY k

-- having distinct
SELECT k FROM trades GROUP BY k HAVING count(DISTINCT g) > 1

-- approx
SELECT k, approx_count_distinct(x) AS n FROM trades GROUP BY k

-- median small
SELECT k, median(x::TINYINT) AS m FROM trades GROUP BY k

-- join same static in upper
SELECT t.k, s, rate FROM (SELECT t.k, sum(x * rate) AS s FROM trades t JOIN rates USING (k)
GROUP BY t.k) t JOIN rates r ON r.k = t.k

-- nan
SELECT k, sum(CASE WHEN x > 5 THEN 'nan'::DOUBLE ELSE y END) AS s, min(CASE WHEN x > 5 THEN
'nan'::DOUBLE ELSE y END) AS m FROM trades GROUP BY k

-- inf
SELECT k, sum(CASE WHEN x > 5 THEN 'inf'::DOUBLE ELSE y END) AS s, avg(CASE WHEN x > 5 THEN
'-inf'::DOUBLE ELSE y END) AS m FROM trades GROUP BY k

-- group by double
SELECT y % 2 AS r, count(*) AS n FROM trades GROUP BY 1

-- group by nothing
SELECT count(*) AS n FROM trades GROUP BY ()

-- group by const
SELECT 'a' AS q, sum(x) AS n FROM trades GROUP BY 'a'

-- distinct on groups
SELECT DISTINCT ON (g) g, k, n FROM (SELECT g, k, count(*) AS n FROM trades GROUP BY g, k) ORDER
BY g, n DESC, k

-- any
SELECT k, sum(x) AS s FROM trades GROUP BY k HAVING sum(x) > ANY (SELECT rate FROM rates)

-- all
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) WHERE s >= ALL (SELECT weight
FROM sectors WHERE weight IS NOT NULL)

-- not in null
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) WHERE k NOT IN (SELECT k FROM
rates)

-- in null below
SELECT k, count(*) AS n FROM trades WHERE k NOT IN (SELECT k FROM rates) GROUP BY k

-- in item
SELECT k IN (SELECT k FROM rates WHERE rate < 6) AS i, count(*) AS n FROM trades GROUP BY 1

-- in aggregate
SELECT k, sum(CASE WHEN k IN (SELECT k FROM rates) THEN x ELSE 0 END) AS n FROM trades GROUP BY
k

-- in item upper
SELECT k, s, s IN (SELECT weight FROM sectors) AS i FROM (SELECT k, sum(x) AS s FROM trades
GROUP BY k)

-- latest in having
SELECT k, sum(x) AS s FROM trades GROUP BY k HAVING sum(x) > (SELECT max(x) FROM latest(trades)
l)

-- latest in where upper
SELECT k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) WHERE k IN (SELECT k FROM
latest(orders) o WHERE lots > 2)

-- sector in having
SELECT k, sum(x) AS s FROM trades GROUP BY k HAVING sum(x) > (SELECT min(weight) FROM sectors)

-- values upper
SELECT v.w, t.n FROM (SELECT count(*) AS n FROM trades) t, (VALUES (1), (2)) v(w)

-- range
SELECT i, (SELECT count(*) FROM trades) AS n FROM range(3) r(i)

-- unnest list
SELECT unnest([k, k || 'z']) AS u, n FROM (SELECT k, count(*) AS n FROM trades GROUP BY k)

-- self left
SELECT a.k, b.k AS lower FROM (SELECT k, min(x) AS m FROM trades GROUP BY k) a LEFT JOIN (SELECT
k, max(x) AS m FROM trades GROUP BY k) b ON b.m < a.m

-- semi join of streams
SELECT t.k, s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t SEMI JOIN (SELECT k, g FROM
orders GROUP BY k, g) o ON o.k = t.k

-- using three
SELECT k, count(*) AS n FROM (SELECT DISTINCT k FROM trades) JOIN (SELECT DISTINCT k FROM
orders) USING (k) JOIN sectors USING (k) GROUP BY k

-- asof
SELECT t.k, s, w.weight FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) t ASOF JOIN (SELECT
DISTINCT weight FROM sectors WHERE weight IS NOT NULL) w ON t.s >= w.weight

-- positional rollup
SELECT k, g, count(*) AS n FROM trades GROUP BY ROLLUP (1, 2)

-- rollup having
SELECT k, g, sum(x) AS s FROM trades GROUP BY ROLLUP (k, g) HAVING count(*) > 1

-- rollup distinct
SELECT k, count(DISTINCT g) AS n FROM trades GROUP BY ROLLUP (k)

-- rollup join
SELECT k, sector, sum(s) AS s FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) JOIN sectors
USING (k) GROUP BY ROLLUP (k, sector)

-- filter distinct
SELECT sum(DISTINCT x) FILTER (WHERE g > 0) AS s, count(DISTINCT k) FILTER (WHERE x IS NULL) AS
n FROM trades

-- sum of bools
SELECT sum((x > 2)::INT) AS a, avg((x > 2)::INT) AS b FROM trades

-- limit nested
SELECT count(*) AS n FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k ORDER BY s, k LIMIT 2)

-- empty join
SELECT t.k, sum(x) AS s FROM trades t JOIN (SELECT * FROM rates WHERE false) r ON r.k = t.k
GROUP BY t.k

-- left join count
SELECT count(*) AS n, count(rate) AS r FROM trades t LEFT JOIN rates r ON r.k = t.k AND r.rate >
4

-- join then left
SELECT a.k, b.rate, sum(x) AS s FROM trades t JOIN rates a ON a.k = t.k LEFT JOIN rates b ON
b.rate = t.x GROUP BY a.k, b.rate

-- subquery below
SELECT u, sum(z) AS s FROM (SELECT upper(k) AS u, x * 2 AS z, g FROM trades WHERE x > 0) q WHERE
g >= 0 GROUP BY u

-- static subquery joined in subquery
SELECT u, sum(z) AS s FROM (SELECT upper(t.k) AS u, x * rate AS z FROM trades t JOIN rates r ON
r.k = t.k) q GROUP BY u

-- cte of stream below
WITH q AS (SELECT k, x FROM trades WHERE x > 1) SELECT k, count(*) AS n FROM q GROUP BY k UNION
ALL SELECT 'all', sum(x) FROM q

-- correlated static
SELECT k, sum(x * (SELECT max(rate) FROM rates r WHERE r.k = t.k)) AS s FROM trades t GROUP BY k

-- exists static or
SELECT k, count(*) AS n FROM trades t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.k = t.k) OR x
> 5 GROUP BY k

-- same names
SELECT k, sum(rates.rate) AS s FROM trades JOIN rates USING (k) WHERE k IN (SELECT rates.k FROM
rates WHERE rates.rate > 2) GROUP BY k

-- alias as table
SELECT sectors.k, sum(sectors.rate * x) AS s FROM trades JOIN rates AS sectors ON sectors.k =
trades.k GROUP BY sectors.k

-- static of static
SELECT t.k, sum(x * q.m) AS s FROM trades t JOIN (SELECT r.k, max(r.rate) AS m FROM rates r JOIN
(SELECT min(rate) AS z FROM rates) i ON r.rate > i.z GROUP BY r.k) q ON q.k = t.k GROUP BY t.k

-- two conditions
SELECT t.k, count(*) AS n FROM trades t, rates r WHERE r.k = t.k AND (r.rate > 2 OR t.x > 3) AND
r.rate < 9 GROUP BY t.k

-- view as it is
SELECT k, n FROM by_k

-- view filtered and sorted
SELECT k, s FROM by_k WHERE n > 1 ORDER BY s

-- view grouped again
SELECT n, count(*) AS ks, list(k ORDER BY k) AS which FROM by_k GROUP BY n

-- view with its stream
SELECT v.k, v.s, q.m FROM by_k AS v JOIN (SELECT k, max(x) AS m FROM trades GROUP BY k) AS q ON
q.k = v.k

-- view with another stream
SELECT v.k, v.s, q.m FROM by_k AS v FULL JOIN (SELECT k, sum(lots) AS m FROM orders GROUP BY k)
AS q ON q.k = v.k

-- view with the newest rows
SELECT v.k, v.s, o.lots FROM by_k AS v LEFT JOIN latest(orders) AS o ON o.k = v.k

-- view with a table
SELECT sector, sum(s * weight) AS w FROM by_k JOIN sectors USING (k) GROUP BY sector

-- two views
SELECT k, s, lots FROM by_k JOIN by_lots USING (k)

-- view with itself
SELECT a.k, b.k AS other FROM by_k AS a JOIN by_k AS b ON a.s < b.s

-- views in a set operation
SELECT k FROM by_k EXCEPT SELECT k FROM by_lots

-- view of the newest rows
SELECT g, median(x) AS m, count(DISTINCT k) AS ks FROM newest GROUP BY g

-- view in a subquery
SELECT k, x FROM newest AS t WHERE x < (SELECT avg(s) FROM by_k) OR k IN (SELECT k FROM by_lots)

-- view correlated
SELECT k, (SELECT max(lots) FROM by_lots AS o WHERE o.k = v.k AND o.g >= v.n) AS l FROM by_k AS
v

-- view in HAVING
SELECT k, count(*) AS n FROM orders GROUP BY k HAVING count(*) < (SELECT max(n) FROM by_k)

-- view ranked
SELECT k, s, rank() OVER (ORDER BY s DESC) AS r FROM by_k QUALIFY r < 3

-- view under a CTE
WITH v AS (SELECT k, s FROM by_k WHERE s > 0) SELECT a.k, b.s FROM v AS a JOIN v AS b USING (k)

-- view whose name an alias takes
SELECT by_k.k, by_k.lots FROM by_lots AS by_k

-- static left join, kept where nothing matches
SELECT t.k, count(*) AS n FROM trades t LEFT JOIN rates r ON r.k = t.k AND r.rate > 2
WHERE r.rate IS NULL GROUP BY t.k

-- static left join, filtered by both sides
SELECT t.k, sum(x) AS n FROM trades t LEFT JOIN rates r ON r.k = t.k
WHERE coalesce(r.rate, 0) < 3 OR x > 6 GROUP BY t.k

-- static inner join after a left join
SELECT a.rate, b.rate AS other, count(*) AS n FROM trades t LEFT JOIN rates a ON a.k = t.k
JOIN rates b ON b.rate > t.x WHERE a.rate IS NULL OR b.rate < 6 GROUP BY a.rate, b.rate

-- the newest rows beside all rows of the same stream
SELECT t.k, t.x, (SELECT count(*) FROM trades) AS n, s FROM latest(trades) AS t
LEFT JOIN (SELECT k, sum(x) AS s FROM trades WHERE x > 2 GROUP BY k) AS q ON q.k = t.k

-- greatest groups
SELECT k, count(*) AS n, sum(x) AS s FROM trades GROUP BY k ORDER BY n DESC, k LIMIT 2

-- greatest groups by number
SELECT g, note, sum(x) AS s FROM trades GROUP BY g, note ORDER BY 3 DESC, g, note LIMIT 2 OFFSET 1

-- groups with the greatest sum
WITH sums(g, note, s) AS (SELECT g, note, sum(x) FROM trades GROUP BY g, note)
SELECT g, note, s FROM sums WHERE s = (SELECT max(s) FROM sums)

-- groups with the least count and a table
WITH counts AS (SELECT k, max(time) AS t, count(*) AS n FROM trades GROUP BY k)
SELECT weight, n, t FROM sectors AS s, counts AS c WHERE s.k = c.k
AND n = (SELECT min(n) FROM counts)

-- newest group
SELECT k FROM (SELECT k, g, max(time) AS t FROM trades GROUP BY k, g) AS b
ORDER BY t DESC, k, g LIMIT 1

-- looked up
SELECT k, sector FROM sectors AS c WHERE weight > 1 AND weight < (SELECT sum(x) FROM trades AS t
WHERE t.k = c.k)

-- looked up in a set
SELECT k, rate FROM rates AS r WHERE rate < 8 AND k IN (SELECT c.k FROM sectors AS c
WHERE c.sector <> 'none' AND c.weight < (SELECT count(*) FROM orders AS o WHERE o.k = c.k))

-- looked up over a join
SELECT c.sector, count(*) AS n FROM sectors AS c, rates AS r WHERE c.k = r.k AND r.rate < 6
AND EXISTS (SELECT 1 FROM trades AS t WHERE t.k = r.k AND t.note = 'p') GROUP BY c.sector

-- not looked up
SELECT k, weight FROM sectors AS c WHERE weight IS NOT NULL AND NOT EXISTS (SELECT 1 FROM orders
AS o WHERE o.k = c.k AND o.lots > c.weight)

-- looked up in the select list
SELECT c.k, (SELECT max(s) FROM (SELECT k, sum(x) AS s FROM trades GROUP BY k) AS t WHERE t.k = c.k)
AS s FROM sectors AS c WHERE c.sector = 'tech' AND c.k <> (SELECT min(k) FROM trades)

-- in a set and not
SELECT sector FROM sectors WHERE weight > 2 AND k NOT IN (SELECT r.k FROM rates AS r WHERE
r.rate > 2 AND r.rate > (SELECT count(*) FROM trades AS t WHERE t.k = r.k)) AND k IN (SELECT k
FROM orders)

-- by number of groups
SELECT c.k, c.weight FROM sectors AS c WHERE c.weight > 0 AND c.k IN (SELECT r.k FROM rates AS r
WHERE r.rate > 1 AND r.rate IN (SELECT t.x FROM trades AS t WHERE t.k = r.k))
