"""NYSE TAQ, trades and quotes, in the formats that people have: read, filtered, and put in order.

```
 files ─▶ recognised ─▶ lines with their places ─▶ rows or faults ─▶ staged as Parquet
          sources       lines                       rows, filters      staging
                                                                           │ counted by file and
            trace, data card ◀─ sorted by time, in UTC ◀─ dates, checks ◀──┘ reason: accounts
```

Each file is read once, by Spark expressions only. Every line of it goes to the staged table with
its place in the file, so that counts, trailers and line numbers are questions to that table.
"""
