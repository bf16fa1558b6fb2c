"""Figures and tables of the papers, each drawn from the open file beside what is printed.

To add one: a record in `entries.toml` and its words; a statement that can be tested on any model,
in `claims.py`.
"""
