"""Text with its mentions, and an arrow from each to its predicted antecedent."""

from typing import Any

import altair as alt
import pandas as pd

from pages.charts.chart_theme import Chart, layered, paper_and_ink, tooltips
from pages.charts.colours import ARROW_COLOURS, MENTION_COLOURS
from pages.charts.encodings import named
from pages.drawn.text_layout import FONT, LETTERS, Place, curve, places, spans
from pages.words.scope import say_here

_LINE = 68  # height of a line of the text with the arrows above it, in pixels
_SIZE = f"min(17, width / {LETTERS} / 0.605)"


def text_chart(words: pd.DataFrame, mentions: pd.DataFrame, picked: pd.DataFrame) -> Any:
    """Draw the text, its mentions on the colours of what they stand for, and arrows.

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
    is_head = words.index.isin(mentions["head_word"])
    layers = [_grounds(words, mentions, of), *_words(words, is_head, of, ink)]
    arrows = picked[picked["predicted"] >= 0]
    if len(arrows):
        layers += _arrows(words["form"], arrows, of)
    drawn = layered(*(layer.encode(x=x, y=y) for layer in layers))
    view = alt.ViewBackground(fill=paper, stroke=None)
    return drawn.properties(height=_LINE * height + 24, view=view)


def phrase(words: pd.DataFrame, first: int, last: int) -> str:
    """Words from the first to the last, with the spaces between them."""
    part = words.iloc[first : last + 1]
    pieces = zip(part["form"], part["space_after"], strict=True)
    return "".join(f"{form} " if spaced else form for form, spaced in pieces).strip()


def _grounds(words: pd.DataFrame, mentions: pd.DataFrame, of: list[Place]) -> alt.Chart:
    clusters = list(dict.fromkeys(mentions["cluster"]))
    frame = pd.DataFrame(
        {
            "x": part.x - 0.25,
            "x2": part.x + part.width + 0.25,
            "y": part.line - 0.2,
            "y2": part.line + 0.15,
            "colour": MENTION_COLOURS[clusters.index(row["cluster"]) % len(MENTION_COLOURS)],
            "text": phrase(words, row["first_word"], row["last_word"]),
            "mention_type": say_here(f"mention_type_{row['mention_type']}"),
            "cluster": clusters.index(row["cluster"]) + 1,
        }
        for row in mentions.to_dict("records")
        for part in spans(row["first_word"], row["last_word"], of)
    )
    colour = alt.Color("colour:N", scale=None)
    tooltip = tooltips(dict.fromkeys(("text", "mention_type", "cluster")), frame, "d")
    rects = Chart(frame).mark_rect(opacity=0.28, cornerRadius=3)
    return rects.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), color=colour, tooltip=tooltip)


def _words(words: pd.DataFrame, is_head: Any, of: list[Place], ink: str) -> list[alt.Chart]:
    """Draw the words; head words of mentions are bold."""
    shown = pd.DataFrame({"x": [place.x for place in of], "y": [float(place.line) for place in of]})
    texts = Chart(shown.assign(form=words["form"], is_head=is_head)).encode(text=alt.Text("form:N"))
    style: dict[str, Any] = {"align": "left", "baseline": "middle", "color": ink, "font": FONT}
    style |= {"fontSize": alt.ExprRef(_SIZE), "tooltip": False}
    plain, bold = (texts.transform_filter(f"{no}datum.is_head") for no in ("!", ""))
    return [plain.mark_text(**style), bold.mark_text(**style, fontWeight="bold")]


def _arrows(forms: pd.Series, picked: pd.DataFrame, of: list[Place]) -> list[alt.Chart]:
    """Draw curves with arrow heads: right ones solid, wrong ones dashed."""
    names = {right: say_here("right" if right else "wrong") for right in ARROW_COLOURS}
    frame = pd.DataFrame(
        {
            "x": x,
            "y": y,
            "step": step,
            "arrow": number,
            "from": forms[row["head_word"]],
            "to": forms[row["predicted"]],
            "right": names[bool(row["correct"])],
            "points": "down" if of[row["head_word"]].line == of[row["predicted"]].line else "up",
        }
        for number, row in enumerate(picked.to_dict("records"))
        for step, (x, y) in enumerate(curve(of[row["head_word"]], of[row["predicted"]]))
    )
    colours = {name: ARROW_COLOURS[right] for right, name in names.items()}
    look = {
        "color": named("right", colours, symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1),
        "tooltip": tooltips(dict.fromkeys(("from", "to", "right")), frame, "d"),
    }
    dashes = alt.Scale(domain=list(colours), range=[[1, 0], [5, 3]])
    dash = alt.StrokeDash("right:N", scale=dashes, legend=None)
    curves = (
        Chart(frame)
        .mark_line(strokeWidth=2, opacity=0.85)
        .encode(detail=alt.Detail("arrow:N"), order=alt.Order("step:Q"), strokeDash=dash, **look)
    )
    ends = Chart(frame.groupby("arrow").tail(1))
    tips = [
        ends.transform_filter(f"datum.points === '{side}'")
        .mark_point(shape=f"triangle-{side}", filled=True, size=70, opacity=1)
        .encode(**look)
        for side in ("down", "up")
    ]
    return [curves, *tips]
