"""The published numbers of this page: similarity of scopes, and mixing ratios."""

import pandas as pd

from analysis.published.numbers import numbers
from analysis.scopes import POST_NORM
from pages.ui.published import Row, statistic_of
from pages.ui.words.names import effect_name, scope_name, token_type_name
from pages.ui.words.say import say


def similarities(steps: pd.DataFrame) -> list[Row]:
    """Figure 3: the feed-forward network and what follows it, mean over the layers."""
    mean = steps[steps["layer"].isna()].set_index(["scope_a", "scope_b"])["spearman"]
    return [
        Row(effect_name(each.effect), each, mean.get(POST_NORM.effects[each.effect]))
        for each in numbers("similarity")
    ]


def pooled_ratios(pooled: pd.DataFrame) -> list[Row]:
    """Mean, greatest and least of all tokens and layers, scope by scope."""
    found = pooled.set_index(["scope", "token_type"])
    return [
        Row(
            statistic_of(scope_name(each.scope), say(f"words.column.{each.statistic}")),
            each,
            found[each.statistic].get((each.scope, each.token_type)),
        )
        for each in numbers("mixing_ratio", layer=None)
    ]


def with_frequency(correlations: pd.DataFrame) -> list[Row]:
    """Table 3: frequency rank and ratio, by the frequencies that the run was given."""
    given = correlations[correlations["source"] == "file"]
    found = given.set_index(["scope", "special_tokens"])["spearman"]
    special = {each: say(f"layer_mixing.frequency.{special_name(each)}") for each in (True, False)}
    return [
        Row(
            statistic_of(scope_name(each.scope), special[bool(each.special_tokens)]),
            each,
            found.get((each.scope, each.special_tokens)),
        )
        for each in numbers("ratio_frequency")
    ]


def special_name(special_tokens: object) -> str:
    """What the catalogue calls tokens with or without [CLS] and [SEP]."""
    return "with_special" if special_tokens else "without_special"


def layer_ratios(by_layer: pd.DataFrame, scope: str) -> list[Row]:
    """One scope layer by layer and token type by token type; the papers have four scopes."""
    found = by_layer.set_index(["layer", "token_type"])
    return [
        Row(
            statistic_of(
                say("published.layer", layer=each.layer), token_type_name(each.token_type)
            ),
            each,
            found[each.statistic].get((each.layer, each.token_type)),
        )
        for each in numbers("mixing_ratio", scope=scope)
        if each.layer is not None
    ]
