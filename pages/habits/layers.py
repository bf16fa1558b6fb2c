"""Share of attention by token type or neighbour for every layer, each head a point (figure 2)."""

import pandas as pd

from analysis.published.heads import NEIGHBOURS
from analysis.statistics.heads import head_pattern
from analysis.statistics.norms.weighing import WEIGHT
from pages.habits.layer_chart import draw_layers
from pages.ui.head.habits import GROUPS, habit_name, habit_value, of_habits, share_title
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.view import View
from pages.ui.words.say import say

_HALF = 0.5


@section("layers", head_pattern.TABLE, also=(head_pattern.PER_SEQUENCE,))
def layers(view: View) -> None:
    weighing = view.pick_weighing()
    every = view.ask(head_pattern.by_layer, weighing=weighing).dropna(subset="mean")
    held = set(every["quantity"])
    group = view.pick("group", [name for name, habits in GROUPS.items() if held & set(habits)])
    means = of_habits(every, GROUPS[group])
    heads = of_habits(view.ask(head_pattern.heads, weighing=weighing), GROUPS[group])
    view.finding(_finding(view, means, heads, weighing))
    caption = view.say("caption")
    if weighing == WEIGHT:  # the group's caption contains published numbers
        caption = f"{view.say(f'caption_{group}')} {caption}"
    draw_layers(
        view,
        f"question_{group}",
        means,
        heads,
        y_title=share_title(weighing),
        format=".1%",
        state=weighing,
        y_format="%",
        caption=caption,
        weighing=weighing,
        habits=say("list.comma").join(map(habit_name, means["habit"].unique())),
    )
    if group == "neighbours" and weighing == WEIGHT:
        show_published(view, "neighbours", *neighbours(heads))


def neighbours(heads: pd.DataFrame) -> list[Row]:
    """Number of heads with more than half of their attention on a neighbour, and the paper's."""
    rows = []
    for number in NEIGHBOURS:
        shares = heads.loc[heads["habit"] == number.habit, "mean"]
        name = say(f"habits.published.heads_{number.habit}")
        rows.append(Row(name, number, float((shares > _HALF).sum()) if len(shares) else None))
    return rows


def _finding(view: View, means: pd.DataFrame, heads: pd.DataFrame, weighing: str) -> str:
    """Rank the habits by attention; count the heads that give one habit more than half."""
    over_layers = means.groupby("habit")["mean"].mean().sort_values(ascending=False)
    shares = [
        f"{habit_name(str(habit))} {habit_value(str(habit), value)}"
        for habit, value in over_layers.items()
    ]
    most = str(over_layers.index[0])
    top = means[means["habit"] == most].nlargest(1, "mean").iloc[0]
    many = heads[heads["mean"] > _HALF]
    return view.say(
        f"finding_{weighing}",
        shares=say("list.comma").join(shares),
        most=habit_name(most),
        layer=int(top["layer"]),
        share=habit_value(most, top["mean"]),
        n=len(many[["layer", "head"]].drop_duplicates()),
        of=len(heads[["layer", "head"]].drop_duplicates()),
    )
