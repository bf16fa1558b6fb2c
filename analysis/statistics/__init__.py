"""Statistics, a file for each: the meaning of its tables' rows, laws, views, queries and fits.

A query takes an open connection and returns a frame; it never opens the store. Tables are physical
and live in schema `stored`; views are the public interface and live in `main`. Layers and heads
count from 1 everywhere in the store.
"""

SCHEMA_VERSION = 13
