"""The model: arrivals go into the production queues, servers take from them, and it is measured."""
