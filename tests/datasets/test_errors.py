"""What the jobs refuse: each message names what is wrong, and passes between processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from datasets.errors import (
    BadFileError,
    BadOptionError,
    ExtraMissingError,
    FolderExistsError,
    JavaMissingError,
    JobFailedError,
)
from upstream import UpStreamError

ERRORS = [
    BadFileError(Path("a.txt"), "no trailer", line=7),
    BadFileError("a.txt", "no trailer"),
    BadOptionError("--theta", -1, "zero or more"),
    FolderExistsError(Path("day")),
    JavaMissingError("PATH: none"),
    ExtraMissingError("pyspark"),
    JobFailedError("reading", "no space"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling(error: UpStreamError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_each_message_is_one_line_that_says_what_it_is_about() -> None:
    assert [str(error) for error in ERRORS[:4]] == [
        "a.txt, line 7: no trailer",
        "a.txt: no trailer",
        "--theta -1: expected zero or more",
        "day already exists; choose another folder or remove it first",
    ]
    assert "(PATH: none)" in str(ERRORS[4])
    assert "needs pyspark" in str(ERRORS[5])
    assert str(ERRORS[6]) == "reading: Spark says: no space"
    assert all("\n" not in str(error) for error in ERRORS)


def test_a_folder_exists_error_is_a_file_exists_error() -> None:
    with pytest.raises(FileExistsError, match="already exists"):
        raise FolderExistsError(Path("day"))
