"""A Spark session on this machine, the Java that it runs on, and how far its jobs are."""
