"""Files of each format, byte for byte where it matters, and what each can have wrong."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simulator.errors import TraceError
from simulator.workloads.trace_file import TraceFile, read_trace
from simulator.workloads.trace_formats import BLOCK_BYTES


def read_bytes(folder: Path, content: bytes, name: str = "x.csv") -> TraceFile:
    """Read a file of these bytes."""
    path = folder / name
    path.write_bytes(content)
    return read_trace(path)


def refusal(folder: Path, content: bytes, name: str = "x.csv") -> TraceError:
    """Return the error that reading a file of these bytes raises."""
    with pytest.raises(TraceError) as caught:
        read_bytes(folder, content, name)
    assert caught.value.path == folder / name
    return caught.value


def keys_by_row(trace: TraceFile) -> list[object]:
    return [trace.keys[code] for code in trace.codes]


# CSV and tab-separated files as they are met


@pytest.mark.parametrize(
    "content",
    [
        b"time,key\n1,a\n2,b\n",
        b"time,key\n1,a\n2,b",
        b"time,key\r\n1,a\r\n2,b\r\n",
        b"time,key\r1,a\r2,b\r",
        b"\xef\xbb\xbftime,key\n1,a\n2,b\n",
        b"\n\ntime,key\n\n1,a\n\n\n2,b\n\n\n",
        b'"time","key"\n"1","a"\n"2","b"\n',
        b"time,key\n 1,a\n2\t ,b\n",
        b"key,other,time\na,,1\nb,\xff\xfe,2\n",
        b"time,key,\xff,\xff\n1,a,,\n2,b,,\n",
    ],
)
def test_csv_is_read_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    trace = read_bytes(tmp_path, content)
    assert trace.times.tolist() == [1.0, 2.0]
    assert trace.keys == ("a", "b")


@pytest.mark.parametrize("name", ["x.csv", "X.CSV", "x.csv.gz", "x.CSV.GZ", "x.tsv", "x.tsv.gz"])
def test_the_ending_says_how_to_read_a_file(tmp_path: Path, name: str) -> None:
    content = b"time,key\n1,a\n2,b\n"
    if "tsv" in name:
        content = content.replace(b",", b"\t")
    if name.lower().endswith("gz"):
        content = gzip.compress(content)
    assert read_bytes(tmp_path, content, name).keys == ("a", "b")


def test_a_compressed_file_of_several_members_is_read_whole(tmp_path: Path) -> None:
    content = gzip.compress(b"time,key\n1,a\n") + gzip.compress(b"2,b\n")
    assert read_bytes(tmp_path, content, "x.csv.gz").keys == ("a", "b")


def test_keys_in_csv_are_strings_exactly_as_written(tmp_path: Path) -> None:
    rows = ["007", "7", "7.0", " x ", "NA", "null", "true", '"a,b"', '"say ""a"""', '"two\nlines"']
    text = "".join(f"{time},{key}\n" for time, key in enumerate([*rows, "ü", "2024-01-01"]))
    trace = read_bytes(tmp_path, f"time,key\n{text}".encode())
    plain = ["007", "7", "7.0", " x ", "NA", "null", "true"]
    quoted = ["a,b", 'say "a"', "two\nlines"]
    assert keys_by_row(trace) == [*plain, *quoted, "ü", "2024-01-01"]


