"""What a standing query answers, and what waits to be taken."""
