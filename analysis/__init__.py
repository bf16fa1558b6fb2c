"""Pure analysis: tensors and tables in, tensors and tables out.

Here live what a model is (`models`), what is measured on it (`measures`), what the store holds and
what may be asked of it (`tables`). Nothing here opens a file, reaches the network or knows of
Streamlit; `tests/test_house.py` sees to that.
"""
