"""How standing queries are evaluated: from the log of a stream to the table of a result."""
