"""Attention by habit (REFERENCE section 4), and differences between heads."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pandas as pd
import torch

from tests.outermost.corpus import Corpus, frame_of

HABITS = ("self", "previous", "next", "cls", "sep", "comma_period", "sep_to_sep", "other_to_sep")
HABITS += ("entropy", "entropy_cls", "first")


def head_pattern(corpus: Corpus) -> pd.DataFrame:
    """Means over sequences: one without a token of a type counts as 0, one without a pair not."""
    rows = []
    for layer in range(len(corpus.model.layers)):
        for head in range(corpus.model.heads):
            habits = [
                habits_of(
                    reading.attention[layer][head].numpy(), reading.types, corpus.model.is_causal
                )
                for reading in corpus.readings
            ]
            means = {name: _mean(name, [habit[name] for habit in habits]) for name in HABITS}
            rows.append({"layer": layer + 1, "head": head + 1, **means})
    return frame_of(rows)


def _mean(name: str, values: list[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    counted = len(values) if name in ("first", "cls", "sep", "comma_period") else len(present)
    return sum(present) / counted if present else None


def habits_of(alpha: np.ndarray, types: list[str], is_causal: bool) -> dict[str, float | None]:
    """Σ over the pairs of a kind by the number of tokens that attend; entropies of rows in nats."""
    n = len(alpha)
    kind = np.array(types)
    seen = np.tri(n, dtype=bool) if is_causal else np.ones((n, n), dtype=bool)

    def towards(names: tuple[str, ...], queries: np.ndarray) -> float | None:
        pairs = seen & queries[:, None] & np.isin(kind, names)
        return alpha[pairs].sum() / queries.sum() if pairs.any() else None

    def along(offset: int) -> float | None:
        return np.trace(alpha, offset) / n if np.trace(seen, offset) else None

    every = np.ones(n, dtype=bool)
    rows = [_entropy(alpha[i, seen[i]]) for i in range(n)]
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
        "uniform": float(np.log(seen.sum(axis=1)).mean()),
        "first": towards(("bos", "first"), every),
    }


def _entropy(row: np.ndarray) -> float:
    smoothed = 0.9999 * row + 0.0001 / len(row)
    return float(-(smoothed * np.log(smoothed)).sum())


def _smoothed_rows(corpus: Corpus) -> Iterator[np.ndarray]:
    """Yield every row of all sequences, smoothed, for every head, over the keys that it sees."""
    for reading in corpus.readings:
        alpha = torch.cat(reading.attention).numpy()
        for i in range(len(reading)):
            row = alpha[:, i, : i + 1] if corpus.model.is_causal else alpha[:, i]
            yield 0.999 * row + 0.001 / row.shape[1]


def divergences(corpus: Corpus) -> np.ndarray:
    """Σ over sequences and rows of the Jensen–Shannon divergence, in nats."""
    n_heads = len(corpus.model.layers) * corpus.model.heads
    sums = np.zeros((n_heads, n_heads))
    for rows in _smoothed_rows(corpus):
        for head in range(n_heads):
            middle = (rows[head] + rows[head:]) / 2
            kept = (rows[head] * np.log(rows[head] / middle)).sum(axis=1)
            others = (rows[head:] * np.log(rows[head:] / middle)).sum(axis=1)
            sums[head, head:] += (kept + others) / 2
    return np.triu(sums, 1) + np.triu(sums, 1).T


def head_distance(corpus: Corpus) -> pd.DataFrame:
    distances, width = divergences(corpus), corpus.model.heads
    one, other = np.indices(distances.shape).reshape(2, -1)
    return pd.DataFrame(
        {
            "layer_a": one // width + 1,
            "head_a": one % width + 1,
            "layer_b": other // width + 1,
            "head_b": other % width + 1,
            "divergence": distances.ravel(),
        }
    )


def head_layout(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Kruskal's stress-1 of a file's points against mean divergences computed here.

    Layouts of the same stress, and rotations of one layout, are equivalent.
    """
    distances = divergences(corpus) / sum(map(len, corpus.readings))
    layout = store.execute("select layer, head, x, y from head_layout order by layer, head").df()
    points = layout[["x", "y"]].to_numpy(float)
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    stress = np.sqrt(((apart - distances) ** 2).sum() / (apart**2).sum())
    return layout[["layer", "head"]].assign(stress=stress)


def gradient_importance(corpus: Corpus) -> pd.DataFrame:
    """Sum of |∂L/∂α| by the type of j, divided by the number of tokens.

    L is the squared length of the mean of the last hidden states: the loss of a model without a
    head that predicts tokens.
    """
    slopes_of: dict[tuple, list[float]] = {}
    for reading in corpus.readings:
        arguments = corpus.model.arguments(reading.ids, reading.segments)
        output = corpus.model.model(**arguments, output_attentions=True)
        loss = output.last_hidden_state[0].mean(dim=0).square().sum()
        slopes = torch.autograd.grad(loss, output.attentions)
        for layer, of_layer in enumerate(slopes):
            size = of_layer[0].abs()
            if corpus.model.is_causal:
                size = size.tril()
            for name in set(reading.types):
                of_type = torch.tensor([kind == name for kind in reading.types])
                for head, of_head in enumerate(size[:, :, of_type].sum(dim=(1, 2)) / len(reading)):
                    slopes_of.setdefault((layer + 1, head + 1, name), []).append(of_head.item())
    return frame_of(
        [
            {"layer": layer, "head": head, "token_type": name, "importance": np.mean(values)}
            for (layer, head, name), values in slopes_of.items()
        ]
    )
