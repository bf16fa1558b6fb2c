"""Live runs on one sequence: maps that no file keeps, and readers' own images and texts."""

from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from analysis.errors import BadCorpus, UnfitModel, UserError
from analysis.measures.pairs.mixing_change import row_shares
from analysis.models.attended import Attended
from analysis.models.capture import change_inputs
from analysis.relevance_rules import ALL, MOST_BYTES
from analysis.statistics.base.weighing import NORM, WEIGHT
from analysis.statistics.corpus import Identity
from analysis.upload_bounds import MAX_CHARACTERS
from precompute.corpora.encode import Encoder
from precompute.corpora.images.images import image_sequence, read_upload
from precompute.corpora.images.pictures import png
from precompute.corpora.sequence import Entry, Sequence, bare_sequence
from precompute.live.answers import HeadMaps, HeadVectors, LayerMaps, LiveRelevance, WithoutHead
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Layer, batch_of, run_layers
from precompute.passes.relevance import Predictions, Relevance, attention_bytes

TYPED = "The text"
Given = Sequence | tuple[SequenceOf[int], SequenceOf[int]] | bytes
"""A sequence, or what a file keeps of it: ids and segments of a text, the picture of an image."""
MAP_BYTES = 96 * 2**20
"""Size limit of the maps of all heads in one sequence; beyond half of it they are in float16."""
_PLACES = 64  # of a text, where a language model is asked for its prediction
Read = TypeVar("Read")


class OtherModel(UserError):
    """The model under the name in the file is not the one that made the file."""


class _Enough(Exception):
    """The layer that is wanted of a forward pass is there."""


