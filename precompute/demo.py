"""Files of the demo: pairs of bundled model and corpus, and the statistics computed first."""

from collections.abc import Callable, Mapping
from pathlib import Path

from precompute.models import install_demo
from precompute.models.bundled import DEMO_DECODER, DEMO_ENCODER

SHOWN_FIRST = (  # statistics that cost little more than the forward pass
    "token_type_mixing",
    "head_pattern",
    "attention_norm_correlation",
    "frequency_correlation",
)
_BESIDE = {"treebank": ("demo", "demo-treebank"), "digits": ("demo-digits", "demo-digits")}
_SMALL = {"ja": ("demo-ja-bert", "demo-ja"), "copy": ("demo-copy", "demo-copy")}
CHECK_SEQUENCES = 16
"""Sequences that checks of robustness read: more than a run pays for by itself, so that they have
intervals."""
DECODER = {"decoder": (DEMO_DECODER, "demo-treebank")}
ENCODER = {"encoder": (DEMO_ENCODER, "demo-treebank")}
EVERY = _SMALL | DECODER | ENCODER
"""Files of the whole demo beside those of the short one: model and corpus by the file's ending."""


def build_demo(
    run: Callable[..., None], output: Path, *, first: bool, more: Mapping[str, tuple[str, str]]
) -> None:
    """Run all parts of the demo, and install the models to download when their turn comes.

    Args:
        run: runs a model over a corpus, as the command line does.
        first: True for only what takes seconds.
        more: files beside those of the short demo, from `EVERY`.
    """
    if not output.exists():
        run(model="demo", corpus=["demo"], output=output, statistics=",".join(SHOWN_FIRST))
    if first:
        return
    run(model="demo", corpus=["demo"], output=output, check_sequences=CHECK_SEQUENCES)
    for ending, (model, corpus) in {**_BESIDE, **more}.items():
        if model in install_demo.PACKAGES:
            install_demo.install_trained(model)
        beside = output.with_name(f"{output.stem}-{ending}{output.suffix}")
        run(model=model, corpus=[corpus], output=beside, check_sequences=CHECK_SEQUENCES)
