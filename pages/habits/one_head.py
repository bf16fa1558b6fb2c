"""One head: its habits with intervals, its card, and the texts in which one habit is strongest."""

from functools import partial
from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.heads import head_pattern
from analysis.statistics.norms import head_token
from pages.habits.opened_head import opened_head
from pages.ui.charts.chart_theme import Chart, coloured, layered, tooltips
from pages.ui.charts.colours import HEAD_AND_LAYER_COLOURS
from pages.ui.charts.shaded_sequence import sequence_name, texts_of_head
from pages.ui.charts.texts.head_in_text import HeadInText
from pages.ui.head.card import head_card
from pages.ui.head.choice import head_name
from pages.ui.head.habits import HABITS, SHARES, habit_name, habit_value, of_habits, share_title
from pages.ui.page import section
from pages.ui.passages import Passage, draw_passages
from pages.ui.view import View
from pages.ui.words.columns import shown_as, with_names

_ROW, _AROUND = 34, 150  # pixels of a habit; of the legend, the axis and the space between them


@section("one_head", head_pattern.TABLE, also=(head_pattern.PER_SEQUENCE,))
def one_head(view: View) -> None:
    weighing = view.pick_weighing()
    layer, head = opened_head(view)
    of = {"layer": layer, "head": head}
    of_head = view.ask(head_pattern.of_head, **of, weighing=weighing).assign(**of)
    means = view.ask(head_pattern.by_layer, weighing=weighing)
    of_layer = means[means["layer"] == layer]
    names = (head_name(layer, head), view.say("layer", layer=layer))
    parts = zip((of_head, of_layer), names, strict=True)
    frame = pd.concat(
        [of_habits(part, SHARES).assign(whose=name) for part, name in parts], ignore_index=True
    )
    view.figure(
        "question",
        frame,
        _chart(frame, names, share_title(weighing)),
        state=(weighing, layer, head),
        head=names[0],
    )
    view.draw(head_card, view, layer=layer, head=head)
    _texts(view, of, of_head.dropna(subset="mean").set_index("quantity")["mean"], weighing)


def _chart(frame: pd.DataFrame, whose: tuple[str, str], title: str) -> Any:
    """Draw a row per habit, with a point and an interval for the head and for its layer."""
    colours = dict(zip(whose, HEAD_AND_LAYER_COLOURS, strict=True))
    shown, colour, _ = coloured(with_names(frame), "whose", " ", colours)
    habit = shown_as("habit", shown)
    titles = {habit: None, "whose": " ", "mean": title, "low": None, "high": None}
    base = Chart(shown).encode(
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
    height = _ROW * max(shown[habit].nunique(), 1) + _AROUND
    return layered(rules, points, height=height)


def _texts(view: View, of: dict[str, int], means: pd.Series, weighing: str) -> None:
    """Draw the texts in which a habit of the head is strongest, with lines between their tokens.

    Where lines are unknown, tokens are shaded by the weight that they receive.

    Args:
        of: layer and head.
        means: of its habits, by their names.
        weighing: by which texts are chosen, and of the lines; shades are always of weights.
    """
    habits = [name for name in HABITS if name in means]
    clearest = str(means.reindex([name for name in habits if name in SHARES]).idxmax())
    habit = view.pick("habit", habits, default=clearest, kind="select")
    limit = view.number("texts", 1, 12, 3)
    best = view.ask(head_pattern.extremes, **of, quantity=habit, limit=limit, weighing=weighing)
    bodies, colours = texts_of_head(view, best, **of)
    if not colours:
        view.write("caption", view.say("plain", statistic=head_token.TABLE.name))
    parts = []
    for place, (row, body) in enumerate(zip(best.itertuples(), bodies, strict=True), start=1):
        heading = view.say(
            "text_heading",
            place=place,
            seq=sequence_name(view, row.seq),
            n=row.n_tokens,
            habit=habit_name(habit),
            value=habit_value(habit, float(row.value)),
        )
        drawn = HeadInText(int(row.seq), **of, weighing=weighing)
        parts.append(Passage(heading, body, int(row.seq), head=drawn))
    caption = view.say(f"texts_caption_{weighing}")
    view.markup("texts_title", best, partial(draw_passages, view, colours, parts), caption=caption)
