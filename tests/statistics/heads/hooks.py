"""A text run with hooks that change what modules are given or return: the slow way."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analysis.effects import CHANGES
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_EFFECT
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from tests.tracing import rows_of_table

ROUNDING: dict[str, Any] = {
    "rtol": 2e-5,
    "atol": 2e-6,
}  # the library's softmax is in float32 in most models
Hooks = Mapping[str, Callable[[Tensor], Tensor]]
NONE: Hooks = {}


def answer(
    model: LoadedModel, sequence: Sequence, *, given: Hooks = NONE, returned: Hooks = NONE
) -> tuple[np.ndarray, Any]:
    """Last hidden states and logits of a text, with what modules are given or return changed."""
    whole, states = model.language_model or model.classifier or model.model, []
    with ExitStack() as stack, torch.no_grad():
        for name, change in given.items():
            hook = model.model.get_submodule(name).register_forward_pre_hook(
                lambda _module, args, change=change: (change(args[0]),)
            )
            stack.callback(hook.remove)
        for name, change in returned.items():
            hook = model.model.get_submodule(name).register_forward_hook(
                lambda _module, _args, output, change=change: change(output)
            )
            stack.callback(hook.remove)
        keep = model.model.register_forward_hook(
            lambda _module, _args, output: states.append(output.last_hidden_state[0].numpy())
        )
        stack.callback(keep.remove)
        made = whole(**model.reading.inputs(model.inputs([sequence])))
    return states[0], None if whole is model.model else made.logits[0].numpy()


def changes(before: np.ndarray, after: np.ndarray) -> dict[str, Any]:
    """Mean over tokens of 1 − cos(h, h′) and of ‖h′ − h‖ / ‖h‖."""
    cosines = [h @ g / np.sqrt(h @ h) / np.sqrt(g @ g) for h, g in zip(before, after, strict=True)]
    lengths = [
        np.sqrt((g - h) @ (g - h)) / np.sqrt(h @ h) for h, g in zip(before, after, strict=True)
    ]
    return {"cosine_distance": 1 - np.mean(cosines), "length": np.mean(lengths)}


def predicted(before: Any, after: Any, targets: dict[Any, int]) -> dict[str, Any]:
    """KL(p‖p′) and the rise of −ln p(target), mean over places; all places without targets."""
    known, found = (np.atleast_2d(logits).astype(float) for logits in (before, after))
    p, q = (np.exp(x - x.max(axis=1, keepdims=True)) for x in (known, found))
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    places = [*targets] or [*range(len(p))]
    rises = [np.log(p[place, target] / q[place, target]) for place, target in targets.items()]
    return {
        "divergence": np.mean([(p[i] * np.log(p[i] / q[i])).sum() for i in places]),
        "loss": np.mean(rises) if rises else np.nan,
    }


def targets_of(model: LoadedModel, sequence: Any) -> dict[Any, int]:
    if model.language_model is None:
        return {}
    if model.objective == "next_token":
        return dict(enumerate(sequence.ids[1:].tolist()))
    return {place: int(sequence.targets[place]) for place in np.flatnonzero(sequence.masked)}


def expected_changes(model, sequence, before, **hooks) -> dict[str, float]:
    states, logits = answer(model, sequence, **hooks)
    found = changes(before[0], states)
    if logits is None:
        return found | {"divergence": np.nan, "loss": np.nan}
    return found | predicted(before[1], logits, targets_of(model, sequence))


def put(model: LoadedModel, heads: list[int], instead: np.ndarray | float):
    """A function that writes something in place of heads, as the output projection is given."""

    def change(mixed: Tensor) -> Tensor:
        mixed, width = mixed.clone(), mixed.shape[-1] // len(model.layers[0].query_weight)
        for head in heads:
            here = slice(head * width, (head + 1) * width)
            mixed[0, :, here] = torch.as_tensor(instead)[..., here] if np.ndim(instead) else 0
        return mixed

    return change


def effects(model: LoadedModel, sequences: tuple[Sequence, ...]) -> pd.DataFrame:
    everything = frozenset(sequence.index for sequence in sequences)
    rows = rows_of_table(SEQUENCE_HEAD_EFFECT, model, sequences, run_again=everything).to_pandas()
    rows[["layer", "head"]] -= 1
    return rows.astype({"filling": str, "token_type": object})


def named(rows: pd.DataFrame, *, seq, filling, layer=None, head=None, token_type=None) -> pd.Series:
    """The one row of what is replaced."""
    for name, value in (("layer", layer), ("head", head), ("token_type", token_type)):
        rows = rows[rows[name].isna() if value is None else rows[name] == value]
    [row] = rows[(rows["seq"] == seq) & (rows["filling"] == filling)].to_dict("records")
    return row


def assert_same(found, expected: Mapping[str, float]) -> None:
    for name in CHANGES:
        np.testing.assert_allclose(found[name], expected[name], **ROUNDING, err_msg=name)
