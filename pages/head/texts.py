"""Tokens that a head looks at, and the texts in which it does something most."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from analysis.statistics import norms, sinks
from analysis.statistics.base.columns import TYPE_OF_ENTRY
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_PATTERN
from pages.charts.colours import PLACE_COLOURS
from pages.drawn import shading
from pages.drawn.head_in_text import HeadInText
from pages.drawn.passages import Passage, draw_passages
from pages.drawn.shaded_sequence import received_tokens, sequence_name, shaded_by, texts_of_head
from pages.kit.address import choose
from pages.kit.habits import HABITS, SHARES, habit_name, habit_value
from pages.kit.section import Choices, Figure, of_head, rows_of
from pages.kit.view import View
from pages.services.inquiry import Inquiry
from pages.words.names import place_name
from pages.words.numbers import percent
from pages.words.say import plain
from pages.words.scope import say_here

_MEANS = {
    "attention": "attention_received / n_tokens",
    "value_norm": "value_norm",
    "weighted_norm": "weighted_norm_received / n_tokens",
}
_OF_HEAD = """head_token join token using (seq, pos, token_type) join sequence using (seq)
    where layer = $layer and head = $head"""
TOKENS = f"""
    select token, {TYPE_OF_ENTRY} as token_type, count(*) as n,
        {", ".join(f"avg({mean})::double as {name}" for name, mean in _MEANS.items())}
    from {_OF_HEAD}
    group by token
    having count(*) >= $least
    order by avg({_MEANS["attention"]}) desc, token
    limit 1_000_000"""
"""Tokens with their means over all occurrences in a head, the most attended first."""
RANKINGS = {"attention": "{:.2%}", "weighted_norm": "{:.3f}"}
CHOSEN_BY = {
    "token": norms.HEAD_TOKEN,
    "place": sinks.SEQUENCE_SINK,
    "habit": SEQUENCE_HEAD_PATTERN,
}
"""Ways to choose texts, and the table that each takes."""
_LISTED = 300
_DRAWN = "states in which lists of tokens were drawn"
_CLICKED = "list of tokens that was clicked in"


def chosen_by(inquiry: Inquiry, _: Choices) -> list[str]:
    """Ways to choose texts that the file has the tables for."""
    return [by for by, table in CHOSEN_BY.items() if inquiry.store.holds(table)]


def ranked(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Every frequent enough token, most weight first, with its ranks by weight and norm."""
    frame = rows_of(TOKENS, inquiry, choices)
    for by in RANKINGS:
        frame[f"{by}_place"] = frame[by].rank(ascending=False, method="first").astype("int64")
    return frame


def tokens(inquiry: Inquiry, choices: Choices) -> list[str]:
    return ranked(inquiry, choices)["token"].tolist()


def places(inquiry: Inquiry, _: Choices) -> list[str]:
    """Places that some text has, those that open a text first."""
    present = set(rows_of("select distinct place from sink", inquiry, {})["place"])
    opening = [name for name in ("bos", "cls", "first") if name in present]
    return [*opening, *(name for name in PLACE_COLOURS if name in present - set(opening))]


def habits(inquiry: Inquiry, choices: Choices) -> list[str]:
    """Habits that the head can have, the one with the largest share first."""
    rows = """
        select quantity, mean from head_pattern_weighing where weighing = $weighing
            and layer = $layer and head = $head and mean is not null"""
    means = rows_of(rows, inquiry, choices)
    shares = means.set_index("quantity")["mean"].reindex(SHARES).dropna()
    first = [str(shares.idxmax())] if len(shares) else []
    present = [name for name in HABITS if name in set(means["quantity"])]
    return [*first, *(name for name in present if name not in first)]


def _choose(view: View, by: str, row: Mapping[Any, Any]) -> None:
    """Choose the token of a row that was clicked, and remember in which list."""
    choose(view.key("token"), row["token"])
    choose(_CLICKED, by)


