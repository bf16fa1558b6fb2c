"""Files of the demo: pairs of bundled model and corpus, and the statistics computed first."""

from collections.abc import Callable, Iterator
from pathlib import Path

SHOWN_FIRST = (  # statistics that cost little more than the forward pass
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
    """Run all parts of the demo.

    Args:
        run: runs a model over a corpus, as the command line does.
        first: True for only what takes seconds.
        every: True to include the small models that were trained here.
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
