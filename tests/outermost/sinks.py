"""Attention sinks and their causes, query by query, by definitions of Gu et al. and Sun et al."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import torch

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of

THRESHOLDS = [tenth / 10 for tenth in range(1, 10)]
SHARES = ("attention", "even", "neighbour", "norm_share")


def _places(types: list[str]) -> dict[str, np.ndarray]:
    """Positions of the first token, of the first that is no special one, and of every type."""
    content = [j for j, kind in enumerate(types) if kind not in SPECIAL]
    places = {"first": [0], "first_content": content[:1]}
    places |= {name: [j for j, kind in enumerate(types) if kind == name] for name in set(types)}
    return {name: np.array(tokens) for name, tokens in places.items() if tokens}


def _given(weights: np.ndarray, seen: np.ndarray, tokens: np.ndarray) -> float:
    """Attention to the tokens, Σ_j α_ij, as mean over the queries that see one of them."""
    looks = seen[:, tokens].any(axis=1)
    return weights[looks][:, tokens].sum(axis=1).mean() if looks.any() else np.nan


def weights_of_place(
    alpha: np.ndarray, norms: np.ndarray, seen: np.ndarray, tokens: np.ndarray
) -> dict[str, float]:
    """Attention to some tokens and their norms, of one head in one text (gu-2025, section 3).

    Args:
        norms: of all keys in one row, or in a row for every query, when tokens have none.
    """
    n = len(alpha)
    lengths = norms[0] if len(norms) == 1 else np.full(n, np.nan)
    norms = alpha * norms
    beside = [j + 1 if j < n - 1 else j - 1 for j in tokens]
    others = np.delete(lengths, tokens)
    return {
        "attention": _given(alpha, seen, tokens),
        "even": _given(seen / seen.sum(axis=1, keepdims=True), seen, tokens),
        "neighbour": _given(alpha, seen, np.array(beside)) if n > 1 else np.nan,
        "norm_share": _given(norms / norms.sum(axis=1, keepdims=True), seen, tokens),
        "value_norm": lengths[tokens].mean(),
        "relative_norm": lengths[tokens].mean() / others.mean() if len(others) else np.nan,
    }


def _scores(corpus: Corpus, reading: Reading, layer: int) -> Iterator[dict[str, dict[str, float]]]:
    """Head by head: keys less their bias, what this bias adds, and what that of queries does.

    A bias that is the same at every place raises no key above another, and a norm leaves none.
    """
    model, rows = corpus.model, reading.normed[layer]
    of_layer, scale, seen = model.layers[layer], model.scale(layer), reading.seen(layer)
    sides = model.sides(layer, rows)
    biases = [
        model.by_head(side.bias.expand(len(rows), -1)) for side in (of_layer.query, of_layer.key)
    ]
    there = [bool(bias.any()) and not any(of_layer.head_norms) for bias in biases]
    whole = model.turned(layer, sides[1])
    keys = whole if any(of_layer.head_norms) else model.turned(layer, sides[1] - biases[1])
    queries, of_query, of_key = (
        model.turned(layer, side) for side in (sides[0], biases[0], biases[1])
    )
    raises = there[1] and len(model.frequencies(layer)) > 0
    products = [queries @ keys.mT, queries @ of_key.mT, of_query @ whole.mT]
    scores, raised, blind = ((product * scale).numpy() for product in products)
    lengths = keys.norm(dim=-1).numpy()
    for head in range(model.heads):
        yield {
            name: _apart(
                scores[head],
                lengths[head],
                seen,
                tokens,
                {"bias": raised[head]} if raises else {},
                {"query_bias": blind[head]} if there[0] else {},
            )
            for name, tokens in _places(reading.types).items()
        }


def _apart(
    scores: np.ndarray,
    lengths: np.ndarray,
    seen: np.ndarray,
    tokens: np.ndarray,
    *biases: dict[str, np.ndarray],
) -> dict[str, float]:
    """The excess, the part of it that is the length's alone or the direction's, and the biases'.

    Args:
        biases: scores by the bias of keys, which is a part too, and by that of queries.
    """
    of_place = np.zeros(len(lengths), dtype=bool)
    of_place[tokens] = True
    rows = []
    for i, sees in enumerate(seen):
        here, other = sees & of_place, sees & ~of_place
        if here.any() and other.any():
            length, usual = lengths[here].mean(), lengths[other].mean()
            score, common = scores[i, here].mean(), scores[i, other].mean()
            angle, straight = score / length, common / usual
            parts = {
                "norm": (length - usual) * (angle + straight) / 2,
                "direction": (angle - straight) * (length + usual) / 2,
            }
            of_keys, of_queries = (
                {name: of[i, here].mean() - of[i, other].mean() for name, of in bias.items()}
                for bias in biases
            )
            parts |= of_keys
            rows.append({"excess": sum(parts.values())} | parts | of_queries)
    means = pd.DataFrame(rows).mean()
    return {str(name): mean for name, mean in means.items()}


def _rows(
    corpus: Corpus, of_layer: Callable[[Reading, int], Iterator[dict[str, dict[str, float]]]]
) -> pd.DataFrame:
    """Every number of every sequence, layer, head and place."""
    return frame_of(
        [
            {"seq": reading.seq, "layer": layer + 1, "head": head + 1, "place": place}
            | {"quantity": name, "value": value}
            for reading in corpus.readings
            for layer in range(len(corpus.model.layers))
            for head, places in enumerate(of_layer(reading, layer))
            for place, values in places.items()
            for name, value in values.items()
            if not np.isnan(value)
        ]
    )


def _weights_of_layer(corpus: Corpus) -> Callable[[Reading, int], Iterator[dict]]:
    def of_layer(reading: Reading, layer: int) -> Iterator[dict]:
        lengths = corpus.model.vector_norms(layer, reading.normed[layer]).numpy()
        seen = reading.seen(layer)
        for alpha, of_head in zip(reading.attention[layer].numpy(), lengths, strict=True):
            yield {
                name: weights_of_place(alpha, of_head, seen, tokens)
                for name, tokens in _places(reading.types).items()
            }

    return of_layer


def no_token(corpus: Corpus) -> pd.DataFrame:
    """Shares that the logits of no token have, of all queries and of either half of them."""

    def of_layer(reading: Reading, layer: int) -> Iterator[dict[str, dict[str, float]]]:
        n, half = len(reading), (len(reading) + 1) // 2
        for alpha in reading.attention[layer].numpy():
            lost = 1 - alpha.sum(axis=1)
            even = 1 / (reading.seen(layer).sum(axis=1) + 1)
            shares = {"no_token": lost.mean(), "even": even.mean(), "first": alpha[:, 0].mean()}
            halves = {"early": lost[:half].mean(), "late": lost[half:].mean()} if n > 1 else {}
            yield {"all": shares | halves}

    return _means(_rows(corpus, of_layer)).drop(columns="place")


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over sequences of every head, and of the mean over the heads of a layer."""
    cell = ["layer", "place", "quantity"]
    heads = rows.groupby([*cell, "head"])["value"].mean().reset_index()
    by_text = rows.groupby(["seq", *cell])["value"].mean().reset_index()
    layers = by_text.groupby(cell)["value"].mean().reset_index()
    return pd.concat([heads, layers]).rename(columns={"value": "mean"})