def show_ranked(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record both lists with the chosen token marked.

    A list is redrawn only if something other than a click in it changed its content, so that a
    reader who clicks keeps the scroll position.
    """
    token = choices["token"]
    state = tuple(choices[name] for name in ("layer", "head", "least"))
    clicked = st.session_state.pop(_CLICKED, None)
    drawn: dict[str, tuple] = st.session_state.setdefault(_DRAWN, {})
    is_same = drawn.get("shown") == (*state, token)
    drawn["shown"] = (*state, token)
    for place, by in zip(view.columns(2), RANKINGS, strict=True):
        listed = frame.sort_values(f"{by}_place").head(_LISTED).reset_index(drop=True)
        rows = listed.index[listed["token"] == token].tolist()
        if by not in drawn or not (is_same or by == clicked):
            drawn[by] = (*state, *rows)
        (other,) = set(RANKINGS) - {by}
        written = "percent" if by == "attention" else "%.4f"
        with place:
            view.table(
                f"ranked_{by}",
                listed.rename(columns={f"{by}_place": "place"}),
                {"place": None, "token": None, "n": None, by: written, f"{other}_place": None},
                state=drawn[by],
                click=partial(_choose, view, by),
                options={"height": 318, "selection_default": {"selection": {"rows": rows}}},
            )


def chosen_texts(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """Texts by the chosen token, place or habit: seq, value, and text where they are not shaded."""
    by = choices["by"]
    if choices[by] is None:
        return pd.DataFrame()
    if by == "token":
        value = _MEANS[choices["ranking"]]
        asked = f"""
            select seq, pos, ({value})::double as value
            from {_OF_HEAD} and token = $token
            qualify row_number() over (partition by seq order by value desc, pos) = 1
            order by value desc, seq
            limit $texts"""
        return rows_of(asked, inquiry, choices)
    if by == "place":
        asked = """
            select seq, n_tokens, text, attention::double as attention, even::double as even,
                norm_share::double as norm_share, attention::double as value
            from sequence_sink join sequence using (seq)
            where place = $place and layer = $layer and head = $head
            order by if($order = 'least', 1, -1) * attention, seq
            limit $texts"""
        return rows_of(asked, inquiry, choices)
    asked = f"""
        select seq, pattern.n_tokens, "{choices["habit"]}"::double as value, text
        from sequence_head_pattern_weighing as pattern join sequence using (seq)
        where weighing = $weighing and layer = $layer and head = $head and value is not null
        order by value desc, seq limit $texts"""
    return rows_of(asked, inquiry, choices)


def show_texts(view: View, figure: Figure, frame: pd.DataFrame, choices: Choices) -> None:
    """Record the chosen texts, each with a link to its page."""
    by, of = choices["by"], of_head(choices)
    headings = [
        _heading(view, at, row, choices) for at, row in enumerate(frame.to_dict("records"), start=1)
    ]
    weighing = choices.get("weighing", "weight")
    if by == "token":
        bodies, colours = _both(view, frame, choices)
    else:
        bodies, colours = texts_of_head(view, frame, **of)
        if not colours:
            view.write("caption", view.say("plain", statistic=norms.HEAD_TOKEN.name))
    passages = [
        Passage(
            heading,
            body,
            int(seq),
            head=None if by == "token" else HeadInText(int(seq), **of, weighing=weighing),
        )
        for heading, body, seq in zip(headings, bodies, frame["seq"], strict=True)
    ]
    named = {"token": plain, "place": place_name, "habit": habit_name}[by](choices[by])
    name = f"texts_{choices['order']}" if by == "place" else f"texts_{by}"
    caption = view.say(f"texts_{by}_caption")
    if weighing != "weight":
        caption = f"{caption} {view.say('texts_norm_caption')}"
    draw = partial(draw_passages, view, colours, passages)
    view.markup(name, frame, draw, caption=caption, of=named)


def _heading(view: View, at: int, row: Mapping[Hashable, Any], choices: Choices) -> str:
    by = choices["by"]
    known = {"place": at, "seq": sequence_name(view, int(row["seq"])), "n": row.get("n_tokens")}
    if by == "token":
        value = RANKINGS[choices["ranking"]].format(row["value"])
        return view.say(f"heading_{choices['ranking']}", **known, value=value)
    if by == "place":
        norm = percent(row["norm_share"])
        return view.say("heading_place", **known, share=percent(row["value"]), norm=norm)
    value = habit_value(choices["habit"], float(row["value"]))
    return view.say("heading_habit", **known, value=value, habit=habit_name(choices["habit"]))


def _both(view: View, frame: pd.DataFrame, choices: Choices) -> tuple[list[str], str]:
    """Texts shaded by weight and, beside it, by the length that arrives; with their scales."""
    of = of_head(choices)
    sequences = frame["seq"].tolist()
    rows = received_tokens(view, **of, sequences=sequences)
    shades = {
        column: shading.Shades(float(rows[column].max()), float(rows[column].min()))
        for column in RANKINGS
    }
    scales = (
        shading.scale(view.say(f"received_{column}"), shades[column], form)
        for column, form in RANKINGS.items()
    )
    bodies = []
    for seq in sequences:
        shown, token = rows[rows["seq"] == seq], choices["token"]
        both = (
            shaded_by(view, shown, column, shades[column], hint=_hint, chosen=token)
            for column in RANKINGS
        )
        bodies.append(shading.side_by_side(*both))
    return bodies, shading.side_by_side(*scales)


def _hint(row: Mapping[Hashable, Any]) -> str:
    """Tooltip with the exact values of a token."""
    return say_here(
        "token_values",
        token=row["token"],
        attention=f"{row['attention']:.3%}",
        value_norm=f"{row['value_norm']:.3f}",
        weighted_norm=f"{row['weighted_norm']:.4f}",
    )
