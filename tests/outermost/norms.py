"""Attention weights and the norms they multiply: REFERENCE section 1."""

import numpy as np
import pandas as pd
import torch
from scipy import stats

from tests.outermost.bare_model import BareModel
from tests.outermost.corpus import SPECIAL, Corpus, frame_of


def token_norm(corpus: Corpus) -> pd.DataFrame:
    return pd.concat(
        pd.DataFrame(
            {
                "seq": reading.seq,
                "pos": range(len(reading)),
                "layer": layer + 1,
                "input_norm": inputs.norm(dim=1).numpy(),
            }
        )
        for reading in corpus.readings
        for layer, inputs in enumerate(reading.inputs)
    )


def head_token(corpus: Corpus) -> pd.DataFrame:
    frames = []
    for reading in corpus.readings:
        for layer, alpha in enumerate(reading.attention):
            norms = value_norms(corpus.model, reading.normed[layer], layer)
            received = alpha.sum(dim=1)
            for head in range(len(alpha)):
                frames.append(
                    pd.DataFrame(
                        {
                            "seq": reading.seq,
                            "pos": range(len(reading)),
                            "layer": layer + 1,
                            "head": head + 1,
                            "token_type": reading.types,
                            "value_norm": norms[head].numpy(),
                            "attention_received": received[head].numpy(),
                            "weighted_norm_received": (received[head] * norms[head]).numpy(),
                        }
                    )
                )
    return pd.concat(frames)


def value_norms(model: BareModel, rows: torch.Tensor, layer: int) -> torch.Tensor:
    """‖f(x)‖ by head and token, from the vectors themselves."""
    return model.transformed(model.layers[layer], rows).norm(dim=-1)


def _dispersion(values: np.ndarray) -> dict:
    """The n values' mean, and the root of the mean squared distance from it."""
    mean = values.sum() / len(values)
    deviation = np.sqrt(((values - mean) ** 2).sum() / len(values))
    return {
        "n": len(values),
        "mean": mean,
        "std": deviation,
        "cv": deviation / mean,
        "min": values.min(),
        "max": values.max(),
    }


def value_norm_dispersion(corpus: Corpus) -> pd.DataFrame:
    rows, pooled = [], []
    for layer in range(len(corpus.model.layers)):
        norms = torch.cat(
            [
                value_norms(corpus.model, reading.normed[layer], layer)
                for reading in corpus.readings
            ],
            dim=1,
        ).numpy()
        pooled.append(norms.ravel())
        rows += [
            {"layer": layer + 1, "head": head + 1, **_dispersion(of_head)}
            for head, of_head in enumerate(norms)
        ]
    return frame_of([*rows, {"layer": None, "head": None, **_dispersion(np.concatenate(pooled))}])


def input_norm_dispersion(corpus: Corpus) -> pd.DataFrame:
    rows, pooled = [], []
    for layer in range(len(corpus.model.layers)):
        norms = (
            torch.cat([reading.inputs[layer] for reading in corpus.readings]).norm(dim=1).numpy()
        )
        pooled.append(norms)
        rows.append({"layer": layer + 1, **_dispersion(norms)})
    return frame_of([*rows, {"layer": None, **_dispersion(np.concatenate(pooled))}])


def norm_shares(corpus: Corpus) -> pd.DataFrame:
    """Share of ‖αf(x)‖ from every type, query by query, before any mean."""
    rows = []
    for reading in corpus.readings:
        for layer, alpha in enumerate(reading.attention):
            norms = alpha * value_norms(corpus.model, reading.normed[layer], layer)[:, None]
            shares = (norms / norms.sum(dim=2, keepdim=True)).mean(dim=1)
            for name in {t for other in corpus.readings for t in other.types}:
                of_type = torch.tensor([kind == name for kind in reading.types])
                rows += [
                    {"layer": layer + 1, "head": head + 1, "token_type": name, "mean": share}
                    for head, share in enumerate(shares[:, of_type].sum(dim=1).tolist())
                ]
    heads = frame_of(rows).groupby(["layer", "head", "token_type"])["mean"].mean().reset_index()
    layers = heads.groupby(["layer", "token_type"])["mean"].mean().reset_index()
    return pd.concat([heads, layers])