def sink(corpus: Corpus) -> pd.DataFrame:
    return _means(_rows(corpus, _weights_of_layer(corpus)))


def sink_score(corpus: Corpus) -> pd.DataFrame:
    return _means(_rows(corpus, lambda reading, layer: _scores(corpus, reading, layer)))


def sink_rate(corpus: Corpus) -> pd.DataFrame:
    """The share of heads above a threshold in a text, then the mean over texts."""
    rows = _rows(corpus, _weights_of_layer(corpus))
    rows = rows[rows["quantity"].isin(SHARES)]
    frames = []
    for threshold in THRESHOLDS:
        above = rows.assign(mean=(rows["value"] > threshold + 1e-6).astype(float))
        cell = ["place", "quantity"]
        for more in (["layer"], []):
            by_text = above.groupby(["seq", *cell, *more])["mean"].mean().reset_index()
            frames.append(by_text.groupby([*cell, *more])["mean"].mean().reset_index())
            frames[-1]["threshold"] = threshold
    return pd.concat(frames)


def massive_activation(corpus: Corpus) -> pd.DataFrame:
    """Largest coordinate by text, depth and place: its size, also in medians; means over texts."""
    rows = []
    for reading in corpus.readings:
        for depth, state in enumerate([*reading.inputs, reading.outputs[-1]]):
            sizes = state.abs()
            middle = torch.sort(sizes.flatten()).values[(sizes.numel() - 1) // 2].item()
            for place, tokens in {"all": np.arange(len(reading)), **_places(reading.types)}.items():
                largest = sizes[tokens].max().item()
                massive = float(largest > 100 and largest > 1000 * middle)
                numbers = {"largest": largest, "ratio": largest / middle, "massive": massive}
                rows.append({"depth": depth, "place": place} | numbers)
    means = frame_of(rows).groupby(["depth", "place"]).mean().reset_index()
    return means.melt(["depth", "place"], var_name="quantity", value_name="mean")
