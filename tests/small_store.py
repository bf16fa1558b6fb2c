"""A whole store, built from a tiny model by the real passes and the real store code."""

from pathlib import Path

from precompute.run import Request, run
from precompute.runner import run_local
from tests.tiny import save_tiny

TEXT = """The cat sat, the dog ran.
The mat, the mat.

The dog.

Dog, cat.
Cat sat. The dog ran, ran, ran; the cat sat.
"""


def request(folder: Path, family: str = "bert", **settings) -> Request:
    """A run of the family's tiny model over a few lines, into `folder`/tiny.duckdb."""
    model, text = folder / f"model-{family}", folder / "text.txt"
    if not model.exists():
        save_tiny(family, model)
        text.write_text(TEXT, encoding="utf-8")
    chosen = {"output": folder / "tiny.duckdb", "max_tokens": 36, "device": "cpu"} | settings
    return Request(model=str(model), corpus=str(text), **chosen)


def build_store(folder: Path, family: str = "bert", **settings) -> Path:
    """The path of the finished file."""
    asked = request(folder, family, **settings)
    run(asked, run_local)
    return asked.output
