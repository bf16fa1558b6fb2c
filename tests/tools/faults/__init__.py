"""Mishaps of real runs, done on purpose: `python -m tests.tools.faults` says how each ended.

A file here holds one kind of mishap, as functions of a `Scene` and a source of chance that give how
it ended in a few words and raise `Wrong` if a number changed, something was lost, or a reader would
have met a traceback. To add one, write such a function and name it in `KINDS` of `__main__`.
"""
