"""What scopes of a layer, effects of its modules and relations of tokens are called in print."""

from analysis.scopes import ORDERS, WEIGHTS_WITH_RESIDUAL
from pages.ui.store.chosen import layer_order
from pages.ui.words.say import say

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


def scope_name(scope: str) -> str:
    """A scope as figures name it; the plain words for it are `scope.NAME.meaning`."""
    return say(f"scope.{scope}.name")


def scope_meaning(scope: str) -> str:
    """What is counted in at a scope, in plain words."""
    return say(f"scope.{scope}.meaning")


def step_name(scope: str) -> str:
    """The step that leads from the scope before to this one."""
    return say(f"scope.{scope}.step")


def effect_name(effect: str) -> str:
    """What an effect of `EFFECTS` is called in the reader's language."""
    return say(f"effect.{effect}.name")


def effect_meaning(effect: str) -> str:
    """Between which scopes an effect is in the layers of the open file."""
    return " → ".join(map(scope_name, layer_order().effects[effect]))


def relation_name(relation: str) -> str:
    """What a relation of `RELATIONS` is called in the reader's language."""
    return say(f"relation.{relation}.name")


def relation_meaning(relation: str) -> str:
    """Which pairs of tokens a relation holds of, in plain words."""
    return say(f"relation.{relation}.meaning")
