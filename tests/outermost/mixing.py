"""A whole layer as a sum over inputs: REFERENCE section 2."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from scipy import stats

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of
from tests.outermost.layer_parts import Parts

EFFECTS = {"res_ln": (1, 3), "ff": (3, 4), "ff_res": (4, 5), "ff_ln": (5, 6)}
"""Steps as places in the order of scopes; a pre-norm layer has no seventh scope."""


def completeness(corpus: Corpus) -> pd.DataFrame:
    """Errors of the sums of parts in float64, nearly 0: the error of a file is rounding."""
    worst = np.array([[layer.error for layer in layers] for layers in corpus.parts]).max(axis=0)
    return frame_of(
        [
            {"layer": n + 1, "worst_relative_error": error, "n_sequences": len(corpus.readings)}
            for n, error in enumerate(worst)
        ]
    )


def scope_similarity(corpus: Corpus) -> pd.DataFrame:
    """Spearman's ρ of flattened maps, of the pairs there are; means over sequences."""
    names = corpus.model.scopes
    rhos = np.zeros((len(corpus.readings), len(corpus.model.layers), len(names), len(names)))
    for seq, layers in enumerate(corpus.parts):
        for layer, parts in enumerate(layers):
            maps = [parts.maps[name].numpy() for name in names]
            seen = np.tri(len(maps[0]), dtype=bool) | (not corpus.model.is_causal)
            ranks = np.stack([stats.rankdata(matrix[seen]) for matrix in maps])
            rhos[seq, layer] = np.corrcoef(ranks)
    by_layer = rhos.mean(axis=0)
    levels = [*enumerate(by_layer, start=1), (None, by_layer.mean(axis=0))]
    return frame_of(
        [
            {
                "layer": layer,
                "scope_a": a,
                "scope_b": b,
                "spearman": matrix[row, column],
                "n_sequences": len(rhos),
            }
            for layer, matrix in levels
            for row, a in enumerate(names)
            for column, b in enumerate(names)
        ]
    )


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


def _kind(corpus: Corpus, reading: Reading, place: int) -> str:
    if corpus.is_masked(reading.ids[place]):
        return "mask"
    kind = reading.types[place]
    return kind if kind in (*SPECIAL, "first") else "other"


def _ratio_row(layer: int | None, name: str, kind: str, mean: float, tokens: np.ndarray) -> dict:
    squares = ((tokens - tokens.mean()) ** 2).mean()
    return {
        "layer": layer,
        "scope": name,
        "token_type": kind,
        "mean": mean,
        "std": np.sqrt(squares),
        "min": tokens.min(),
        "max": tokens.max(),
        "n": len(tokens),
    }


def pair_delta(corpus: Corpus) -> pd.DataFrame:
    """Rows of each map made to sum to 1, after less before; means over occurrences i ≠ j."""
    names = corpus.model.scopes
    effects = {name: steps for name, steps in EFFECTS.items() if steps[1] < len(names)}
    sequence, source, target, chosen = _positions(corpus)
    code = source.astype(np.int64) << 32 | target
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    n = np.bincount(place)
    n_sequences = np.bincount(np.unique(np.stack([place, sequence]), axis=1)[0])
    token = corpus.model.tokenizer.convert_ids_to_tokens
    shared = {
        "source": token(source[first].tolist()),
        "target": token(target[first].tolist()),
        "n": n,
        "n_sequences": n_sequences,
    }
    frames = []
    for layer in range(len(corpus.model.layers)):
        for effect, (before, after) in effects.items():
            steps = names[before], names[after]
            change = np.concatenate(
                [
                    _change(layers[layer].maps, *steps)[which]
                    for layers, which in zip(corpus.parts, chosen, strict=True)
                ]
            )
            mean = np.bincount(place, weights=change) / n
            squares = np.bincount(place, weights=(change - mean[place]) ** 2)
            with np.errstate(invalid="ignore", divide="ignore"):
                deviation = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
            values = {"mean_delta": mean, "std_delta": deviation}
            frames.append(pd.DataFrame({"layer": layer + 1, "effect": effect, **shared, **values}))
    return pd.concat(frames)


def _change(maps: dict[str, torch.Tensor], before: str, after: str) -> np.ndarray:
    one, other = (maps[name] / maps[name].sum(dim=1, keepdim=True) for name in (before, after))
    return (other - one).numpy()


def _positions(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Sequence, id of w_j and id of w_i of all pairs i ≠ j that a query may see."""
    sequence, source, target, chosen = [], [], [], []
    for reading in corpus.readings:
        n = len(reading)
        which = ~np.eye(n, dtype=bool)
        if corpus.model.is_causal:
            which &= np.tri(n, dtype=bool)
        i, j = np.nonzero(which)
        ids = np.array(reading.ids)
        sequence.append(np.full(len(i), reading.seq))
        source.append(ids[j])
        target.append(ids[i])
        chosen.append(which)
    return np.concatenate(sequence), np.concatenate(source), np.concatenate(target), chosen
