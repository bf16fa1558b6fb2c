"""The ledger: how far the parts of trained models miss what the models compute, layer by layer.

`python -m tests.tools.ledger [MODEL ...]` writes `docs/ledger.md`, of the small models of the demo
and of those named or in the folders given, and `docs/models.md`, of every type of model: see
`tests.tools.types_table`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import transformers
import typer

from analysis.models.proof import Proof, prove
from analysis.models.reading import in_float64, random_inputs
from precompute.models.bundled import DEMO, DEMO_COPY, DEMO_DIGITS, DEMO_JAPANESE
from precompute.models.load_models import load_model
from tests.tools import types_table

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"
SUMMED, REBUILT = ("attention", "network"), "weights"
_MORE = "names or folders of trained models beside the demo's"
_DEMO = DEMO, DEMO_DIGITS, DEMO_JAPANESE, DEMO_COPY
_N_TOKENS = 64
"""Length in tokens of the texts of random tokens; as the model has places for, if fewer."""
_OPENING = """# Ledger

How far the parts that Mixscope takes a trained model into miss what the model computes: in float64,
on {n_tokens} random tokens in each of six texts (images of noise for models of images), the largest
difference over all coordinates, relative to the largest coordinate. *Attention*: vectors times
weights and the bias, against the output of attention. *Network*: attention, residual, norms and
network, against the output of the layer. *Rebuilt weights*: attention weights made of queries,
keys, rotation and masks, against those that the model used. The library takes some norms, angles
and softmaxes in float32 whatever the number format, which leaves about 1e-7.

`python -m tests.tools.ledger` wrote this page on {day} with transformers {version}; a test
runs the smallest model again. {others}
"""
_OTHERS = """TransformerLens verifies the
logits of one text and components on random inputs; its checks leave native attention, positions,
fused projections and output projections out, and none asks whether parts add up to the residual
stream."""


@dataclass(frozen=True)
class Entry:
    """Entry of one model in the ledger."""

    name: str
    weights_sha256: str
    proof: Proof


def entry(name: str) -> Entry:
    """Load a model, which proves it, and prove it again on longer texts."""
    loaded = load_model(name, fetch=False)
    reading = loaded.reading
    n_tokens = None if loaded.images else min(_N_TOKENS, loaded.positions)
    with in_float64(loaded.model):
        inputs = reading.inputs(random_inputs(loaded.model, n_tokens=n_tokens))
        proof = prove(loaded.model, loaded.parts, loaded.layers, inputs)
    return Entry(Path(name).name, loaded.weights_sha256[:16], proof)


def worst(proof: Proof) -> tuple[float, ...]:
    """Return the largest error of attention, of the network and of rebuilt weights."""
    return tuple(proof.worst(part) for part in (*SUMMED, REBUILT))


def page(names: list[str]) -> str:
    """The whole page, of these models."""
    day, version = date.today().isoformat(), transformers.__version__
    opening = _OPENING.format(n_tokens=_N_TOKENS, day=day, version=version, others=_OTHERS)
    entries = [entry(name) for name in names]
    head = "| model | weights (SHA-256) | layers | attention | network | rebuilt weights |"
    rows = [_row(*_summary(made)) for made in entries]
    parts = [opening, "\n".join([head, "| --- " * 6 + "|", *rows, ""])]
    return "\n".join([*parts, *(_layers(made) for made in entries)])


def _summary(made: Entry) -> Iterator[str]:
    yield f"`{made.name}`"
    yield made.weights_sha256
    yield str(len(made.proof.errors))
    yield from (f"{error:.1e}" for error in worst(made.proof))


def _layers(made: Entry) -> str:
    head = [f"## {made.name}\n", "| layer | attention | network | rebuilt weights |"]
    rows = (
        _row(str(number), *(f"{errors[part]:.1e}" for part in (*SUMMED, REBUILT)))
        for number, errors in enumerate(made.proof.errors, start=1)
    )
    return "\n".join([*head, "| --- " * 4 + "|", *rows, ""])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def written(name: str) -> tuple[str, tuple[float, ...]]:
    """Return what the page says of a model: its hash and its largest errors, as `worst`."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{name}`"))
    _, weights, _, *errors = row.strip("| ").split(" | ")
    return weights, tuple(float(error) for error in errors)


def main(more: Annotated[list[str] | None, typer.Argument(help=_MORE)] = None) -> None:
    """Write docs/ledger.md and docs/models.md."""
    PAGE.write_text(page([*_DEMO, *(more or ())]), encoding="utf-8")
    types_table.PAGE.write_text(types_table.page(), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
