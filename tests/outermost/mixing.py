"""A whole layer as a sum over inputs: REFERENCE section 2."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from scipy import stats

from tests.outermost.bare_model import Reading
from tests.outermost.corpus import SPECIAL, Corpus, frame_of
from tests.outermost.layer_parts import Parts
from tests.outermost.norms import frequency_correlations, of_tokens

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
            seen = corpus.readings[seq].seen(layer)
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
    """ρ of word frequency and the mixing ratios of tokens, means over layers."""
    scopes = ("attn_w_res", *corpus.model.scopes)
    ratios = token_mixing_ratio(corpus).pivot(index=["seq", "pos"], columns="scope", values="mean")
    tokens = of_tokens(corpus)
    for scope in scopes:
        tokens[scope] = ratios[scope].to_numpy()
    return frequency_correlations(corpus, tokens, scopes, "scope")


def token_mixing_ratio(corpus: Corpus) -> pd.DataFrame:
    return pd.concat(
        pd.DataFrame(
            {
                "scope": scope,
                "seq": reading.seq,
                "pos": range(len(reading)),
                "mean": np.mean([of_scope(parts, scope) for parts in layers], axis=0),
            }
        )
        for reading, layers in zip(corpus.readings, corpus.parts, strict=True)
        for scope in ("attn_w_res", *corpus.model.scopes)
    )


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
    """Means and deviations of the changes of a pair, by the text of its tokens."""
    rows = _averages(corpus)[
        ["layer", "effect", "source", "target", "n", "n_sequences", "mean_delta", "std_delta"]
    ]
    token = corpus.model.tokenizer.convert_ids_to_tokens
    return rows.assign(**{side: token(rows[side].tolist()) for side in ("source", "target")})


def pair_delta_wide(corpus: Corpus) -> pd.DataFrame:
    """The same by token ids, with the standard errors of sequences as clusters."""
    place = ["layer", "source", "target", "n", "n_sequences", "degrees"]
    rows = _averages(corpus)
    wide = rows[place].drop_duplicates(place[:3]).set_index(place[:3])
    for effect, of_effect in rows.groupby("effect"):
        numbers = of_effect.set_index(place[:3])[["mean_delta", "std_delta", "error"]]
        wide[[f"{name}_{effect}" for name in ("mean", "std", "error")]] = numbers
    return wide.reset_index()


def _averages(corpus: Corpus) -> pd.DataFrame:
    """Rows of each map made to sum to 1, after less before; means over occurrences i ≠ j."""
    names = corpus.model.scopes
    effects = {name: steps for name, steps in EFFECTS.items() if steps[1] < len(names)}
    sequence, source, target, chosen = _positions(corpus)
    code = source.astype(np.int64) << 32 | target
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    n = np.bincount(place)
    members = np.split(np.argsort(place, kind="stable"), n.cumsum()[:-1])
    shared = {
        "source": source[first],
        "target": target[first],
        "n": n,
        "n_sequences": [len(set(sequence[of])) for of in members],
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
            of_pairs = [_average(change[of], sequence[of]) for of in members]
            where = {"layer": layer + 1, "effect": effect}
            frames.append(pd.DataFrame(of_pairs).assign(**where, **shared))
    return pd.concat(frames)


def _average(values: np.ndarray, sequence: np.ndarray) -> dict[str, float | None]:
    """Mean and deviation; with three sequences, CR2's error and degrees of freedom (bell-2002).

    The residual maker is I − H with H = 11ᵀ/n. Each cluster's residuals are multiplied by
    (I − H_gg)^(−1/2); the variance is then a quadratic form of independent errors of one variance,
    and Satterthwaite matches its first two moments.
    """
    n, groups = len(values), np.unique(sequence)
    deviation = np.std(values, ddof=1) if n > 1 else None
    row = {"mean_delta": values.mean(), "std_delta": deviation}
    if len(groups) < 3:
        return row | {"error": None, "degrees": None}
    maker = np.eye(n) - 1 / n
    form = []  # variance = Σ_g (form_g · values)²
    for group in groups:
        members = sequence == group
        sizes, vectors = np.linalg.eigh(maker[np.ix_(members, members)])
        root = vectors @ np.diag(sizes**-0.5) @ vectors.T
        form.append(np.ones(members.sum()) / n @ root @ maker[members])
    moments = np.array(form) @ np.array(form).T
    degrees = np.trace(moments) ** 2 / np.sum(moments**2)
    return row | {"error": np.linalg.norm(np.array(form) @ values), "degrees": degrees}


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
