"""Spark jobs around the queues: prepare update streams, and work out what became of them.

```
 generators, TAQ files ──▶ a frame `time, key, value…` ──▶ Parquet in order of time, and a data card
                                                             │
                                       simulator, service ◀──┘
                                                │
                                                └──▶ event logs ──▶ `summarize`: tables and plots
```

Run from the checkout: `python -m datasets --help`.
"""
