"""What scopes, effects of modules, relations and types of tokens are called in print."""

from analysis.sinks import POSITIONAL
from pages.ui.store.chosen import layer_order
from pages.ui.words.say import say


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


def token_type_name(token_type: str) -> str:
    """What a token type is called in the reader's language."""
    return say(f"token_type.{token_type}")


def place_name(place: str) -> str:
    """What tokens that attention may rest on are called: by their position, else by their type."""
    return say(f"place.{place}") if place in POSITIONAL else token_type_name(place)
