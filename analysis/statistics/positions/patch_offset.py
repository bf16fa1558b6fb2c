"""Attention between patches by offset in rows and columns, for each head."""

from dataclasses import replace

from analysis.needs import Need
from analysis.statistics.columns import count, number, small
from analysis.statistics.table import HEAD, LAYER, Table, View

REACH = 7
"""Largest stored offset in rows and in columns, to either side."""
_KEY = (
    LAYER,
    HEAD,
    small(
        "row_offset",
        "row of the key patch less row of the query patch; below 0: above it",
        "patches",
    ),
    small(
        "column_offset",
        "column of the key patch less column of the query patch; below 0: to the left",
        "patches",
    ),
)
_N_IMAGES = count("n_images", "images with a pair of patches of the offset", "images")
_ATTENTION = number(
    "attention",
    "α summed over the pairs of the offset over the number of patches, summed over images",
)
_PER_PAIR = number(
    "attention_per_pair", "mean α of the pairs of patches of the offset, summed over images"
)
_MEANS = (
    replace(
        _ATTENTION,
        meaning="part of a patch's attention that goes to the offset, mean over patches and images",
    ),
    replace(_PER_PAIR, meaning="mean α of the pairs of patches of the offset, mean over images"),
)
TABLE = Table(
    name="patch_offset",
    grain="one row per layer, head, row offset and column offset within 7 that patches have; sums "
    "over images, none of texts",
    key=_KEY,
    values=(_N_IMAGES, _ATTENTION, _PER_PAIR),
    source="yamamoto-2023",
    needs=(Need.IMAGES,),
    laws=(
        f"row_offset between -{REACH} and {REACH}",
        f"column_offset between -{REACH} and {REACH}",
        "n_images > 0",
        "attention between 0 and n_images * 1.001",  # α adds up to 1, but for rounding
        "attention_per_pair between 0 and n_images * 1.001",
    ),
    merge="""
        select layer, head, row_offset, column_offset, sum(n_images)::bigint as n_images,
            sum(attention) as attention, sum(attention_per_pair) as attention_per_pair
        from shards
        group by layer, head, row_offset, column_offset
    """,
    views=(
        View(
            "patch_offset",
            "one row per layer, head, row offset and column offset within 7 that patches have; "
            "means over images, none of texts",
            (*_KEY, _N_IMAGES, *_MEANS),
            """
            select layer, head, row_offset, column_offset, n_images,
                attention / n_images as attention,
                attention_per_pair / n_images as attention_per_pair
            from stored.patch_offset
            """,
        ),
    ),
    depends_on=(),
)
