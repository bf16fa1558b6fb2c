"""Sources of places of tokens in a model, and their change: added vectors, rotation, distance."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.capture import change_output
from analysis.models.finding.calls import Call, same
from analysis.models.finding.probe import Probe
from analysis.models.trace import Model

Change = Callable[[Tensor], Tensor]
"""Map from what stands for every place (place × anything) to what stands there instead."""
_LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")
_LONGEST = 512
"""Longest text of a model that states none: that of T5's training."""


@runtime_checkable
class Places(Protocol):
    """Sources of the places of tokens in a model.

    `longest` is the number of tokens it has places for, `embedding` its learned vectors of places,
    if it has any, and `changed` changes what stands for each place within a context, if that can be
    changed.
    """

    @property
    def can_change(self) -> bool: ...

    @property
    def longest(self) -> int: ...

    @property
    def embedding(self) -> Float[Tensor, "place width"] | None: ...

    def changed(self, change: Change) -> Any: ...


@dataclass(frozen=True)
class TextPlaces:
    """Places of tokens in a text, by what modules return for them.

    `added` returns vectors for the places of a text, the rows of a `table` from `first` on, if it
    has any; `rotaries` return cosines and sines of all angles; `distances` a term for each pair of
    tokens.
    """

    longest: int
    added: Model | None = None
    table: Tensor | None = None
    first: int = 0
    rotaries: Sequence[Model] = ()
    distances: Sequence[Model] = ()

    @property
    def embedding(self) -> Tensor | None:
        return None if self.table is None else self.table.detach()[self.first :]

    @property
    def can_change(self) -> bool:
        return bool(self.added or self.rotaries or self.distances)

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        """Change all of them within a context.

        Raises:
            UnfitModel: if there is none.
        """
        if not self.can_change:
            raise UnfitModel("No module was found by which the model knows the places of tokens.")
        with ExitStack() as stack:
            if self.added is not None:
                stack.enter_context(change_output(self.added, change))
            for module in self.rotaries:
                stack.enter_context(change_output(module, lambda out: _turned(out, change)))
            for module in self.distances:
                stack.enter_context(change_output(module, lambda out: _moved(out, change)))
            yield


def _turned(output: Any, change: Change) -> Any:
    """Change the angles of cosines and sines, or of complex numbers."""
    if isinstance(output, Tensor):
        return torch.polar(output.abs(), change(output.angle()))
    cosine, sine = output
    angles, size = change(torch.atan2(sine, cosine)), torch.hypot(sine, cosine)
    return angles.cos() * size, angles.sin() * size


def _moved(bias: Float[Tensor, "query key head"], change: Change) -> Tensor:
    places = change(torch.arange(len(bias), device=bias.device)[:, None])[:, 0]
    return bias[places[:, None], places]


def places_of(model: Model, seen: Probe, layer: Call, *, is_turned: bool) -> Places:
    """Find where a model knows places from, in a forward pass on texts of random tokens.

    Args:
        layer: the call of the first layer.
        is_turned: whether layers rotate queries and keys; then no vectors are added.
    """
    rotaries = [module for module in model.modules() if _has_frequencies(module)]
    pairs = {id(call.module) for call in seen.calls if call.returns == "pair"}
    turning = [module for module in rotaries if id(module) in pairs]
    tables = [getattr(module, "relative_attention_bias", None) for module in model.modules()]
    distances = [table for table in tables if table is not None]
    places = TextPlaces(longest_of(model.config), rotaries=turning, distances=distances)
    before = [call for call in seen.calls if call.end < layer.start and call.module not in rotaries]
    added = (_added(call, seen, places) for call in before if not is_turned)
    return next((found for found in added if found is not None), places)


def _has_frequencies(module: Model) -> bool:
    return any("inv_freq" in name for name, _ in module.named_buffers(recurse=False))


def _added(call: Call, seen: Probe, places: TextPlaces) -> TextPlaces | None:
    """Add the module of a call to places, if it returns the same rows for every text."""
    if call.returned.dim() < 2 or next(call.module.children(), None) is not None:
        return None
    rows = call.returned.reshape(-1, *call.returned.shape[-2:])
    first = rows[0]
    if len(first) != seen.n_tokens or same(first[0], first[1]):
        return None
    if not all(same(first, other) for other in rows):
        return None
    for table in (*call.module.parameters(), *call.module.buffers()):
        if table.dim() == 2 and table.shape[1] == first.shape[1]:
            begin = int((table - first[0]).abs().sum(dim=1).argmin())
            if same(table[begin : begin + len(first)], first):
                room = min(len(table) - begin, places.longest)
                return replace(places, longest=room, added=call.module, table=table, first=begin)
    return replace(places, added=call.module)


def longest_of(config: Any) -> int:
    """Return the longest text that a configuration states, in tokens; at most `bound_of` it."""
    stated = (getattr(config, name, None) for name in _LENGTHS)
    longest = next((length for length in stated if isinstance(length, int)), _LONGEST)
    return min(longest, bound_of(config)[0] or longest)


def bound_of(config: Any) -> tuple[int | None, str]:
    """Return the longest text that is read as shorter ones are, and the setting that bounds it.

    In longer ones queries choose among the keys (DeepSeek 3.2), see blocks of them (BigBird), or
    are scaled by their places (Ministral 3).
    """
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("llama_4_scaling_beta"):
        return rope.get("original_max_position_embeddings"), "llama_4_scaling_beta"
    if getattr(config, "attention_type", None) == "block_sparse":
        return (5 + 2 * config.num_random_blocks) * config.block_size, "attention_type"
    return getattr(config, "index_topk", None), "index_topk"
