"""What is stored: the log of each stream, its newest rows, and relations that SQL reads."""
