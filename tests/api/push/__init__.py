"""Tests of push."""
