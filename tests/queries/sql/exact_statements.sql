select a, b from t
select * from t
from t
from t select a
select a from t where a = 1 and b <> 2 or not c
select distinct a from t
select count(*) from t group by c having count(*) > 1
select count(distinct a) from t group by c having count(*) > 1
select sum(a) filter (where b > 0) from t group by c having count(*) > 1
select count(distinct (a, b)) from t
select count(distinct a, b) from t
select string_agg(distinct a, ',' order by a desc nulls first) from t
select list(a order by b desc, c) from t
select array_agg(distinct a order by a) from t
select first(a order by b), last(a), any_value(a), arbitrary(a) from t
select listagg(a, ','), group_concat(a), string_agg(a, '|') from t
select a from t group by all
select grouping(a) from t group by cube(a, c)
select grouping_id(a) from t group by cube(a, c)
select a from t group by grouping sets ((a), (b), ())
select sum(b) from t group by grouping sets ((a), (b), ())
select a from t order by a nulls first
select a from t order by a desc nulls last limit 3 offset 2
select a from t order by all
select a from t order by all desc
select a from t order by a collate nocase
select a collate nocase = b, a collate nocase.noaccent from t
select a from t limit 10%
select a from t limit 50 percent
select a from t limit all
select a from t limit (select 3)
select a from t fetch first 3 rows only
select a from t using sample 10%
select a from t using sample reservoir(50 rows) repeatable (100)
select a from t tablesample 10%
select a from t tablesample bernoulli(10 percent) repeatable (5)
select a from t tablesample system (3%)
select sum(a) over (partition by b order by c rows between 3 preceding and current row) from t
select sum(a) over (partition by b order by c range between interval 1 day preceding and unbounded following exclude ties) from t
select sum(a) over w from t window w as (partition by b), v as (w order by c)
select sum(a) over (w rows 3 preceding) from t window w as (order by b)
select sum(a) over (order by c groups between 1 preceding and 1 following exclude current row) from t
select lag(a) over (order by b), lag(a, 2, 0) over (order by b) from t
select lead(a ignore nulls) over (order by b) from t
select first_value(a ignore nulls) over (order by c) from t
select first_value(a respect nulls) over (order by c) from t
select lag(a order by b) over (order by c) from t
select nth_value(a, 2) over (order by b), ntile(4) over (order by b) from t
select rank() over (order by b), row_number() over (), cume_dist() over (order by a) from t
select fill(a) over (order by b) from t
select count(*) filter (where a > 1) over (order by b) from t
select count(distinct a) over (partition by b) from t
select a from t qualify row_number() over (partition by b order by c) = 1
select percentile_cont(0.5) within group (order by a) from t
select percentile_cont(0.5) within group (order by a desc) from t
select percentile_disc([0.1, 0.9]) within group (order by a) from t
select mode() within group (order by a) from t
select quantile_cont(a, 0.5), quantile_disc(a, [0.1, 0.5]), median(a), mode(a) from t
select arg_max(a, b), arg_min(a, b, 3), max_by(a, b), min(a, 3), max(a, 2) from t
select approx_quantile(a, 0.5), approx_count_distinct(a), approx_top_k(a, 3) from t
select reservoir_quantile(a, 0.5, 10) from t
select histogram(a), histogram(a, [1,2]), entropy(a), kurtosis(a) from t
select bitstring_agg(a, 1, 10) from t
select cast(a as integer), try_cast(a as double), a::varchar(3), a::decimal(10,2) from t
select a::int[], a::int[3], a::struct(x int, y varchar), a::map(int, varchar) from t
select a::union(x int, y text) from t
select a::int1, a::int2, a::int4, a::int8, a::tinyint, a::smallint, a::short, a::long from t
select a::hugeint, a::uhugeint, a::int128, a::utinyint, a::uint8, a::ubigint, a::signed from t
select a::bigint, a::float4, a::float8, a::real, a::numeric, a::dec, a::decimal from t
select a::bool, a::logical, a::char, a::bpchar, a::text, a::string, a::bytea, a::blob from t
select a::varbinary, a::binary, a::bit, a::bitstring, a::uuid, a::guid, a::json from t
select a::date, a::time, a::timetz, a::timestamp, a::datetime, a::timestamptz from t
select a::timestamp_s, a::timestamp_ms, a::timestamp_ns, a::timestamp_us, a::interval from t
select a::varint, a::bignum, a::enum('x','y'), a::time_ns from t
select a::timestamp with time zone, a::time with time zone, a::double precision from t
select a::character varying, a::timestamp without time zone, a::timestamp(3) from t
select date '2020-01-01', timestamp '2020-01-01 00:00:00', time '01:02:03'
select timestamptz '2020-01-01 00:00:00+01', interval '1 day', interval 1 day
select interval '1' day, interval (a) day, interval '1 year 2 months'
select interval '01:02:03', interval '1.5 hours', blob '\xAA'
select uuid '6ccd780c-baba-1026-9564-5b8c656024db', int '5', json '{"a": 1}'
select bit '0101'
select interval '1' year, interval '5' minutes, interval 3 weeks, interval 2 quarter
select interval 1 decade, interval 1 century, interval 1 millennium
select interval 4 milliseconds, interval 4 microseconds
select interval (a + 1) hours from t
select extract(year from a), extract('month' from a), extract(epoch from a) from t
select date_part('day', a), date_part(['year','month'], a) from t
select extract(dow from date '2020-01-01'), extract(isodow from a) from t
select extract(timezone_hour from a) from t
select date_trunc('month', a), date_trunc('week', a::date), datetrunc('day', a) from t
select time_bucket(interval '1 hour', a), date_diff('day', a, b) from t
select datediff('week', a, b), date_sub('month', a, b), date_add(a, interval 1 day) from t
select a at time zone 'Europe/Berlin', timezone('UTC', a) from t
select strftime(a, '%Y'), strftime('%Y', a), strptime(a, '%d') from t
select strptime(a, ['%d', '%m']), try_strptime(a, '%d') from t
select now(), current_timestamp, current_date, current_time, localtime, localtimestamp
select today(), get_current_timestamp(), transaction_timestamp()
select current_localtimestamp(), current_localtime()
select current_user, session_user, user, current_role, current_catalog, current_schema
select current_database(), current_schema(), version()
select a between 1 and 2, a not between 1 and 2 from t
select a in (1, 2), a not in (1, 2), a in (select b from s), a not in (select b from s) from t
select (a, b) in (select 1, 2), a in s, a in [1,2], a in (1) from t
select exists (select 1 from s where s.a = t.a), not exists (select 1) from t
select a = any(select b from s), a > all(select b from s), a = any([1,2]) from t
select a = some(select 1), a <> all([1,2]) from t
select a like 'x%', a not like 'x%', a ilike 'x', a like 'x!%' escape '!' from t
select a not ilike 'x' escape '\', a similar to 'x.*', a not similar to 'y' from t
select a glob 'x*', a ~ 'x', a !~ 'x', a ~~ 'x', a !~~ 'x', a ~~* 'x', a !~~* 'x' from t
select a ~~~ 'x' from t
select a is null, a is not null, a isnull, a notnull, a not null, a is true from t
select a is not true, a is false, a is not false, a is distinct from b from t
select a is not distinct from b, a is unknown, a is not unknown from t
select not a, -a, +a, ~a, @a, a!, 4!, (a)!, - -a, - (-3), 2 - -1 from t
select a + b - c * d / e // f % g, a ^ b, a ** b, 2 ** 3 ** 2, -2 ** 2, -2 ^ 2, a || b from t
select a & b, a | b, a << 1, a >> 2, xor(a, b), a ^@ b from t
select a <-> b from t
select a -> 'x', a ->> 'x', a -> 0, a -> '$.x', a ->> '$.a.b', a -> 'a.b' from t
select coalesce(a -> 'x', b), f(a ->> 'x', lambda x: g(x -> 'y')), max(a -> 'x') from t
select json_extract(a, '$.x'), json_extract_string(a, ['$.x','$.y']) from t
select a ->> 'x' = 'y' from t
select a @> b, a <@ b, a && b, a <> b, a != b, a == b, a >= b from t
select [1, 2, 3], [], ['a'], array[1,2], [[1],[2]], [1,2][1], a[1], a[1:2], a[:2] from t
select a[1:], a[:], a[1:-1:2], a[-1], a['x'], a[1][2] from t
select {'a': 1, 'b': [1]}, {a: 1}, {'a': 1}.a, {'a': {'b': 1}}.a.b from t
select struct_pack(a := 1, b := 2), row(1, 2), (1, 2), struct_extract(s, 'a'), s.a from t
select (s).a, s['a'] from t
select map {'a': 1}, map {}, map([1], [2]), map(), map {'a': 1}['a']
select map {1: 2, 3: 4}[1], map_from_entries([(1,2)]), map_keys(map {'k': 1})
select union_value(a := 1), union_tag(u), u.a from t
select list_transform([1,2], lambda x: x + 1), list_filter(l, lambda x: x > 1) from t
select list_reduce(l, lambda x, y: x + y), apply(l, lambda x: x), reduce(l, lambda x, y: x + y) from t
select filter(l, lambda x: x > 0), array_transform(l, lambda x, i: x + i) from t
select list_transform(l, lambda x: x + 1), list_reduce(l, lambda x, y: x + y, 0) from t
select array_apply(l, lambda x, i: x + i) from t
select list_transform(l, lambda x: list_transform(x, lambda y: x[1] + y)) from t
select list_transform(l, lambda s: s.a), list_transform(l, lambda s: s['a']) from t
select list_transform(l, lambda x: {'a': x}), list_filter(l, lambda x: x.a.b = 1) from t
select [x + 1 for x in l], [x for x in l if x > 1], [x + i for x, i in l] from t
select [lower(x) for x in ['A']] from t
select l.list_transform(lambda x: x + 1), a.upper(), a.upper().lower(), ('x').upper() from t
select t.a.lower(), [1,2].list_sum(), 'abc'.upper() from t
select position('b' in a), substring(a from 2), substring(a from 2 for 3) from t
select substring(a for 2), substring(a, 2), substring(a, 2, 3), substr(a, 1), trim(a) from t
select trim(both 'x' from a), trim(leading from a), trim(trailing 'y' from a) from t
select trim(leading 'x' from a), trim(a, 'x'), trim('x' from a), trim(from a) from t
select ltrim(a, 'x'), rtrim(a), overlay(a placing 'x' from 2) from t
select overlay(a placing 'x' from 2 for 3), overlay(a, 'x', 2) from t
select case a when 1 then 2 else 3 end, case when a then b end from t
select case when a = 1 then 'x' when a = 2 then 'y' else null end, if(a, b, c) from t
select if(a > 1, 2, 3), ifnull(a, b), coalesce(a, b, c), nullif(a, b), greatest(a, b) from t
select least(a, b, c) from t
select $$dollar$$, $tag$it's$tag$, 'it''s', e'\n\t\\', E'a\'b', U&'\0041', '\n' from t
select 'back\slash', "quoted""id", "Mixed Case" from t
select 1, 1.5, 1e3, 1.5e-3, .5, 5., 1_000_000, 0x1F, 0b101, 0o17
select 123456789012345678901234567890, 1.0::float, true, false, null, 1.00, 10000000000
select 0.1
select * exclude (a), t.* exclude a, * replace (a + 1 as a), * rename (a as b) from t
select * exclude (a) replace (b * 2 as b), * like 'a%', * not like 'x%', * glob '*a' from t
select * similar to 'x' from t
select columns(*), columns('a.*'), columns(lambda c: c like 'a%') from t
select columns(lambda c: c like 'a'), columns(['a','b']), columns(* exclude a) from t
select sum(columns(*)), columns('(.*)') as '\1_x', min(columns(* replace (a+1 as a))) from t
select *columns('x'), coalesce(*columns(*)) from t
select a: 1, b: a + 1 from t
from x: t select x.a
select #1, #2 from t
select t from t
select unnest([1,2]), unnest(l, recursive := true), unnest({'a': 1}) from t
select generate_series(1, 3), range(5), unnest(l, max_depth := 2) from t
select * from unnest([1,2]) as u(x)
select * from unnest([1,2]) with ordinality as u(x, i)
select * from unnest([1,2], [3,4])
select * from range(5) r(i), generate_series(1,2)
select * from range(date '2020-01-01', date '2020-02-01', interval '1 day')
select * from read_csv('x.csv', header := true, columns = {'a': 'int'}), 'x.parquet', "y.csv", read_parquet(['a','b'], union_by_name => true)
select * from (values (1, 'a'), (2, 'b')) v(x, y)
values (1, 2), (3, 4)
select * from (values (1)) order by 1
select * from t join s on t.a = s.a
select * from t inner join s using (a, b)
select * from t left join s on t.a = s.a left outer join u on true right join v using (b) full outer join w on false
select * from t full join s using (a)
select * from t cross join s, u
select * from t natural join s
select * from t natural left join s
select * from t semi join s using (a)
select * from t anti join s on t.a = s.a
select * from t semi join s on t.a = s.a where t.b > 1
select * from t x anti join s y on x.a = y.a
select * from t asof join s on t.a = s.a and t.ts >= s.ts
select * from t asof left join s using (a, ts)
select * from t positional join s
select * from t, lateral (select t.a + 1 as b) l
select * from t cross join lateral (select t.a) l
select * from t left join lateral (select t.a) l on true
select * from t join (s join u on s.a = u.a) on t.a = s.a
select * from (t join s using (a)) x
select * from t as x(p, q)
select * from (select 1) as q(n)
select (select max(a) from s), (select a from s limit 1) + 1, array(select a from s) from t
select array(select a from s order by b) from t
with x as (select 1 as a) select * from x
with x as materialized (select 1), y as not materialized (select 2) select * from x, y
with x(a, b) as (select 1, 2), y as (select a from x) select * from y
with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r
with recursive r(a, b) using key (a) as (select 1, 2 union select a, b from r) select * from r
select 1 union select 2 union all select 3 intersect select 4 except select 5
select 1 except all select 2
select 1 intersect all select 2
select 1 as a union by name select 2 as b
select 1 as a union all by name select 2 as b
(select 1) union all (select 2 order by 1) order by 1 limit 1
(select 1 limit 1) union (select 2)
select a from t order by b desc, c asc nulls first, d nulls last
select a from (from t)
select a from (t)
select a from (((t)))
select * from (pivot t on a in (1, 2) using sum(b) group by d)
select * from t pivot (sum(a) for b in (1, 2))
select * from t pivot (sum(a) as s, count(*) as n for b in ('x', 'y') c in (1, 2) group by d)
select * from t pivot (sum(a) for b in ('x' as p, 'y' as q)) as pv
select * from t pivot (sum(a) for (b, c) in ((1, 2), (3, 4)))
unpivot t on a, b into name n value v
unpivot t on columns(* exclude k) into name n value v
unpivot t on (a, b) as ab, (c, d) as cd into name n value x, y
select * from t unpivot (v for n in (a, b))
select * from t unpivot include nulls (v for n in (a, b))
select * from (unpivot t on a, b into name n value v) where v > 1
summarize t
describe t
describe select 1
show tables
select * from (describe t)
select * from (summarize t)
select getvariable('x')
select a.b.c.d from t
select try(a / 0), error('x'), constant_or_null(1, a), a is not null and b from t
select cast(a as int) + 1, a::int::text, (a + b)::int, -a::int, a::int[1] from t
select a::"int", a::main.mytype from t
select replace(a, 'x', 'y'), left(a, 2), right(a, 2), repeat(a, 2), format('{}', a) from t
select printf('%d', a), concat(a, b), concat_ws(',', a, b), a.b from t
select regexp_matches(a, 'x', 'i'), regexp_replace(a, 'x', 'y', 'g') from t
select regexp_extract(a, '(x)', 1), regexp_extract(a, 'x', ['n']) from t
select regexp_extract_all(a, 'x'), regexp_full_match(a, 'x') from t
select regexp_split_to_array(a, 'x') from t
select round(a), round(a, 2), ceil(a), ceiling(a), floor(a), trunc(a), trunc(a, 2) from t
select mod(a, 2), pow(a, 2), power(a, 2), log(a), log(2, a), ln(a), log2(a), log10(a) from t
select sign(a), abs(a), gcd(a, b), isnan(a), random(), pi(), e() from t
select chr(65), ascii(a), unicode(a), ord(a), md5(a), sha256(a), hash(a), encode(a) from t
select decode(a), to_base64(a), from_base64(a), base64(a), hex(a), unhex(a), to_hex(a) from t
select bin(a), length(a), len(a), char_length(a), strlen(a), bit_length(a) from t
select array_length(a), array_length(a, 1), cardinality(m) from t
select year(a), month(a), day(a), dayofweek(a), weekday(a), dayname(a), monthname(a) from t
select last_day(a), to_timestamp(a), epoch(a), epoch_ms(a), make_date(1,2,3) from t
select make_timestamp(a), make_timestamp(1,2,3,4,5,6.0), to_days(3), to_seconds(a) from t
select age(a), age(a, b), century(a), weekofyear(a), yearweek(a) from t
select list_value(1,2), list_concat(a, b), list_contains(a, 1), list_has_any(a, b) from t
select list_sort(a), list_sort(a, 'desc'), list_reverse_sort(a), list_distinct(a) from t
select list_unique(a), list_slice(a, 1, 2), array_slice(a, 1, 2, 1) from t
select list_aggregate(a, 'sum'), list_sum(a), flatten(a), list_zip(a, b) from t
select list_position(a, 1), array_append(a, 1), array_prepend(1, a), list_prepend(1, a) from t
select list_append(a, 1), list_grade_up(a), array_to_string(a, ',') from t
select list_cosine_similarity(a, b) from t
select greatest(a), least(a), any_value(a), count(a), count(), count(1), sum(all a) from t
select bool_and(a), every(a), bool_or(a), product(a), stddev(a), variance(a) from t
select corr(a, b), covar_pop(a, b), skewness(a), fsum(a), kahan_sum(a), favg(a) from t
select geomean(a), mad(a), sem(a), regr_slope(a, b) from t
select (a, b) = (1, 2) from t
select a where a > 1
select a from t where (select true)
select a from t where a > 1 group by a, b having sum(c) > 1 order by sum(c) limit 1
select * from t at (version => 3)
select * from s1.t, db.s1.t
select a as "select", b as from_ from t
select a as 'alias' from t
select sum(a) as total, total / 2 as half from t
select a from t where b = 'x' -- comment
select /* hi */ a from t /* there */
select a from t
select (select a, b from s) from t
select a[b] [c] from t
select date_part('year', a) + extract(month from b) * 100 from t
select 1 + 2 * 3 - (4 - 5), (1 + 2) * 3, 1 - (2 - 3), 2 / (3 * 4), not (a and b) from t
select (a or b) and c, a and (b or c), -(1 + 2), (a = b) = c, (a < b) is null from t
select (a is null) = b, a = (b = c) from t
select a || b || c, (a || b) = c, a + (b || c), a::int || b, not a = b, not a in (1) from t
select not a like 'x', not a between 1 and 2, a is null = true from t
select a > b and c < d or e = f and not g is null from t
select a is null is null, a in (1) in (true) from t
select a % b * c, a // b / c, a - b + c, a << b + c, a & b | c, a ^ b * c from t
select cast({'a': 1} as struct(a bigint, b varchar)), cast([1] as bigint[]) from t
select cast('{}' as json), cast(a as decimal), cast(a as decimal(5)) from t
select st.a.b[1].c from t
select max(a) filter (b > 1) from t
select max(a) filter (where b) - min(a) from t
select count(*) = 0, count(*) + 1, count_star() from t
select sum(a) over (), sum(a) over (order by b) - 1 from t
select sum(sum(a)) over (order by b) from t group by b
select nextval('s'), currval('s')
select * from duckdb_functions(), pragma_table_info('t'), sqlite_scan('a','b')
select * from query('select 1'), query_table('t')
select substring('abc' from 1 for 2) || 'x', trim(a) || b, extract(hour from a) = 3 from t
select try_cast(a as int) is null, a::int is not null, a::text = 'x' from t
select a not in (select b from s) and c is distinct from d from t
select interval '1 day' * 3, 3 * interval 1 day, a + interval '2 hours' from t
select a - interval 3 days, interval '1 day' + interval '1 hour' from t
select * from t where a > now() - interval '5 minutes'
select * from t where a >= date '2020-01-01' + 1
select grouping(a, b) from t group by a, b
select nullif(a, 0), ifnull(a, 0), nvl(a, b), isnull(a), iff(a, b, c), decode(a, 1, 2) from t
select nvl2(a, b, c), zeroifnull(a) from t
select to_char(a, 'YYYY'), instr(a, 'b', 1, 2), add_months(a, 1), date_format(a, '%Y') from t
select from_unixtime(a), concat_ws(a), charindex('a', b), locate('a', b), len(a) from t
select getdate(), sysdate(), dateadd(day, 1, a), substring_index(a, '.', 1) from t
select timestampdiff(day, a, b), to_date(a), array_size(a), startswith(a, b) from t
select endswith(a, b), try_to_number(a), json_value(a, '$.x'), json_query(a, 'x') from t
select convert(a, int) from t
select date('2020-01-01'), json('{}'), date(a), text(a)
select sum(distinct a, b) from t
select min(a order by b), max(distinct a) from t
select char_length(a), character_length(a), octet_length(a) from t
select cast(a as unsigned) from t
select current_date - 1, current_date + interval 1 day, current_timestamp::date
select today() - 3
select ascii('a') from t
select all a from t
select json_object('a', 1, 'b', 2), json_array(1, 2), to_json(a), json_group_array(a) from t
select json_group_object(a, b), json_merge_patch(a, b) from t
select json_transform(a, '{"x":"int"}'), from_json(a, '["int"]'), json_keys(a) from t
select json_type(a), json_valid(a), json_array_length(a), row_to_json(a) from t
select array_to_json(a), json_structure(a), json_contains(a, b), json_exists(a, '$.x') from t
select json_value(a, '$.x') from t
select strict, first, last, values, time, date, year, key, type, name, rows, range from t
select mode from t
select struct_insert(s, b := 1), struct_update(s, a := 2), struct_concat(a, b) from t
select struct_pack(x := a), s.*, t.s.a, unnest(s) from t
select list_has_all(a, [1]), a @> [1], [1] <@ a, array_cross_product(a, b) from t
select array_value(1, 2, 3), array_distance(a, b) from t
select md5_number(a), url_encode(a), levenshtein(a, b), jaccard(a, b), hamming(a, b) from t
select damerau_levenshtein(a, b), jaro_similarity(a, b), editdist3(a, b) from t
select mismatches(a, b), contains(a, b), prefix(a, b), suffix(a, b), starts_with(a, b) from t
select ends_with(a, b), nfc_normalize(a), strip_accents(a), reverse(a) from t
select translate(a, 'x', 'y'), parse_path(a), bar(1, 2, 3), lpad(a, 3, 'x') from t
select split(a, ','), split_part(a, ',', 1), string_split(a, ',') from t
select str_split_regex(a, ','), regexp_escape(a), to_binary(a), array_extract(a, 1) from t
select list_element(a, 1), list_extract(a, 1), list_indexof(a, 1) from t
select icu_sort_key(a, 'de') from t
select a as x, b y, c from t as u
select t.a, s.t.a, main.t.a from main.t
select distinct on (a) a, b from t order by a, b desc
select a, sum(b) from t group by rollup(a, c)
select a, sum(b), grouping(a), grouping_id(a) from t group by cube(a, c)
select "select", "from" from "order"
select a is not null as c, not a is null as d, (a > 1) is not null as e, a is not true as f, a is not distinct from 1 as g from t
select a notnull as c, a isnull as d from t
