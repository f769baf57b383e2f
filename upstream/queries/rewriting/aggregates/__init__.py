"""Rules for aggregates: which states a partial keeps of each, and what the finish makes of them."""
