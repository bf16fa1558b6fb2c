"""Amplitude spectrum of the learned position embeddings, with a permuted control."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.amplitude_spectrum import amplitude_spectrum, spread

CONTROLS = ("kept", "permuted")
_SEED = 0


def embedding_spectrum(
    embedding: Float[Tensor, "position width"],
) -> Float[Tensor, "2 frequency 4"]:
    """Amplitudes along positions, summarised over the columns, for positions kept and permuted.

    Permuted positions, in one order for all columns, have the same values at random places. An
    excess over their amplitudes is due to the learned order.

    Returns:
        In the order of `CONTROLS`, the last axis in that of `SPREAD`; in float64.

    Source:
        yamamoto-2023, section 3.2, eq. 8 and figure 3; the permuted control is ours.
    """
    draw = torch.Generator().manual_seed(_SEED)
    order = torch.randperm(len(embedding), generator=draw)
    kept = embedding.double().cpu()
    return spread(amplitude_spectrum(torch.stack([kept, kept[order]])))
