"""Display names of scopes, effects of modules, relations and token types."""

from analysis.scopes import BETWEEN, ROLES, WEIGHTS, WEIGHTS_WITH_RESIDUAL, WHOLE
from analysis.sinks import NO_TOKEN, POSITIONAL
from analysis.statistics.mixing import ATTENTION_ROLLOUT, VECTORS
from pages.words.say import say

_NAMED = (WEIGHTS, WEIGHTS_WITH_RESIDUAL, ATTENTION_ROLLOUT, VECTORS)
"""Scopes whose names do not follow from their modules."""


def scope_name(scope: str) -> str:
    """Display name of a scope in plain words: where in the layer it ends."""
    if scope in _NAMED:
        return say(f"scope.{scope}.name")
    return say("role.whole_name" if scope in WHOLE else f"role.{ROLES[scope]}.name")


def paper_name(scope: str) -> str:
    """Name of a scope after those of the papers: the modules included, step after step."""
    if scope in _NAMED:
        return say(f"scope.{scope}.paper")
    return "".join(step.capitalize() for step in scope.split("_"))


def scope_meaning(scope: str) -> str:
    """Module that a scope adds to the one before it, in plain words."""
    meaning = say(f"role.{ROLES[scope]}.meaning")
    return say("role.whole", meaning=meaning) if scope in WHOLE else meaning


def step_name(scope: str) -> str:
    """Display name of the step from the scope before to this one."""
    return say(f"role.{ROLES[scope]}.step")


def module_name(step: str) -> str:
    """Display name of a module of a layer, by its step in a `LayerOrder`."""
    return say(f"module.{step}")


def effect_name(effect: str) -> str:
    """Display name of an effect of `EFFECTS`."""
    if effect not in BETWEEN:
        return say(f"effect.{effect}.name")
    *first, last = map(module_name, effect.split("_"))
    before = say("effect.between.comma").join(first)
    return say("effect.between.name", steps=f"{before}{say('effect.between.and')}{last}")


def relation_name(relation: str) -> str:
    """Display name of a relation of `RELATIONS`."""
    return say(f"relation.{relation}.name")


def token_type_name(token_type: str) -> str:
    """Display name of a token type."""
    return say(f"token_type.{token_type}")


def place_name(place: str) -> str:
    """Display name of the tokens of a sink, if any: by position, or else by type."""
    return say(f"place.{place}") if place in (*POSITIONAL, NO_TOKEN[0]) else token_type_name(place)
