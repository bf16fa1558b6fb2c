"""A text with its mentions, and from each an arrow to the earlier mention that was picked."""

from typing import Any

import altair as alt
import pandas as pd

from pages.coreference.choices import type_name
from pages.coreference.text_layout import LETTERS, Place, places, spans, way
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.charts.look import paper_and_ink
from pages.ui.words.say import say

RIGHT, WRONG = SERIES_COLOURS[2], "#e4572e"
_LINE = 68  # height of a line of the text and of what is drawn above it, in pixels
_GROUNDS = (*SERIES_COLOURS, "#c9a800", "#5c7f2b", "#a0522d", "#3fa7a0")
_FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', monospace"
_SIZE = f"min(17, width / {LETTERS} / 0.605)"


def text_chart(words: pd.DataFrame, mentions: pd.DataFrame, picked: pd.DataFrame) -> Any:
    """The chart.

    Args:
        words: form and space_after of every word, in the order of the text.
        mentions: first_word, last_word, head_word, cluster, mention_type of every mention.
        picked: head_word, predicted (−1: none), correct of those that have an antecedent.
    """
    paper, ink = paper_and_ink()
    of = places(words)
    height = of[-1].line + 1
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.75, height - 0.6], reverse=True))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, LETTERS], nice=False))
    layers = [
        _grounds(words, mentions, of).encode(x=x, y=y),
        *(layer.encode(x=x, y=y) for layer in _words(words, mentions, of, ink)),
    ]
    arrows = picked[picked["predicted"] >= 0]
    if len(arrows):
        layers += [layer.encode(x=x, y=y) for layer in _arrows(words, arrows, of)]
    view = alt.ViewBackground(fill=paper, stroke=None)
    return alt.layer(*layers).properties(height=_LINE * height + 24, view=view)


def _grounds(words: pd.DataFrame, mentions: pd.DataFrame, of: list[Place]) -> alt.Chart:
    """A ground under every mention in the colour of what it stands for."""
    clusters = list(dict.fromkeys(mentions["cluster"]))
    rows = [
        {
            "x": part.x - 0.25,
            "x2": part.x + part.width + 0.25,
            "y": part.line - 0.2,
            "y2": part.line + 0.15,
            "colour": _GROUNDS[clusters.index(row["cluster"]) % len(_GROUNDS)],
            "mention": said(words, row["first_word"], row["last_word"]),
            "kind": type_name(row["mention_type"]),
            "cluster": clusters.index(row["cluster"]) + 1,
        }
        for row in mentions.to_dict("records")
        for part in spans(row["first_word"], row["last_word"], of)
    ]
    told = {
        "mention:N": say("coreference.documents.mention"),
        "kind:N": say("coreference.kind"),
        "cluster:O": say("coreference.documents.cluster"),
    }
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_rect(opacity=0.28, cornerRadius=3)
        .encode(
            x2="x2:Q",
            y2="y2:Q",
            color=alt.Color("colour:N", scale=None),
            tooltip=[alt.Tooltip(name, title=title) for name, title in told.items()],
        )
    )


def _words(
    words: pd.DataFrame, mentions: pd.DataFrame, of: list[Place], ink: str
) -> list[alt.Chart]:
    """The words, those that carry a mention bold."""
    heads = set(mentions["head_word"])
    shown = pd.DataFrame(
        {
            "x": [each.x for each in of],
            "y": [float(each.line) for each in of],
            "form": words["form"].tolist(),
            "is_head": [place in heads for place in range(len(of))],
        }
    )
    style: Any = {
        "align": "left",
        "baseline": "middle",
        "color": ink,
        "font": _FONT,
        "fontSize": alt.ExprRef(_SIZE),
        "tooltip": False,
    }
    plain, bold = (alt.Chart(shown).transform_filter(f"{no}datum.is_head") for no in ("!", ""))
    return [
        plain.mark_text(**style).encode(text="form:N"),
        bold.mark_text(**style | {"fontWeight": "bold"}).encode(text="form:N"),
    ]


def _arrows(words: pd.DataFrame, picked: pd.DataFrame, of: list[Place]) -> list[alt.Chart]:
    """Curves with heads, right ones solid and wrong ones dashed."""
    names = {True: say("coreference.documents.right"), False: say("coreference.documents.wrong")}
    rows = [
        {
            "x": x,
            "y": y,
            "step": step,
            "arrow": number,
            "from": words["form"].iloc[row["head_word"]],
            "to": words["form"].iloc[row["predicted"]],
            "right": names[bool(row["correct"])],
            "points": "down" if of[row["head_word"]].line == of[row["predicted"]].line else "up",
        }
        for number, row in enumerate(picked.to_dict("records"))
        for step, (x, y) in enumerate(way(of[row["head_word"]], of[row["predicted"]]))
    ]
    frame = pd.DataFrame(rows)
    scale = alt.Scale(domain=list(names.values()), range=[RIGHT, WRONG])
    colour = alt.Color(
        "right:N",
        title=" ",
        scale=scale,
        legend=alt.Legend(
            orient="top", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1, labelLimit=0
        ),
    )
    dash = alt.StrokeDash(
        "right:N", scale=alt.Scale(domain=list(names.values()), range=[[1, 0], [5, 3]]), legend=None
    )
    told = [
        alt.Tooltip("from:N", title=say("coreference.documents.from")),
        alt.Tooltip("to:N", title=say("coreference.documents.to")),
        alt.Tooltip("right:N", title=say("coreference.documents.verdict")),
    ]
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=2, opacity=0.85)
        .encode(detail="arrow:N", order="step:Q", color=colour, strokeDash=dash, tooltip=told)
    )
    ends = alt.Chart(frame.groupby("arrow").tail(1))
    tips = [
        ends.transform_filter(f"datum.points === '{side}'")
        .mark_point(shape=f"triangle-{side}", filled=True, size=70, opacity=1)
        .encode(color=colour, tooltip=told)
        for side in ("down", "up")
    ]
    return [lines, *tips]


def said(words: pd.DataFrame, first: int, last: int) -> str:
    """The words from one to another with the spaces between them."""
    part = words.iloc[first : last + 1]
    ends = (" " if space else "" for space in part["space_after"])
    return "".join(form + end for form, end in zip(part["form"], ends, strict=True)).strip()
