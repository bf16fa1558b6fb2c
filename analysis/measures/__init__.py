"""Formulas on tensors or arrays, a file for each concept.

A formula names its source, its unit and where it differs; its test has a slow twin where it has a
trap.
"""
