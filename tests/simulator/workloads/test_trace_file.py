"""Whole traces: which files are read in which order, and what is replayed of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from simulator.errors import TraceError
from simulator.workloads.trace_file import read_trace
from upstream import Key
from upstream.extras import install_command


def write(path: Path, text: str) -> Path:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def refusal(path: Path, *, time: str = "time", key: str = "key") -> TraceError:
    """Return the error that reading `path` raises."""
    with pytest.raises(TraceError) as caught:
        read_trace(path, time=time, key=key)
    return caught.value


# One file


def test_a_trace_has_its_times_codes_and_keys_in_order_of_first_appearance(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "x.csv", "time,key\n1.5,b\n2,a\n2,b\n"))
    assert trace.name == "x.csv"
    assert trace.times.tolist() == [1.5, 2.0, 2.0]
    assert trace.codes.tolist() == [0, 1, 0]
    assert trace.keys == ("b", "a")
    assert (str(trace.times.dtype), str(trace.codes.dtype)) == ("float64", "int64")


def test_a_trace_cannot_be_changed(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "x.csv", "time,key\n1,a\n2,a\n"))
    with pytest.raises(ValueError, match="read-only"):
        trace.times[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        trace.codes[0] = 1


def test_the_columns_may_have_other_names_and_be_anywhere(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "price,SYMBOL,note,TIME\n7,a,x,1\n8,b,y,2\n")
    trace = read_trace(path, time="TIME", key="SYMBOL")
    assert (trace.times.tolist(), trace.keys) == ([1.0, 2.0], ("a", "b"))


def test_one_column_may_be_both_time_and_key(tmp_path: Path) -> None:
    table = pa.table({"t": [1, 2, 2]})
    pq.write_table(table, tmp_path / "x.parquet")
    arrow_csv.write_csv(table, tmp_path / "x.csv")
    assert read_trace(tmp_path / "x.parquet", time="t", key="t").keys == (1, 2)
    assert read_trace(tmp_path / "x.csv", time="t", key="t").keys == ("1", "2")


def write_parquet(path: Path, times: list[float], keys: list[str]) -> None:
    pq.write_table(pa.table({"time": times, "key": keys}), path, row_group_size=70_001)


def write_coded_parquet(path: Path, times: list[float], keys: list[str]) -> None:
    coded = pa.array(keys).dictionary_encode()
    pq.write_table(pa.table({"time": times, "key": coded}), path, row_group_size=70_001)


def write_csv(path: Path, times: list[float], keys: list[str]) -> None:
    rows = "".join(f'{time!r},"{key}",note\n' for time, key in zip(times, keys, strict=True))
    write(path, f"time,key,note\n{rows}")


@pytest.mark.parametrize("distinct", [50, 10**9])
@pytest.mark.parametrize(
    ("name", "write_trace"),
    [("x.parquet", write_parquet), ("x.parquet", write_coded_parquet), ("x.csv", write_csv)],
)
def test_a_long_trace_is_read_as_a_loop_in_python_reads_it(
    tmp_path: Path,
    name: str,
    write_trace: Callable[[Path, list[float], list[str]], None],
    distinct: int,
) -> None:
    draw = random.Random(7)  # more rows than fit into a row group, a batch or a block
    times = sorted(round(draw.uniform(1.7e9, 1.7e9 + 500), 3) for _ in range(80_000))
    keys = [f"key {draw.randrange(distinct)}" for _ in times]
    write_trace(tmp_path / name, times, keys)
    code_of: dict[Key, int] = {}
    codes = [code_of.setdefault(key, len(code_of)) for key in keys]

    trace = read_trace(tmp_path / name)
    assert trace.times.tolist() == times
    assert trace.codes.tolist() == codes
    assert trace.keys == tuple(code_of)


# Folders


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    write(tmp_path / "part-00001.csv", "time,key\n2,b\n3,a\n")
    write(tmp_path / "part-00000.csv", "time,key\n1,a\n2,c\n")
    trace = read_trace(tmp_path)
    assert trace.name == tmp_path.name
    assert trace.times.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert [trace.keys[code] for code in trace.codes] == ["a", "c", "b", "a"]
    assert trace.keys == ("a", "c", "b")


def test_folders_of_partitions_are_read_by_their_numbers(tmp_path: Path) -> None:
    for hour in (10, 9, 11, 1):
        folder = tmp_path / "trades.parquet" / "day=2018-01-02" / f"hour={hour}"
        folder.mkdir(parents=True)
        write_parquet(folder / "part-0.parquet", [float(hour)], [f"key {hour}"])
    trace = read_trace(tmp_path / "trades.parquet")
    assert trace.times.tolist() == [1.0, 9.0, 10.0, 11.0]
    assert trace.keys == ("key 1", "key 9", "key 10", "key 11")


def test_names_with_a_leading_dot_or_underscore_are_no_data(tmp_path: Path) -> None:
    write(tmp_path / "_SUCCESS", "")
    write(tmp_path / ".part-0.csv.crc", "crc")
    write(tmp_path / "_temporary" / "x.csv", "time,key\nbroken\n")
    write(tmp_path / "part-0.csv", "time,key\n1,a\n2,b\n")
    assert read_trace(tmp_path).keys == ("a", "b")


def test_empty_parts_are_skipped(tmp_path: Path) -> None:
    write(tmp_path / "part-0.csv", "")
    write(tmp_path / "part-1.csv", "time,key\n1,a\n")
    write(tmp_path / "part-2.csv", "time,key\n")
    pq.write_table(pa.table({"time": [1.5], "key": ["b"]})[:0], tmp_path / "part-3.parquet")
    write(tmp_path / "part-4.csv", "time,key\n2,b\n")
    assert read_trace(tmp_path).times.tolist() == [1.0, 2.0]


def test_files_that_are_not_in_the_order_of_time_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "part-0.csv", "time,key\n1,a\n4.0,b\n")
    write(tmp_path / "part-1.csv", "time,key\n")
    write(tmp_path / "part-2.csv", "time,key\n3.0,b\n5,b\n")
    error = refusal(tmp_path)
    assert str(error) == (
        f"{tmp_path / 'part-2.csv'}, row 1 (line 2): time 3.0 is before the last one of part-0.csv "
        "(files are read in the order of their names), 4.0; sort the rows by time"
    )
    assert (error.path, error.row) == (tmp_path / "part-2.csv", 1)


def test_a_row_out_of_order_within_a_later_file_is_before_the_one_above_it(tmp_path: Path) -> None:
    write(tmp_path / "part-0.csv", "time,key\n1,a\n")
    write(tmp_path / "part-1.csv", "time,key\n5,b\n3.0,b\n")
    assert str(refusal(tmp_path)).endswith(
        "part-1.csv, row 2 (line 3): time 3.0 is before the one above it, 5; sort the rows by time"
    )


def test_files_of_different_times_or_keys_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "part-0.csv", "time,key\n1,1\n2,2\n")
    other = tmp_path / "part-1.parquet"
    pq.write_table(pa.table({"time": pa.array([3], pa.timestamp("s")), "key": ["1"]}), other)
    assert refusal(tmp_path).reason == (
        "these times are timestamps without a zone, but the times before them are numbers"
    )
    pq.write_table(pa.table({"time": [3.0], "key": [1]}), other)
    assert str(refusal(tmp_path)) == (
        f"{other}, row 1: key 1 of type int comes after keys of type str"
    )


def test_a_file_of_another_ending_in_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "part-0.csv", "time,key\n1,a\n2,a\n")
    write(tmp_path / "README.md", "What this is")
    error = refusal(tmp_path)
    assert error.path == tmp_path / "README.md"
    assert ".parquet, .csv, .csv.gz, .tsv or .tsv.gz" in error.reason


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "_SUCCESS", "")
    assert str(refusal(tmp_path)) == f"{tmp_path}: there are no files in this folder"


# What cannot be replayed


def test_a_path_without_a_file_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path / "x.csv")
    assert str(error) == f"{tmp_path / 'x.csv'}: there is no such file"
    assert (error.row, error.line) == (None, None)


def test_a_path_that_the_system_refuses_is_refused(tmp_path: Path) -> None:
    assert "name too long" in str(refusal(tmp_path / ("x" * 300 + ".csv"))).lower()


@pytest.mark.parametrize("name", ["trades.txt", "trades", "trades.parquet.gz", "csv", "x.gz"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    error = refusal(write(tmp_path / name, "time,key\n1,a\n2,b\n"))
    assert error.reason == (
        "the name of a trace must end in .parquet, .csv, .csv.gz, .tsv or .tsv.gz"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there are no rows"),
        ("\n\n", "there are no rows"),
        ("time,key", "there are no rows"),
        ("time,key\n", "there are no rows"),
        ("time,key\n1,a\n", "there is only one row, so there is no rate"),
        ("time,key\n1,a\n1,b\n1.0,c\n", "all rows have the same time, so there is no rate"),
    ],
)
def test_a_trace_in_which_no_time_passes_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path / "x.csv", text)
    assert str(refusal(path)) == f"{path}: {reason}"


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"time": [1.0], "key": ["a"]})[:0], tmp_path / "x.parquet")
    assert refusal(tmp_path / "x.parquet").reason == "there are no rows"


# pyarrow is an extra


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "x.csv", "time,key\n1,a\n2,b\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert install_command("simulator") in refusal(path).reason
    assert "`simulator`" in refusal(path).reason


def test_pyarrow_is_not_imported_before_a_trace_is_read() -> None:
    program = "import simulator.workloads.trace_file, sys; sys.exit('pyarrow' in sys.modules)"
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root, timeout=60)


@pytest.mark.parametrize("place", ["trace.csv", "folder"])
def test_a_named_pipe_is_refused_rather_than_waited_for(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    pipe = path if path.suffix else path / "part.csv"
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(TraceError, match="not a regular file"):
        read_trace(path)