@dataclass(frozen=True)
class Rerun:
    """The model of a file; one thread at a time runs it, since a trace hooks its modules.

    Layers and heads count from 1, queries from 0.
    """

    model: LoadedModel

    def ready(self) -> None:
        """Return at once: the model is loaded."""

    def layer_maps(self, sequence: Given, *, layer: int) -> LayerMaps:
        """Shares of every key for every query in one layer."""

        def read(traced: Layer) -> LayerMaps:
            weights, norms = (traced.weighed_alone(0, by).cpu().numpy() for by in (WEIGHT, NORM))
            return LayerMaps(weights, norms, row_shares(traced.mixing_of(0).maps.numpy()))

        return self._of_layer(sequence, layer, read)

    def head_vectors(self, sequence: Given, *, layer: int, head: int, query: int) -> HeadVectors:
        """α and f(x) of every key for one query; the output bias is no head's."""

        def read(traced: Layer) -> HeadVectors:
            trace = traced.alone(0)
            values, gate = trace.values[0, head - 1], trace.gate
            scaled = values if gate is None else values * gate[0, head - 1, query]
            vectors = scaled @ trace.weights.output_weight[head - 1]
            weights = trace.attention[0, head - 1, query]
            return HeadVectors(weights.cpu().numpy(), vectors.cpu().numpy())

        return self._of_layer(sequence, layer, read)

    def head_maps(self, sequence: Given, *, without: tuple[int, int] | None = None) -> HeadMaps:
        """Maps of all heads; without one, by layer and number, those with zeros for its output."""
        whole = self._whole(sequence)
        n_heads = sum(len(layer.query_weight) for layer in self.model.layers)
        size = 2 * 4 * n_heads * len(whole) ** 2
        if size > 2 * MAP_BYTES:
            raise BadCorpus(
                whole.place or "The sequence",
                f"has {len(whole):,} tokens, too many for the maps of all {n_heads} heads at once",
            )
        dtype = np.float32 if size <= MAP_BYTES else np.float16
        weights, norms = list[np.ndarray](), list[np.ndarray]()

        def receive(layer: Layer) -> None:
            for maps, weighing in ((weights, WEIGHT), (norms, NORM)):
                maps.append(layer.weighed_alone(0, weighing).cpu().numpy().astype(dtype))

        with _zeroed(self.model, *without) if without else nullcontext():
            run_layers(self.model, batch_of(self.model, [whole]), receive)
        return HeadMaps(np.stack(weights), np.stack(norms))

    def without_head(self, sequence: Given, *, layer: int, head: int) -> WithoutHead:
        """Run of a sequence without a head, and without all heads of its layer."""
        whole, layers = self._whole(sequence), self.model.layers
        recorded, before, _ = self.model.recorded(whole, min(_PLACES, len(whole)))
        index = self.model.numbers.index(layer)

        def change(at: int, _attended: Attended, _read: Tensor, mixed: Tensor) -> Tensor:
            if at != index:
                return mixed
            one = _zero(mixed[:1], len(layers[at].query_weight), head)
            return torch.cat([one, torch.zeros_like(one)])

        after = recorded.again(index, 2, change)
        state = before.hidden[0].double()
        changes = (after.hidden.double() - state).norm(dim=-1) / state.norm(dim=-1)
        if before.logits is None or after.logits is None:
            return WithoutHead(changes.cpu().numpy(), (), (), (), np.empty((2, 0)))
        states = torch.stack([before.logits[0], after.logits[0]])
        likely = states.reshape(2, -1, states.shape[-1]).double().softmax(-1)
        best = likely.argmax(-1)
        of_first = likely.gather(-1, best[:1].expand(2, -1)[..., None])[..., 0].cpu().numpy()
        places = (None,) if recorded.places is None else tuple(recorded.places.tolist())
        named = self._predicted_names(best[0]), self._predicted_names(best[1])
        return WithoutHead(changes.cpu().numpy(), places, *named, of_first)

    def typed(self, text: str, *, max_tokens: int) -> tuple[Sequence, bool]:
        """Encode a reader's text; return it and whether its end was cut off."""
        model = self.model
        if model.images is not None:
            raise UnfitModel(f"Model {model.name!r} reads images and no text.")
        if len(text) > MAX_CHARACTERS:
            raise BadCorpus(
                TYPED,
                f"has {len(text):,} characters, more than the {MAX_CHARACTERS:,} that are taken",
            )
        encoder = Encoder(
            model.tokenizer,
            positions=model.positions,
            segment_types=model.segment_types,
            is_causal=model.layers[0].is_causal,
            max_tokens=min(max_tokens, model.positions),
        )
        counts = Counter(truncated=0)
        (sequence,) = encoder.sequences([Entry(TYPED, (text,))], counts=counts)
        return sequence, bool(counts["truncated"])

    def uploaded(self, data: bytes, *, name: str) -> tuple[Sequence, dict[str, Any]]:
        """Read a reader's image; return it, the picture that the model reads, and its grid."""
        reader = self.model.image_reader
        sequence = image_sequence(0, read_upload(data, name=name), reader)
        layout = reader.layout
        return sequence, {
            "picture": png(reader.shown(sequence.picture)),
            "rows": layout.rows,
            "columns": layout.columns,
            "first_patch": len(layout.special),
        }

    def relevance_of_image(self, data: bytes, *, name: str) -> LiveRelevance:
        sequence, grid = self.uploaded(data, name=name)
        return self._relevance(sequence, **grid)

    def relevance_of_text(self, text: str, *, max_tokens: int) -> LiveRelevance:
        sequence, is_cut = self.typed(text, max_tokens=max_tokens)
        return self._relevance(sequence, is_cut=is_cut)

    def _relevance(self, sequence: Sequence, **of_input: Any) -> LiveRelevance:
        model = self.model
        if model.reading.without_attention:
            raise UnfitModel(
                f"Relevance is carried through all layers; {model.name!r} has some without "
                "attention."
            )
        batch = batch_of(model, [sequence], kept=frozenset({sequence.index}))
        size = attention_bytes(batch, 0)
        if size > MOST_BYTES:
            raise BadCorpus(
                sequence.place,
                f"has {len(sequence):,} tokens, whose attention weights of all layers take "
                f"{size / 2**20:,.0f} MiB, more than the {MOST_BYTES // 2**20} MiB that relevance "
                "is computed from. Shorten it.",
            )
        relevance, predictions = Relevance(batch), Predictions(batch)
        run_layers(model, batch, relevance.add)
        if not relevance.maps:
            raise BadCorpus(sequence.place, "has no token that relevance could start at")
        known, likeliest, maps = relevance.maps[0], predictions.rows().to_pydict(), {}
        for rule in ALL:
            if (chosen := known.where(rule)).any():
                n_starts = len(np.unique(known.layer[chosen]))
                maps[rule] = known.maps[chosen].reshape(n_starts, -1, len(sequence))
        return LiveRelevance(
            tokens=sequence.tokens,
            is_content=batch.is_content[0],
            maps=maps,
            prediction=tuple(zip(likeliest["label"], likeliest["probability"], strict=True)),
            **of_input,
        )

    def _of_layer(self, sequence: Given, number: int, read: Callable[[Layer], Read]) -> Read:
        """Return what is read of one layer, by a forward pass up to this one."""
        found = list[Read]()

        def receive(traced: Layer) -> None:
            if traced.weights.number == number:
                found.append(read(traced))
                raise _Enough

        with suppress(_Enough):
            run_layers(self.model, batch_of(self.model, [self._whole(sequence)]), receive)
        return found[0]

    def _whole(self, sequence: Given) -> Sequence:
        """Return the input of a forward pass; of a stored one without words and text."""
        if isinstance(sequence, bytes):
            seen = replace(read_upload(sequence, name="image.png"), is_seen=True)
            return image_sequence(0, seen, self.model.image_reader)
        if isinstance(sequence, Sequence):
            return sequence
        ids, segments = sequence
        return bare_sequence(ids, segments=np.array(segments, dtype=np.uint8))

    def _predicted_names(self, best: Tensor) -> tuple[str, ...]:
        if self.model.language_model is None and (classes := self.model.classification):
            return tuple(classes.labels[place] for place in best.tolist())
        return tuple(map(str, self.model.tokenizer.convert_ids_to_tokens(best.tolist())))


