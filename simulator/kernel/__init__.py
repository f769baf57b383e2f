"""Event loops that simulations run on: SimPy's, and a plain one that gives the identical log."""
