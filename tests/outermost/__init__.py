"""The outermost check: a file's public views, computed anew from the bare model in float64.

Nothing here but the tests imports what is checked. Each view has one small function that returns
the rows it should have; `recompute` compares them with a file's.
"""
