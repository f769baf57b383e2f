"""Tests of stored rows."""
