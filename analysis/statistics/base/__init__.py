"""Declarations of tables: columns by kind, tables, means with dispersion, and correlations.

A new kind of column or of derived table is a function here, for several themes; a fit that one
theme alone has stays in its file.
"""
