"""Arrow rows of a declared shape: definition, conversion, times, types and codes of values."""
