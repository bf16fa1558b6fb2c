"""Spectra and principal components along positions."""

from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.query_key_form import QueryKeyFactors
from analysis.measures.positions.query_key_wave import query_key_waves

CYCLES_PER = 512  # positions to which frequencies refer, for waves of any length
SPREAD = ("mean", "q25", "q75", "max")
SHORTEST = 16  # tokens of a text whose waves are measured
_SEED = 0


def amplitude_spectrum(
    waves: Float[Tensor, "*any position column"],
) -> Float[Tensor, "*any frequency column"]:
    """|Σ_t wave(t) e^(−2πikt/T)| of every column, for k = 0 … T//2.

    Returns:
        Amplitudes in the unit of the waves times positions, not divided by T. The squares of all
        T coefficients, of which those of −k are not returned, add up to T times the squares of the
        wave.

    Source:
        yamamoto-2023, section 3.2, eq. 8.
    """
    return torch.fft.rfft(waves, dim=-2).abs()


def frequencies(n_positions: int) -> Float[np.ndarray, " frequency"]:
    """Cycles per 512 positions of every coefficient, so that waves of any length share an axis.

    Source:
        yamamoto-2023, figure 3, whose waves are 512 positions long.
    """
    return CYCLES_PER * np.arange(n_positions // 2 + 1) / n_positions


def wave_length(n_tokens: int) -> int:
    """Number of a text's tokens to measure: the largest power of two that it has.

    Texts of all lengths then share a few sets of frequencies.

    Returns:
        0 for a text of fewer than 16 tokens, which has too few frequencies.

    Source:
        yamamoto-2023, section 3, whose texts all have 512 tokens.
    """
    return 1 << (n_tokens.bit_length() - 1) if n_tokens >= SHORTEST else 0


def spread(amplitudes: Float[Tensor, "*any frequency column"]) -> Float[Tensor, "*any frequency 4"]:
    """Mean, quartiles and maximum over the columns for every frequency, in the order of `SPREAD`.

    Quartiles lie between two columns in proportion to their place, (columns − 1) / 4 and three
    times that, counted from 0.

    Source:
        yamamoto-2023, figures 3 and 5.
    """
    # numpy sorts short rows several times faster than torch sorts, or numpy partitions, them
    columns = np.sort(amplitudes.cpu().numpy(), axis=-1)
    mean = columns.mean(axis=-1, dtype=np.float64).astype(columns.dtype)
    parts = (mean, _quantile(columns, 0.25), _quantile(columns, 0.75), columns[..., -1])
    return torch.from_numpy(np.stack(parts, axis=-1))


def _quantile(columns: np.ndarray, share: float) -> np.ndarray:
    below, rest = divmod(share * (columns.shape[-1] - 1), 1)
    lower = columns[..., int(below)]
    upper = columns[..., min(int(below) + 1, columns.shape[-1] - 1)]
    return lower + np.asarray(rest, columns.dtype) * (upper - lower)


def embedding_spectrum(
    embedding: Float[Tensor, "position width"],
) -> Float[Tensor, "2 frequency 4"]:
    """Amplitudes along positions, summarised over the columns, for positions kept and permuted.

    Permuted positions, in one order for all columns, have the same values at random places. An
    excess over their amplitudes is due to the learned order.

    Returns:
        Positions kept, then permuted; the last axis in that of `SPREAD`; in float64.

    Source:
        yamamoto-2023, section 3.2, eq. 8 and figure 3; the permuted control is ours.
    """
    draw = torch.Generator().manual_seed(_SEED)
    order = torch.randperm(len(embedding), generator=draw)
    kept = embedding.double().cpu()
    return spread(amplitude_spectrum(torch.stack([kept, kept[order]])))


def position_variance(embedding: Float[Tensor, "position width"]) -> Float[Tensor, " rank"]:
    """Share of the variance over positions along every principal component, largest first.

    λ_c = σ_c² / Σ σ², σ the singular values of the embeddings minus their mean. At most one
    component fewer than positions can differ from 0.

    Returns:
        Shares that add up to 1, in float64; none where all positions have the same vector.

    Source:
        yamamoto-2023, appendix B, figure 9.
    """
    table = embedding.double()
    centred = table - table.mean(dim=0)
    variances = torch.linalg.svdvals(centred)[: len(table) - 1].square()
    if variances.sum() <= torch.finfo(torch.float64).eps * table.square().sum():
        return variances[:0]
    return variances / variances.sum()


def state_spreads(
    inputs: Float[Tensor, "position width"], factors: QueryKeyFactors
) -> Mapping[str, Float[Tensor, "frequency 4"]]:
    """Spread of amplitudes of a layer's hidden states, queries and keys.

    Over the coordinates of the hidden states, and over the directions of all heads for queries and
    keys.

    Args:
        inputs: the vectors that queries and keys are projected from.

    Source:
        yamamoto-2023, section 3.3, and figure 5, which shows the largest.
    """
    sides = zip(("query", "key"), query_key_waves(inputs, factors), strict=True)
    spectra = {"hidden": spread(amplitude_spectrum(inputs))}
    for name, waves in sides:
        amplitudes = amplitude_spectrum(waves)
        spectra[name] = spread(amplitudes.transpose(0, 1).flatten(1))
    return spectra
