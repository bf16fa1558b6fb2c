"""Every colour of a chart, readable on light and on dark ground by eyes that see few hues."""

from analysis.scopes import ORDERS, WEIGHTS_WITH_RESIDUAL

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
} | {WEIGHTS_WITH_RESIDUAL: "#8c8c2a"}
RELATION_COLOURS = {
    "special": "#808995",
    "same_word": "#8a6fc4",
    "word_pieces": "#bd5496",
    "adjacent": "#d07c00",
    "same_segment": "#2f86c9",
    "other_segment": "#2c9c7c",
}
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
