"""Distances of heads, by the rows of their attention: REFERENCE section 4."""

from collections.abc import Iterator
from itertools import permutations

import duckdb
import numpy as np
import pandas as pd
from scipy import stats
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from tests.outermost.corpus import Corpus, frame_of
from tests.outermost.heads import loses
from tests.outermost.norms import weighed
from tests.reference.correlation_parts import parts

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


def _means(corpus: Corpus) -> dict[str, np.ndarray]:
    """Mean divergences of all heads, by weights and by norms."""
    n_rows = sum(map(len, corpus.readings))
    return {weighing: divergences(corpus, weighing) / n_rows for weighing in ("weight", "norm")}


def _layers(corpus: Corpus) -> np.ndarray:
    return np.repeat(np.arange(len(corpus.model.layers)) + 1, corpus.model.heads)


def head_distance(corpus: Corpus) -> pd.DataFrame:
    n_rows, width = sum(map(len, corpus.readings)), corpus.model.heads
    frames = []
    for weighing, distances in _means(corpus).items():
        one, other = np.indices(distances.shape).reshape(2, -1)
        places = {"layer_a": one // width + 1, "head_a": one % width + 1}
        places |= {"layer_b": other // width + 1, "head_b": other % width + 1}
        sums = {"divergence": distances.ravel() * n_rows, "n_rows": n_rows}
        means = {"mean_divergence": distances.ravel()}
        frames.append(pd.DataFrame({"weighing": weighing, **places, **sums, **means}))
    return pd.concat(frames)


def head_linkage(corpus: Corpus) -> pd.DataFrame:
    """Groups joined by the mean over their heads, the nearest first."""
    frames = []
    for weighing, distances in _means(corpus).items():
        steps = linkage(squareform(distances), method="average", optimal_ordering=True)
        frame = pd.DataFrame(steps, columns=["left", "right", "height", "n_heads"])
        frames.append(frame.assign(weighing=weighing, step=range(len(steps))))
    return pd.concat(frames)


def layer_cohesion(corpus: Corpus) -> pd.DataFrame:
    """Mean distances of two heads of one layer and of different layers; of few heads also the share
    of all ways to deal the layers that part them as far. With a layer given, one head is in it."""
    layers, rows = _layers(corpus), []
    one, other = np.triu_indices(len(layers), 1)
    deals = set(permutations(layers.tolist())) if len(layers) <= MOST_PERMUTED else set()
    for weighing, distances in _means(corpus).items():
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
    both, layers, rows = [*_means(corpus).values()], _layers(corpus), []
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


def _compared(sides: list[np.ndarray], groups: list[tuple]) -> dict[str, float | None]:
    """ρ and its parts within and between groups."""
    ranks = [stats.rankdata(side).tolist() for side in sides]
    names = [(str(group),) for group in groups]
    row: dict[str, float | None] = {"spearman": np.corrcoef(ranks)[0, 1]}
    for level, (part, rho) in zip(LEVELS, parts(ranks, names), strict=True):
        row |= {level: part, f"{level}_spearman": rho}
    return row


def head_layout(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Kruskal's stress-1 of a file's points against mean divergences computed here.

    Layouts of the same stress, and rotations of one layout, are equivalent.
    """
    distances = _means(corpus)["weight"]
    layout = store.execute("select layer, head, x, y from head_layout order by layer, head").df()
    points = layout[["x", "y"]].to_numpy(float)
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    stress = np.sqrt(((apart - distances) ** 2).sum() / (apart**2).sum())
    return layout[["layer", "head"]].assign(stress=stress)
