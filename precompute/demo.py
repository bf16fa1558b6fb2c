"""The files of the demo: which bundled model on which corpus, and what of it is computed first."""

from collections.abc import Callable, Iterator
from pathlib import Path

SHOWN_FIRST = (  # what costs little more than the model itself
    "token_type_mixing",
    "head_pattern",
    "attention_norm_correlation",
    "frequency_correlation",
)
_BESIDE = {
    "treebank": ("demo", "demo-treebank"),
    "digits": ("demo-digits", "demo-digits"),
}
_MORE = {
    "ja": ("demo-ja-bert", "demo-ja"),
    "copy": ("demo-copy", "demo-copy"),
}


def build_demo(run: Callable[..., None], output: Path, *, first: bool, every: bool) -> None:
    """Run what the demo consists of.

    Args:
        run: what runs a model over a corpus, as the command line does.
        first: only what takes seconds.
        every: the small models that were trained here as well.
    """
    if not output.exists():
        run(model="demo", corpus=["demo"], output=output, statistics=",".join(SHOWN_FIRST))
    if first:
        return
    run(model="demo", corpus=["demo"], output=output)
    for ending, model, corpus in _others(every):
        beside = output.with_name(f"{output.stem}-{ending}{output.suffix}")
        run(model=model, corpus=[corpus], output=beside)


def _others(every: bool) -> Iterator[tuple[str, str, str]]:
    for ending, (model, corpus) in (_BESIDE | (_MORE if every else {})).items():
        yield ending, model, corpus
