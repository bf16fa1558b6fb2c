"""One file per statistic: what a row of its table means, what must hold of every row, the public
views made of it, and the questions that pages ask. A question takes an open connection and gives
back a frame; it never opens the store.

Tables are physical and live in schema `stored`; views are what readers rely on and live in `main`.
Layers and heads count from 1 everywhere in the store.
"""

SCHEMA_VERSION = 8
