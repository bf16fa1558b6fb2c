"""What scopes, effects of modules, relations and types of tokens are called in print."""

from analysis.scopes import BETWEEN, ROLES, WEIGHTS, WEIGHTS_WITH_RESIDUAL, WHOLE
from analysis.sinks import POSITIONAL
from analysis.tables.mixing.sequence_rollout import ATTENTION_ROLLOUT
from analysis.tables.mixing.sequence_vector_rollout import VECTORS
from pages.ui.store.chosen import layer_order
from pages.ui.words.say import say

_NAMED = (WEIGHTS, WEIGHTS_WITH_RESIDUAL, ATTENTION_ROLLOUT, VECTORS)
"""Whose names do not follow from what is counted in."""


def scope_name(scope: str) -> str:
    """A scope as figures name it: what is counted in, step after step."""
    if scope in _NAMED:
        return say(f"scope.{scope}.name")
    return "".join(step.capitalize() for step in scope.split("_"))


def scope_meaning(scope: str) -> str:
    """What is counted in at a scope that is not at the one before, in plain words."""
    meaning = say(f"role.{ROLES[scope]}.meaning")
    return say("role.whole", meaning=meaning) if scope in WHOLE else meaning


def step_name(scope: str) -> str:
    """The step that leads from the scope before to this one."""
    return say(f"role.{ROLES[scope]}.step")


def effect_name(effect: str) -> str:
    """What an effect of `EFFECTS` is called in the reader's language."""
    if effect not in BETWEEN:
        return say(f"effect.{effect}.name")
    *first, last = [say(f"effect.between.{step}") for step in effect.split("_")]
    before = say("effect.between.comma").join(first)
    return say("effect.between.name", steps=f"{before}{say('effect.between.and')}{last}")


def effect_meaning(effect: str) -> str:
    """Between which scopes an effect is in the layers of the open file."""
    return " → ".join(map(scope_name, layer_order().effects[effect]))


def relation_name(relation: str) -> str:
    """What a relation of `RELATIONS` is called in the reader's language."""
    return say(f"relation.{relation}.name")


def token_type_name(token_type: str) -> str:
    """What a token type is called in the reader's language."""
    return say(f"token_type.{token_type}")


def place_name(place: str) -> str:
    """What tokens that attention may rest on are called: by their position, else by their type."""
    return say(f"place.{place}") if place in POSITIONAL else token_type_name(place)
