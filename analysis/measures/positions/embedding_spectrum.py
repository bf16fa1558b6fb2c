"""Which frequencies the learned position embeddings have."""

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.measures.positions.amplitude_spectrum import amplitude_spectrum, spread

CONTROLS = ("kept", "permuted")
_SEED = 0


def embedding_spectrum(
    embedding: Float[Tensor, "position width"],
) -> Float[Tensor, "2 frequency 4"]:
    """Amplitudes along positions, spread over the columns, with positions kept and permuted.

    Permuted positions, in one order for all columns, have the same values at random places: what
    stands out of theirs is due to the order that was learned.

    Returns:
        In the order of `CONTROLS`, the last axis in that of `SPREAD`; in float64.

    Source:
        yamamoto-2023, section 3.2, eq. 8 and figure 3; the permuted control is ours.
    """
    draw = torch.Generator().manual_seed(_SEED)
    order = torch.randperm(len(embedding), generator=draw)
    kept = embedding.double().cpu()
    return spread(amplitude_spectrum(torch.stack([kept, kept[order]])))