def test_a_key_may_be_where_one_block_of_a_file_ends(tmp_path: Path) -> None:
    rows = [f"{row},key {row % 1000}" for row in range(4 * BLOCK_BYTES // 16)]
    trace = read_bytes(tmp_path, "\n".join(["time,key", *rows]).encode())
    assert len(trace.times) == len(rows)
    assert trace.times.tolist() == [float(row) for row in range(len(rows))]
    assert trace.codes.tolist() == [row % 1000 for row in range(len(rows))]


def test_a_file_may_end_where_a_block_does(tmp_path: Path) -> None:
    header, last = b"time,key,note\n", b"2,b,\n"
    filler = b"x" * (BLOCK_BYTES - len(header) - len(last) - len(b"1,a,\n"))
    content = header + b"1,a," + filler + b"\n" + last
    assert len(content) == BLOCK_BYTES
    assert read_bytes(tmp_path, content).keys == ("a", "b")


# Bad rows of CSV


@pytest.mark.parametrize(
    ("rows", "row", "line", "reason"),
    [
        (b"1,a\n2\n", 2, 3, "it has 1 columns, and the header has 2"),
        (b"1,a\n\n\n2,b\n3,c,d\n", 3, 6, "it has 3 columns, and the header has 2"),
        (b"1,a\n2,b\xff,c\n", 2, 3, "it has 3 columns, and the header has 2"),
        (b'1,"a\nb"\n2,b,\n', 2, 4, "it has 3 columns, and the header has 2"),
        (b"1,a\n \n2,b\n", 2, 3, "it has 1 columns, and the header has 2"),
        (b"1,a\n,b\n", 2, 3, "there is no time"),
        (b"1,a\n  ,b\n", 2, 3, "there is no time"),
        (b"1,a\n2,\n", 2, 3, "there is no key"),
        (b'1,a\n2,""\n', 2, 3, "there is no key"),
        (b"1,a\n2,b\nnan,b\n", 3, 4, "time nan is not a finite number"),
        (b"1,a\n2,b\ninf,b\n", 3, 4, "time inf is not a finite number"),
        (b"-1e999,a\n2,b\n", 1, 2, "time -inf is not a finite number"),
        (
            b"3,a\n4.0,b\n\n3.0,b\n",
            3,
            5,
            "time 3.0 is before the one above it, 4.0; sort the rows by time",
        ),
        (b"1,a\nabc,b\n", 2, 3, "time 'abc' is neither a number nor an ISO 8601 timestamp"),
        (b"abc,a\n2,b\n", 1, 2, "time 'abc' is neither a number nor an ISO 8601 timestamp"),
        (b"1,a\n\xff,b\n", 2, 3, "time '\ufffd' is neither a number nor an ISO 8601 timestamp"),
        (b"\xff,a\n2,b\n", 1, 2, "time '\ufffd' is neither a number nor an ISO 8601 timestamp"),
        (b"1,a\n2,b\n3,b\xff\n4,\xfe\n", 3, 4, r"key b'b\xff' is not text in UTF-8"),
        (b'1,a\n2,"b\n3,c\n', 2, 3, "a quote is opened here and never closed"),
        (b'1,a\n2,b\n3,c"\n4,"', 4, 5, "a quote is opened here and never closed"),
    ],
)
def test_a_bad_row_of_csv_is_named_with_its_line(
    tmp_path: Path, rows: bytes, row: int, line: int, reason: str
) -> None:
    error = refusal(tmp_path, b"time,key\n" + rows)
    assert (error.row, error.line, error.reason) == (row, line, reason)
    assert str(error) == f"{tmp_path / 'x.csv'}, row {row} (line {line}): {reason}"


def test_a_quote_left_open_in_a_column_that_is_not_read_is_found(tmp_path: Path) -> None:
    error = refusal(tmp_path, b'time,key,note\n1,a,x\n2,b,"y\n3,c,z\n')
    assert (error.row, error.line) == (2, 3)
    assert error.reason == "a quote is opened here and never closed"


def test_a_quote_left_open_in_a_long_file_is_found(tmp_path: Path) -> None:
    rows = b"".join(b"%d,b\n" % row for row in range(2, 400_000))
    error = refusal(tmp_path, b'time,key\n0,a\n\n1,"a\n' + rows)
    assert (error.row, error.line) == (2, 4)
    assert error.reason == f"a row is longer than {BLOCK_BYTES} bytes; is a quote left open?"


def test_a_row_that_is_too_long_is_refused(tmp_path: Path) -> None:
    long_row = b"," * (2 * BLOCK_BYTES)
    error = refusal(tmp_path, b"time,key\n0,a\n1,b" + long_row + b"\n")
    assert error.reason.startswith(f"a row is longer than {BLOCK_BYTES} bytes")


@pytest.mark.parametrize("bad", [b"123456,a,b", b"abc,a", b"123456,", b"123456,\xff", b"0.5,a"])
def test_a_bad_row_deep_in_a_file_is_named(tmp_path: Path, bad: bytes) -> None:
    rows = [b"%d,key" % row for row in range(300_000)]
    rows[123_456] = bad
    error = refusal(tmp_path, b"\n".join([b"time,key", *rows]))
    assert (error.row, error.line) == (123_457, 123_458)


def test_a_bad_row_of_a_compressed_file_has_a_line_as_well(tmp_path: Path) -> None:
    error = refusal(tmp_path, gzip.compress(b"time\tkey\n1\ta\n\n0\ta\n"), "x.tsv.gz")
    assert (error.row, error.line) == (2, 4)


def test_a_value_too_long_to_be_looked_at_leaves_the_line_out(tmp_path: Path) -> None:
    error = refusal(tmp_path, b"time,key,note\n1,a," + b"x" * 200_000 + b"\n0,b,\n")
    assert (error.row, error.line) == (2, None)


# Bad headers and bad files


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_missing_column_is_named_beside_those_that_there_are(tmp_path: Path, name: str) -> None:
    if name == "x.csv":
        (tmp_path / name).write_text("Time,key, value\n1,a,\n")
    else:
        pq.write_table(pa.table({"Time": [1], "key": [1], " value": [1]}), tmp_path / name)
    with pytest.raises(TraceError) as caught:
        read_trace(tmp_path / name)
    expected = "there is no column 'time'; there are 'Time', 'key', ' value'"
    assert caught.value.reason == expected
    with pytest.raises(TraceError, match="there is no column 'symbol'; there are 'Time'"):
        read_trace(tmp_path / name, time="Time", key="symbol")


def test_of_many_columns_only_the_first_are_listed(tmp_path: Path) -> None:
    error = refusal(tmp_path, ",".join(f"column {n}" for n in range(500)).encode())
    assert error.reason.endswith("'column 18', 'column 19', …")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, name: str) -> None:
    if name == "x.csv":
        (tmp_path / name).write_text("time,key,key\n1,a,b\n")
    else:
        table = pa.table([[1], ["a"], ["b"]], names=["time", "key", "key"])
        pq.write_table(table, tmp_path / name)
    with pytest.raises(TraceError, match="there are 2 columns named 'key'"):
        read_trace(tmp_path / name)


@pytest.mark.parametrize(
    "content", ["time,key\n1,a\n2,b\n".encode("utf-16"), b"PAR1\x15\x04\x15\0,\x15\n\0\0PAR1"]
)
def test_a_file_that_is_no_text_is_refused_as_csv(tmp_path: Path, content: bytes) -> None:
    assert refusal(tmp_path, content).reason == "it is not text in UTF-8"


def test_a_header_that_is_too_long_is_refused(tmp_path: Path) -> None:
    reason = refusal(tmp_path, b'"' + b"x" * 200_000).reason
    assert reason.startswith("it cannot be read as a CSV file: field larger than field limit")


def compressed() -> bytes:
    rows = b"".join(b"%d,key\n" % row for row in range(100_000))
    return gzip.compress(b"time,key\n" + rows)


@pytest.mark.parametrize("kept", [5, 0.1, 0.9, -1])
def test_a_compressed_file_cut_short_is_refused(tmp_path: Path, kept: float) -> None:
    whole = compressed()
    end = int(kept * len(whole)) if isinstance(kept, float) else kept
    error = refusal(tmp_path, whole[:end], "x.csv.gz")
    assert error.reason == "it cannot be read as a CSV file: Truncated compressed stream"


def test_a_compressed_file_with_wrong_bytes_is_refused(tmp_path: Path) -> None:
    whole = bytearray(compressed())
    whole[len(whole) // 2] ^= 0xFF
    assert "x.csv.gz" in str(refusal(tmp_path, bytes(whole), "x.csv.gz"))


def test_a_text_named_as_if_it_were_compressed_is_refused(tmp_path: Path) -> None:
    reason = refusal(tmp_path, b"time,key\n1,a\n2,b\n", "x.csv.gz").reason
    assert reason.startswith("it cannot be read as a CSV file: zlib inflate failed")


# Parquet


def parquet_bytes(rows: int = 10_000) -> bytes:
    table = pa.table({"time": range(rows), "key": [f"key {row}" for row in range(rows)]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def test_a_parquet_file_is_read_row_group_by_row_group(tmp_path: Path) -> None:
    table = pa.table({"key": list("abca"), "value": [1, 2, 3, 4], "time": [1, 2, 3, 3]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1)
    trace = read_trace(tmp_path / "x.parquet")
    assert trace.times.tolist() == [1.0, 2.0, 3.0, 3.0]
    assert keys_by_row(trace) == list("abca")


@pytest.mark.parametrize(
    ("rows", "row", "reason"),
    [
        ([(1.0, "a"), (2.0, "b"), (None, "c")], 3, "there is no time"),
        ([(1.0, "a"), (2.0, None), (3.0, "c")], 2, "there is no key"),
        ([(1.0, "a"), (math.nan, "b"), (3.0, "c")], 2, "time nan is not a finite number"),
        ([(1.0, "a"), (2.0, "b"), (math.inf, "c")], 3, "time inf is not a finite number"),
        (
            [(1.0, "a"), (2.0, "b"), (1.5, "c")],
            3,
            "time 1.5 is before the one above it, 2.0; sort the rows by time",
        ),
    ],
)
@pytest.mark.parametrize("group", [1, 1000])
def test_a_bad_row_of_parquet_is_named(
    tmp_path: Path, rows: list[tuple[float, str]], row: int, reason: str, group: int
) -> None:
    path = tmp_path / "x.parquet"
    times, keys = zip(*rows, strict=True)
    pq.write_table(pa.table({"time": times, "key": keys}), path, row_group_size=group)
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value) == f"{path}, row {row}: {reason}"
    assert (caught.value.row, caught.value.line) == (row, None)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"time,key\n1,a\n2,b\n", b"time,key\n" + b"1,a\n" * 99]
)
def test_a_file_that_is_not_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    reason = refusal(tmp_path, content, "x.parquet").reason
    assert reason.startswith("it cannot be read as a Parquet file: ")
    assert "\n" not in reason


@pytest.mark.parametrize("kept", [0.001, 0.5, 0.99])
def test_a_parquet_file_cut_short_is_refused(tmp_path: Path, kept: float) -> None:
    whole = parquet_bytes()
    reason = refusal(tmp_path, whole[: int(kept * len(whole))], "x.parquet").reason
    assert reason.startswith("it cannot be read as a Parquet file: ")


def test_a_parquet_file_whose_column_names_are_no_text_is_refused(tmp_path: Path) -> None:
    content = parquet_bytes().replace(b"key", b"k\xffy")
    reason = refusal(tmp_path, content, "x.parquet").reason
    assert reason.startswith("it cannot be read as a Parquet file: ")


def test_a_parquet_file_with_wrong_bytes_is_refused(tmp_path: Path) -> None:
    whole = bytearray(parquet_bytes())
    whole[4:200] = b"\xff" * 196
    assert "cannot be read" in refusal(tmp_path, bytes(whole), "x.parquet").reason


def test_only_the_two_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"time": [1, 2], "key": ["a", "b"], "note": ["x", "y"]}), path)
    content = bytearray(path.read_bytes())
    notes = pq.read_metadata(path).row_group(0).column(2)
    end = notes.dictionary_page_offset + notes.total_compressed_size
    content[notes.dictionary_page_offset : end] = b"\xff" * notes.total_compressed_size
    assert read_bytes(tmp_path, bytes(content), "x.parquet").keys == ("a", "b")
    with pytest.raises(OSError, match="thrift"):
        pq.read_table(path)