def token_type_mixing(corpus: Corpus) -> pd.DataFrame:
    """A sequence without the type gives 0 to the sums and nothing to the mean of norms."""
    cells: dict[tuple, list[tuple]] = {}
    for reading in corpus.readings:
        for layer, alpha in enumerate(reading.attention):
            norms = value_norms(corpus.model, reading.normed[layer], layer)
            for name in {t for other in corpus.readings for t in other.types}:
                of_type = torch.tensor([kind == name for kind in reading.types])
                heads = []
                for head in range(len(alpha)):
                    weights, lengths = alpha[head][:, of_type], norms[head][of_type]
                    heads.append(
                        (
                            weights.sum(dim=1).mean().item(),
                            lengths.mean().item(),
                            (weights * lengths).sum(dim=1).mean().item(),
                        )
                    )
                    cells.setdefault((layer + 1, head + 1, name), []).append(heads[-1])
                cells.setdefault((layer + 1, None, name), []).append(tuple(np.mean(heads, axis=0)))
    rows = []
    for (layer, head, name), values in cells.items():
        attention, length, weighted = np.array(values).T
        rows.append(
            {
                "layer": layer,
                "head": head,
                "token_type": name,
                "attention": attention.mean(),
                "value_norm": np.nanmean(length),
                "weighted_norm": weighted.mean(),
                "n_sequences": np.isfinite(length).sum(),
            }
        )
    return frame_of(rows)


def binned_correlation(corpus: Corpus) -> pd.DataFrame:
    """ρ over all pairs; absent where fewer than 8 bins of norms can be told apart.

    What falls into one quarter of an octave of α, or one 64th of norms, is a tie, as the file says;
    docs/limits.md holds how far that is from sorted pairs.
    """
    rows, pooled = [], {}
    for layer in range(len(corpus.model.layers)):
        of_layer: dict[str, list] = {}
        for head in range(corpus.model.heads):
            for name, pairs in _pairs_of_head(corpus, layer, head).items():
                pairs = np.stack([_bins(pairs[0], 4), _bins(pairs[1], 64)])
                rows.append(_correlation(layer + 1, head + 1, name, pairs))
                of_layer.setdefault(name, []).append(pairs)
        for name, parts in of_layer.items():
            joined = np.concatenate(parts, axis=1)
            rows.append(_correlation(layer + 1, None, name, joined))
            pooled.setdefault(name, []).append(joined)
    for name, parts in pooled.items():
        rows.append(_correlation(None, None, name, np.concatenate(parts, axis=1)))
    return frame_of(rows)


def _pairs_of_head(corpus: Corpus, layer: int, head: int) -> dict[str, np.ndarray]:
    """All pairs (α_ij, ‖f(x_j)‖) by type of j, for keys j that query i sees."""
    by_type: dict[str, list] = {}
    for reading in corpus.readings:
        alpha = reading.attention[layer][head].numpy()
        norms = value_norms(corpus.model, reading.normed[layer], layer)[head].numpy()
        seen = np.ones_like(alpha, dtype=bool)
        if corpus.model.is_causal:
            seen = np.tril(seen)
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
    return {**place, "n": len(alpha), "spearman": spearman}


def _bins(values: np.ndarray, per_octave: int) -> np.ndarray:
    """The lower edge of each value's bin, of so many equally wide ones to the octave."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.floor(fraction * 2 * per_octave) / (2 * per_octave), exponent)


def _pearson(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def of_tokens(corpus: Corpus) -> pd.DataFrame:
    """Id and type of every token, with its mean weight and length over layers and heads."""
    ids, kinds, attention, norms = [], [], [], []
    for reading in corpus.readings:
        received = torch.stack([alpha.sum(dim=1) / len(reading) for alpha in reading.attention])
        lengths = torch.stack(
            [value_norms(corpus.model, rows, layer) for layer, rows in enumerate(reading.normed)]
        )
        attention.append(received.mean(dim=(0, 1)).numpy())
        norms.append(lengths.mean(dim=(0, 1)).numpy())
        ids += reading.ids
        kinds += reading.types
    return pd.DataFrame({"id": ids, "kind": kinds}).assign(
        attention=np.concatenate(attention), value_norm=np.concatenate(norms)
    )


def frequency_correlation(corpus: Corpus) -> pd.DataFrame:
    """ρ of frequency ranks counted in the corpus; a masked place is no word and counts nowhere."""
    tokens = of_tokens(corpus)
    tokens = tokens[[not corpus.is_masked(identity) for identity in tokens["id"]]]
    counts = tokens["id"].map(tokens["id"].value_counts())
    rows = []
    for special in (True, False):
        kept = (~tokens["kind"].isin(SPECIAL)) | special
        for quantity in ("attention", "value_norm"):
            ranks = stats.rankdata(-counts[kept]), stats.rankdata(tokens[quantity][kept])
            rho = _pearson(*ranks)
            place = {"source": "corpus", "quantity": quantity, "special_tokens": special}
            rows.append({**place, "n": int(kept.sum()), "spearman": rho})
    return frame_of(rows)


def singular_value(corpus: Corpus) -> pd.DataFrame:
    """Singular values of the dense (d+1)×(d+1) product, without ranks beyond d' + 1, exactly 0."""
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
            rows += [
                {"layer": layer + 1, "head": head + 1, "rank": rank + 1, "value": value}
                for rank, value in enumerate(values)
            ]
    return frame_of(rows)
