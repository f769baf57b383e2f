"""What became of update streams: event logs of runs, worked up into how stale the keys were."""
