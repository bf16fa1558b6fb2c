"""Relevance carried back to the input: REFERENCE section 5, rules i to iv."""

import numpy as np
import pandas as pd

from tests.outermost.corpus import SPECIAL, Corpus, frame_of

RULES = ("i", "ii", "iii", "iv")


def maps(corpus: Corpus, seq: int) -> dict[tuple[str, int], np.ndarray]:
    """Maps of one sequence, by rule and start layer: head × token."""
    reading = corpus.readings[seq]
    n, n_layers = len(reading), len(reading.attention)
    start = np.zeros(n)
    start[n - 1 if corpus.model.is_causal else reading.types.index("cls")] = 1
    values = [
        corpus.model.by_head(layer.value(rows)).numpy()
        for layer, rows in zip(corpus.model.layers, reading.normed, strict=True)
    ]
    by_rule = {}
    for rule in RULES:
        passed = [
            [_passing(rule, alpha, v) for alpha, v in zip(layer.numpy(), of_layer, strict=True)]
            for layer, of_layer in zip(reading.attention, values, strict=True)
        ]
        for last in range(n_layers):
            heads = np.tile(start, (corpus.model.heads, 1))
            for layer in reversed(range(last + 1)):
                moved = zip(heads, passed[layer], strict=True)
                heads = np.stack([relevance @ matrix for relevance, matrix in moved])
            by_rule[rule, last + 1] = heads
    return by_rule


def _passing(rule: str, alpha: np.ndarray, values: np.ndarray) -> np.ndarray:
    """a_j W_ij / Σ_k a_k W_ik, from row i to column j."""
    n = len(alpha)
    weight = alpha.copy()
    if rule in ("iii", "iv"):
        weight *= np.linalg.norm(values[:, None] - values, axis=-1)
    weight += np.eye(n)
    activation = np.ones(n)
    if rule in ("ii", "iv"):
        activation = np.linalg.norm(values - values.mean(axis=0), axis=-1)
    weighted = weight * activation
    return weighted / weighted.sum(axis=1, keepdims=True)


def relevance_map(corpus: Corpus, kept: list[int]) -> pd.DataFrame:
    """Every head's map and their mean, token by token, of the sequences that a file keeps."""
    frames = []
    for seq in kept:
        for (rule, layer), heads in maps(corpus, seq).items():
            for head, relevance in [*enumerate(heads, start=1), (None, heads.mean(axis=0))]:
                place = {"seq": seq, "rule": rule, "layer": layer, "head": head}
                pos = range(len(relevance))
                frames.append(pd.DataFrame({**place, "pos": pos, "relevance": relevance}))
    return pd.concat(frames)


def relevance_summary(corpus: Corpus) -> pd.DataFrame:
    """Means over sequences: the share of [CLS]; entropy and the share of the largest twentieth of
    what lies on tokens that are not special."""
    summaries: dict[tuple, list[tuple]] = {}
    for seq, reading in enumerate(corpus.readings):
        types = np.array(reading.types)
        for (rule, layer), heads in maps(corpus, seq).items():
            for head, relevance in [*enumerate(heads, start=1), (None, heads.mean(axis=0))]:
                summaries.setdefault((rule, layer, head), []).append(_summary(relevance, types))
    rows = []
    for (rule, layer, head), values in summaries.items():
        cls, entropy, top = np.array(values, dtype=float).T
        shares = {"cls_share": cls, "entropy": entropy, "top5_share": top}
        means = {
            name: np.mean(share[~np.isnan(share)])
            for name, share in shares.items()
            if (~np.isnan(share)).any()
        }
        rows.append({"rule": rule, "layer": layer, "head": head, "n": len(values), **means})
    return frame_of(rows)


def _summary(relevance: np.ndarray, types: np.ndarray) -> tuple[float, float, float]:
    content = relevance[~np.isin(types, SPECIAL)]
    shares = content / content.sum()
    positive = shares[shares > 0]
    top = np.sort(shares)[::-1][: -(-len(shares) // 20)].sum()
    cls = relevance[types == "cls"].sum() if (types == "cls").any() else np.nan
    return cls, -(positive * np.log(positive)).sum(), top
