"""Pure analysis: tensors and tables in, tensors and tables out.

`models` reduces models to traces, `measures` holds the formulas on them, and `tables` the contracts
of the store with the queries on it. Nothing here opens a file, reaches the network or imports
Streamlit; `tests/test_house.py` checks that.
"""
