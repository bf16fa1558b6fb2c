"""Effects of token types that bring nothing, or the same from every text."""

import pandas as pd

from analysis.effects import FILLINGS, ZERO
from analysis.statistics.heads import head_effect
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.quantities import in_type_order
from pages.ui.words.say import say

_QUANTITIES = ("length", "cosine_distance")


@section("nothing", head_effect.TABLE, also=(head_effect.PER_SEQUENCE,))
def nothing(view: View) -> None:
    quantity = view.pick("quantity", _QUANTITIES)
    filling = view.pick("filling", FILLINGS, default=ZERO)
    frame = in_type_order(view.ask(head_effect.token_types, filling=filling, quantity=quantity))
    if frame.empty:
        view.nothing("no_types")
        return
    single, every = frame.dropna(subset="layer"), frame[frame["layer"].isna()]
    view.finding(_finding(view, single, every, filling))
    chart = lines(
        single.astype({"layer": int}),
        y="mean",
        colour="token_type",
        y_title=view.say(f"axis_{quantity}"),
        format=".1%",
    )
    view.figure("layers", single, chart, state=(quantity, filling))
    whole = every.sort_values("mean", ascending=False)
    columns = ["token_type", "mean", "low", "high", "n_sequences"]
    view.table("at_once", whole, columns, state=(quantity, filling))


def _finding(view: View, single: pd.DataFrame, every: pd.DataFrame, filling: str) -> str:
    """Report what changes with each type in all layers at once, and the largest of one layer."""
    changes = [
        f"{token_type_name(row['token_type'])} {row_with_interval(row, written=percent)}"
        for _, row in every.sort_values("mean", ascending=False).iterrows()
    ]
    most = single.nlargest(1, "mean").iloc[0]
    return view.say(
        f"finding_{filling}",
        changes=say("list.comma").join(changes),
        token_type=token_type_name(most["token_type"]),
        layer=int(most["layer"]),
        most=row_with_interval(most, written=percent),
    )
