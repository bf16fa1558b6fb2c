"""One file per model family, saying where that family keeps what the measures need; `decoder` and
`patch_encoder` are what several of them share.

To add a family: write its file beside `bert.py`, list it in `analysis/models/adapter.py`, and give
it a tiny model in `tests/tiny.py`. Every law in `tests` then runs on it.
"""
