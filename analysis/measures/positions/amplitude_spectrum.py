"""Amplitude spectra of waves along positions."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

CYCLES_PER = 512  # positions to which frequencies refer, for waves of any length
SPREAD = ("mean", "q25", "q75", "max")
SHORTEST = 16  # tokens of a text whose waves are measured


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
