"""Effect of every step of every layer on the mixing of every two tokens of a sequence."""

import numpy as np
import pyarrow as pa

from analysis.measures.pairs.pair_delta import pair_deltas
from analysis.scopes import EFFECTS
from analysis.statistics.pairs.pair_delta import TABLE
from analysis.statistics.rows import table_of
from precompute.corpora.sequence import Sequence
from precompute.passes.batch import Batch

VERSION = 1
NEEDS = ("layer_completeness",)


def totals(batch: Batch) -> pa.Table:
    """One row per layer and ordered pair of positions within the layer's window."""
    tables, known = [], {}
    for index, mixings in enumerate(zip(*batch.layer_mixing, strict=True)):
        seen = [of_layers[index] for of_layers in batch.pairs]
        if id(seen[0]) not in known:  # layers that look equally far share their pairs
            known[id(seen[0])] = _Places(batch, seen)
        places = known[id(seen[0])]
        deltas = np.concatenate(
            [
                pair_deltas(mixing.maps.double().numpy(), batch.order)[:, chosen]
                for mixing, chosen in zip(mixings, places.chosen, strict=True)
            ],
            axis=1,
        ).astype(np.float32)
        layer = np.full(deltas.shape[1], index, dtype=np.uint8)
        absent = {
            effect: pa.nulls(len(layer)) for effect in EFFECTS if effect not in batch.order.effects
        }
        of_effects = dict(zip(batch.order.effects, deltas, strict=True))
        tables.append(table_of(TABLE, layer=layer, **places.columns, **of_effects, **absent))
    return pa.concat_tables(tables)


class _Places:
    """Pairs of positions of a batch's sequences, with their tokens and relations."""

    def __init__(self, batch: Batch, seen: list[np.ndarray]):
        self.chosen = [pairs & ~np.eye(len(pairs), dtype=bool) for pairs in seen]
        known = zip(batch.sequences, batch.relations, self.chosen, strict=True)
        of_sequences = [_pairs(*parts) for parts in known]
        self.columns = {
            name: np.concatenate([pairs[name] for pairs in of_sequences])
            for name in of_sequences[0]
        }


def _pairs(sequence: Sequence, relations: np.ndarray, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Every ordered pair of two positions of one sequence, target by target."""
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
