"""What rules and methods are called, which colours they have, and how they are chosen."""

from collections.abc import Sequence

from analysis.relevance_rules import ALL, MEAN_WEIGHTS, RULES
from pages.ui.choices.pick import pick_many
from pages.ui.words.say import say

_BY_RULE = dict(zip(RULES, ("#808995", "#2f86c9", "#d07c00", "#2c9c7c"), strict=True))
RULE_COLOURS = {
    **_BY_RULE,
    **dict(zip(MEAN_WEIGHTS, _BY_RULE.values(), strict=True)),
    "attention": "#bd5496",
    "norm_rollout": "#8a6fc4",
    "norm_rollout_layer": "#5f9ea0",
    "gradient_attention": "#c4473a",
    "random": "#9a9a9a",
}
"""A rule and the same rule on mean weights share a colour; the latter's lines are dashed."""
DASHED = (*MEAN_WEIGHTS, "random")
WITH_HEADS = (*RULES, "attention")
"""The rules that every head follows by itself."""
_FIRST = (*RULES, "attention", "random")


def rule_name(rule: str) -> str:
    """A rule or method as legends and pickers call it."""
    return say(f"relevance_rule.{rule}")


def rule_short(rule: str) -> str:
    """A rule or method where there is little room."""
    return say(f"relevance_rule.{rule}_short")


def rule_meaning(rule: str) -> str:
    """A rule or method in one line."""
    return say(f"relevance_rule.{rule}_meaning")


def in_order(rules: Sequence[str]) -> list[str]:
    """Rules and methods in the order of all pages, the random order last."""
    return [each for each in (*ALL, "random") if each in rules]


def pick_rules(key: str, present: Sequence[str]) -> list[str]:
    """Which of the rules are drawn together: unless told, those that heads follow by themselves."""
    default = [each for each in present if each in _FIRST] or list(present)
    chosen = pick_many(
        key,
        say("relevance_rule.compare"),
        present,
        default=default,
        format=rule_name,
        help=say("relevance_rule.compare_help"),
    )
    return in_order(chosen or default)