@contextmanager
def _zeroed(model: LoadedModel, number: int, head: int) -> Iterator[None]:
    """Replace the output of a head by zero within a context."""
    layers = iter(model.layers)  # by the order of calls, since a module may serve several

    def change(mixed: Tensor) -> Tensor:
        layer = next(layers)
        return _zero(mixed, len(layer.query_weight), head) if layer.number == number else mixed

    with ExitStack() as stack:
        for part in {id(part.layer): part for part in model.parts}.values():
            stack.enter_context(change_inputs(part.output, change))
        yield


def _zero(mixed: Tensor, n_heads: int, head: int) -> Tensor:
    """Mixed values of all heads side by side, with zeros for those of one head."""
    made = mixed.unflatten(-1, (n_heads, -1)).clone()
    made[..., head - 1, :] = 0
    return made.flatten(-2)


def rerun(name: str, *, revision: str, identity: Identity, dtype: str, **of_run: Any) -> Rerun:
    """Load the model that made a file by facts of its run, without the hub.

    Raises:
        OtherModel: if the files under this name, or the packages that read them, have changed.
    """
    model = load_model(pinned(name, revision), device="cpu", dtype=dtype, fetch=False, **of_run)
    if model.identity != identity:
        raise OtherModel(
            f"{name!r} here is another model than the one of the file: "
            f"{differences(model.identity, identity)}. Put that one back, or build the file again."
        )
    return Rerun(model)


def pinned(name: str, revision: str) -> str:
    """Return the name with the hub's commit, of 40 letters, for models from the hub."""
    commit = revision.partition("+")[0]
    return f"{name.partition('@')[0]}@{commit}" if len(commit) == 40 else name
