"""Pairs of one text that a module changes, with their mean change in the corpus."""

from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from analysis.statistics.pairs.changes import with_interval
from pages.kit.grammar import exactly
from pages.kit.section import Choices, rows_of
from pages.sequences.subject import Subject
from pages.services.inquiry import Inquiry
from pages.services.live_model import Reading, layer_maps
from pages.words.units import POINTS, in_unit, named_in

LEAST = 5  # occurrences for a standard deviation
_LISTED, _LISTED_FAR = 10, 100
_FAR, _BELL = 2.0, 0.0455  # standard deviations; share of a bell curve beyond them
_CHANGES = ("delta", "mean_delta", "std_delta", "low", "high")
HERE, _MEAN, _STD, _LOW, _HIGH = (named_in(POINTS, name) for name in _CHANGES)
_OF = dict.fromkeys((HERE, _MEAN, _LOW, _HIGH), "%+.2f") | {_STD: "%.2f", "n_sequences": None}
COLUMNS = {"source": None, "target": None, "distance": "%+.1f", **_OF, "n": None}

_STORED = """
    select source as source_id, target as target_id, source_pos, target_pos, delta::double as delta
    from pair_occurrence where layer = $layer and effect = $effect and seq = $seq
    order by target_pos, source_pos"""
_MEANS = """
    select source as source_id, target as target_id, n, n_sequences,
        mean_{effect}::double as mean_delta, std_{effect}::double as std_delta,
        error_{effect}::double as standard_error, degrees::double as degrees
    from pair_delta_wide
    where layer = $layer and source in (select unnest($tokens))
        and target in (select unnest($tokens))
    order by source, target"""


def changes(inquiry: Inquiry, choices: Choices) -> dict[str, pd.DataFrame]:
    """Pairs of positions of a text within the layer's window, or those whose change the file
    stores, perhaps without special tokens: the choice `changes`, which all figures show.

    It has places, tokens and ids of source and target, pair (as lists name both), delta; of the
    corpus n, n_sequences, mean_delta, std_delta, low, high (NaN if the layer has the pair nowhere
    else); and distance from the mean in standard deviations, NaN below `LEAST` occurrences.
    """
    subject: Subject = choices["subject"]
    step: Any = {name: choices[name] for name in ("layer", "effect")}
    if subject.reading is not None:
        pairs = _computed(inquiry, subject, **step)
    else:
        pairs = rows_of(_STORED, inquiry, {"seq": subject.seq, **step})
    ids = {"tokens": sorted(set(subject.token_ids)), "layer": choices["layer"]}
    means = with_interval(rows_of(_MEANS.format(**step), inquiry, ids))
    names, special = np.array(subject.names, dtype=object), np.array(subject.special)
    ends = [pairs[f"{side}_pos"].to_numpy(dtype=int) for side in ("source", "target")]
    pairs["source"], pairs["target"] = (names[end] for end in ends)
    pairs["pair"] = pairs["source"] + " → " + pairs["target"]
    kept = ~(special[ends[0]] | special[ends[1]]) | (choices["special"] == "in")
    pairs = pairs[kept].merge(means, on=["source_id", "target_id"], how="left")
    if subject.seq is not None:  # without other occurrences, the mean is the change itself
        pairs.loc[pairs["n"] == 1, ["mean_delta", "std_delta", "low", "high"]] = np.nan
    known = (pairs["n"] >= LEAST) & (pairs["std_delta"] > 0)
    distance = (pairs["delta"] - pairs["mean_delta"]) / pairs["std_delta"]
    return {"changes": pairs.assign(distance=distance.where(known))}


def _computed(inquiry: Inquiry, subject: Subject, *, layer: int, effect: str) -> pd.DataFrame:
    store, reading = inquiry.store, cast(Reading, subject.reading)
    order, shares = store.layer_order, layer_maps(store, reading, layer=layer).scopes
    before, after = (shares[order.scopes.index(scope)] for scope in order.effects[effect])
    n, ids = len(subject.tokens), np.array(subject.token_ids)
    seen = np.tril(np.ones((n, n), dtype=bool), -1) if store.is_causal else ~np.eye(n, dtype=bool)
    if (window := store.windows[layer]) is not None:
        seen = np.tril(np.triu(seen, -window), window)
    target, source = np.nonzero(seen)
    places = {"source_pos": source, "target_pos": target}
    of = {"source_id": ids[source], "target_id": ids[target], **places}
    return pd.DataFrame({**of, "delta": (after - before)[target, source]})


def extremes(amplified: bool, _: Inquiry, choices: Choices) -> pd.DataFrame:
    """First pairs of one direction, the largest changes on top, each with its mean in the corpus.

    Returns:
        pair, side (`here` or `corpus`), delta, low, high (in points), distance, n.
    """
    order = ["delta", "target_pos", "source_pos"]
    ordered = choices["changes"].sort_values(order, ascending=[not amplified, True, True])
    listed = ordered[(ordered["delta"] > 0) == amplified].head(_LISTED).reset_index()
    here = listed.assign(side="here", low=np.nan, high=np.nan)
    corpus = listed.assign(side="corpus", delta=listed["mean_delta"]).dropna(subset="delta")
    both = pd.concat([here, corpus]).sort_index(kind="stable")
    frame = in_unit(both, POINTS, ["delta", "low", "high"]).rename(
        columns={_LOW: "low", _HIGH: "high"}
    )
    return frame[["pair", "side", HERE, "low", "high", "distance", "n"]].reset_index(drop=True)


amplified, attenuated = (partial(extremes, is_amplified) for is_amplified in (True, False))


def far(_: Inquiry, choices: Choices) -> pd.DataFrame:
    """Pairs whose change is farthest from their corpus mean, in standard deviations."""
    rows = choices["changes"].dropna(subset="distance")
    rows = rows.sort_values("distance", key=abs, ascending=False, kind="stable")
    return in_unit(rows.head(_LISTED_FAR), POINTS, _CHANGES)


def found(_: Inquiry, choices: Choices) -> pd.DataFrame:
    """Rows of the finding: the largest change with its corpus mean, and pairs far from theirs."""
    every = choices["changes"]
    if every.empty:
        return pd.DataFrame([{"name": "nothing" if choices["subject"].reading else "none_kept"}])
    row = every.iloc[int(every["delta"].abs().argmax())]
    of = {"sentence": 1, "format": "+.2f", "layer": choices["layer"], "effect": choices["effect"]}
    rows = [exactly("change", 100 * row["delta"], pair=row["pair"], **of)]
    if pd.notna(row["mean_delta"]):
        ends = {name: 100 * row[name] for name in ("low", "high")}
        rows.append(exactly("mean", 100 * row["mean_delta"], **of) | ends)
    if len(distances := every["distance"].dropna().abs()):
        of = {"sentence": 2, "format": ".1%", "n": len(distances), "least": LEAST}
        rows += [exactly("far", (distances > _FAR).mean(), **of), exactly("bell", _BELL, **of)]
    return pd.DataFrame(rows)
