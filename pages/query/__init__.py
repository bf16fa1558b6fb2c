"""Page for SQL queries on the open file.

`reader.py` is a process of its own that can reach nothing but the file; `asking.py` starts it.
"""
