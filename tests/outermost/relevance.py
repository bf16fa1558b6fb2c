"""Relevance carried back to the input: REFERENCE section 5, rules i to iv."""

import duckdb
import numpy as np
import pandas as pd

from tests.outermost.corpus import Corpus

RULES = ("i", "ii", "iii", "iv")
ROLLOUTS = ("norm_rollout", "norm_rollout_layer")


def maps(corpus: Corpus, seq: int) -> dict[tuple[str, int], np.ndarray]:
    """Maps of one sequence, by rule and start layer: head × token, or those of no head alone."""
    reading = corpus.readings[seq]
    n, n_layers = len(reading), len(reading.attention)
    start = np.zeros(n)
    start[n - 1 if corpus.model.is_causal else reading.types.index("cls")] = 1
    values = [
        corpus.model.by_head(layer.value(rows)).numpy()
        for layer, rows in zip(corpus.model.layers, reading.normed, strict=True)
    ]
    attention = [layer.numpy() for layer in reading.attention]
    by_rule = {("attention", layer + 1): start @ alpha for layer, alpha in enumerate(attention)}
    for rule in RULES:
        given = [
            [_given(rule, alpha, v) for alpha, v in zip(*of_layer, strict=True)]
            for of_layer in zip(attention, values, strict=True)
        ]
        of_heads = [[_passing(*head) for head in layer] for layer in given]
        of_means = [[_passing(*map(np.add.reduce, zip(*layer, strict=True)))] for layer in given]
        for name, passed in ((rule, of_heads), (f"{rule}_mean_weights", of_means)):
            for last in range(n_layers):
                by_rule[name, last + 1] = _carried(start, passed[: last + 1])
    around = "ln_attn_res" if corpus.model.norm_first else "attn_res_ln"
    for rule, scope in zip(ROLLOUTS, (around, corpus.model.scopes[-1]), strict=True):
        layers = [[_passing(parts.maps[scope].numpy(), np.ones(n))] for parts in corpus.parts[seq]]
        for last in range(n_layers):
            by_rule[rule, last + 1] = _carried(start, layers[: last + 1])
    return by_rule


def _carried(start: np.ndarray, layers: list[list[np.ndarray]]) -> np.ndarray:
    """Shares of the start that each head hands down, from behind the last of the layers."""
    relevance = np.tile(start, (len(layers[0]), 1))
    for layer in reversed(layers):
        moved = zip(relevance, layer, strict=True)
        relevance = np.stack([of_head @ matrix for of_head, matrix in moved])
    return relevance


def _given(rule: str, alpha: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W, from row i to column j, and a, by a rule."""
    weight = alpha.copy()
    if rule in ("iii", "iv"):
        weight *= np.linalg.norm(values[:, None] - values, axis=-1)
    activation = np.ones(len(alpha))
    if rule in ("ii", "iv"):
        activation = np.linalg.norm(values - values.mean(axis=0), axis=-1)
    return weight + np.eye(len(alpha)), activation


def _passing(weight: np.ndarray, activation: np.ndarray) -> np.ndarray:
    """a_j W_ij / Σ_k a_k W_ik, from row i to column j."""
    weighted = weight * activation
    return weighted / weighted.sum(axis=1, keepdims=True)


def _of_heads(rule: str, maps_of_heads: np.ndarray) -> list[tuple[int | None, np.ndarray]]:
    """Maps of every head and their mean, or the one map that is of no head."""
    mean = (None, maps_of_heads.mean(axis=0))
    return [*enumerate(maps_of_heads, start=1), mean] if rule in (*RULES, "attention") else [mean]


def relevance_map(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Every head's map and their mean, token by token, of the sequences that a file keeps."""
    kept = store.execute("select distinct seq from relevance_map order by seq").fetchall()
    frames = []
    for (seq,) in kept:
        for (rule, layer), heads in maps(corpus, seq).items():
            for head, relevance in _of_heads(rule, heads):
                place = {"seq": seq, "rule": rule, "layer": layer, "head": head}
                pos = range(len(relevance))
                frames.append(pd.DataFrame({**place, "pos": pos, "relevance": relevance}))
    return pd.concat(frames)
