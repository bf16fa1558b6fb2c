"""Filtered list of a layer's pairs, with the selected pair beside it."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import altair as alt
import pandas as pd

from analysis.statistics.pairs import pair, pair_delta, pair_occurrence
from pages.token_pairs.choices import choices, to_pair
from pages.token_pairs.chosen_pair import chosen_pair
from pages.token_pairs.lists import (
    CHANGE,
    COLUMNS,
    HIGH,
    LOW,
    ROWS,
    in_points,
    tally_sentence,
    with_pair_names,
)
from pages.ui.charts.chart_theme import Chart, cell_selection, coloured, layered, tooltips
from pages.ui.charts.colours import MARKED, ZERO
from pages.ui.charts.points import POINT
from pages.ui.page import section
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.interval import is_clear, with_interval
from pages.ui.words.lines import width_of
from pages.ui.words.names import effect_name
from pages.ui.words.numbers import count
from pages.ui.words.say import plain
from pages.ui.words.units import POINTS, named_in

_LIMIT = 1_000
_BESIDE_A_PAIR, _BESIDE_A_LIST = (9, 11), (1, 1)
_ROOM = 1.6  # extent of the axis, as a multiple of the largest change
_FAINT, _FAINT_NAME = 0.4, 0.65
_ROW, _AROUND, _OF_LEGEND = 17, 66, 20  # pixels
_LETTER, _GAP = 6.6, 10  # pixels
_INTERVAL = named_in(POINTS, "interval")
_TOOLTIP = ("pair", _INTERVAL, "n", "n_sequences", "pmi", "relation")


@section("workbench", pair_delta.TABLE, pair.TABLE, pair_occurrence.TABLE)
def workbench(view: View) -> None:
    chosen = choices(view, "layer", "order", "min_count", "clear", "special")
    chosen |= choices(view, "effect", "rank", "relation", "source", "target", "text")
    asked = {"pairs": chosen}
    if other := _other(view, chosen):
        asked["other_pairs"] = chosen | other
    lists = {
        name: view.ask(pair_delta.browse, limit=_LIMIT, **options)
        for name, options in asked.items()
    }
    view.finding(_finding(view, lists["pairs"], chosen))
    left, right = view.columns(_BESIDE_A_LIST if other else _BESIDE_A_PAIR)
    with view.place("container") if other else right:
        tokens = chosen_pair(view, lists["pairs"], chosen["layer"], chosen["effect"])
    with left:
        above = view.place("container")
        view.row()
        page = _page(view, max(map(len, lists.values())))
    reach = reach_of(pd.concat(part.iloc[page] for part in lists.values()))
    places = {"pairs": (left, above), "other_pairs": (right, nullcontext())}
    for name, frame in lists.items():
        column, place = places[name]
        with column, place:  # a placeholder in a column does not know its width
            _list(view, name, frame, asked[name], page=page, tokens=tokens, reach=reach)


def _other(view: View, chosen: dict[str, Any]) -> dict[str, Any]:
    """Choices of the second list that differ from the first: its layer or its module, or none."""
    of_layers = {layer: view.say("beside_layer", layer=layer) for layer in view.store.layers}
    of_effects = {effect: effect_name(effect) for effect in view.store.layer_order.effects}
    names: dict[Any, str] = {"none": view.say("beside_none"), **of_layers, **of_effects}
    for taken in (chosen["layer"], chosen["effect"]):
        del names[taken]
    beside = view.pick("beside", names, kind="select")
    if beside == "none":
        return {}
    return {"layer" if beside in of_layers else "effect": beside}


def _finding(view: View, frame: pd.DataFrame, chosen: Mapping[str, Any]) -> str:
    """Count the pairs clear of 0 among all that may be listed; say whether all are listed."""
    if frame.empty:
        return ""
    layer = chosen["layer"]
    finding = tally_sentence(view, view.say("where_layer", layer=layer), [layer], chosen)
    cut = view.say("finding_cut", total=count(_LIMIT)) if len(frame) == _LIMIT else ""
    return f"{finding} {cut}".strip()


def _page(view: View, n: int) -> slice:
    """Rows of a list on the picked page."""
    pages = -(-n // ROWS)
    page = view.number("list_page", 1, pages, 1, pages=count(pages)) if pages > 1 else 1
    return slice((page - 1) * ROWS, page * ROWS)


def _list(
    view: View,
    name: str,
    frame: pd.DataFrame,
    chosen: dict[str, Any],
    *,
    page: slice,
    tokens: dict[str, str],
    reach: float,
) -> None:
    """Draw one page of a list as a chart, and all of it as a table."""
    if frame.empty:
        texts = [chosen[field] for field in ("source", "target", "text") if chosen[field]]
        none = "nothing" if texts else "none_clear" if chosen["clear"] else "none"
        return view.nothing(none, text=plain(", ".join(texts)), least=chosen["min_count"])
    frame = with_pair_names(frame)
    shown, state = frame.iloc[page], "_".join(map(str, chosen.values()))
    place = {"layer": chosen["layer"], "effect": effect_name(chosen["effect"])}
    values = {"order": view.say(f"order_{chosen['rank']}"), "n": count(len(frame))}
    if len(shown):
        view.figure(
            name,
            shown,
            pair_rows(shown, tokens, reach),
            state=(state, *tokens.values()),
            click=to_pair,
            caption=view.say("pairs_caption", **values),
            **place,
        )
    with view.place("expander", view.say("as_table")):
        view.table(
            f"{name}_table",
            frame,
            COLUMNS,
            state=state,
            click=to_pair,
            caption=view.say("table_caption", **values),
            **place,
        )


def reach_of(frame: pd.DataFrame) -> float:
    """Extent of the axis of changes and intervals, in percentage points either side of 0."""
    largest = float(in_points(frame)[CHANGE].abs().max()) if len(frame) else 0.0
    return _ROOM * (largest or 1.0)


def pair_rows(frame: pd.DataFrame, chosen: Mapping[str, str], reach: float) -> Any:
    """Draw a row per pair, coloured by relation and faint unless clear of 0.

    A click anywhere on a row selects its pair.

    Args:
        frame: rows of `with_pair_names`.
        chosen: source and target of the pair whose row is marked.
        reach: of `reach_of`; an interval that goes further is cut off.
    """
    shown = _with_facts(frame, chosen)
    n_room = _LETTER * shown["occurrences"].map(len).max() + _GAP
    room = _LETTER * shown["pair"].map(width_of).max() + n_room + _GAP
    shown, colour, relations = coloured(shown, "relation", None)
    colour.legend = alt.Legend(orient="bottom", columns=1, symbolType="circle")
    ends = shown[[CHANGE, LOW, HIGH]].clip(-reach, reach)
    domain = [min(0.0, float(ends.min().min())), max(0.0, float(ends.max().max()))]
    axis = alt.Axis(labels=False, ticks=False, domain=False, minExtent=room, maxExtent=room)
    plain = Chart(shown).encode(y=alt.Y("place:O", title=None, axis=axis))
    base, texts = (plain.encode(opacity=_if_clear(faint)) for faint in (_FAINT, _FAINT_NAME))
    x = alt.X(
        f"{CHANGE}:Q",
        title=title(CHANGE),
        scale=alt.Scale(domain=domain, nice=False, padding=6),
        axis=alt.Axis(tickCount=5, format=".3~g"),
    )
    names = texts.mark_text(align="left", x=-room, fontSize=12).encode(text=alt.Text("pair:N"))
    numbers = texts.mark_text(align="right", x=-_GAP, fontSize=12).encode(
        text=alt.Text("occurrences:N")
    )
    rules = base.mark_rule(clip=True, strokeWidth=1.5).encode(
        x=alt.X(f"{LOW}:Q", title=title(CHANGE)), x2=alt.X2(HIGH), color=colour
    )
    dots = base.mark_circle(size=55, opacity=1).encode(x=x, color=colour)
    zero = Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=ZERO).encode(x=alt.X("zero:Q"))
    rows = (
        plain.mark_rect(x=-room, x2="width", fill=MARKED, cursor="pointer")
        .encode(
            fillOpacity=alt.FillOpacityValue(
                **alt.condition(alt.datum["chosen"], alt.value(0.18), alt.value(0))
            ),
            tooltip=tooltips(dict.fromkeys(_TOOLTIP), shown, "+.2f"),
        )
        .add_params(cell_selection(POINT, "source", "target"))
    )
    height = _ROW * len(shown) + _AROUND + _OF_LEGEND * len(relations)
    return layered(zero, rules, dots, names, numbers, rows, height=height)


def _if_clear(faint: float) -> Any:
    return alt.OpacityValue(**alt.condition(alt.datum["clear"], alt.value(1.0), alt.value(faint)))


def _with_facts(frame: pd.DataFrame, chosen: Mapping[str, str]) -> pd.DataFrame:
    """Add the columns of a row's tooltip and mark."""
    shown = frame.assign(clear=is_clear(frame[LOW], frame[HIGH]))
    shown["chosen"] = (shown[list(chosen)] == pd.Series(chosen)).all(axis=1)
    shown["occurrences"] = [f"n {count(n)}" for n in shown["n"]]
    numbers = zip(shown[CHANGE], shown[LOW], shown[HIGH], strict=True)
    shown[_INTERVAL] = [with_interval(*row, "{:+.2f}".format) for row in numbers]
    return shown
