"""The theory of made-up workloads: how updates are shared out among keys and over a trading day.

The simulator and the generators of datasets draw from these formulas, each in its own way.
"""
