"""How uneven a stream is: the report's Figure 8 for any stream, as numbers and as a plot."""
