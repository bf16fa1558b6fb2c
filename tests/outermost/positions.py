"""Positions: REFERENCE section 3."""

import duckdb
import numpy as np
import pandas as pd
import torch

from tests.outermost import turned
from tests.outermost.bare_model import BareModel, Layer, Reading
from tests.outermost.corpus import Corpus, frame_of

REACH_OF_PROFILES, REACH_OF_COVARIANCES = 10, 64


def relative_position_profile(corpus: Corpus) -> pd.DataFrame:
    """tr_t(A) = Σ_i a_{i, i+t}, mean over sequences; a causal model has no t above 0."""
    model, rows = corpus.model, []
    last = 0 if model.is_causal else REACH_OF_PROFILES
    for layer, head in np.ndindex(len(model.layers), model.heads):
        alphas = [reading.attention[layer][head].numpy() for reading in corpus.readings]
        for offset in range(-REACH_OF_PROFILES, last + 1):
            place = {"layer": layer + 1, "head": head + 1, "offset": offset}
            rows.append(place | {"attention": np.mean([np.trace(a, offset) for a in alphas])})
    return frame_of(rows)


def query_key_correlation(corpus: Corpus) -> pd.DataFrame:
    """tr_t of the raw scores, which Σ_j s_j xcov_j(t) is, beside that of α; means over texts.

    Also those of scores less the mean of their row, and the means over the pairs of an offset.
    """
    model, rows = corpus.model, []
    for layer in range(len(model.layers)):
        seen = [reading.seen(layer) for reading in corpus.readings]
        scores = [model.scores(layer, reading.normed[layer]) for reading in corpus.readings]
        longest = max(seen, key=len)
        for head in range(model.heads):
            alphas = [reading.attention[layer][head].numpy() for reading in corpus.readings]
            values = [matrices[head] for matrices in scores]
            rest = [_centred(*pair) for pair in zip(values, seen, strict=True)]
            sides = {"attention": alphas, "value": values, "value_centred": rest}
            for offset in range(-REACH_OF_COVARIANCES, REACH_OF_COVARIANCES + 1):
                if not np.trace(longest, offset):
                    continue
                row: dict = {"layer": layer + 1, "head": head + 1, "offset": offset}
                there = [len(text) - abs(offset) for text in seen if len(text) > abs(offset)]
                for name, matrices in sides.items():
                    sums = np.array([np.trace(matrix, offset) for matrix in matrices])
                    row[name] = sums.mean()
                    if name != "value_centred":
                        of_pairs = [
                            s for s, t in zip(sums, seen, strict=True) if len(t) > abs(offset)
                        ]
                        row[f"{name}_per_pair"] = np.mean(np.array(of_pairs) / there)
                rows.append(row | {"n_sequences": len(there)})
    return frame_of(rows)


PREFERRED = {
    "attention_offset": "attention",
    "score_offset": "value",
    "attention_offset_per_pair": "attention_per_pair",
    "score_offset_per_pair": "value_per_pair",
    "score_offset_centred": "value_centred",
}


def head_offset(corpus: Corpus) -> pd.DataFrame:
    """Offsets with the largest means within the reach, of equals the nearest, then the left one."""
    means, rows = query_key_correlation(corpus), []
    kernels = turned.position_kernel(corpus) if len(corpus.model.frequencies(0)) else None
    for place in np.ndindex(len(corpus.model.layers), corpus.model.heads):
        layer, head = place[0] + 1, place[1] + 1
        of_head = means[(means["layer"] == layer) & (means["head"] == head)]
        near = of_head[of_head["offset"].abs() <= REACH_OF_PROFILES]
        near = near.sort_values("offset", key=abs, kind="stable").set_index("offset")
        row = {name: near[quantity].idxmax() for name, quantity in PREFERRED.items()}
        dependences = [
            _dependence(reading.attention[layer - 1][head - 1].numpy(), reading.seen(layer - 1))
            for reading in corpus.readings
        ]
        row |= {"dependence": np.mean([of for of in dependences if of is not None])}
        if kernels is not None:
            of_head = kernels[(kernels["layer"] == layer) & (kernels["head"] == head)]
            near = of_head[of_head["offset"].abs() <= REACH_OF_PROFILES].set_index("offset")
            row["kernel_offset"] = near["kernel"].idxmax()
        rows.append({"layer": layer, "head": head} | row)
    return frame_of(rows)


