"""The page `docs/models.md`: every type of model that was tried, and how it is read or refused.

`python -m tests.tools.ledger` writes it. Nothing in it is typed by hand.
"""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import transformers

from analysis.errors import UserError
from analysis.models.proof import prove
from analysis.models.reading import Reading, in_float64, random_inputs, read_model
from precompute.models.model_parts import chosen_part
from tests.analysis.models.every_type import NotBuilt, every_type, tiny_type

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
IS_READ, IS_REFUSED, NOT_BUILT = "Read", "Refused", "Not tried"
_OPENING = """# Types of models

**{read} of {tried} types tried are read.** A tiny random model of each type in the lists of models
for texts and images of transformers {version} was read and proved on {day}: the parts of every
layer add up to what the model computes. `python -m tests.tools.ledger` writes this page, and
`tests/analysis/models/test_every_type.py` asks for the laws of every type on it.

A type that is not on this page is read as well, if its parts are found and add up.
"""
_HEADS = {
    IS_READ: "| type | order of a layer | network | positions | attention sees |",
    IS_REFUSED: "| type | why |",
    NOT_BUILT: "| type | why no tiny model was built |",
}
_ROW = re.compile(r"\| `([^`]+)` \| (.*) \|")


def page() -> str:
    """Read every type and return the whole page."""
    rows: dict[str, list[str]] = {IS_READ: [], IS_REFUSED: [], NOT_BUILT: []}
    for model_type in every_type():
        outcome, cells = outcome_of(model_type)
        rows[outcome].append(f"| `{model_type}` | {' | '.join(cells)} |")
    read, refused = len(rows[IS_READ]), len(rows[IS_REFUSED])
    day, version = date.today().isoformat(), transformers.__version__
    parts = [_OPENING.format(read=read, tried=read + refused, version=version, day=day)]
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
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        outcome, _, rows = section.partition("\n")
        found |= {name: (outcome, rest) for name, rest in _ROW.findall(rows)}
    return found


def written_version() -> str:
    """Return the version of the library that the page was written with."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition("transformers ")[2].split(" ")[0].rstrip()
