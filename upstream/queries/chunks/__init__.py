"""Chunks of rows: cutting streams into chunks, keeping them, and how far time has passed."""
