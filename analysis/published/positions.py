"""Numbers on positions as the paper printed them, all of roberta-base."""

from analysis.published.numbers import Published

PAPER = "yamamoto-2023"
_WEIGHTS, _ONE_TEXT = "weights", "one text"
COMPONENTS = tuple(
    Published(
        PAPER,
        ("appendix", "B"),
        "position_variance",
        "cumulative",
        printed,
        percent=True,
        component=component,
        part=_WEIGHTS,
    )
    for component, printed in ((4, "50.51"), (12, "92.23"))
)
"""What the first principal components of the position embedding hold together, in per cent."""

PEAK = Published(PAPER, ("section", "3.3"), "position_spectrum", "peak", "50", part=_WEIGHTS)
"""Around which frequency, in cycles per 512 tokens, the amplitude spectrum has its peak."""

OFFSETS = tuple(
    Published(
        PAPER,
        ("section", "3.5"),
        "query_key_correlation",
        "offset",
        printed,
        layer=layer,
        head=head,
        part=_ONE_TEXT,
    )
    for layer, head, printed in ((1, 1, "-2"), (8, 9, "-1"))
)
"""At which offset the sum of the queries' and keys' cross-covariances is greatest."""

SHIFT = Published(
    PAPER,
    ("section", "3.4"),
    "query_key_phase",
    "shift",
    "-1",
    layer=2,
    head=3,
    part=_ONE_TEXT,
)
"""By how many tokens the waves of queries and keys are shifted where they are highest."""

NUMBERS = (*COMPONENTS, PEAK, *OFFSETS, SHIFT)
