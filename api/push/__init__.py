"""Push: updates as they come, over websockets and as server-sent events, fresh to the last socket.

Nothing is imported here: what the service knows of a stream names a `Subscription`, and what
answers a request knows the service.
"""
