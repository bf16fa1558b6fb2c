"""Names of the habits of heads, and of the losses for gradients."""

HABITS = (
    "self",
    "previous",
    "next",
    "cls",
    "sep",
    "comma_period",
    "sep_to_sep",
    "other_to_sep",
    "entropy",
    "entropy_cls",
    "first",
)
TOKEN_TYPES = ("first", "cls", "sep", "comma_period")
"""Habits that are attention to tokens of a type: 0 in a text without any of them."""
QUANTITIES = (*HABITS, "uniform")
"""Every habit, and the entropy of a head that attends to everything alike."""

OBJECTIVES = ("masked_lm", "next_token", "pooled_length")
"""Losses of language models, and the substitute in other models."""
