"""Files of the demo: pairs of bundled model and corpus, filled side by side in steps."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from analysis.measures.bootstrap import LEAST_UNITS
from precompute.models import install_demo
from precompute.models.bundled import DEMO_DECODER, DEMO_ENCODER

SHOWN_FIRST = (  # statistics that cost little more than the forward pass
    "token_type_mixing",
    "head_pattern",
    "attention_norm_correlation",
    "frequency_correlation",
)
FILES = {
    "": ("demo", "demo"),
    "treebank": ("demo", "demo-treebank"),
    "digits": ("demo-digits", "demo-digits"),
}
LIMITS = {"digits": 120}
"""Most sequences of a file, by its ending."""
MOST, ALL = "-layers,-pairs,-checks,-relevance", "all"
_MOST_WORKERS = 4
STEPS = (
    *(("", MOST), ("treebank", MOST), ("digits", ALL)),
    *(("", "-checks"), ("treebank", ALL), ("", ALL)),
)
"""Files by their endings, with the statistics that each then has: most pages are full after the
first three. Relevance of texts comes with whole layers, which some of its methods mix."""
_SMALL = {"ja": ("demo-ja-bert", "demo-ja"), "copy": ("demo-copy", "demo-copy")}
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
    for ending, statistics in (*STEPS, *((ending, ALL) for ending in more)):
        model, corpus = {**FILES, **more}[ending]
        if model in install_demo.PACKAGES:
            install_demo.install_trained(model)
        run(
            model=model,
            corpus=[corpus],
            output=output.with_stem(f"{output.stem}-{ending}".removesuffix("-")),
            statistics=statistics,
            limit=LIMITS.get(ending),
            check_sequences=LEAST_UNITS,
            workers=min(os.cpu_count() or 1, _MOST_WORKERS),
        )
