"""From where what is in a token comes: shares by distance or by type, one way of asking beside
another."""

import pandas as pd

from analysis.tables.mixing.sequence_rollout import DISTANCES
from pages.ui.charts.colours import TOKEN_TYPE_COLOURS
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.figure import figure
from pages.ui.words.names import scope_name, token_type_name
from pages.ui.words.say import say

_NEAR_TO_FAR = (
    "#d9a13b",
    "#b9b643",
    "#84bd55",
    "#45b571",
    "#229a8a",
    "#2b7f98",
    "#4767a5",
    "#6a55a3",
)


def by_distance(frame: pd.DataFrame, sides: tuple[str, str], *, key: str, caption: str) -> None:
    """Shares of near and far tokens, layer by layer; arguments as of `_stacks`."""
    colours = {
        _distance_name(each): colour for each, colour in zip(DISTANCES, _NEAR_TO_FAR, strict=True)
    }
    shown = frame.assign(name=frame["distance"].map(_distance_name))
    _stacks(shown, sides, "distance", colours, key=key, caption=caption)


def by_type(frame: pd.DataFrame, sides: tuple[str, str], *, key: str, caption: str) -> None:
    """Shares of the token types, layer by layer; arguments as of `_stacks`."""
    colours = {token_type_name(each): colour for each, colour in TOKEN_TYPE_COLOURS.items()}
    shown = frame.assign(name=frame["token_type"].map(token_type_name))
    _stacks(shown, sides, "type", colours, key=key, caption=caption)


def own_place(distances: pd.DataFrame, scope: str) -> pd.DataFrame:
    """Share of a token that still comes from its own place: layer, mean, low, high."""
    return distances[(distances["scope"] == scope) & (distances["distance"] == 0)]


def _distance_name(distance: int) -> str:
    """The distances from one lower edge to the next."""
    if distance == 0:
        return say("layer_mixing.rollout.itself")
    after = DISTANCES[DISTANCES.index(distance) + 1 :]
    if not after:
        return say("layer_mixing.rollout.or_more", distance=distance)
    return str(distance) if after[0] == distance + 1 else f"{distance}–{after[0] - 1}"


def _stacks(
    frame: pd.DataFrame,
    sides: tuple[str, str],
    kind: str,
    colours: dict[str, str],
    *,
    key: str,
    caption: str,
) -> None:
    """Two stacks for every layer.

    Args:
        frame: with the columns layer, scope, mean, low, high and the name of what is stacked.
        sides: the scopes to the left and to the right.
    """
    question = say(f"layer_mixing.rollout.question_{kind}")
    names = (scope_name(sides[0]), scope_name(sides[1]))
    chart = paired_stacks(
        frame.assign(side=frame["scope"].map(scope_name)),
        y="mean",
        colour="name",
        colours=colours,
        side="side",
        sides=names,
        y_title=say("layer_mixing.rollout.axis"),
        titles={
            "name": say(f"layer_mixing.rollout.{kind}"),
            "side": say("layer_mixing.rollout.by"),
            "low": say("layer_mixing.low"),
            "high": say("layer_mixing.high"),
        },
    )
    figure(chart, key=key, question=question, caption=caption, frame=frame, alt=question)
