"""Event loops that simulations run on: SimPy's, and `plain`, which gives the identical log."""
