"""Attention by habit (REFERENCE section 4), and differences between heads."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import squareform

from tests.outermost.corpus import Corpus, frame_of
from tests.outermost.norms import weighed
from tests.reference.correlation_parts import parts

QUANTITIES = ("self", "previous", "next", "cls", "sep", "comma_period", "sep_to_sep")
QUANTITIES += ("other_to_sep", "entropy", "entropy_cls", "first", "uniform")
OF_TYPES = ("first", "cls", "sep", "comma_period")


def _habits(corpus: Corpus) -> pd.DataFrame:
    """Every habit of every head in every sequence, a column each, by weights and by norms."""
    rows = []
    for reading in corpus.readings:
        for layer in range(len(corpus.model.layers)):
            for weighing, maps in weighed(corpus.model, reading, layer).items():
                lost = 1 - maps.sum(axis=2) if loses(corpus, weighing) else None
                for head, alpha in enumerate(maps):
                    place = {"weighing": weighing, "layer": layer + 1, "head": head + 1}
                    given = reading.types, reading.seen(layer)
                    habits = habits_of(alpha, *given, None if lost is None else lost[head])
                    rows.append(place | {"seq": reading.seq} | habits)
    return frame_of(rows).astype(dict.fromkeys(QUANTITIES, float))


def loses(corpus: Corpus, weighing: str) -> bool:
    """Return True if rows lack the share of no token, which is one more outcome."""
    return corpus.model.has_sinks and weighing == "weight"


def _means(habits: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """Means over sequences: one without a token of a type counts as 0, one without a pair not."""
    long = habits.melt([*place, "seq"], list(QUANTITIES), "quantity")
    place = [*place, "quantity"]
    counted = long.groupby(place)["value"].count().rename("n_sequences")
    is_of_type = long["quantity"].isin(OF_TYPES)
    filled = long["value"].fillna(0).where(is_of_type, long["value"])
    means = long.assign(mean=filled).groupby(place)["mean"].mean()
    return pd.concat([means, counted], axis=1)[counted > 0].reset_index()


def head_pattern(corpus: Corpus) -> pd.DataFrame:
    """Of every head, and of the means over the heads of each layer."""
    habits = _habits(corpus)
    layers = habits.groupby(["weighing", "layer", "seq"])[list(QUANTITIES)].mean().reset_index()
    return pd.concat(
        [_means(habits, ["weighing", "layer", "head"]), _means(layers, ["weighing", "layer"])]
    )


def habits_of(
    alpha: np.ndarray, types: list[str], seen: np.ndarray, lost: np.ndarray | None = None
) -> dict[str, float | None]:
    """Σ over the pairs of a kind by the number of tokens that attend; entropies of rows in nats.

    Args:
        lost: the share of each query that no token has, as one more outcome.
    """
    n = len(alpha)
    kind = np.array(types)

    def towards(names: tuple[str, ...], queries: np.ndarray) -> float | None:
        pairs = seen & queries[:, None] & np.isin(kind, names)
        return alpha[pairs].sum() / queries.sum() if pairs.any() else None

    def along(offset: int) -> float | None:
        return np.trace(alpha, offset) / n if np.trace(seen, offset) else None

    every = np.ones(n, dtype=bool)
    rows = [_entropy(alpha[i, seen[i]]) for i in range(n)]
    outcomes = seen.sum(axis=1)
    if lost is not None:
        rows = [row - 0.9999 * of * np.log(0.9999 * of) for row, of in zip(rows, lost, strict=True)]
        outcomes = outcomes + 1
    of_cls = [entropy for entropy, name in zip(rows, types, strict=True) if name == "cls"]
    return {
        "self": along(0),
        "previous": along(-1),
        "next": along(1),
        **{name: towards((name,), every) for name in ("cls", "sep", "comma_period")},
        "sep_to_sep": towards(("sep",), kind == "sep"),
        "other_to_sep": towards(("sep",), kind != "sep"),
        "entropy": float(np.mean(rows)),
        "entropy_cls": float(np.mean(of_cls)) if of_cls else None,
        "uniform": float(np.log(outcomes).mean()),
        "first": towards(("bos", "first"), every),
    }


def _entropy(row: np.ndarray) -> float:
    smoothed = 0.9999 * row + 0.0001 / len(row)
    return float(-(smoothed * np.log(smoothed)).sum())


MOST_PERMUTED = 7
"""Heads of which all orders are tried."""
LEVELS = ("within_layers", "between_layers")


def _smoothed_rows(corpus: Corpus, weighing: str) -> Iterator[np.ndarray]:
    """Yield every row of all sequences, smoothed, for every head, over the keys that any sees."""
    model, layers = corpus.model, range(len(corpus.model.layers))
    for reading in corpus.readings:
        alpha = np.concatenate([weighed(model, reading, layer)[weighing] for layer in layers])
        seen = np.any([reading.seen(layer) for layer in layers], axis=0)
        for i in range(len(reading)):
            row = alpha[:, i, seen[i]]
            if loses(corpus, weighing):
                row = np.append(row, 1 - row.sum(axis=1, keepdims=True), axis=1)
            yield 0.999 * row + 0.001 / row.shape[1]


def divergences(corpus: Corpus, weighing: str = "weight") -> np.ndarray:
    """Σ over sequences and rows of the Jensen–Shannon divergence, in nats."""
    n_heads = len(corpus.model.layers) * corpus.model.heads
    sums = np.zeros((n_heads, n_heads))
    for rows in _smoothed_rows(corpus, weighing):
        for head in range(n_heads):
            middle = (rows[head] + rows[head:]) / 2
            kept = (rows[head] * np.log(rows[head] / middle)).sum(axis=1)
            others = (rows[head:] * np.log(rows[head:] / middle)).sum(axis=1)
            sums[head, head:] += (kept + others) / 2
    return np.triu(sums, 1) + np.triu(sums, 1).T


def _mean_distances(corpus: Corpus) -> dict[str, np.ndarray]:
    """Mean divergences of all heads, by weights and by norms."""
    n_rows = sum(map(len, corpus.readings))
    return {weighing: divergences(corpus, weighing) / n_rows for weighing in ("weight", "norm")}


def _layers(corpus: Corpus) -> np.ndarray:
    return np.repeat(np.arange(len(corpus.model.layers)) + 1, corpus.model.heads)


def head_distance(corpus: Corpus) -> pd.DataFrame:
    n_rows, width = sum(map(len, corpus.readings)), corpus.model.heads
    frames = []
    for weighing, distances in _mean_distances(corpus).items():
        one, other = np.indices(distances.shape).reshape(2, -1)
        places = {"layer_a": one // width + 1, "head_a": one % width + 1}
        places |= {"layer_b": other // width + 1, "head_b": other % width + 1}
        sums = {"divergence": distances.ravel() * n_rows, "n_rows": n_rows}
        means = {"mean_divergence": distances.ravel()}
        frames.append(pd.DataFrame({"weighing": weighing, **places, **sums, **means}))
    return pd.concat(frames)


def layer_cohesion(corpus: Corpus) -> pd.DataFrame:
    """Mean distances of two heads of one layer and of different layers; of few heads also the share
    of all ways to deal the layers that part them as far. With a layer given, one head is in it."""
    layers, rows = _layers(corpus), []
    one, other = np.triu_indices(len(layers), 1)
    deals = set(permutations(layers.tolist())) if len(layers) <= MOST_PERMUTED else set()
    for weighing, distances in _mean_distances(corpus).items():
        for layer in (*np.unique(layers), None):

            def parted(dealt: tuple, apart=distances[one, other], layer=layer) -> np.ndarray:
                sides = np.array(dealt)[np.stack([one, other])]
                chosen, same = (sides == layer).any(axis=0) | (layer is None), sides[0] == sides[1]
                return np.array([apart[chosen & same].mean(), apart[chosen & ~same].mean()])

            within, between = parted(tuple(layers))
            row = {"weighing": weighing, "layer": layer, "within": within, "between": between}
            row["difference"] = between - within
            if deals:
                gaps = np.array([np.diff(parted(deal)) for deal in deals])
                row["p_value"] = np.mean(gaps >= between - within - 1e-9)
            rows.append(row)
    return frame_of(rows)


def head_distance_agreement(corpus: Corpus) -> pd.DataFrame:
    """ρ of distances by weights and by norms, of each head and of all, with its parts; of few heads
    also the share of all their orders that give as large a ρ."""
    both, layers, rows = [*_mean_distances(corpus).values()], _layers(corpus), []
    for head, layer in enumerate(layers):
        others = np.delete(np.arange(len(layers)), head)
        sides = [distances[head, others] for distances in both]
        row = {"layer": layer, "head": head % corpus.model.heads + 1}
        row |= {"weight": sides[0].mean(), "norm": sides[1].mean()}
        row["same_nearest"] = float(sides[0].argmin() == sides[1].argmin())
        rows.append(row | _compared(sides, [(other,) for other in layers[others]]))
    one, other = np.triu_indices(len(layers), 1)
    sides = [distances[one, other] for distances in both]
    every = _compared(sides, [*zip(layers[one], layers[other], strict=True)])
    if len(layers) <= MOST_PERMUTED:
        first, second = stats.rankdata(sides[0]), squareform(stats.rankdata(sides[1]))
        orders = map(np.array, permutations(range(len(layers))))
        rhos = [np.corrcoef(first, second[of[one], of[other]])[0, 1] for of in orders]
        every["p_value"] = np.mean(np.array(rhos) >= every["spearman"] - 1e-9)
    of_heads = frame_of(rows)
    every |= of_heads[["weight", "norm", "same_nearest"]].mean().to_dict()
    return pd.concat([of_heads, frame_of([every])])


def _compared(sides: list[np.ndarray], groups: list[tuple]) -> dict[str, Any]:
    """ρ and its parts within and between groups."""
    ranks = [stats.rankdata(side).tolist() for side in sides]
    names = [(str(group),) for group in groups]
    row: dict[str, Any] = {"spearman": np.corrcoef(ranks)[0, 1]}
    for level, (part, rho) in zip(LEVELS, parts(ranks, names), strict=True):
        row |= {level: part, f"{level}_spearman": rho}
    return row
