"""A whole store, built from a tiny model by the real passes and the real store code."""

from pathlib import Path

from precompute.run import Request, run
from precompute.runner import run_local
from tests.small_treebank import write_treebank
from tests.tiny import save_tiny

TEXT = """The cat sat, the dog ran.
The mat, the mat.

The dog.

Dog, cat.
Cat sat. The dog ran, ran, ran; the cat sat.
"""


def request(folder: Path, family: str = "bert", *, annotated: bool = False, **settings) -> Request:
    """A run of the family's tiny model over a few lines, into `folder`/tiny.duckdb.

    The lines have trees and coreference if they are to be annotated.
    """
    model, text = folder / f"model-{family}", folder / ("text.conllu" if annotated else "text.txt")
    if not model.exists():
        save_tiny(family, model)
    if not text.exists():
        write_treebank(text) if annotated else text.write_text(TEXT, encoding="utf-8")
    chosen = {"output": folder / "tiny.duckdb", "max_tokens": 36, "device": "cpu"} | settings
    return Request(model=str(model), corpus=str(text), **chosen)


def build_store(folder: Path, family: str = "bert", *, annotated: bool = False, **settings) -> Path:
    """The path of the finished file."""
    asked = request(folder, family, annotated=annotated, **settings)
    run(asked, run_local)
    return asked.output
