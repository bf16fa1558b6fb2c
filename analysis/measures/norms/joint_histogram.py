"""Joint counts of attention weights and norms, fine enough to rank by and additive over texts."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.head_slices import head_slices

ATTENTION_BINS_PER_OCTAVE = 4
NORM_BINS_PER_OCTAVE = 64  # a head's norms differ less than its weights, so they need finer bins
_FRACTION_BITS = 23


def bins(values: Float[Tensor, "*any"], *, per_octave: int) -> Int[Tensor, "*any"]:
    """The bin of each value: its float32 bits without the lowest.

    Non-negative floats sort as their bits do, so bins are ordered, have exact edges and need no
    chosen range: the same number per octave, a power of 2, and a bin for 0.

    Source:
        kobayashi-2020, section 5.3, table 3, for the ranked quantities.
    """
    dropped_bits = _FRACTION_BITS + 1 - per_octave.bit_length()
    return values.float().contiguous().view(torch.int32) >> dropped_bits


def joint_histogram(
    attention: Float[Tensor, "batch head query key"],
    norms: Float[Tensor, "batch head #query key"],
    token_types: Int[Tensor, "batch key"],
    is_pair: Bool[Tensor, "batch query key"],
) -> tuple[Int[Tensor, "row 4"], Int[Tensor, " row"]]:
    """Count the pairs of each head by token type, bin of the weight and bin of the norm.

    Args:
        norms: ‖f(x)‖, the same for all queries or of each pair.
        is_pair: True where a query sees a key; other pairs have no weight to count.

    Returns:
        The occupied cells as (head, token type, attention bin, norm bin) in ascending order, and
        the pairs in each: over a sequence of n tokens they add up to n² per head, or n (n + 1) / 2
        where queries see no key after themselves.

    Source:
        kobayashi-2020, section 5.3, figure 3 and table 3.
    """
    no_pair = None if is_pair.all() else ~is_pair.unsqueeze(1)
    cells, counts = [], []
    for heads in head_slices(attention.shape):
        norm_bins = bins(norms[:, heads], per_octave=NORM_BINS_PER_OCTAVE)
        rows, n = _of_heads(attention[:, heads], *_groups(norm_bins, token_types), no_pair)
        rows[:, 0] += heads.start
        cells.append(rows)
        counts.append(n)
    return torch.cat(cells), torch.cat(counts)


def _of_heads(
    attention: Float[Tensor, "batch head query key"],
    groups: Int[Tensor, "cell 3"],
    group_of_pair: Int[Tensor, "batch head #query key"],
    no_pair: Bool[Tensor, "batch one query key"] | None,
) -> tuple[Int[Tensor, "row 4"], Int[Tensor, " row"]]:
    cells = bins(attention, per_octave=ATTENTION_BINS_PER_OCTAVE)  # in place from here: it is large
    if no_pair is not None:
        cells.masked_fill_(no_pair, int(cells.max()))  # its 0 would make the table far wider
    lowest, highest = cells.aminmax()
    width = int(highest - lowest) + 1
    n_cells = len(groups) * width
    cells += group_of_pair.int() * width - lowest
    if no_pair is not None:
        cells.masked_fill_(no_pair, n_cells)
    counts = torch.bincount(cells.flatten(), minlength=n_cells)[:n_cells]
    occupied = counts.nonzero().squeeze(1)
    head, token_type, norm_bin = groups[occupied // width].unbind(1)
    rows = torch.stack([head, token_type, occupied % width + lowest, norm_bin], dim=1)
    return rows, counts[occupied]


def _groups(
    norm_bins: Int[Tensor, "batch head #query key"], token_types: Int[Tensor, "batch key"]
) -> tuple[Int[Tensor, "cell 3"], Int[Tensor, "batch head #query key"]]:
    """Return the distinct (head, token type, norm bin), and the index of each key's or pair's own.

    There are few, so that the table of counts stays small enough for the processor's cache.
    """
    head = torch.arange(norm_bins.shape[1], device=norm_bins.device)[:, None, None]
    three = torch.broadcast_tensors(head, token_types[:, None, None], norm_bins)
    radix = [int(token_types.max()) + 1, int(norm_bins.max()) + 1]
    code = (three[0].long() * radix[0] + three[1]) * radix[1] + three[2]
    distinct, place = code.unique(return_inverse=True)
    unpacked = [
        distinct // (radix[0] * radix[1]),
        distinct // radix[1] % radix[0],
        distinct % radix[1],
    ]
    return torch.stack(unpacked, dim=1), place
