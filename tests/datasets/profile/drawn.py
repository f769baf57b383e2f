"""A stream that tests look at, drawn without Spark: skewed, bursty, with duplicates, unsorted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 6_000
KEYS = 400


def draw() -> pd.DataFrame:
    """Return `time` and `key`, in the order of the files; times are whole milliseconds."""
    random = np.random.default_rng(11)
    shares = np.arange(1, KEYS + 1) ** -0.9
    keys = random.choice(KEYS, ROWS, p=shares / shares.sum())
    gaps = random.exponential(0.05, ROWS) * np.where(random.random(ROWS) < 0.02, 30, 1)
    times = np.round(1_000 + np.cumsum(gaps), 3)
    for row in random.choice(ROWS - 1, 200, replace=False).tolist():
        times[row], times[row + 1] = times[row + 1], times[row]
    times[100:110], keys[100:110] = times[100], 3
    return pd.DataFrame({"time": times, "key": [f"key {key}" for key in keys]})


def write_files(stream: pd.DataFrame, folder: Path, *, files: int = 3) -> None:
    """Write a stream as Parquet, in files one after the other."""
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(stream)), files)):
        stream.iloc[part].to_parquet(folder / f"part-{number}.parquet", index=False)
