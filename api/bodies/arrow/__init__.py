"""Arrow IPC streams in and out. Imported when the first one comes, since pyarrow is large."""
