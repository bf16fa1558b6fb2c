"""Origins of a token after several layers, by rollout of whole layers and of attention weights."""

from functools import partial

import pandas as pd

from analysis.statistics.mixing import rollout
from analysis.statistics.mixing.rollout import ATTENTION_ROLLOUT, DISTANCES
from pages.ui.charts.colours import NEAR_TO_FAR
from pages.ui.charts.paired_stacks import paired_stacks
from pages.ui.page import section
from pages.ui.store.absences import FIRST, SPECIAL
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, side_of, verdict
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import percent


@section("rollout", rollout.TABLE)
def across_layers(view: View) -> None:
    order = view.store.layer_order
    scope = view.pick("rollout", order.scopes, default=order.whole, of="scope")
    sides = (ATTENTION_ROLLOUT, scope)
    distances = view.ask_each(rollout.by_distance, "scope", sides)
    types = view.ask_each(rollout.by_token_type, "scope", sides)
    view.finding(f"{_own(view, distances, scope)} {_special(view, types, scope)}")
    origins(view, distances, types, sides, scope)
    kept = pd.concat([own_place(distances, side) for side in (scope, ATTENTION_ROLLOUT)])
    kept = kept.rename(columns={"mean": "own"})
    columns = {"layer": None, "scope": None} | dict.fromkeys(("own", "low", "high"), "%.4f")
    view.table("own_place", kept.sort_values("layer", kind="stable"), columns)


_written = partial(percent, digits=1)


def _own(view: View, distances: pd.DataFrame, scope: str) -> str:
    """Report the share of a token's own position after the first and after the last layer."""
    shares, weights = (
        own_place(distances, side).sort_values("layer") for side in (scope, ATTENTION_ROLLOUT)
    )
    last, of_weights = shares.iloc[-1], weights.iloc[-1]
    finding = view.say(
        "finding",
        scope=scope_name(scope),
        first=percent(shares["mean"].iloc[0]),
        last=row_with_interval(last, written=_written),
        layer=last["layer"],
        weights=row_with_interval(of_weights, written=_written),
    )
    side = side_of(*last[["low", "high"]], *of_weights[["low", "high"]])
    return f"{finding} {verdict(side)}"


def _special(view: View, types: pd.DataFrame, scope: str) -> str:
    """Report the share of special tokens and of the first token after the last layer."""
    sentences, last = [], types[types["layer"] == types["layer"].max()]
    for name, kinds in (("special", SPECIAL), ("first", (FIRST,))):
        shares = last[last["token_type"].isin(kinds)].groupby("scope")["mean"].sum()
        if len(shares):
            sentences.append(
                view.say(
                    f"finding_{name}",
                    scope=scope_name(scope),
                    last=percent(shares.get(scope, 0.0)),
                    weights=percent(shares.get(ATTENTION_ROLLOUT, 0.0)),
                )
            )
    return " ".join(sentences)


def origins(
    view: View, distances: pd.DataFrame, types: pd.DataFrame, sides: tuple[str, str], scope: str
) -> None:
    """Draw two stacked bars for every layer, first by distance, then by token type.

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
    """Share of a token that still comes from its own position: layer, mean, low, high."""
    return distances[(distances["scope"] == scope) & (distances["distance"] == 0)]


def _distance_name(view: View, distance: int) -> str:
    """Format a bin of distances, from its lower edge to the next."""
    if distance == 0:
        return view.say("itself")
    after = DISTANCES[DISTANCES.index(distance) + 1 :]
    if not after:
        return view.say("or_more", distance=distance)
    return str(distance) if after[0] == distance + 1 else f"{distance}–{after[0] - 1}"
