"""Figures and tables of the five papers, each drawn from the open file beside what is printed.

To add one: a record in `entries.py` and its words; a statement that can be tested on any model, in
`claims.py`.
"""
