"""Colours of charts, legible on light and dark backgrounds and with colour-vision deficiencies."""

from analysis.relevance_rules import MEAN_WEIGHTS, RULES
from analysis.scopes import BETWEEN, OF_RATIOS, ORDERS, WEIGHTS_WITH_RESIDUAL
from analysis.statistics.mixing import ATTENTION_ROLLOUT, VECTORS

# Dark and light ones (L* 43–44 and 59–61: all are seen on either ground) take turns in a palette,
# so that neighbours differ in grey print as well. Any two differ where few hues are seen.
_BLUE, _GREEN, _GREY, _BROWN, _PLUM = "#1867c3", "#3d7245", "#646669", "#a34e06", "#924d89"
_ORANGE, _LEAF, _SILVER, _PINK, _LILAC = "#d67b04", "#53a26b", "#968e94", "#c872b6", "#788af5"
_CORAL = "#e8664c"
_OLIVE, _VIOLET = "#5e883c", "#7a62fd"  # between dark and light: fits next to either
TOKEN_TYPE_COLOURS = {
    "first": _GREEN,
    "bos": _LILAC,
    "register": _PLUM,
    "cls": _PINK,
    "sep": _BROWN,
    "comma_period": _ORANGE,
    "other": _GREY,
}
"""Token types in the order of their display."""
_FIRST = {"first": TOKEN_TYPE_COLOURS["first"], "first_content": _OLIVE}
PLACE_COLOURS = {**_FIRST, **TOKEN_TYPE_COLOURS, "no_token": _VIOLET}
"""Places of attention sinks, in the order of their display."""
SINK_COLOURS = {"attention": _BLUE, "norm_share": _LEAF, "neighbour": _ORANGE, "even": _GREY}
"""Attention to a place, and its baselines."""
EXCESS_PART_COLOURS = {
    "excess": _GREY,
    "direction": _BLUE,
    "norm": _ORANGE,
    "bias": _GREEN,
    "query_bias": _PINK,
}
"""Excess of the scores of a place over others, and its parts."""
SERIES_COLOURS = (_BLUE, _ORANGE, _GREEN, _PINK, _GREY, _LILAC)
MANY_COLOURS = (*SERIES_COLOURS, _LEAF, _PLUM, _CORAL, _SILVER, _OLIVE, _BROWN)
"""Twelve colours for names that have none of their own."""
_STEPS = (_SILVER, _BLUE, _LEAF, _PLUM, _ORANGE, _BROWN, _LILAC, _GREEN)
_SCOPES = {
    scope: colour
    for order in ORDERS.values()
    for scope, colour in zip(order.scopes, _STEPS, strict=False)
} | {WEIGHTS_WITH_RESIDUAL: _OLIVE}
SCOPE_COLOURS = {scope: _SCOPES[scope] for scope in OF_RATIOS} | {
    ATTENTION_ROLLOUT: _OLIVE,  # the product of weights and residual
    VECTORS: _CORAL,
}
EFFECT_COLOURS = dict.fromkeys(BETWEEN, _BLUE) | {
    "ff": _ORANGE,
    "ff_res": _GREEN,
    "ff_ln": _VIOLET,  # fits next to either, since it follows either
}
RELATION_COLOURS = {
    "special": _GREY,
    "same_word": _LILAC,
    "word_pieces": _PLUM,
    "adjacent": _ORANGE,
    "same_segment": _BLUE,
    "other_segment": _LEAF,
}
_RULES = dict(zip(RULES, (_SILVER, _BLUE, _ORANGE, _GREEN), strict=True))
RELEVANCE_RULE_COLOURS = {  # a rule and the same rule on mean weights share a colour
    **_RULES,
    **dict(zip(MEAN_WEIGHTS, _RULES.values(), strict=True)),
    "attention": _LILAC,
    "norm_rollout": _PLUM,
    "norm_rollout_layer": _OLIVE,
    "gradient_attention": _LEAF,
    "random": _GREY,
}
BEHAVIOUR_COLOURS = {
    "next": _SILVER,
    "previous": _VIOLET,
    "broad": _PLUM,
    **{name: TOKEN_TYPE_COLOURS[name] for name in ("first", "cls", "sep", "comma_period", "other")},
}
HABIT_COLOURS = {
    **{name: TOKEN_TYPE_COLOURS[name] for name in ("first", "cls", "sep", "comma_period")},
    "previous": _LILAC,
    "self": _PLUM,
    "next": _SILVER,
    "sep_to_sep": TOKEN_TYPE_COLOURS["sep"],
    "other_to_sep": _LILAC,
    "entropy": _PLUM,
    "entropy_cls": _PINK,
    "uniform": _GREY,
}
"""Habits in the order of their display."""
RELEVANCE_LOW_TO_HIGH = ("#2c1e4f", "#3b3f8c", "#2a6f97", "#1f9e89", "#6cce59", "#fde725")
LOW_TO_HIGH = ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39")
LESS_TO_MORE = ("#2166ac", "#67a9cf", "#f3f1ea", "#ef8a62", "#b2182b")
INKS = ("#000000", "#ffffff")
MARKED = "#ff5a36"  # frame of the selection
ATTENTION_COLOUR, SCORE_COLOUR, AGREEMENT_COLOUR = SERIES_COLOURS[:3]
SCORE_PART_COLOURS = {"position": _BLUE, "query": _LEAF, "key": _ORANGE, "content": _SILVER}
CONTROL_COLOURS = {
    "kept": SERIES_COLOURS[0],
    "compared": SERIES_COLOURS[0],
    "words": SERIES_COLOURS[1],
    "removed": SERIES_COLOURS[1],
    "permuted": SERIES_COLOURS[4],
}
"""Spectra and their controls, which should have no waves."""
NEUTRAL = "#808995"
PAPER_AND_INK = {"light": ("#fdfcf9", "#23262b"), "dark": ("#17191d", "#e4e2dc")}
LABELS = {"light": "#51565e", "dark": "#b9b8b4"}  # at axes and in legends
GROUP_COLOURS = (
    *(_BLUE, _ORANGE, _GREEN, _PINK, _BROWN, _LILAC, _PLUM, _LEAF),
    *("#8620ff", "#ad8e42", "#cd0b3f", "#3ea08a"),
)
IN_NO_GROUP = NEUTRAL
SAME_LAYER_COLOURS = SERIES_COLOURS[:2]  # heads of one layer, of different ones
WEIGHING_COLOURS = {"weight": SERIES_COLOURS[0], "norm": _LEAF}
ANTECEDENT_COLOURS = {
    "head": _BLUE,
    "nearest": _SILVER,
    "head_match": _GREEN,
    "sieve": _ORANGE,
}
SYNTAX_COLOURS = (_BLUE, _ORANGE, _OLIVE)  # a head, an offset, another head: in any order
SOURCE_AND_TARGET = (_GREEN, _LILAC)  # the words of a pair
ARROW_COLOURS = {True: _GREEN, False: _ORANGE}  # right and wrong antecedents
MENTION_COLOURS = (*SERIES_COLOURS, _BROWN, _LEAF, _PLUM, _SILVER)
EDGES = ("#f4f4f2", "#1b1d21")  # a light line and a dark one in it: seen on any colour
ZERO = NEUTRAL  # where nothing changes
NEAR_TO_FAR = (
    *("#d9a13b", "#b9b643", "#84bd55", "#45b571"),
    *("#229a8a", "#2b7f98", "#4767a5", "#6a55a3"),
)
AMPLIFIED, ATTENUATED = _CORAL, _BLUE
ARC_COLOURS = {"tree": _BLUE, "other": _SILVER, "right": _GREEN, "wrong": _ORANGE}
"""Arcs of a treebank, of the chosen relation or of others, and arcs of a head."""
WORD_GROUNDS = {False: ("#e6e9ed", "#23262b"), True: ("#1f6a9e", "#ffffff")}
"""Background and text colours of words in a tree, by whether they are chosen."""
HEAD_AND_LAYER_COLOURS = (_BLUE, _SILVER)  # a head, the mean of its layer
ON_DARK = {
    _BLUE: "#417ddc",
    _GREEN: "#54895a",
    _GREY: "#7a7c80",
    _BROWN: "#be6421",
    _PLUM: "#ab64a1",
    _ORANGE: "#f29228",
    _LEAF: "#6bbb82",
    _SILVER: "#aea6ac",
    _PINK: "#e28acf",
    _LILAC: "#99a3ff",
    _CORAL: "#fe8267",
    _OLIVE: "#75a052",
    _VIOLET: "#7c64fe",
    NEUTRAL: "#97a1ad",
    **dict(zip(GROUP_COLOURS[8:], ("#a050fd", "#c7a658", "#ea3654", "#58b9a2"), strict=True)),
}
"""Colours on a dark ground by those on a light one: 9 L* brighter, and as far from each other."""
