"""Types and help texts of command-line options."""

from enum import StrEnum
from typing import Annotated

import typer

from analysis.contracts import groups
from precompute.models.bundled import BUNDLED

Dtype = StrEnum("Dtype", ["float32", "bfloat16"])
Device = Annotated[
    str,
    typer.Option(
        help="Where the model runs: any device that torch knows, such as cpu, cuda:1, mps or xpu; "
        "auto takes a CUDA GPU where there is one."
    ),
]
Packing = StrEnum("Packing", ["paragraphs", "sentences", "blocks", "trees"])
Segments = StrEnum("Segments", ["read", "zero"])
Part = StrEnum("Part", ["text", "vision", "encoder"])
RunnerName = StrEnum("RunnerName", ["local", "ray"])
Model = Annotated[
    str,
    typer.Option(help=f"A folder, a hub name (NAME or NAME@REVISION), or {', '.join(BUNDLED)}."),
]
CorpusFiles = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        help="A corpus file, also .gz or .zst, or a folder of such, more than once if the corpus "
        "is several; hf://datasets/OWNER/NAME[@REVISION]/PATH for Parquet of the hub; a folder of "
        "images; demo, demo-treebank, demo-ja, demo-copy, or demo-digits.",
    ),
]
PackingOption = Annotated[
    Packing,
    typer.Option(
        help="How plain text becomes sequences: pairs of paragraphs, sentences packed in two "
        "segments, or the whole file in texts of exactly --max-tokens. Of an annotated corpus "
        "`trees` reads every sentence by itself, also where documents bear coreference."
    ),
]


def _names(words: str | None) -> str | None:
    """Refuse a list without a name."""
    if words is not None and not words.replace(",", "").strip():
        raise typer.BadParameter("names no statistic")
    return words


StatisticsOption = Annotated[
    str | None,
    typer.Option(
        callback=_names,
        help=f"Names of statistics or of groups, with commas between: {', '.join(groups())}. "
        "-NAME takes one away. All that the model and the corpus allow, unless given.",
    ),
]
Column = Annotated[
    str,
    typer.Option(
        help="The key or column that holds the texts of JSON Lines, Parquet or Arrow; of other "
        "keys beside it, nothing is read."
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N sequences.")]
