"""Request of a run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from analysis.errors import UserError
from analysis.scopes import BUDGET

_OF_TEXTS = (
    *("mask_rate", "max_tokens", "packing", "column", "segments"),
    *("frequencies", "word_vectors"),
)


@dataclass(frozen=True)
class Bounds:
    """Limits of a file: blocks of sequences, and rows of a table of tokens, words or pairs."""

    blocks: int = 4096
    raw_rows: int = 20_000_000


USUAL = Bounds()


@dataclass(frozen=True)
class Request:
    """Settings of a run; `corpus` is a tuple for several files, `check_sequences` is None for as
    many as the budget of checks pays for."""

    model: str
    corpus: str | tuple[str, ...]
    output: Path
    statistics: list[str] | None = None
    mask_rate: float = 0.0
    seed: int = 0
    max_tokens: int = 128
    limit: int | None = None
    device: str = "auto"
    dtype: str = "float32"
    packing: str = "paragraphs"
    column: str = "text"
    segments: str = "read"
    random_weights: int | None = None
    part: str | None = None
    frequencies: Path | None = None
    word_vectors: Path | None = None
    pair_memory: int = BUDGET // 2**20
    until: float | None = None
    check_sequences: int | None = None
    bounds: Bounds = USUAL


def request_of(options: Mapping[str, Any]) -> Request:
    """Return the request of the options of `run`, by name; others are those of a runner."""
    corpus, names = tuple(options["corpus"]), options.get("statistics")
    given = {field.name: options[field.name] for field in fields(Request) if field.name in options}
    given |= {name: str(value) for name, value in given.items() if isinstance(value, StrEnum)}
    given |= {
        "corpus": corpus[0] if len(corpus) == 1 else corpus,
        "statistics": names and [word.strip() for word in names.split(",") if word.strip()],
        "mask_rate": options["mask"],
        "bounds": Bounds(raw_rows=options["raw_rows"]),
    }
    request = Request(**given)
    return request if request.output else replace(request, output=_usual_output(request))


def _usual_output(request: Request) -> Path:
    """Return the path of a run's file by its model, part and weights, and its first corpus."""
    first = request.corpus if isinstance(request.corpus, str) else request.corpus[0]
    seed = request.random_weights
    untrained = None if seed is None else f"untrained{seed}"
    words = (_short(request.model.rpartition("@")[0] or request.model), request.part, untrained)
    corpus = _short(first.partition("@")[0]).partition(".")[0]
    name = "-".join(word for word in (*words, corpus) if word)
    return Path("statistics") / (re.sub(r"[^\w.-]+", "-", name) + ".duckdb")


def _short(name: str) -> str:
    """Return the last part of a path or of a name of the hub."""
    return Path(name).name or Path(name).absolute().name


def image_corpus_name(request: Request) -> str:
    """Return the name of a corpus of images."""
    if not isinstance(request.corpus, str):
        raise UserError(
            f"{request.model} reads images, of one folder, and --corpus is given "
            f"{len(request.corpus)} times. Put the images into one folder."
        )
    for name in _OF_TEXTS:
        if getattr(request, name) != getattr(Request, name):
            option = f"--{name.removesuffix('_rate').replace('_', '-')}"
            raise UserError(
                f"{option} is for texts, and {request.model} reads images, each of as many tokens "
                f"as it has patches. Leave {option} out."
            )
    return request.corpus
