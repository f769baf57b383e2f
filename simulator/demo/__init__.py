"""The live demo: queues of each policy fall behind one feed, or not, side by side."""
