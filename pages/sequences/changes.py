"""Pairs of one text that a module changes, with their mean change in the corpus."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.pairs import pair_delta, pair_occurrence
from pages.sequences.subject import Subject
from pages.ui.live.readings import Reading, layer_maps
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store

PAIR = ["source_id", "target_id"]
LEAST = 5
"""Least number of occurrences for a standard deviation."""


def changes(inquiry: Inquiry, subject: Subject, *, layer: int, effect: str) -> pd.DataFrame:
    """Pairs of positions of a text within the layer's window, or those whose change the file
    stores.

    Returns:
        source_id, target_id, source_pos, target_pos, source, target (tokens with their positions),
        pair (as lists name both), special, delta, and of the corpus n, n_sequences, mean_delta,
        std_delta, low, high (NaN if the layer has the pair nowhere else).
    """
    choice: Any = {"layer": layer, "effect": effect}
    if subject.reading is not None:
        pairs = _computed(inquiry.store, subject, subject.reading, **choice)
    else:
        pairs = inquiry.ask(pair_occurrence.of_sequence, seq=subject.seq, **choice)
    means = inquiry.ask(pair_delta.of_tokens, tokens=sorted(set(subject.token_ids)), **choice)
    names, special = np.array(subject.names), np.array(subject.special)
    ends = [pairs[f"{side}_pos"].to_numpy() for side in ("source", "target")]
    pairs["source"], pairs["target"] = (names[end] for end in ends)
    pairs["pair"] = pairs["source"] + " → " + pairs["target"]
    pairs["special"] = special[ends[0]] | special[ends[1]]
    pairs = pairs.merge(means, on=PAIR, how="left")
    if subject.seq is not None:  # without other occurrences, the mean is the change itself
        pairs.loc[pairs["n"] == 1, ["mean_delta", "std_delta", "low", "high"]] = np.nan
    return pairs


def _computed(
    store: Store, subject: Subject, reading: Reading, *, layer: int, effect: str
) -> pd.DataFrame:
    order, shares = store.layer_order, layer_maps(store, reading, layer=layer).scopes
    before, after = (shares[order.scopes.index(scope)] for scope in order.effects[effect])
    n, ids = len(subject), np.array(subject.token_ids)
    seen = np.tril(np.ones((n, n), dtype=bool), -1) if store.is_causal else ~np.eye(n, dtype=bool)
    if (window := store.windows[layer]) is not None:
        seen = np.tril(np.triu(seen, -window), window)
    target, source = np.nonzero(seen)
    return pd.DataFrame(
        {
            "source_id": ids[source],
            "target_id": ids[target],
            "source_pos": source,
            "target_pos": target,
            "delta": (after - before)[target, source],
        }
    )


def with_distance(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add `distance`: the difference of each change from the corpus mean of its pair.

    It is in standard deviations of single occurrences; NaN if there are fewer than `LEAST`.
    """
    known = (pairs["n"] >= LEAST) & (pairs["std_delta"] > 0)
    distance = (pairs["delta"] - pairs["mean_delta"]) / pairs["std_delta"]
    return pairs.assign(distance=distance.where(known))


def extremes(pairs: pd.DataFrame, *, amplified: bool, n: int) -> pd.DataFrame:
    """First pairs of one direction, with the largest changes on top."""
    ordered = pairs.sort_values(
        ["delta", "target_pos", "source_pos"], ascending=[not amplified, True, True]
    )
    return ordered[(ordered["delta"] > 0) == amplified].head(n).reset_index(drop=True)
