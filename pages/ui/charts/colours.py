"""Every colour of a chart, readable on light and on dark ground by eyes that see few hues."""

from analysis.relevance_rules import MEAN_WEIGHTS, RULES
from analysis.scopes import EFFECTS, ORDERS, WEIGHTS_WITH_RESIDUAL
from analysis.tables.mixing.sequence_rollout import ATTENTION_ROLLOUT

TOKEN_TYPE_COLOURS = {
    "other": "#808995",
    "comma_period": "#d07c00",
    "sep": "#2f86c9",
    "cls": "#bd5496",
    "register": "#8a6fc4",
}
SERIES_COLOURS = ("#2f86c9", "#d07c00", "#2c9c7c", "#bd5496", "#808995", "#8a6fc4")
_WEIGHTS = "#808995"
_STEPS = ("#2f86c9", "#2c9c7c", "#8a6fc4", "#d07c00", "#bd5496", "#b5533c")
SCOPE_COLOURS = {
    scope: colour
    for order in ORDERS.values()
    for scope, colour in zip(order.scopes, (_WEIGHTS, *_STEPS), strict=False)
} | {WEIGHTS_WITH_RESIDUAL: "#8c8c2a", ATTENTION_ROLLOUT: "#a3872c"}
EFFECT_COLOURS = dict(zip(EFFECTS, SERIES_COLOURS, strict=False))
RELATION_COLOURS = {
    "special": "#808995",
    "same_word": "#8a6fc4",
    "word_pieces": "#bd5496",
    "adjacent": "#d07c00",
    "same_segment": "#2f86c9",
    "other_segment": "#2c9c7c",
}
_RULES = dict(zip(RULES, ("#808995", "#2f86c9", "#d07c00", "#2c9c7c"), strict=True))
RELEVANCE_RULE_COLOURS = {  # a rule and the same rule on mean weights share a colour
    **_RULES,
    **dict(zip(MEAN_WEIGHTS, _RULES.values(), strict=True)),
    "attention": "#bd5496",
    "norm_rollout": "#8a6fc4",
    "norm_rollout_layer": "#5f9ea0",
    "gradient_attention": "#c4473a",
    "random": "#9a9a9a",
}
RELEVANCE_LOW_TO_HIGH = ("#2c1e4f", "#3b3f8c", "#2a6f97", "#1f9e89", "#6cce59", "#fde725")
LOW_TO_HIGH = ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39")
LESS_TO_MORE = ("#2166ac", "#67a9cf", "#f3f1ea", "#ef8a62", "#b2182b")
INKS = ("#000000", "#ffffff")
MARKED = "#ff5a36"  # around what is chosen
ATTENTION_COLOUR, SCORE_COLOUR, AGREEMENT_COLOUR = SERIES_COLOURS[:3]
CONTROL_COLOURS = {
    "kept": SERIES_COLOURS[0],
    "compared": SERIES_COLOURS[0],
    "words": SERIES_COLOURS[1],
    "removed": SERIES_COLOURS[1],
    "permuted": SERIES_COLOURS[4],
}
"""Spectra as they are, and beside them what should have no waves."""
CLUSTER_SHADES = {
    "previous": ("#1f6bb0", "#9ccbee"),
    "self": ("#a63d8a", "#e6aed3"),
    "next": ("#bd5f0a", "#f5c08a"),
    "both": ("#1f8262", "#97d4bc"),
    "flat": ("#6c7580", "#c3c8ce"),
}
"""The darkest and the lightest colour of a direction that heads look to; none is grey."""
NEUTRAL = "#808995"
PAPER_AND_INK = {"light": ("#fdfcf9", "#23262b"), "dark": ("#17191d", "#e4e2dc")}
GROUP_COLOURS = (
    *(each for each in SERIES_COLOURS if each != "#808995"),
    *("#c4503f", "#6f8f1f", "#0f8fa3", "#9a6a3a", "#e08fa8", "#5f78c8", "#b8a02a"),
)
IN_NO_GROUP = "#808995"
SAME_LAYER_COLOURS = SERIES_COLOURS[:2]  # heads of one layer, of different ones
WEIGHING_COLOURS = {"weight": SERIES_COLOURS[0], "norm": SERIES_COLOURS[2]}
ANTECEDENT_COLOURS = {
    "head": "#2f86c9",
    "nearest": "#808995",
    "head_match": "#d07c00",
    "sieve": "#2c9c7c",
}
ARROW_COLOURS = {True: "#2c9c7c", False: "#e4572e"}  # right and wrong antecedents
MENTION_COLOURS = (*SERIES_COLOURS, "#c9a800", "#5c7f2b", "#a0522d", "#3fa7a0")
EDGES = ("#f4f4f2", "#1b1d21")  # a light line and a dark one in it: seen on any colour
ZERO = "#808995"  # where nothing changes
NEAR_TO_FAR = (
    *("#d9a13b", "#b9b643", "#84bd55", "#45b571"),
    *("#229a8a", "#2b7f98", "#4767a5", "#6a55a3"),
)
AMPLIFIED, ATTENUATED = "#d95c3e", "#2f86c9"
ARC_COLOURS = {"tree": "#2f86c9", "other": "#7c828b", "right": "#2c9c7c", "wrong": "#d9552b"}
"""Arcs of a treebank, of the relation looked at or of others, and those of a head."""
WORD_GROUNDS = {False: ("#e6e9ed", "#23262b"), True: ("#1f6a9e", "#ffffff")}
"""Ground and ink of words in a tree, and of those that are looked at."""
HEAD_AND_LAYER_COLOURS = (SERIES_COLOURS[0], SERIES_COLOURS[4])  # a head, the mean of its layer
