"""Parts of the excess of a place's keys in attention scores over other keys."""

import pandas as pd

from analysis.sinks import PARTS
from analysis.statistics.sinks import sink
from pages.sinks.places import as_series, pick_place
from pages.ui.charts.colours import EXCESS_PART_COLOURS
from pages.ui.charts.head_map import around_zero, head_map
from pages.ui.charts.standard import lines
from pages.ui.head.choice import head_with_most, to_head
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.interval import is_clear, row_with_interval, side_of
from pages.ui.words.names import place_name
from pages.ui.words.say import say


@section("scores", sink.SCORE, sink.TABLE, also=(sink.SEQUENCE_SCORE,))
def scores(view: View) -> None:
    place = pick_place(view)
    of_place = view.ask(sink.scores_by_layer, place=place)
    view.finding(_finding(view, of_place, place))
    if "bias" not in set(of_place["quantity"]):
        view.note(view.say("no_key_bias"))
    shown, drawn = as_series(view, of_place, EXCESS_PART_COLOURS)
    chart = lines(
        shown,
        **drawn,
        dashed=[view.say("series_query_bias")],
        level=0.0,
        y_title=view.say("axis"),
        format=".2f",
        height=300,
    )
    dashed = view.say("parts_dashed") if "query_bias" in set(of_place["quantity"]) else ""
    caption = f"{view.say('parts_caption')} {dashed}".strip()
    view.figure("parts", shown, chart, caption=caption, place=place_name(place))
    _map(view, place)


def _map(view: View, place: str) -> None:
    """Draw one part for every head."""
    frame = view.ask(sink.scores_of_heads, place=place)
    there = set(frame["quantity"])
    part = view.pick(
        "part",
        [name for name in EXCESS_PART_COLOURS if name in there],
        format=lambda name: view.say(f"series_{name}"),
    )
    of_heads = frame[frame["quantity"] == part]
    of_heads = of_heads.assign(clear=~((of_heads["low"] <= 0) & (of_heads["high"] >= 0)))
    marked = pick_head(view, default=head_with_most(of_heads, "mean"))
    chart = head_map(
        of_heads,
        "mean",
        view.say("axis"),
        around_zero(of_heads["mean"]),
        format=".2f",
        tooltip=("low", "high"),
        marked=marked,
        clear="clear",
    )
    state, names = (place, part, *marked), (place_name(place), view.say(f"series_{part}"))
    dots = "" if of_heads["clear"].all() else view.say("map_dots")
    view.figure(
        "map",
        of_heads,
        chart,
        state=state,
        click=to_head,
        caption=f"{view.say('map_caption')} {dots}".strip(),
        place=names[0],
        part=names[1],
    )


def _finding(view: View, of_place: pd.DataFrame, place: str) -> str:
    """Report the layer with the largest excess, and its parts; say which intervals contain 0."""
    excess = of_place[of_place["quantity"] == "excess"]
    peak = excess.nlargest(1, "mean").iloc[0]
    there = of_place[of_place["layer"] == peak["layer"]].set_index("quantity")
    names = [name for name in EXCESS_PART_COLOURS if name in PARTS and name in there.index]
    parts = {name: there.loc[name] for name in names}
    most = max(parts, key=lambda name: abs(parts[name]["mean"]))
    sentence = view.say(
        "finding",
        place=place_name(place),
        layer=int(peak["layer"]),
        excess=row_with_interval(peak),
        most=view.say(f"series_{most}"),
        parts=say("list.comma").join(_part(view, name, row) for name, row in parts.items()),
    )
    side = side_of(peak["low"], peak["high"])
    sentence = f"{sentence} {view.say(f'finding_{side}')}"
    if "query_bias" not in there.index:
        return sentence
    blind = row_with_interval(there.loc["query_bias"])
    return f"{sentence} {view.say('finding_blind', part=blind)}"


def _part(view: View, name: str, row: pd.Series) -> str:
    clear = pd.isna(row["low"]) or is_clear(row["low"], row["high"])
    word = "summand" if clear else "summand_unclear"
    return view.say(word, name=view.say(f"series_{name}"), value=row_with_interval(row))
