"""Positions: REFERENCE section 3."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch

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
    kernels = position_kernel(corpus) if len(corpus.model.frequencies(0)) else None
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


def position_variance(corpus: Corpus) -> pd.DataFrame:
    table = corpus.model.positions.numpy()
    centred = table - table.mean(axis=0)
    variances = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1].clip(min=0)
    variances = variances[: min(len(table) - 1, table.shape[1])]
    ratio, component = variances / variances.sum(), np.arange(len(variances)) + 1
    return pd.DataFrame({"component": component, "ratio": ratio, "cumulative": ratio.cumsum()})


def position_spectrum(corpus: Corpus) -> pd.DataFrame:
    """Amplitudes along positions: of the position embeddings, and as means over the sequences of
    the commonest length, each cut to the largest power of two that it has, 16 at least."""
    embeddings = [corpus.model.positions.numpy()]
    frames = [_spread(embeddings).assign(source="position_embedding", layer=None)]
    of_length: dict[int, list[Reading]] = {}
    for reading in corpus.readings:
        if len(reading) >= 16:
            of_length.setdefault(2 ** int(np.log2(len(reading))), []).append(reading)
    if of_length:
        length = max(of_length, key=lambda n: (len(of_length[n]), n))
        frames += _states(corpus.model, length, of_length[length])
    return pd.concat(frames)


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
    model, rows = corpus.model, []
    for layer, weights in enumerate(model.layers, start=1):
        for head, form in enumerate(forms(model, weights), start=1):
            values = np.linalg.svd(form)[1][: model.head_width]
            place = {"layer": layer, "head": head, "rank": np.arange(len(values)) + 1}
            rows.append(pd.DataFrame(place | {"value": values}))
    return pd.concat(rows)


def _spread(waves: list[np.ndarray]) -> pd.DataFrame:
    """Mean, quartiles and largest of the columns by frequency, in cycles per 512 tokens."""
    spreads = []
    for wave in waves:
        amplitudes = np.abs(np.fft.rfft(wave, axis=0))
        quartiles = np.quantile(amplitudes, [0.25, 0.75], axis=1)
        spreads.append([amplitudes.mean(axis=1), *quartiles, amplitudes.max(axis=1)])
    names = ("mean", "q25", "q75", "max")
    rows = dict(zip(names, np.mean(spreads, axis=0), strict=True))
    n, length = len(rows["mean"]), len(waves[0])
    return pd.DataFrame({"frequency": 512 * np.arange(n) / length} | rows)


REACH = 64
PARTS = ("position", "query", "key", "content")


@dataclass(frozen=True)
class Pairs:
    """All pairs (i, j) of one head that are compared, of all texts after each other.

    Queries, times the scale of scores, and keys are those before the turn, a complex number for
    each plane: pair × plane. `rest` is what unturned coordinates add to a score, and `row` numbers
    the query of each pair.
    """

    query: np.ndarray
    key: np.ndarray
    rest: np.ndarray
    offset: np.ndarray
    row: np.ndarray
    frequencies: np.ndarray

    def __len__(self) -> int:
        return len(self.offset)

    def score(self, query: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Score of a query and a key at the offset of each pair."""
        turn = np.exp(-1j * self.frequencies * self.offset[:, None])
        return np.real(query * key.conj() * turn).sum(axis=1)

    def centred(self, scores: np.ndarray) -> np.ndarray:
        """Scores less the mean of their row."""
        sums, sizes = np.bincount(self.row, scores), np.bincount(self.row)
        return scores - (sums / sizes)[self.row]

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        return self.query.mean(axis=0), self.key.mean(axis=0)

    def kernel(self, offset: int) -> float:
        query, key = self.means
        turn = np.exp(-1j * self.frequencies * offset)
        return float(np.real(query * key.conj() * turn).sum())

    def shares(self) -> dict[str, float]:
        """The four terms of each score, each by its covariance with the score."""
        query, key = self.means
        own_query, own_key = self.query - query, self.key - key
        sides = ((query, key), (own_query, key), (query, own_key), (own_query, own_key))
        terms = [self.score(*side) for side in sides]
        terms[-1] = terms[-1] + self.rest
        scores = self.centred(sum(terms, np.zeros(len(self))))
        spread = (scores**2).sum()
        shares = {part: scores @ term / spread for part, term in zip(PARTS, terms, strict=True)}
        return shares | {"deviation": np.sqrt(spread / len(self)), "n_pairs": len(self)}


