"""The names of what is measured of tokens on which attention may rest."""

FIRST, FIRST_CONTENT = "first", "first_content"
POSITIONAL = (FIRST, FIRST_CONTENT)
"""Places by position alone: the first token, and the first that is no special token. Token types
are the other places; a token may be of several places."""
EVERY = "all"
"""The place of all tokens."""

WEIGHTS = ("attention", "even", "neighbour", "norm_share", "value_norm", "relative_norm")
"""What a head gives to a place, and what it is compared with."""
RATED = WEIGHTS[:4]
"""Those that are shares of a query's attention, and so can be above a threshold."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
USUAL_THRESHOLD = 0.3
"""Above which share of a query's attention a head counts as one whose attention rests on a place;
the usual threshold is that of Gu et al. (2025)."""
RATE_ROUNDING = 1e-6
"""Even attention to ten tokens is no more than 0.1, but by what float32 makes of it."""

PARTS = ("norm", "direction", "bias")
"""What a score's excess is the sum of."""
SCORES = ("excess", *PARTS, "query_bias")

MASSIVE, MASSIVE_RATIO = 100.0, 1000.0
"""What an activation must exceed to be massive, by itself and in medians of its hidden states, as
Sun et al. (2024) have it."""
ACTIVATIONS = ("largest", "ratio", "massive")
"""What is measured of the largest coordinate of a place."""
