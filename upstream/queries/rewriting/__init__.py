"""Query rewriting: a query over chunks as a partial per step, a merge over partials, a finish.

Modules that read a query which was split are imported with the library. `split` and `explain`, and
all that they need, are imported when they are first called, since they import sqlglot.
"""
