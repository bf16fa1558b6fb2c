"""A whole layer as a sum over inputs: REFERENCE section 2."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of
from tests.outermost.layer_parts import Parts
from tests.reference.correlation_parts import parts as parts_of_correlation


def scope_similarity(corpus: Corpus) -> pd.DataFrame:
    """Spearman's ρ of flattened maps, of the pairs there are; means over sequences."""
    names = corpus.model.scopes
    rhos = np.zeros((len(corpus.readings), len(corpus.model.layers), len(names), len(names)))
    for seq, layers in enumerate(corpus.parts):
        for layer, parts in enumerate(layers):
            seen = corpus.readings[seq].seen(layer)
            ranks = [stats.rankdata(parts.maps[name].numpy()[seen]) for name in names]
            rhos[seq, layer] = np.corrcoef(ranks)
    by_layer, rows = rhos.mean(axis=0), []
    for layer, matrix in (*enumerate(by_layer, start=1), (None, by_layer.mean(axis=0))):
        for (a, b), rho in zip(product(names, repeat=2), matrix.ravel(), strict=True):
            row = {"layer": layer, "scope_a": a, "scope_b": b, "spearman": rho}
            rows.append(row | {"n_sequences": len(rhos)})
    return frame_of(rows)


def mixing_ratio(corpus: Corpus) -> pd.DataFrame:
    """Mean over sequences by layer, pooled mean over tokens, and spreads over tokens."""
    rows = []
    n_layers = len(corpus.model.layers)
    for name in ("attn_w_res", *corpus.model.scopes):
        for kind in (*SPECIAL, "first", "mask", "other", "all"):
            of_layers = [list(_ratios(corpus, layer, name, kind)) for layer in range(n_layers)]
            if not of_layers[0]:
                continue
            for layer, parts in enumerate(of_layers, start=1):
                mean = float(np.mean([ratios.mean() for ratios in parts]))
                rows.append(_ratio_row(layer, name, kind, mean, np.concatenate(parts)))
            tokens = np.concatenate([ratios for parts in of_layers for ratios in parts])
            rows.append(_ratio_row(None, name, kind, tokens.mean(), tokens))
    return frame_of(rows)


def _ratios(corpus: Corpus, layer: int, name: str, kind: str) -> Iterator[np.ndarray]:
    """Yield the ratios of the tokens of each sequence that has the type."""
    for reading, layers in zip(corpus.readings, corpus.parts, strict=True):
        kinds = [_kind(corpus, reading, place) for place in range(len(reading))]
        chosen = np.array([kind in (other, "all") for other in kinds])
        if chosen.any():
            yield of_scope(layers[layer], name)[chosen]


def of_scope(parts: Parts, name: str) -> np.ndarray:
    """Mixing ratios; of half the weights and half the token itself, half those of the weights."""
    if name == "attn_w_res":
        return parts.ratios["attn_w"].numpy() / 2
    return parts.ratios[name].numpy()


def rollout(corpus: Corpus) -> pd.DataFrame:
    """Shares of the input's tokens, by type, distance or both; means over tokens, then sequences.

    Rows of the maps are made to sum to 1, and the maps of one layer after the other multiplied;
    `attention_rollout` is that of half the weights and half the token itself.
    """
    frames = []
    for reading, layers in zip(corpus.readings, corpus.parts, strict=True):
        n, (i, j) = len(reading), np.nonzero(reading.seen(0))
        octaves = np.floor(np.log2(np.maximum(abs(i - j), 0.5)))
        edges = np.where(i == j, 0, 2 ** np.minimum(octaves, 6))
        cells = {"token_type": np.array(reading.types)[j], "distance": edges}
        for scope in (*corpus.model.scopes, "attention_rollout"):
            product = np.eye(n)
            for depth, parts in enumerate(layers, start=1):
                weights = parts.maps["attn_w" if scope == "attention_rollout" else scope].numpy()
                weights = (weights + np.eye(n)) / 2 if scope == "attention_rollout" else weights
                product = weights / weights.sum(axis=1, keepdims=True) @ product
                shares = pd.DataFrame({**cells, "mean": product[i, j] / n})
                frames.append(shares.assign(layer=depth, scope=scope))
    every, place = pd.concat(frames), ["layer", "scope"]
    kinds = (["token_type"], ["distance"], ["token_type", "distance"])
    sums = [every.groupby([*place, *kind])["mean"].sum() for kind in kinds]
    return pd.concat([(of / len(corpus.readings)).reset_index() for of in sums])


def ratio_frequency_correlation(corpus: Corpus) -> pd.DataFrame:
    """ρ of frequency ranks counted in the corpus and the mixing ratios of tokens, means over
    layers; a masked place is no word and counts nowhere."""
    ratios = token_mixing_ratio(corpus).pivot(index=["seq", "pos"], columns="scope", values="mean")
    tokens = ratios.reset_index()
    tokens["id"] = [identity for reading in corpus.readings for identity in reading.ids]
    tokens["kind"] = [kind for reading in corpus.readings for kind in reading.types]
    tokens = tokens[[not corpus.is_masked(identity) for identity in tokens["id"]]]
    counts = tokens["id"].map(tokens["id"].value_counts())
    rows = []
    for special, scope in product((True, False), ratios.columns):
        kept = (~tokens["kind"].isin(SPECIAL)) | special
        groups = [(seq,) for seq in tokens["seq"][kept]]
        ranks = stats.rankdata(-counts[kept]), stats.rankdata(tokens[scope][kept].astype("float32"))
        (within, _), (between, _) = parts_of_correlation([side.tolist() for side in ranks], groups)
        row = {"source": "corpus", "scope": scope, "special_tokens": special}
        row |= {"within_sequences": within, "between_sequences": between}
        rows.append({**row, "n": int(kept.sum()), "spearman": np.corrcoef(*ranks)[0, 1]})
    return frame_of(rows)


def token_mixing_ratio(corpus: Corpus) -> pd.DataFrame:
    frames = []
    for reading, layers in zip(corpus.readings, corpus.parts, strict=True):
        for scope in ("attn_w_res", *corpus.model.scopes):
            mean = np.mean([of_scope(parts, scope) for parts in layers], axis=0)
            place = {"scope": scope, "seq": reading.seq, "pos": range(len(reading))}
            frames.append(pd.DataFrame(place | {"mean": mean}))
    return pd.concat(frames)


def _kind(corpus: Corpus, reading: Reading, place: int) -> str:
    if corpus.is_masked(reading.ids[place]):
        return "mask"
    kind = reading.types[place]
    return kind if kind in (*SPECIAL, "first") else "other"


def _ratio_row(layer: int | None, name: str, kind: str, mean: float, tokens: np.ndarray) -> dict:
    place = {"layer": layer, "scope": name, "token_type": kind, "mean": mean, "n": len(tokens)}
    return place | {"std": tokens.std(), "min": tokens.min(), "max": tokens.max()}
