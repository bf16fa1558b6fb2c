"""Numbers on positions as the paper printed them, all of roberta-base."""

from functools import partial

from analysis.published.numbers import Published

PAPER = "yamamoto-2023"
_of_weights = partial(Published, PAPER, part="weights")
_of_one_text = partial(Published, PAPER, part="one text")
COMPONENTS = tuple(
    _of_weights(
        ("appendix", "B"), "position_variance", "cumulative", printed, percent=True, component=last
    )
    for last, printed in ((4, "50.51"), (12, "92.23"))
)
"""Variance explained by the first principal components of the position embedding, in per cent."""

PEAK = _of_weights(("section", "3.3"), "position_spectrum", "peak", "50")
"""Frequency of the amplitude spectrum's peak, in cycles per 512 tokens."""

OFFSETS = tuple(
    _of_one_text(
        ("section", "3.5"), "query_key_correlation", "offset", printed, layer=layer, head=head
    )
    for layer, head, printed in ((1, 1, "-2"), (8, 9, "-1"))
)
"""Offset with the largest sum of the queries' and keys' cross-covariances."""

SHIFT = _of_one_text(("section", "3.4"), "query_key_phase", "shift", "-1", layer=2, head=3)
"""Offset in tokens between the waves of queries and keys at their highest amplitudes."""

NUMBERS = (*COMPONENTS, PEAK, *OFFSETS, SHIFT)
