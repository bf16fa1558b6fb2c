"""Attention weights and the norms they multiply: REFERENCE section 1."""

from itertools import product

import duckdb
import numpy as np
import pandas as pd
import torch
from scipy import stats

from tests.outermost.bare_model import BareModel, Reading
from tests.outermost.corpus import Corpus, frame_of
from tests.reference.correlation_parts import parts


def token_norm(corpus: Corpus) -> pd.DataFrame:
    frames = []
    for reading, layer in product(corpus.readings, range(len(corpus.model.layers))):
        norms = {"input_norm": reading.inputs[layer].norm(dim=1).numpy()}
        place = {"seq": reading.seq, "pos": range(len(reading)), "layer": layer + 1}
        frames.append(pd.DataFrame(place | norms))
    return pd.concat(frames)


def head_token(corpus: Corpus) -> pd.DataFrame:
    frames, heads = [], corpus.model.heads
    for reading, layer in product(corpus.readings, range(len(corpus.model.layers))):
        norms = value_norms(corpus.model, reading.normed[layer], layer)
        received = reading.attention[layer].sum(dim=1)
        shares = weighed(corpus.model, reading, layer)["norm"].sum(axis=1)
        place = {"seq": reading.seq, "layer": layer + 1, "token_type": reading.types * heads}
        place |= {"head": np.repeat(np.arange(heads) + 1, len(reading))}
        place |= {"pos": np.tile(np.arange(len(reading)), heads)}
        numbers = {"value_norm": norms, "attention_received": received}
        numbers |= {"weighted_norm_received": received * norms, "norm_share_received": shares}
        frames.append(pd.DataFrame(place | {name: np.ravel(of) for name, of in numbers.items()}))
    return pd.concat(frames)


def value_norms(model: BareModel, rows: torch.Tensor, layer: int) -> torch.Tensor:
    """‖f(x)‖ by head and token, from the vectors themselves."""
    return model.transformed(model.layers[layer], rows).norm(dim=-1)


def weighed(model: BareModel, reading: Reading, layer: int) -> dict[str, np.ndarray]:
    """Attention of a layer's heads, and shares of ‖αf(x)‖ in its rows: head × query × key."""
    alpha = reading.attention[layer].numpy()
    norms = alpha * model.vector_norms(layer, reading.normed[layer]).numpy()
    return {"weight": alpha, "norm": norms / norms.sum(axis=2, keepdims=True)}