def _dependence(alpha: np.ndarray, seen: np.ndarray) -> float | None:
    """Variance of the means by offset over that of all weights; None if they are all alike."""
    i, j = np.nonzero(seen)
    weights = pd.Series(alpha[i, j])
    means = weights.groupby(j - i).transform("mean")
    whole = ((weights - weights.mean()) ** 2).sum()
    return ((means - weights.mean()) ** 2).sum() / whole if whole > 1e-12 else None


def _centred(scores: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Scores less the mean of those of their row that are seen; 0 where none is."""
    means = (scores * seen).sum(axis=1) / seen.sum(axis=1)
    return (scores - means[:, None]) * seen


def relative_position_cluster(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """The share of texts in which a head's profile, tr_t(A) / n, is nearest to each centre.

    The centres are the file's: where a search for them ends depends on where it starts.
    """
    model = corpus.model
    centres = store.execute(
        'select cluster, "offset", attention from relative_position_centre where k = 6'
    ).df()
    table = centres.pivot(index="cluster", columns="offset", values="attention")
    counts: dict[tuple, int] = {}
    for reading in corpus.readings:
        for layer, heads in enumerate(reading.attention):
            for head, alpha in enumerate(heads.numpy()):
                profile = [np.trace(alpha, int(offset)) / len(reading) for offset in table.columns]
                nearest = np.linalg.norm(table.to_numpy() - profile, axis=1).argmin()
                place = layer + 1, head + 1, str(table.index[nearest])
                counts[place] = counts.get(place, 0) + 1
    n = len(corpus.readings)
    assert sum(counts.values()) == n * len(model.layers) * model.heads
    return frame_of(
        [
            {"layer": layer, "head": head, "cluster": name, "share": count / n}
            for (layer, head, name), count in counts.items()
        ]
    )


def position_variance(corpus: Corpus) -> pd.DataFrame:
    table = corpus.model.positions.numpy()
    centred = table - table.mean(axis=0)
    variances = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1].clip(min=0)
    variances = variances[: min(len(table) - 1, table.shape[1])]
    ratio = variances / variances.sum()
    return pd.DataFrame(
        {"component": np.arange(len(ratio)) + 1, "ratio": ratio, "cumulative": ratio.cumsum()}
    )


def position_spectrum(corpus: Corpus) -> pd.DataFrame:
    """Amplitudes along positions: of the position embeddings, and as means over the sequences of
    the commonest length, each cut to the largest power of two that it has, 16 at least."""
    embeddings = [corpus.model.positions.numpy()]
    frames = [_spread(embeddings).assign(source="position_embedding", layer=None)]
    of_length = _by_length(corpus)
    if of_length:
        length = max(of_length, key=lambda n: (len(of_length[n]), n))
        frames += _states(corpus.model, length, of_length[length])
    return pd.concat(frames)


def position_spectrum_control(corpus: Corpus) -> pd.DataFrame:
    """Those of every length, and of every fourth sequence, which have controls beside them."""
    frames = []
    for length, readings in _by_length(corpus).items():
        fourth = [reading for reading in readings if reading.seq % 4 == 0]
        for control, chosen in (("kept", readings), ("compared", fourth)):
            if chosen:
                rows = pd.concat(_states(corpus.model, length, chosen))
                rows = rows[(rows["source"] != "word_embedding") | (control == "kept")]
                n_sequences = {"n_sequences": len(chosen)}
                frames.append(rows.assign(control=control, length=length, **n_sequences))
    return pd.concat(frames)


def _by_length(corpus: Corpus) -> dict[int, list[Reading]]:
    by_length: dict[int, list[Reading]] = {}
    for reading in corpus.readings:
        if len(reading) >= 16:
            by_length.setdefault(2 ** int(np.log2(len(reading))), []).append(reading)
    return by_length


def _states(model: BareModel, length: int, chosen: list[Reading]) -> list[pd.DataFrame]:
    """Amplitudes of words, and of every layer's input, queries and keys."""
    words = [reading.words[:length].numpy() for reading in chosen]
    frames = [_spread(words).assign(source="word_embedding", layer=None)]
    for layer, weights in enumerate(model.layers):
        inputs = [reading.normed[layer][:length].numpy() for reading in chosen]
        query, key = ((side[:-1], side[-1]) for side in directions(model, weights))
        identity = np.eye(model.width), np.zeros(model.width)
        for source, (side, bias) in {"hidden": identity, "query": query, "key": key}.items():
            waves = [rows @ side + bias for rows in inputs]
            frames.append(_spread(waves).assign(source=source, layer=layer + 1))
    return frames


def directions(model: BareModel, layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """The singular vectors of W_A = [W_Q; b_Q] [W_K; b_K]ᵀ that have a singular value, the heads'
    beside each other."""
    heads = [(left, right.T) for left, _, right in map(np.linalg.svd, forms(model, layer))]
    query, key = (
        np.hstack([of[:, : model.head_width] for of in side]) for side in zip(*heads, strict=True)
    )
    return query, key


def forms(model: BareModel, layer: Layer) -> list[np.ndarray]:
    """The dense (d+1)×(d+1) matrix W_A of every head."""
    query, key = (
        torch.vstack([affine.weight, affine.bias]).reshape(-1, model.heads, model.head_width)
        for affine in (layer.query, layer.key)
    )
    return list(torch.einsum("xhd,yhd->hxy", query, key).numpy())


def query_key_singular_value(corpus: Corpus) -> pd.DataFrame:
    """Those that are not exactly 0."""
    model = corpus.model
    return frame_of(
        [
            {"layer": layer, "head": head, "rank": rank, "value": value}
            for layer, weights in enumerate(model.layers, start=1)
            for head, form in enumerate(forms(model, weights), start=1)
            for rank, value in enumerate(np.linalg.svd(form)[1][: model.head_width], start=1)
        ]
    )


def exemplar_attention(corpus: Corpus, store: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Weights of the first 15 tokens, one query after the other, of the sequences that are kept."""
    kept = store.execute("select distinct seq from exemplar_attention").fetchall()
    frames = []
    for reading in corpus.readings:
        for layer, head in np.ndindex(len(corpus.model.layers), corpus.model.heads):
            if (reading.seq,) in kept:
                weights = reading.attention[layer][head, :15, :15].numpy()
                place = {"seq": reading.seq, "layer": layer + 1, "head": head + 1}
                cells = {"cell": range(weights.size), "attention": weights.ravel()}
                frames.append(pd.DataFrame(place | cells))
    return pd.concat(frames)


def _spread(waves: list[np.ndarray]) -> pd.DataFrame:
    """Mean, quartiles and largest of the columns by frequency, in cycles per 512 tokens."""
    spreads = []
    for wave in waves:
        amplitudes = np.abs(np.fft.rfft(wave, axis=0))
        quartiles = np.quantile(amplitudes, [0.25, 0.75], axis=1)
        spreads.append([amplitudes.mean(axis=1), *quartiles, amplitudes.max(axis=1)])
    mean, q25, q75, largest = np.mean(spreads, axis=0)
    frequency = 512 * np.arange(len(mean)) / len(waves[0])
    return pd.DataFrame(
        {
            "frequency": frequency,
            "mean": mean,
            "q25": q25,
            "q75": q75,
            "max": largest,
        }
    )
