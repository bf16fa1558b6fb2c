"""One head: its card, its habits with intervals, and the texts in which it shows one most."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.tables.heads import head_pattern, sequence_head_pattern
from pages.head_habits.opened_head import clearest_head
from pages.head_habits.texts import texts
from pages.ui.charts.colours import HEAD_AND_LAYER_COLOURS
from pages.ui.charts.look import coloured, tooltips
from pages.ui.head.card import head_card
from pages.ui.head.choice import head_name, pick_head
from pages.ui.head.habits import SHARES, of_habits, share_title
from pages.ui.page import section
from pages.ui.store.chosen import ask
from pages.ui.view import View
from pages.ui.weighing import pick_weighing
from pages.ui.words.columns import shown_as, with_names


@section("one_head", head_pattern.TABLE, also=(sequence_head_pattern.TABLE,))
def one_head(view: View) -> None:
    weighing = pick_weighing(view.prefix)
    default, help = clearest_head(), view.say("head_help")
    layer, head = pick_head(view.say("head"), default=default, help=help)
    head_card(layer=layer, head=head)
    own = ask(head_pattern.of_head, layer=layer, head=head, weighing=weighing)
    own = own.assign(layer=layer, head=head)
    means = ask(head_pattern.by_layer, weighing=weighing)
    of_layer = means[means["layer"] == layer]
    names = (head_name(layer, head), view.say("layer", layer=layer))
    parts = zip((own, of_layer), names, strict=True)
    frame = pd.concat(
        [of_habits(part, SHARES).assign(whose=name) for part, name in parts], ignore_index=True
    )
    view.figure(
        "question",
        frame,
        share_chart(frame, names, share_title(weighing)),
        state=(weighing, layer, head),
        head=names[0],
    )
    texts(view, own, weighing)


def share_chart(frame: pd.DataFrame, whose: tuple[str, str], title: str) -> Any:
    """A row per habit with a point and an interval for the head and for its layer.

    Args:
        frame: rows habit, whose, mean, low, high.
        whose: the two names, the head's first.
        title: of the axis.
    """
    colours = dict(zip(whose, HEAD_AND_LAYER_COLOURS, strict=True))
    shown, colour, _ = coloured(with_names(frame), "whose", " ", colours)
    habit = shown_as("habit", shown)
    titles = {habit: None, "whose": " ", "mean": title, "low": None, "high": None}
    base = alt.Chart(shown).encode(
        y=alt.Y(
            f"{habit}:N",
            title=None,
            sort=list(dict.fromkeys(shown[habit])),
            axis=alt.Axis(labelLimit=0),
        ),
        yOffset=alt.YOffset("whose:N", sort=list(whose)),
        color=colour,
        tooltip=tooltips(titles, shown, ".1%"),
    )
    axis = alt.Axis(format="%", tickCount=6)
    rules = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("low:Q", title=title, axis=axis), x2=alt.X2("high")
    )
    points = base.mark_circle(size=70, opacity=1).encode(x=alt.X("mean:Q", title=title, axis=axis))
    height = 90 + 34 * max(shown[habit].nunique(), 1)  # the legend and the axis are in it
    return alt.layer(rules, points).properties(height=height)
