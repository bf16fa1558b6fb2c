"""Pure analysis: tensors and tables in, tensors and tables out.

`models` reduces models to traces, `measures` holds the formulas on them, and `statistics` the
contracts of the tables that they fill. Nothing here opens a file, reaches the network or imports
Streamlit; `tests/test_house.py` checks that.
"""
