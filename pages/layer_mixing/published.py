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
        Row(effect_name(number.effect), number, mean.get(POST_NORM.effects[number.effect]))
        for number in numbers("similarity")
    ]


def pooled_ratios(pooled: pd.DataFrame) -> list[Row]:
    """Mean, greatest and least of all tokens and layers, scope by scope."""
    ratios = pooled.set_index(["scope", "token_type"])
    return [
        Row(
            statistic_of(scope_name(number.scope), say(f"words.column.{number.statistic}")),
            number,
            ratios[number.statistic].get((number.scope, number.token_type)),
        )
        for number in numbers("mixing_ratio", layer=None)
    ]


def with_frequency(correlations: pd.DataFrame) -> list[Row]:
    """Table 3: frequency rank and ratio, by the frequencies that the run was given."""
    given = correlations[correlations["source"] == "file"]
    spearman = given.set_index(["scope", "special_tokens"])["spearman"]
    return [
        Row(
            statistic_of(
                scope_name(number.scope),
                say(f"layer_mixing.frequency.{special_name(number.special_tokens)}"),
            ),
            number,
            spearman.get((number.scope, number.special_tokens)),
        )
        for number in numbers("ratio_frequency")
    ]


def special_name(special_tokens: object) -> str:
    """What the catalogue calls tokens with or without [CLS] and [SEP]."""
    return "with_special" if special_tokens else "without_special"


def layer_ratios(by_layer: pd.DataFrame, scope: str) -> list[Row]:
    """One scope layer by layer and token type by token type; the papers have four scopes."""
    ratios = by_layer.set_index(["layer", "token_type"])
    return [
        Row(
            statistic_of(
                say("published.layer", layer=number.layer), token_type_name(number.token_type)
            ),
            number,
            ratios[number.statistic].get((number.layer, number.token_type)),
        )
        for number in numbers("mixing_ratio", scope=scope)
        if number.layer is not None
    ]
