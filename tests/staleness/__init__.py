"""Tests of queue and application staleness, and of the lower bound on them."""
