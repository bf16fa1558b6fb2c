"""One file per statistic: its formula, on tensors or arrays, and nothing else.

A measure names its source and its unit, and has a slow twin in `tests/reference`.
"""
