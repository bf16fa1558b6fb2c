"""Attention sinks and their causes, query by query, by definitions of Gu et al. and Sun et al."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import torch

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of
from tests.outermost.norms import value_norms

THRESHOLDS = [tenth / 10 for tenth in range(1, 10)]
SHARES = ("attention", "even", "neighbour", "norm_share")


def _places(types: list[str]) -> dict[str, np.ndarray]:
    """Positions of the first token, of the first that is no special one, and of every type."""
    content = [j for j, kind in enumerate(types) if kind not in SPECIAL]
    places = {"first": [0], "first_content": content[:1]}
    places |= {name: [j for j, kind in enumerate(types) if kind == name] for name in set(types)}
    return {name: np.array(tokens) for name, tokens in places.items() if tokens}


def _seen(corpus: Corpus, n: int) -> np.ndarray:
    return np.tri(n, dtype=bool) if corpus.model.is_causal else np.ones((n, n), dtype=bool)


def _given(weights: np.ndarray, seen: np.ndarray, tokens: np.ndarray) -> float:
    """Attention to the tokens, Σ_j α_ij, as mean over the queries that see one of them."""
    looks = seen[:, tokens].any(axis=1)
    return weights[looks][:, tokens].sum(axis=1).mean() if looks.any() else np.nan


def weights_of_place(
    alpha: np.ndarray, lengths: np.ndarray, seen: np.ndarray, tokens: np.ndarray
) -> dict[str, float]:
    """Attention to some tokens and their norms, of one head in one text (gu-2025, section 3)."""
    n = len(alpha)
    norms = alpha * lengths
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
    """Head by head; no model here turns its keys, so that their bias raises none of them."""
    model, rows = corpus.model, reading.normed[layer]
    of_layer = model.layers[layer]
    queries = model.by_head(of_layer.query(rows)).numpy()
    of_bias = model.by_head(of_layer.query.bias.expand_as(rows)).numpy()
    keys = model.by_head(rows @ of_layer.key.weight).numpy()
    seen = _seen(corpus, len(rows))
    for query, bare, key in zip(queries, of_bias, keys, strict=True):
        scale = np.sqrt(model.head_width)
        scores, blind, lengths = (
            query @ key.T / scale,
            bare @ key.T / scale,
            np.linalg.norm(key, axis=1),
        )
        yield {
            name: _apart(scores, blind, lengths, seen, tokens)
            for name, tokens in _places(reading.types).items()
        }


def _apart(
    scores: np.ndarray,
    blind: np.ndarray,
    lengths: np.ndarray,
    seen: np.ndarray,
    tokens: np.ndarray,
) -> dict[str, float]:
    """The excess, the part of it that is the length's alone or the direction's, and the bias's."""
    of_place = np.zeros(len(lengths), dtype=bool)
    of_place[tokens] = True
    parts = []
    for i, sees in enumerate(seen):
        here, other = sees & of_place, sees & ~of_place
        if here.any() and other.any():
            length, usual = lengths[here].mean(), lengths[other].mean()
            score, common = scores[i, here].mean(), scores[i, other].mean()
            angle, straight = score / length, common / usual
            parts.append(
                (
                    score - common,
                    (length - usual) * (angle + straight) / 2,
                    (angle - straight) * (length + usual) / 2,
                    blind[i, here].mean() - blind[i, other].mean(),
                )
            )
    names = ("excess", "norm", "direction", "query_bias")
    return dict(zip(names, np.mean(parts, axis=0), strict=True)) if parts else {}


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
        lengths = value_norms(corpus.model, reading.normed[layer], layer).numpy()
        seen = _seen(corpus, len(reading))
        for alpha, of_head in zip(reading.attention[layer].numpy(), lengths, strict=True):
            yield {
                name: weights_of_place(alpha, of_head, seen, tokens)
                for name, tokens in _places(reading.types).items()
            }

    return of_layer


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


def _activations(corpus: Corpus) -> pd.DataFrame:
    """Largest coordinate by text, depth and place: its index and its size in medians."""
    rows = []
    for reading in corpus.readings:
        for depth, state in enumerate([*reading.inputs, reading.outputs[-1]]):
            sizes = state.abs()
            middle = torch.sort(sizes.flatten()).values[(sizes.numel() - 1) // 2].item()
            for place, tokens in {"all": np.arange(len(reading)), **_places(reading.types)}.items():
                of_place = sizes[tokens]
                largest = of_place.max().item()
                token, coordinate = divmod(int(of_place.flatten().argmax()), sizes.shape[1])
                key = {"seq": reading.seq, "depth": depth, "place": place, "coordinate": coordinate}
                massive = float(largest > 100 and largest > 1000 * middle)
                numbers = {"largest": largest, "ratio": largest / middle, "massive": massive}
                numbers |= {"median": middle, "pos": int(tokens[token])}
                rows.append(key | numbers)
    return frame_of(rows)


def massive_activation(corpus: Corpus) -> pd.DataFrame:
    names = ["largest", "ratio", "massive"]
    means = _activations(corpus).groupby(["depth", "place"])[names].mean().reset_index()
    return means.melt(["depth", "place"], names, "quantity", "mean")


def massive_coordinate(corpus: Corpus) -> pd.DataFrame:
    """Five coordinates with the most largest activations, by depth and place."""
    rows = _activations(corpus)
    cell = ["depth", "place"]
    counts = rows.groupby([*cell, "coordinate"])["largest"].agg(["size", "mean"]).reset_index()
    texts = rows.groupby(cell).size().rename("n_sequences")
    counts = counts.merge(texts, left_on=cell, right_index=True)
    counts = counts.sort_values([*cell, "size", "coordinate"], ascending=[True, True, False, True])
    counts = counts.groupby(cell).head(5).rename(columns={"mean": "largest"})
    counts = counts.assign(share=counts["size"] / counts["n_sequences"])
    return counts.melt([*cell, "coordinate"], ["share", "largest"], "quantity", "mean")
