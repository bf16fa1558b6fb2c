"""Mutation testing of formulas: mutmut on one measure or pass at a time, against its own tests.

`make mutate` runs all, `python -m tests.tools.mutation STEM …` some. A mutant that survives has its
reason in `survivors.toml`, or the run fails.
"""
