"""All statistics, in the order of their requirements, and the passes that fill their tables.

To add one: a function in the file of its theme that turns a layer into rows, marked with its table.
A table that is made from others needs none (`analysis/statistics`).
"""

from analysis.contracts import every_statistic

STATISTICS = every_statistic()
