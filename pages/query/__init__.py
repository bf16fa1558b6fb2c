"""Any question of the open file, in SQL.

`reader.py` is a process of its own that can reach nothing but the file; `asking.py` starts it.
"""
