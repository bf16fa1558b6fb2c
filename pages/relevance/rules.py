"""Names, meanings and order of relevance rules and methods."""

from collections.abc import Iterable

import pandas as pd

from analysis.relevance_rules import RULES
from analysis.statistics.relevance.perturbation import ORDERS, RANDOM
from pages.ui.view import View
from pages.ui.words.say import say

WITH_HEADS = (*RULES, "attention")
"""Rules with separate maps for heads."""
_FIRST = (*WITH_HEADS, RANDOM)


def rule_name(rule: str) -> str:
    """Name of a rule or method in legends and pickers."""
    return say(f"relevance.rules.{rule}")


def rule_short(rule: str) -> str:
    """Short name of a rule or method."""
    return say(f"relevance.rules.{rule}_short")


def rule_meaning(rule: str) -> str:
    """Explanation of a rule or method in one line."""
    return say(f"relevance.rules.{rule}_meaning")


def rule_evidence(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of rules, which are the index, as evidence of a finding."""
    named = frame.assign(name=frame.index.map(rule_name), value=frame["mean"])
    return named[["name", "value", "low", "high"]]


def in_order(rules: Iterable[str]) -> list[str]:
    """Distinct rules and methods in the order of all pages, random order last."""
    present = set(rules)
    return [rule for rule in ORDERS if rule in present]


def pick_rules(view: View, name: str, rules: Iterable[str]) -> list[str]:
    """Let the reader pick the rules to draw; by default those that follow heads separately."""
    present = in_order(rules)
    default = [rule for rule in present if rule in _FIRST] or present
    chosen = view.pick_many(name, present, default=default, of="compare", format=rule_name)
    return in_order(chosen or default)


def rule_meanings(view: View, rules: Iterable[str]) -> None:
    """Explain rules and methods in a fold."""
    with view.place("expander", view.say("what_rules")):
        view.write(
            "markdown",
            "\n".join(f"- **{rule_name(rule)}**: {rule_meaning(rule)}" for rule in rules),
        )
