"""Texts in which a head gives most, or least, attention to a place."""

from functools import partial
from typing import Any

import pandas as pd

from analysis.statistics.norms import head_token
from analysis.statistics.sinks import sink
from pages.sinks.places import pick_place
from pages.ui.charts.shaded_sequence import sequence_name, texts_of_head
from pages.ui.charts.texts.head_in_text import HeadInText
from pages.ui.head.choice import head_name, head_with_most
from pages.ui.head.picker import pick_head
from pages.ui.page import section
from pages.ui.passages import Passage, draw_passages
from pages.ui.view import View
from pages.ui.words.names import place_name
from pages.ui.words.numbers import percent


@section("texts", sink.PER_SEQUENCE, sink.TABLE, also=(head_token.TABLE,))
def texts(view: View) -> None:
    place = pick_place(view)
    order = view.pick("order", ("most", "least"))
    limit = view.number("texts", 1, 12, 3)
    of_heads = view.ask(sink.heads, place=place)
    default = head_with_most(of_heads[of_heads["quantity"] == "attention"], "mean")
    layer, head = pick_head(view, default=default)
    of = {"layer": layer, "head": head}
    sequences = view.ask(sink.extremes, place=place, **of, weakest=order == "least", limit=limit)
    if sequences.empty:
        view.end("none")
    view.finding(_finding(view, sequences, place, head_name(layer, head)))
    bodies, colours = texts_of_head(view, sequences, **of)
    if not colours:
        view.write("caption", view.say("plain", statistic=head_token.TABLE.name))
    rows = enumerate(zip(sequences.itertuples(), bodies, strict=True), start=1)
    parts = []
    for at, (row, body) in rows:
        seq = int(row.seq)
        drawn = HeadInText(seq, layer, head)
        parts.append(Passage(_heading(view, at, row), body, seq, head=drawn))
    draw = partial(draw_passages, view, colours, parts)
    view.markup(f"texts_{order}", sequences, draw, place=place_name(place))


def _finding(view: View, sequences: pd.DataFrame, place: str, head: str) -> str:
    """Report the range of the shares in the listed texts."""
    ends = sequences["attention"].agg(["min", "max"]).map(percent)
    return view.say(
        "finding",
        head=head,
        place=place_name(place),
        share="–".join(dict.fromkeys(ends)),
        even=percent(float(sequences["even"].mean())),
        norm=percent(float(sequences["norm_share"].mean())),
    )


def _heading(view: View, place: int, row: Any) -> str:
    return view.say(
        "text_heading",
        place=place,
        seq=sequence_name(view, row.seq),
        n=row.n_tokens,
        share=percent(row.attention),
        norm=percent(row.norm_share),
    )
