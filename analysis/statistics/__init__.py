"""Statistics by theme: the meaning of their tables' rows, laws, views and fits.

What reads a file takes an open connection; it never opens the store. Tables are physical
and live in schema `stored`; views are the public interface and live in `main`. Layers and heads
count from 1 everywhere in the store.
"""

SCHEMA_VERSION = 13
