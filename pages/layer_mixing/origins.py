"""Where what is in a token comes from: shares by distance and by type, two methods side by side."""

import pandas as pd

from analysis.tables.mixing.sequence_rollout import DISTANCES
from pages.ui.charts.colours import NEAR_TO_FAR
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.view import View
from pages.ui.words.names import scope_name


def origins(
    view: View, distances: pd.DataFrame, types: pd.DataFrame, sides: tuple[str, str], scope: str
) -> None:
    """Two stacks for every layer, first by distance, then by type.

    Args:
        distances: with the columns layer, scope, distance, mean, low, high.
        types: the same with a token_type in place of the distance.
        sides: the scopes to the left and to the right.
        scope: the one that the captions name.
    """
    names = [_distance_name(view, distance) for distance in DISTANCES]
    away = distances["distance"].map(dict(zip(DISTANCES, names, strict=True)))
    colours = dict(zip(names, NEAR_TO_FAR, strict=True))
    kinds = (
        ("from_distance", distances.assign(away=away), "away", colours),
        ("from_type", types, "token_type", None),
    )
    for name, every, colour, palette in kinds:
        frame = every[every["scope"].isin(sides)]
        chart = paired_stacks(
            frame, y="mean", colour=colour, side="scope", sides=sides, colours=palette
        )
        view.figure(name, frame, chart, scope=scope_name(scope))


def own_place(distances: pd.DataFrame, scope: str) -> pd.DataFrame:
    """Share of a token that still comes from its own place: layer, mean, low, high."""
    return distances[(distances["scope"] == scope) & (distances["distance"] == 0)]


def _distance_name(view: View, distance: int) -> str:
    """The distances from one lower edge to the next."""
    if distance == 0:
        return view.say("itself")
    after = DISTANCES[DISTANCES.index(distance) + 1 :]
    if not after:
        return view.say("or_more", distance=distance)
    return str(distance) if after[0] == distance + 1 else f"{distance}–{after[0] - 1}"
