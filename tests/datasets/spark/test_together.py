"""Several frames collected by one job."""

from __future__ import annotations

from pyspark.sql import SparkSession

from datasets.spark.together import collect_together


def test_frames_of_different_columns_come_back_by_name_from_one_job(spark: SparkSession) -> None:
    tracker, group = spark.sparkContext.statusTracker(), "collected together"
    spark.sparkContext.setJobGroup(group, group)
    found = collect_together(
        {
            "numbers": spark.range(3),
            "words": spark.sql("SELECT 'a' AS word, NULL AS nothing, array(1, 2) AS list"),
            "none": spark.range(3).where("id > 7"),
            "nulls": spark.sql("SELECT NULL AS nothing"),
        }
    )
    assert len(tracker.getJobIdsForGroup(group)) == 1
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert sorted(row["id"] for row in found["numbers"]) == [0, 1, 2]
    assert [row.asDict() for row in found["words"]] == [
        {"word": "a", "nothing": None, "list": [1, 2]}
    ]
    assert found["none"] == []
    assert [row.asDict() for row in found["nulls"]] == [{"nothing": None}]
