"""Positions: REFERENCE section 3."""

import duckdb
import numpy as np
import pandas as pd

from tests.outermost.bare_model import BareModel, Layer, Reading
from tests.outermost.corpus import Corpus, frame_of

REACH_OF_PROFILES, REACH_OF_COVARIANCES = 10, 64


def relative_position_profile(corpus: Corpus) -> pd.DataFrame:
    """tr_t(A) = Σ_i a_{i, i+t}, mean over sequences; a causal model has no t above 0."""
    return _by_offset(corpus, REACH_OF_PROFILES, with_values=False)


def query_key_correlation(corpus: Corpus) -> pd.DataFrame:
    """tr_t of the raw scores, which Σ_j s_j xcov_j(t) is, beside that of α; means over texts."""
    return _by_offset(corpus, REACH_OF_COVARIANCES, with_values=True)


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


def _by_offset(corpus: Corpus, reach: int, *, with_values: bool) -> pd.DataFrame:
    model, rows = corpus.model, []
    longest = max(map(len, corpus.readings)) - 1 if with_values else reach
    last = 0 if model.is_causal else min(reach, longest)
    for layer in range(len(model.layers)):
        scores = [_scores(model, reading, layer) for reading in corpus.readings]
        for head in range(model.heads):
            alphas = [reading.attention[layer][head].numpy() for reading in corpus.readings]
            for offset in range(-min(reach, longest), last + 1):
                place = {"layer": layer + 1, "head": head + 1, "offset": offset}
                means = {"attention": np.mean([np.trace(alpha, offset) for alpha in alphas])}
                if with_values:
                    means["value"] = np.mean(
                        [np.trace(matrices[head], offset) for matrices in scores]
                    )
                rows.append(place | means)
    return frame_of(rows)


def _scores(model: BareModel, reading: Reading, layer: int) -> np.ndarray:
    """(X W_Q + b_Q)(X W_K + b_K)ᵀ of every head."""
    rows, weights = reading.normed[layer], model.layers[layer]
    queries, keys = (model.by_head(affine(rows)) for affine in (weights.query, weights.key))
    return (queries @ keys.mT).numpy()


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
    model = corpus.model
    frames = [_spread("position_embedding", None, [model.positions.numpy()])]
    measured = [reading for reading in corpus.readings if len(reading) >= 16]
    lengths = [2 ** int(np.log2(len(reading))) for reading in measured]
    if not lengths:
        return frames[0]
    length = max(set(lengths), key=lambda n: (lengths.count(n), n))
    chosen = [reading for reading, n in zip(measured, lengths, strict=True) if n == length]
    words = [reading.words[:length].numpy() for reading in chosen]
    frames.append(_spread("word_embedding", None, words))
    for layer, weights in enumerate(model.layers):
        inputs = [reading.normed[layer][:length].numpy() for reading in chosen]
        frames.append(_spread("hidden", layer + 1, inputs))
        sides = directions(model, weights)
        for name, side in zip(("query", "key"), sides, strict=True):
            waves = [rows @ side[:-1] + side[-1] for rows in inputs]
            frames.append(_spread(name, layer + 1, waves))
    return pd.concat(frames)


def directions(model: BareModel, layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """The singular vectors of W_A = [W_Q; b_Q] [W_K; b_K]ᵀ that have a singular value, the heads'
    beside each other, by the dense (d+1)×(d+1) matrix."""
    width, both = model.head_width, ([], [])
    for head in range(model.heads):
        columns = slice(head * width, (head + 1) * width)
        query, key = (
            np.vstack([affine.weight[:, columns].numpy(), affine.bias[columns].numpy()])
            for affine in (layer.query, layer.key)
        )
        left, _, right = np.linalg.svd(query @ key.T)
        both[0].append(left[:, :width])
        both[1].append(right[:width].T)
    return np.hstack(both[0]), np.hstack(both[1])


def _spread(source: str, layer: int | None, waves: list[np.ndarray]) -> pd.DataFrame:
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
            "source": source,
            "layer": layer,
            "frequency": frequency,
            "mean": mean,
            "q25": q25,
            "q75": q75,
            "max": largest,
        }
    )
