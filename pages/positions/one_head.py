"""One head, from its weights to its preferred offset (figures 2, 4, 6 and 7)."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import altair as alt

from analysis.statistics.positions import (
    exemplar_attention,
    head_offset,
    query_key_correlation,
    query_key_wave,
    relative_position_profile,
)
from pages.positions.of_one_head import (
    WIDTH,
    heading,
    numbers_of_head,
    offsets_across,
    score_above_attention,
)
from pages.positions.offsets import pick_positions_head
from pages.positions.one_text import attention, waves
from pages.positions.phases import phases
from pages.ui.charts.chart_theme import Chart, column_tooltips
from pages.ui.charts.colours import LESS_TO_MORE
from pages.ui.head.choice import row_of
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import offset_label, percent, signed
from pages.ui.words.scope import say_here

_ROW = 11


@section(
    "one_head",
    exemplar_attention.TABLE,
    relative_position_profile.TABLE,
    query_key_wave.TABLE,
    query_key_wave.AMPLITUDES,
    query_key_correlation.TABLE,
    also=(
        head_offset.TABLE,
        query_key_wave.SINGULAR_VALUES,
        query_key_wave.ROTATION,
        query_key_correlation.ERRORS,
    ),
    when=lambda store: store.adds_positions,
)
def one_head(view: View) -> None:
    layer, head = pick_positions_head(view)
    if view.store.is_causal:
        view.finding(view.say("causal"))
    seq = attention(view, layer, head)
    numbers_of_head(view, layer, _numbers(view, layer, head))
    waves(view, layer, head, seq)
    phases(view, layer, head)
    directions = partial(_directions, view, layer, head)
    score_above_attention(view, "correlations", layer, head, above=directions)


def _numbers(view: View, layer: int, head: int) -> Iterator[tuple[str, str, str]]:
    """Yield position dependence, preferred offsets, and the largest singular value with its share.

    The share is that of the four largest in the sum of squared singular values.
    """
    offsets = row_of(view.ask(head_offset.heads), layer, head)
    if offsets is not None:
        dependence = signed(offsets["dependence"])
        yield title("dependence"), dependence, view.say("dependence")
        for name in ("attention_offset", "score_offset"):
            both = (offset_label(offsets[column]) for column in (name, f"{name}_per_pair"))
            yield view.say(f"card_{name}"), " / ".join(both), view.say("card_offset_help")
    values = view.ask(query_key_wave.singular_values, layer=layer, head=head)["value"]
    if len(values):
        squares = values**2
        share = squares.nlargest(4).sum() / squares.sum() if squares.sum() > 0 else math.nan
        yield view.say("card_strongest"), f"{values.max():.2f}", view.say("card_strongest_help")
        yield view.say("card_share"), percent(share), view.say("card_share_help")


def _directions(inquiry: Inquiry, layer: int, head: int, domain: tuple[int, int]) -> list[Any]:
    """Draw the correlation of queries and keys at every offset, a row per singular direction.

    The strongest direction is on top. Empty if no direction has correlations in the window.
    """
    waves = inquiry.ask(query_key_wave.correlations, layer=layer, head=head, seq=None)
    cells = waves[waves["offset"].between(*domain)]
    if cells.empty:
        return []
    cells = cells.assign(left=cells["offset"] - 0.5, right=cells["offset"] + 0.5)
    x = offsets_across(domain)
    x.shorthand = "left:Q"
    top = float(cells["correlation"].abs().max()) or 1.0
    bend = [-top, -top / 4, 0, top / 4, top]
    scale = alt.Scale(domain=bend, range=list(LESS_TO_MORE), interpolate="rgb")
    legend = alt.Legend(format=".2~f", gradientLength=150)
    chart = Chart(cells).mark_rect()
    chart = chart.encode(
        x=x,
        x2=alt.X2("right"),
        y=alt.Y("rank:O", title=title("rank"), axis=alt.Axis(values=[1, 5, 10, 15, 20])),
        color=alt.Color("correlation:Q", title="xcorr", scale=scale, legend=legend),
        tooltip=column_tooltips(cells, rank="d", value=".2f", offset="+d", correlation=".3f"),
    )
    height = _ROW * cells["rank"].nunique()
    named = heading(say_here("correlations_directions"))
    return [chart.properties(title=named, width=WIDTH, height=height)]
