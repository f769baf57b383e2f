"""Arrow IPC streams in and out; imported with the first of them, since pyarrow is large."""