def attention_norm_sample(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Weight and norm of the pairs that were drawn; which these are is the file's."""
    names = ["layer", "head", "seq", "query_pos", "key_pos"]
    pairs = store.execute(f"select distinct {', '.join(names)} from attention_norm_sample").df()
    readings = {reading.seq: reading for reading in corpus.readings}
    norms = {
        (seq, layer): corpus.model.vector_norms(layer, rows).expand(reading.attention[layer].shape)
        for seq, reading in readings.items()
        for layer, rows in enumerate(reading.normed)
    }
    drawn = [
        (
            readings[seq].attention[layer - 1][head - 1, query, key].item(),
            norms[seq, layer - 1][head - 1, query, key].item(),
        )
        for layer, head, seq, query, key in pairs.itertuples(index=False)
    ]
    attention, lengths = zip(*drawn, strict=True)
    return pairs.assign(attention=attention, value_norm=lengths)


def _dispersions(tokens: pd.DataFrame, name: str, cell: list[str]) -> pd.DataFrame:
    """Means, and roots of mean squared distances from them, by cell and of all tokens."""
    both = pd.concat([tokens, tokens.assign(**dict.fromkeys(cell, np.nan))])
    groups = both.groupby(cell, dropna=False)[name]
    rows = groups.agg(n="size", mean="mean", min="min", max="max").assign(std=groups.std(ddof=0))
    return rows.assign(cv=rows["std"] / rows["mean"]).reset_index()


def value_norm_dispersion(corpus: Corpus) -> pd.DataFrame:
    return _dispersions(head_token(corpus), "value_norm", ["layer", "head"])


def input_norm_dispersion(corpus: Corpus) -> pd.DataFrame:
    return _dispersions(token_norm(corpus), "input_norm", ["layer"])


def _of_types(corpus: Corpus) -> pd.DataFrame:
    """Share of every type per query, and its mean norm: by text and head, and heads' means."""
    tokens, cell = head_token(corpus), ["seq", "layer", "head", "token_type"]
    sums = ["attention_received", "weighted_norm_received", "norm_share_received"]
    lengths = tokens["seq"].map({reading.seq: len(reading) for reading in corpus.readings})
    tokens[sums] = tokens[sums].div(lengths, axis=0)
    rows = tokens.groupby(cell)[sums].sum()
    rows["value_norm"] = tokens.groupby(cell)["value_norm"].mean()
    layers = rows.groupby(["seq", "layer", "token_type"]).mean()
    return pd.concat([rows.reset_index(), layers.reset_index()])


def norm_shares(corpus: Corpus) -> pd.DataFrame:
    """Share of ‖αf(x)‖ from every type, query by query, before any mean."""
    groups = _of_types(corpus).groupby(["layer", "head", "token_type"], dropna=False)
    shares = groups["norm_share_received"].sum() / len(corpus.readings)
    return shares.rename("mean").reset_index()


def token_type_mixing(corpus: Corpus) -> pd.DataFrame:
    """A sequence without the type gives 0 to the sums and nothing to the mean of norms."""
    groups = _of_types(corpus).groupby(["layer", "head", "token_type"], dropna=False)
    numbers = {
        "attention": groups["attention_received"].sum() / len(corpus.readings),
        "value_norm": groups["value_norm"].mean(),
        "weighted_norm": groups["weighted_norm_received"].sum() / len(corpus.readings),
        "n_sequences": groups.size(),
    }
    return pd.DataFrame(numbers).reset_index()


def binned_correlation(corpus: Corpus) -> pd.DataFrame:
    """ρ over all pairs; absent where fewer than 8 bins of norms can be told apart.

    What falls into one quarter of an octave of α, or one 64th of norms, is a tie, as the file says;
    docs/limits.md holds how far that is from sorted pairs.
    """
    by_type: dict[str, dict[tuple[int, int], np.ndarray]] = {}
    for layer in range(len(corpus.model.layers)):
        for head in range(corpus.model.heads):
            for name, pairs in _pairs_of_head(corpus, layer, head).items():
                binned = np.stack([_bins(pairs[0], 4), _bins(pairs[1], 64)])
                by_type.setdefault(name, {})[layer + 1, head + 1] = binned
    rows = []
    for name, heads in by_type.items():
        ranks = _mean_ranks(heads)
        own = {place: _correlation(*place, name, pairs) for place, pairs in heads.items()}
        rows += [row | ranks[place] | {"median": row["spearman"]} for place, row in own.items()]
        for layer in (*sorted({layer for layer, _ in heads}), None):
            chosen = {place: of for place, of in heads.items() if layer in (None, place[0])}
            known = [own[place]["spearman"] for place in chosen]
            row = _correlation(layer, None, name, np.concatenate(list(chosen.values()), axis=1))
            row |= _parts_of(chosen) if row["spearman"] is not None else {}
            sizes = [pairs.shape[1] for pairs in chosen.values()]
            for side in SIDES:
                row[side] = np.average([ranks[place][side] for place in chosen], weights=sizes)
            known = [rho for rho in known if rho is not None]
            rows.append(row | {"median": np.median(known) if known else None})
    return frame_of(rows)


SIDES = ("attention_rank", "norm_rank")
LEVELS = ("within_heads", "between_heads", "between_layers")


def _parts_of(heads: dict[tuple[int, int], np.ndarray]) -> dict[str, float | None]:
    """Split the correlation of ranks: within heads, between them, and between layers."""
    groups = [(place[0], place) for place, pairs in heads.items() for _ in range(pairs.shape[1])]
    joined = np.concatenate(list(heads.values()), axis=1)
    found = parts([stats.rankdata(side).tolist() for side in joined], groups)
    own = {f"{level}_spearman": rho for level, (_, rho) in zip(LEVELS, found, strict=True)}
    return own | {level: part for level, (part, _) in zip(LEVELS, found, strict=True)}


def _mean_ranks(heads: dict[tuple[int, int], np.ndarray]) -> dict[tuple[int, int], dict]:
    """Mean of each head's ranks among the pairs of all, as shares of them."""
    joined = np.concatenate(list(heads.values()), axis=1)
    ranks = (stats.rankdata(joined, axis=1) - 0.5) / joined.shape[1]
    ends = np.cumsum([pairs.shape[1] for pairs in heads.values()])
    of_heads = np.split(ranks, ends[:-1], axis=1)
    return {
        place: dict(zip(SIDES, of.mean(axis=1), strict=True))
        for place, of in zip(heads, of_heads, strict=True)
    }


def _pairs_of_head(corpus: Corpus, layer: int, head: int) -> dict[str, np.ndarray]:
    """All pairs (α_ij, ‖f(x_j)‖) by type of j, for keys j that query i sees."""
    by_type: dict[str, list] = {}
    for reading in corpus.readings:
        alpha = reading.attention[layer][head].numpy()
        norms = corpus.model.vector_norms(layer, reading.normed[layer])[head].numpy()
        seen = reading.seen(layer)
        kinds = np.array(reading.types)
        for name in set(reading.types):
            chosen = seen & (kinds == name)
            both = np.broadcast_to(norms, alpha.shape)[chosen]
            by_type.setdefault(name, []).append(np.stack([alpha[chosen], both]).astype(np.float32))
    return {name: np.concatenate(parts, axis=1) for name, parts in by_type.items()}


def _correlation(layer: int | None, head: int | None, name: str, pairs: np.ndarray) -> dict:
    alpha, norms = pairs
    counts = np.unique(_bins(norms, 64), return_counts=True)[1].astype(float)
    can_be_ranked = counts.sum() ** 2 >= 8 * (counts**2).sum()
    spearman = None
    if can_be_ranked and np.ptp(alpha):
        spearman = _pearson(stats.rankdata(alpha), stats.rankdata(norms))
    place = {"layer": layer, "head": head, "token_type": name}
    within = dict.fromkeys(LEVELS, None if spearman is None else 0.0)
    within |= {"within_heads": spearman, "within_heads_spearman": spearman}
    return {**place, "n": len(alpha), "spearman": spearman, **within}


def _bins(values: np.ndarray, per_octave: int) -> np.ndarray:
    """The lower edge of each value's bin, of so many equally wide ones to the octave."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.floor(fraction * 2 * per_octave) / (2 * per_octave), exponent)


def _pearson(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def singular_value(corpus: Corpus) -> pd.DataFrame:
    """Singular values of the dense (d+1)×(d+1) product, without ranks beyond d' + 1, exactly 0.

    Beside them those of the product without biases.
    """
    model, rows = corpus.model, []
    d, width = model.width, model.head_width
    for layer, weights in enumerate(model.layers):
        for head in range(model.heads):
            columns = slice(head * width, (head + 1) * width)
            inner = np.zeros((d + 1, width + 1))
            inner[:d, :width] = weights.value.weight[:, columns]
            inner[d, :width], inner[d, width] = weights.value.bias[columns], 1
            outer = np.zeros((width + 1, d + 1))
            outer[:width, :d], outer[width, d] = weights.output.weight[columns], 1
            values = np.linalg.svd(inner @ outer, compute_uv=False)[: width + 1]
            linear = np.linalg.svd(inner[:d, :width] @ outer[:width, :d], compute_uv=False)
            rows += [
                {"layer": layer + 1, "head": head + 1, "rank": rank + 1, "value": value}
                | {"linear_value": linear[rank] if rank < width else None}
                for rank, value in enumerate(values)
            ]
    return frame_of(rows)
