"""Update streams that are drawn from a seed, the same however Spark cuts the work.

The driver draws little: when each block of updates begins. All else is a hash of the seed and the
number of the row, so it matters neither where a row is made nor in which order.
"""
