"""Chunks of rows: cutting streams into them, keeping them, and how far time has got."""
