"""All heads in one sequence: their maps, with or without one of them, and what depends on it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import count

import numpy as np
import torch
from torch import Tensor

from analysis.errors import BadCorpus
from analysis.models.attended import Attended
from analysis.models.capture import change_inputs
from analysis.statistics.norms.weighing import NORM, WEIGHT
from precompute.corpora.sequence import Sequence
from precompute.live.answers import HeadMaps, WithoutHead
from precompute.models.classification import classification_of
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers

Head = tuple[int, int]
"""A layer and a head, both from 1."""
MOST_BYTES = 96 * 2**20
"""Size limit of the maps of all heads in one sequence; beyond half of it they are in float16."""
_PLACES = 64  # of a text, where a language model is asked for its prediction


def head_maps(model: LoadedModel, sequence: Sequence, without: Head | None) -> HeadMaps:
    """Return the maps of all heads, with the output of one of them replaced by zero if given.

    Raises:
        BadCorpus: the maps of so long a sequence take too much memory.
    """
    n_heads = sum(len(layer.query_weight) for layer in model.layers)
    size = 2 * 4 * n_heads * len(sequence) ** 2
    if size > 2 * MOST_BYTES:
        raise BadCorpus(
            sequence.place or "The sequence",
            f"has {len(sequence):,} tokens, too many for the maps of all {n_heads} heads at once",
        )
    dtype = np.float32 if size <= MOST_BYTES else np.float16
    found: dict[str, list[np.ndarray]] = {WEIGHT: [], NORM: []}

    def receive(layer: Layer) -> None:
        for weighing, maps in found.items():
            maps.append(layer.weighed_alone(0, weighing).cpu().numpy().astype(dtype))

    with _replaced(model, without) if without else nullcontext():
        run_layers(model, batch_of(model, [sequence]), receive)
    return HeadMaps(np.stack(found[WEIGHT]), np.stack(found[NORM]))


@contextmanager
def _replaced(model: LoadedModel, head: Head) -> Iterator[None]:
    """Replace the output of a head by zero within a context.

    Modules that serve several layers are told apart by the order of their calls.
    """
    calls = count()
    with ExitStack() as stack:
        for part in {id(part.layer): part for part in model.parts}.values():
            change = partial(_zero_if, model, calls, head)
            stack.enter_context(change_inputs(part.output, change))
        yield


def _zero_if(model: LoadedModel, calls: Iterator[int], head: Head, mixed: Tensor) -> Tensor:
    layer = model.layers[next(calls)]
    return _zero(mixed, len(layer.query_weight), head[1]) if layer.number == head[0] else mixed


def _zero(mixed: Tensor, n_heads: int, head: int) -> Tensor:
    """Mixed values of all heads side by side, with zeros for those of one head."""
    made = mixed.unflatten(-1, (n_heads, -1)).clone()
    made[..., head - 1, :] = 0
    return made.flatten(-2)


def without_head(model: LoadedModel, sequence: Sequence, head: Head) -> WithoutHead:
    """Run a sequence without a head, and without all heads of its layer."""
    recorded, before, _ = model.recorded(sequence, min(_PLACES, len(sequence)))
    index = next(at for at, layer in enumerate(model.layers) if layer.number == head[0])

    def change(at: int, _attended: Attended, _read: Tensor, mixed: Tensor) -> Tensor:
        if at != index:
            return mixed
        one = _zero(mixed[:1], len(model.layers[at].query_weight), head[1])
        return torch.cat([one, torch.zeros_like(one)])

    after = recorded.again(index, 2, change)
    whole = before.hidden[0].double()
    changes = (after.hidden.double() - whole).norm(dim=-1) / whole.norm(dim=-1)
    if before.logits is None or after.logits is None:
        return WithoutHead(changes.cpu().numpy(), (), (), (), np.empty((2, 0)))
    width = before.logits.shape[-1]
    states = torch.stack([before.logits[0], after.logits[0]]).reshape(2, -1, width)
    likely = states.double().softmax(-1)
    best = likely.argmax(-1)
    places = [None] if recorded.places is None else recorded.places.tolist()
    return WithoutHead(
        changes=changes.cpu().numpy(),
        places=tuple(places),
        before=_names(model, best[0]),
        after=_names(model, best[1]),
        probabilities=likely.gather(-1, best[:1].expand(2, -1)[..., None])[..., 0].cpu().numpy(),
    )


def _names(model: LoadedModel, best: Tensor) -> tuple[str, ...]:
    """Names of predicted tokens or classes."""
    if model.language_model is None and (classes := classification_of(model)):
        return tuple(classes.labels[place] for place in best.tolist())
    return tuple(map(str, model.tokenizer.convert_ids_to_tokens(best.tolist())))
