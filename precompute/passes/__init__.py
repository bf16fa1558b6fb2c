"""Every pass, in the order they run: one line per file in this folder.

To add a statistic: its measure, its table, its pass here and its line below.
"""

from precompute.passes import (
    attention_norm_correlation,
    attention_norm_histogram,
    attention_norm_sample,
    completeness,
    frequency_correlation,
    head_token,
    input_norm_dispersion,
    singular_value,
    token_norm,
    token_type_mixing,
    value_norm_dispersion,
)
from precompute.passes.base import Pass

PASSES: tuple[Pass, ...] = (
    completeness,
    token_norm,
    head_token,
    attention_norm_histogram,
    attention_norm_sample,
    singular_value,
    input_norm_dispersion,
    value_norm_dispersion,
    token_type_mixing,
    attention_norm_correlation,
    frequency_correlation,
)
