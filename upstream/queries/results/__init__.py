"""The results of a standing query, and those that wait to be taken."""
