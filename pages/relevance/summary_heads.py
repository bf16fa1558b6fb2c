"""All heads of one rule as a map, and the texts or images in which one of them has most."""

import pandas as pd
import streamlit as st

from analysis.tables.relevance import relevance_map, sequence_relevance
from analysis.tables.relevance.relevance_summary import GAINS
from pages.relevance.choices import HEAD, IMAGE, LAYER, MEAN, RULE, pick_head, pick_layer
from pages.relevance.pick_text import TEXT
from pages.relevance.quantities import (
    number_format,
    quantity_axis,
    quantity_name,
)
from pages.relevance.rules import WITH_HEADS, rule_name
from pages.ui.charts.standard import heat_map
from pages.ui.choices.clicks import clickable, fresh_click
from pages.ui.choices.links import VIEWS, link
from pages.ui.choices.pick import choose, pick
from pages.ui.figure import table
from pages.ui.store.chosen import ask, open_store, shows_images
from pages.ui.words.say import say

_MAP, CELL = "re_heads", "cell"
_LIMIT = 20
_CELL, _FEWEST, _AROUND = 28, 5, 50  # height of a cell, of how few rows at least, and of an axis
_HARDLY = 1e-6  # the width of a scale of values that are all the same


def follow_click() -> None:
    """Choose the head and the layer that were clicked, before their pickers are drawn."""
    for cell in fresh_click(_MAP).get(CELL, [])[:1]:
        choose(LAYER, int(cell["layer"]))
        choose(HEAD, str(int(cell["head"])))


def heads_and_extremes(heads: pd.DataFrame, quantity: str) -> None:
    """The map of heads with its rule to choose, then the sequences of the chosen head.

    Args:
        heads: rows rule, layer, head, mean, low, high of one quantity.
    """
    present = [each for each in WITH_HEADS if (heads["rule"] == each).any()]
    if not present:
        return
    st.subheader(say("relevance_corpus.heads.title"), anchor=False)
    rule = pick(
        "re_head_rule",
        say("relevance_corpus.heads.rule"),
        present,
        default=present[-2] if len(present) > 1 else present[0],
        format=rule_name,
    )
    of_rule = heads[heads["rule"] == rule].astype({"head": "int64"})
    place = st.container()
    layer, head = _pick()
    with place:
        _map(of_rule, rule, quantity, marked=(layer, head))
    _extremes(rule, layer, head, quantity)


def _pick() -> tuple[int, str]:
    """From which layer and by which head, or their mean."""
    run = open_store().run
    left, right = st.columns(2)
    with left:
        layer = pick_layer(list(range(1, int(run["n_layers"]) + 1)))
    with right:
        head = pick_head([MEAN, *(str(each) for each in range(1, int(run["n_heads"]) + 1))])
    return layer, head


def _map(frame: pd.DataFrame, rule: str, quantity: str, *, marked: tuple[int, str]) -> None:
    layer, head = marked
    low, high = float(frame["mean"].min()), float(frame["mean"].max())
    reach = max(abs(low), abs(high)) or 1.0
    gain = quantity in GAINS
    clickable(
        heat_map(
            frame,
            value="mean",
            title=say("relevance_corpus.heads.gain") if gain else quantity_axis(quantity),
            y_title=say("relevance_corpus.start"),
            scheme="blueorange" if gain else "viridis",
            domain=(-reach, reach) if gain else (low, high if high > low else low + _HARDLY),
            format=number_format(quantity),
            pick=CELL,
            marked=None if head == MEAN else (layer, int(head)),
        ).properties(height=_CELL * max(frame["layer"].nunique(), _FEWEST) + _AROUND),
        _MAP,
        key=f"re_heads_{rule}_{quantity}_{layer}_{head}",
        question=say(
            "relevance_corpus.heads.question",
            rule=rule_name(rule),
            quantity=quantity_name(quantity),
        ),
        caption=say(f"relevance_corpus.heads.caption_{'gain' if gain else 'share'}"),
        frame=frame,
    )


def _extremes(rule: str, layer: int, head: str, quantity: str) -> None:
    """The sequences with most, and the way to the map of the one that is selected."""
    asked = GAINS.get(quantity, quantity)  # a gain has no column: it is ranked by its share
    found = ask(
        sequence_relevance.extremes,
        rule=rule,
        layer=layer,
        head=None if head == MEAN else int(head),
        quantity=asked,
        limit=_LIMIT,
    )
    if found.empty:
        st.info(say("relevance_corpus.heads.none"))
        return
    kind = "images" if shows_images() else "text"
    number = st.column_config.NumberColumn
    shown = f"{rule}_{layer}_{head}_{quantity}"
    event = table(
        found,
        key=f"re_most_{shown}",
        question=say(f"relevance_corpus.heads.most_{kind}", quantity=quantity_name(asked)),
        caption=say(f"relevance_corpus.heads.most_caption_{kind}"),
        columns={
            "seq": number(say("relevance_corpus.heads.seq"), format="%d", width="small"),
            "value": number(quantity_axis(asked), format="%.4f", width="small"),
            "text": st.column_config.TextColumn(
                say(f"relevance_corpus.heads.{kind}"), width="large"
            ),
        },
        height=248,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [0]}},
    )
    _to_map(found, list(event["selection"]["rows"]), rule, layer, head)


def _to_map(found: pd.DataFrame, rows: list[int], rule: str, layer: int, head: str) -> None:
    """A link to the map of the selected sequence, if it is kept."""
    seq = int(found["seq"].iloc[rows[0] if rows and rows[0] < len(found) else 0])
    if not open_store().rows.get(relevance_map.TABLE.name):
        return
    if seq not in set(ask(relevance_map.kept)["seq"]):
        st.caption(say("relevance_corpus.heads.not_kept", seq=seq))
        return
    view, key = ("map", IMAGE) if shows_images() else ("text", TEXT)
    choices = {key: str(seq), RULE: rule, LAYER: str(layer), HEAD: head}
    link(
        "relevance",
        say("relevance_corpus.heads.to_map", seq=seq),
        **{VIEWS["relevance"]: view},
        **choices,
    )
