"""One file per model family, with the places of the parts that measures need.

`decoder` and `patch_encoder` are shared by several. To add a family: write its file beside
`bert.py`, list it in `analysis/models/adapter.py`, and give it a tiny model in `tests/tiny.py`.
Every law in `tests` then runs on it.
"""
