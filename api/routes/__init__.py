"""The routes; each module has those of one thing."""
