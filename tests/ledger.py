"""Write docs/models.md and docs/ledger.md: `python -m tests.ledger [MODEL ...]`.

The first lists every type of model that was tried, and how it is read or refused. The second holds
how far the parts of trained models miss what the models compute, layer by layer: those of the demo,
and those named or in the folders given. Nothing in them is typed by hand.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated

import transformers
import typer

from analysis.errors import UserError
from analysis.models.proof import Proof, prove
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from precompute.models.bundled import DEMO, DEMO_COPY, DEMO_DIGITS, DEMO_JAPANESE
from precompute.models.load_models import chosen_part, load_model
from tests.analysis.models.every_type import NotBuilt, every_type, tiny_type

DOCS = Path(__file__).parents[1] / "docs"
TYPES = DOCS / "models.md"
IS_READ, IS_REFUSED, NOT_BUILT = "Read", "Refused", "Not tried"
_OF_TYPES = """# Types of models

**{read} of {tried} types tried are read.** A tiny random model of each type in the lists of models
for texts and images of transformers {version} was read and proved on {day}: the parts of every
layer add up to what the model computes. `python -m tests.ledger` writes this page, and
`tests/analysis/models/test_every_type.py` asks for the laws of every type on it.

A type that is not on this page is read as well, if its parts are found and add up.
"""
_HEADS = {
    IS_READ: "| type | order of a layer | network | positions | attention sees |",
    IS_REFUSED: "| type | why |",
    NOT_BUILT: "| type | why no tiny model was built |",
}
_ROW = re.compile(r"\| `([^`]+)` \| (.*) \|")
_PARTS = ("attention", "network", "weights")
_MORE = "names or folders of trained models beside the demo's"
_DEMO = DEMO, DEMO_DIGITS, DEMO_JAPANESE, DEMO_COPY
_N_TOKENS = 64
"""Length in tokens of the texts of random tokens; as the model has places for, if fewer."""
_OF_LEDGER = """# Ledger

How far the parts that Mixscope takes a trained model into miss what the model computes: in float64,
on {n_tokens} random tokens in each of six texts (images of noise for models of images), the largest
difference over all coordinates, relative to the largest coordinate. *Attention*: vectors times
weights and the bias, against the output of attention. *Network*: attention, residual, norms and
network, against the output of the layer. *Rebuilt weights*: attention weights made of queries,
keys, rotation and masks, against those that the model used. The library takes some norms, angles
and softmaxes in float32 whatever the number format, which leaves about 1e-7.