def pairs_of(corpus: Corpus, layer: int) -> list[Pairs]:
    """The pairs of every head of a layer; the scores that they make are held to the model's α."""
    model = corpus.model
    frequencies = model.frequencies(layer).numpy()
    of_heads: list[list[tuple[np.ndarray, ...]]] = [[] for _ in range(model.heads)]
    n_rows = 0
    for reading in corpus.readings:
        i, j = np.nonzero(reading.seen(layer))
        sides = (side.numpy() for side in model.sides(layer, reading.normed[layer]))
        alphas = reading.attention[layer].numpy()
        for head, (queries, keys, alpha) in enumerate(zip(*sides, alphas, strict=True)):
            queries = queries * model.scale(layer)
            query, key = (_planes(side, len(frequencies)) for side in (queries, keys))
            beyond = 2 * len(frequencies)
            rest = (queries[i, beyond:] * keys[j, beyond:]).sum(axis=1)
            pairs = Pairs(query[i], key[j], rest, j - i, i, frequencies)
            weight = np.exp(pairs.score(pairs.query, pairs.key) + rest)
            np.testing.assert_allclose(weight / np.bincount(i, weight)[i], alpha[i, j], atol=1e-6)
            of_heads[head].append((pairs.query, pairs.key, rest, pairs.offset, i + n_rows))
        n_rows += len(reading)
    joined = (map(np.concatenate, zip(*texts, strict=True)) for texts in of_heads)
    return [Pairs(*arrays, frequencies=frequencies) for arrays in joined]


def _planes(rows: np.ndarray, n: int) -> np.ndarray:
    return rows[:, :n] + 1j * rows[:, n : 2 * n]


def rotary_plane(corpus: Corpus) -> pd.DataFrame:
    rows = []
    for layer in range(len(corpus.model.layers)):
        for head, pairs in enumerate(pairs_of(corpus, layer)):
            query, key = pairs.means
            sizes = [(np.abs(side) ** 2).mean(axis=0) for side in (pairs.query, pairs.key)]
            for plane, mean in enumerate(query * key.conj()):
                strength, phase = abs(mean), float(np.angle(mean))
                frequency = pairs.frequencies[plane]
                most = np.sqrt(sizes[0][plane] * sizes[1][plane])
                numbers = {"strength": strength, "phase": phase, "coherence": strength / most}
                numbers |= {"frequency": frequency, "preferred_offset": phase / frequency}
                place = {"layer": layer + 1, "head": head + 1, "plane": plane + 1}
                rows.append(place | numbers | {"n_pairs": len(pairs)})
    return frame_of(rows)


def position_kernel(corpus: Corpus) -> pd.DataFrame:
    return frame_of(
        [
            {"layer": layer + 1, "head": head + 1, "offset": t, "kernel": pairs.kernel(t)}
            for layer in range(len(corpus.model.layers))
            for head, pairs in enumerate(pairs_of(corpus, layer))
            for t in range(max(-REACH, pairs.offset.min()), 1)
        ]
    )


def score_share(corpus: Corpus) -> pd.DataFrame:
    """Shares of every head, and the mean over the heads of each layer."""
    rows = frame_of(
        [
            {"layer": layer + 1, "head": head + 1, **pairs.shares()}
            for layer in range(len(corpus.model.layers))
            for head, pairs in enumerate(pairs_of(corpus, layer))
        ]
    )
    return pd.concat([rows, rows.groupby("layer").mean().reset_index().assign(head=None)])
