"""The largest coordinates of hidden states, beside the middle one."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Activations(NamedTuple):
    """The largest coordinate of each place by its size, where it stands, and the middle size of
    all."""

    largest: Float[Tensor, " place"]
    token: Int[Tensor, " place"]
    coordinate: Int[Tensor, " place"]
    median: Float[Tensor, ""]


def largest_activations(
    states: Float[Tensor, "token width"], places: Bool[Tensor, "place token"]
) -> Activations:
    """max |x_jc| over the tokens j of a place and all coordinates c, and the median of all |x_jc|.

    Args:
        states: of one sequence, without padding.
        places: each with a token or more.

    Returns:
        Sizes in units of the residual stream. The median of an even number of sizes is the lower
        of the two in the middle.

    Source:
        sun-2024, section 2; its released code takes the same median.

    Differs:
        The paper shows the three largest coordinates of all tokens; here each kind of token has its
        largest, under the median of all.
    """
    sizes = states.abs().to(torch.promote_types(states.dtype, torch.float32))
    of_tokens, coordinates = sizes.max(dim=-1)
    of_places = torch.where(places, of_tokens, -torch.inf)
    largest, tokens = of_places.max(dim=-1)
    return Activations(largest, tokens, coordinates[tokens], sizes.median())
