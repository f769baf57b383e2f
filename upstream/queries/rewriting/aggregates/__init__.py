"""Rules for aggregates: which states a partial keeps of each, and how the finish uses them."""
