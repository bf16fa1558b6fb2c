"""Effects of modules on the mixing of every two tokens of a sequence: rows from layers."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from analysis.measures.pairs.mixing_change import pair_deltas
from analysis.measures.pairs.token_relation import relation_changes
from analysis.scopes import EFFECTS
from analysis.statistics.pairs.changes import EFFECT, PAIR_DELTA, RELATION
from analysis.statistics.pairs.relations import SEQUENCE_RELATION_CHANGE
from precompute.corpora.sequence import Sequence
from precompute.passes.filling import fills, rows
from precompute.passes.layers import Batch, Layer


@fills(PAIR_DELTA)
def changes_of_pairs(layer: Layer) -> pa.Table:
    """Return the change of every ordered pair of positions within the layer's window."""
    order = layer.batch.order
    all_chosen, columns = layer.batch.shared(_PairPlaces).of(layer)
    deltas = {
        effect: np.concatenate(
            [
                pair_deltas(mixing.maps.numpy(), order, effect)[chosen].astype(np.float32)
                for mixing, chosen in zip(layer.mixing, all_chosen, strict=True)
            ]
        )
        for effect in order.effects
    }
    nothing = dict.fromkeys(EFFECTS, np.nan)
    return rows(PAIR_DELTA, layer=layer.weights.number, **columns, **{**nothing, **deltas})


@fills(SEQUENCE_RELATION_CHANGE)
def changes_of_relations(layer: Layer) -> Iterator[pa.Table]:
    """Return the changes of every sequence, summed over its pairs of each relation."""
    batch = layer.batch
    effects = np.array([list(EFFECTS).index(effect) for effect in batch.order.effects])
    for row, sequence in enumerate(batch.sequences):
        maps, pairs = layer.mixing_of(row).maps.numpy(), batch.pairs[row][layer.index]
        n, (before, change, gain) = relation_changes(maps, batch.order, batch.relations[row], pairs)
        yield rows(
            SEQUENCE_RELATION_CHANGE,
            (EFFECT, RELATION),
            there=n > 0,
            stands_for={"effect": effects},
            seq=sequence.index,
            layer=layer.weights.number,
            n=n,
            before=before,
            change=change,
            gain=gain,
        )


class _PairPlaces:
    """Pairs of positions that layers see; layers with equal windows share theirs."""

    def __init__(self, batch: Batch):
        self._batch = batch
        self._by_window: dict[int | None, tuple[list[np.ndarray], dict[str, np.ndarray]]] = {}

    def of(self, layer: Layer) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """Return the mask of each sequence's pairs, and columns of all of them."""
        window, batch = layer.weights.window, self._batch
        if window not in self._by_window:
            masks = [of_layers[layer.index] for of_layers in batch.pairs]
            chosen = [pairs & ~np.eye(len(pairs), dtype=bool) for pairs in masks]
            known = zip(batch.sequences, batch.relations, chosen, strict=True)
            of_sequences = [_pairs(*parts) for parts in known]
            columns = {
                name: np.concatenate([pairs[name] for pairs in of_sequences])
                for name in of_sequences[0]
            }
            self._by_window[window] = chosen, columns
        return self._by_window[window]


def _pairs(sequence: Sequence, relations: np.ndarray, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return every ordered pair of two positions of one sequence, target by target."""
    target_pos, source_pos = np.nonzero(chosen)
    source, target = sequence.ids[source_pos], sequence.ids[target_pos]
    is_first = np.zeros(len(source), dtype=bool)
    is_first[np.unique(source.astype(np.int64) << 32 | target, return_index=True)[1]] = True
    return {
        "seq": np.full(len(source), sequence.index, dtype=np.int32),
        "source_pos": source_pos.astype(np.int16),
        "target_pos": target_pos.astype(np.int16),
        "source": source,
        "target": target,
        "is_first": is_first,
        "relation": relations[chosen],
    }
