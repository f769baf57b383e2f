"""The service: streams and queues over HTTP, and push that stays fresh to the last socket.

An application, run from a checkout (`python -m api`) or from its image; not part of the wheel.
"""
