"""The simulator: an application on top of the library that shows and measures its policies.

It drives the production queues and nothing else. `python -m simulator --help` lists what it can do.
"""
