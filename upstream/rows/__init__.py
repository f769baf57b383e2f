"""Arrow rows of a declared shape: definition, conforming, times, types and codes of values."""