`python -m tests.ledger` wrote this page on {day} with transformers {version}.
TransformerLens verifies the logits of one text and components on random inputs; its checks leave
native attention, positions, fused projections and output projections out, and none asks whether
parts add up to the residual stream.
"""


def types_page() -> str:
    """Read every type and return the whole page."""
    rows: dict[str, list[str]] = {IS_READ: [], IS_REFUSED: [], NOT_BUILT: []}
    for model_type in every_type():
        outcome, cells = outcome_of(model_type)
        rows[outcome].append(f"| `{model_type}` | {' | '.join(cells)} |")
    read, refused = len(rows[IS_READ]), len(rows[IS_REFUSED])
    day, version = date.today().isoformat(), transformers.__version__
    parts = [_OF_TYPES.format(read=read, tried=read + refused, version=version, day=day)]
    for outcome, head in _HEADS.items():
        rule = "| --- " * (head.count("|") - 1) + "|"
        parts.append("\n".join([f"## {outcome}\n", head, rule, *rows[outcome], ""]))
    return "\n".join(parts)


def outcome_of(model_type: str) -> tuple[str, tuple[str, ...]]:
    """Return what came of reading a type, and the cells of its row."""
    try:
        return IS_READ, tuple(_cells(proved_reading(model_type)))
    except NotBuilt as reason:
        return NOT_BUILT, (_plain(str(reason)),)
    except UserError as refusal:
        return IS_REFUSED, (_plain(str(refusal)),)
    except Exception as error:  # a fault, which the tests then find on the page
        return IS_REFUSED, (_plain(f"{type(error).__name__}: {error}"),)


def proved_reading(model_type: str) -> Reading:
    """Read the tiny model of a type and prove that it is read right.

    Raises:
        NotBuilt: if there is none.
        UnfitModel: naming the part that was not found, or that does not add up.
        UserError: if it holds several models, as a run says without `--part`.
    """
    model = tiny_type(model_type)
    chosen_part(None, model_type, model_type)
    reading = read_model(model)
    with in_float64(model):
        inputs = reading.inputs(random_inputs(model))
        prove(model, reading.parts, reading.layers, inputs)
    return reading


def _cells(reading: Reading) -> Iterator[str]:
    layers = reading.layers
    yield ", ".join(dict.fromkeys(layer.order.name.replace("_", " ") for layer in layers))
    networks = [layer.feed_forward for layer in layers]
    kinds = dict.fromkeys(
        str(network.activation).replace("_", " ")
        + f"{', gated' * (network.gate_weight is not None)}"
        f"{', experts' * (network.router is not None)}"
        for network in networks
    )
    yield "; ".join(kinds)
    yield ", ".join(dict.fromkeys(layer.positions_by for layer in layers))
    sight = dict.fromkeys(
        ("the past" if layer.is_causal else "both sides")
        + (", in a window" if layer.window is not None else "")
        for layer in layers
    )
    yield "; ".join(sight)


def _plain(sentence: str) -> str:
    return " ".join(sentence.split()).replace("|", "\\|").replace("<", "&lt;")


def outcomes() -> dict[str, tuple[str, str]]:
    """Return what the page says of every type: the outcome, and the rest of its row."""
    found: dict[str, tuple[str, str]] = {}
    for section in TYPES.read_text(encoding="utf-8").split("\n## ")[1:]:
        outcome, _, rows = section.partition("\n")
        found |= {name: (outcome, rest) for name, rest in _ROW.findall(rows)}
    return found


def written_version() -> str:
    """Return the version of the library that the page was written with."""
    text = TYPES.read_text(encoding="utf-8")
    return text.partition("transformers ")[2].split(" ")[0].rstrip()


Entry = tuple[str, str, Proof]
"""Name of a model, the beginning of its weights' SHA-256, and how far its parts miss."""


def entry(name: str) -> Entry:
    """Load a model, which proves it, and prove it again on longer texts."""
    loaded = load_model(name, fetch=False)
    reading = loaded.reading
    n_tokens = None if loaded.images else min(_N_TOKENS, loaded.positions)
    with in_float64(loaded.model):
        inputs = reading.inputs(random_inputs(loaded.model, n_tokens=n_tokens))
        proof = prove(loaded.model, loaded.parts, loaded.layers, inputs)
    return Path(name).name, loaded.weights_sha256[:16], proof


def ledger_page(names: list[str]) -> str:
    """The whole page, of these models."""
    day, version = date.today().isoformat(), transformers.__version__
    opening = _OF_LEDGER.format(n_tokens=_N_TOKENS, day=day, version=version)
    entries = [entry(name) for name in names]
    head = "| model | weights (SHA-256) | layers | attention | network | rebuilt weights |"
    rows = [
        f"| `{name}` | {sha256} | {len(proof.errors)} | {_errors(map(proof.worst, _PARTS))} |"
        for name, sha256, proof in entries
    ]
    parts = [opening, "\n".join([head, "| --- " * 6 + "|", *rows, ""])]
    return "\n".join([*parts, *(_layers(made) for made in entries)])


def _layers(made: Entry) -> str:
    name, _, proof = made
    head = [f"## {name}\n", "| layer | attention | network | rebuilt weights |"]
    rows = (
        f"| {number} | {_errors(errors[part] for part in _PARTS)} |"
        for number, errors in enumerate(proof.errors, start=1)
    )
    return "\n".join([*head, "| --- " * 4 + "|", *rows, ""])


def _errors(errors: Iterable[float]) -> str:
    return " | ".join(f"{error:.1e}" for error in errors)


def main(more: Annotated[list[str] | None, typer.Argument(help=_MORE)] = None) -> None:
    """Write docs/ledger.md and docs/models.md."""
    (DOCS / "ledger.md").write_text(ledger_page([*_DEMO, *(more or ())]), encoding="utf-8")
    TYPES.write_text(types_page(), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
