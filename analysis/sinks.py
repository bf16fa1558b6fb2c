"""Names of the measured quantities of attention sinks."""

FIRST, FIRST_CONTENT = "first", "first_content"
POSITIONAL = (FIRST, FIRST_CONTENT)
"""Places by position alone: the first token, and the first that is no special token. Token types
are the other places; a token may be of several places."""
EVERY = "all"
"""The place of all tokens."""

WEIGHTS = ("attention", "even", "neighbour", "norm_share", "value_norm", "relative_norm")
"""Attention of a head to a place, and the quantities for comparison."""
RATED = WEIGHTS[:4]
"""Quantities that are shares of a query's attention, and so can be above a threshold."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
USUAL_THRESHOLD = 0.3
"""Share of a query's attention above which it rests on a place, as in Gu et al. (2025)."""
RATE_ROUNDING = 1e-6
"""Rounding of float32: even attention to ten tokens must not exceed a threshold of 0.1."""

NO_TOKEN = ("no_token", "even", "first", "early", "late")
"""Attention that goes to no token, and the quantities for comparison."""

PARTS = ("norm", "direction", "bias")
"""Summands of a score's excess."""
SCORES = ("excess", *PARTS, "query_bias")

MASSIVE, MASSIVE_RATIO = 100.0, 1000.0
"""Thresholds of massive activations, absolute and in medians, as in Sun et al. (2024)."""
ACTIVATIONS = ("largest", "ratio", "massive")
"""Quantities of the largest coordinate of a place."""
