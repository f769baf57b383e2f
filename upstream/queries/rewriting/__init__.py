"""Query rewriting: a query over chunks as a partial per step, a merge over partials, a finish."""
