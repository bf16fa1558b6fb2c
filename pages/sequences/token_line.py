"""The tokens of a text in lines, or the patches of an image, on grounds that tell a number each."""

from typing import Any

import altair as alt
import pandas as pd

from pages.sequences.subject import Subject
from pages.ui.charts.colours import LESS_TO_MORE, MARKED
from pages.ui.charts.image_ground import ImageGround
from pages.ui.charts.look import cell_selection, paper_and_ink, tooltips
from pages.ui.charts.pieces import readable
from pages.ui.charts.text_layout import FONT, places

PLACE = "place"
"""What the selection of a clicked token is called."""
_LETTERS = 50  # to a line, beside a map
_LINE, _SIZE = 24, 12  # pixels
_SIDE = 300  # of an image
_GROUND = "#1fa187"
_UNDER = 0.55  # of a ground that a text or a picture is seen through


def token_line(
    subject: Subject, frame: pd.DataFrame, value: str, *, legend: str, marked: int | None
) -> Any:
    """The chart; clicks give a token, as `event["selection"][PLACE][0]["pos"]`.

    Args:
        frame: a row per token in order: pos, token and the value in per cent.
        legend: what the value is.
        marked: the position of the token with a frame around it.
    """
    shown = frame.assign(chosen=frame["pos"] == marked)
    if subject.ground:
        return _patches(subject.ground, shown, value, legend)
    return _text(subject, shown, value, legend)


def _text(subject: Subject, frame: pd.DataFrame, value: str, legend: str) -> Any:
    pairs = readable(list(subject.tokens))
    spaces = [bool(space) for space, _ in pairs[1:]] + [True]
    forms = [form.strip() or "␣" for _, form in pairs]
    of = places(pd.DataFrame({"form": forms, "space_after": spaces}), _LETTERS)
    shown = frame.assign(
        form=forms,
        x=[each.x for each in of],
        x2=[each.x + each.width for each in of],
        y=[each.line - 0.42 for each in of],
        y2=[each.line + 0.42 for each in of],
        middle=[float(each.line) for each in of],
    )
    n_lines = of[-1].line + 1
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _LETTERS], nice=False))
    height = alt.Scale(domain=[-0.5, n_lines - 0.5], reverse=True, nice=False)
    base = alt.Chart(shown).encode(x=x, y=alt.Y("y:Q", axis=None, scale=height))
    words = base.mark_text(
        align="left",
        baseline="middle",
        font=FONT,
        fontSize=alt.ExprRef(f"min({_SIZE}, width / {_LETTERS} / 0.605)"),
        color=paper_and_ink()[1],
        tooltip=False,
    ).encode(y=alt.Y("middle:Q", axis=None, scale=height), text="form:N")
    return _grounded(base, shown, value, legend, [words], height=_LINE * n_lines + 30)


def _patches(ground: ImageGround, frame: pd.DataFrame, value: str, legend: str) -> Any:
    """The special tokens in a row above the picture, whose patches have their grounds over it."""
    n = len(ground.special)
    order = frame["pos"] - n
    is_patch = order >= 0
    top = 1.3 if n else 0.0
    x = (order % ground.columns).where(is_patch, frame["pos"] * 2.0)
    y = (order // ground.columns + top).where(is_patch, 0.0)
    shown = frame.assign(x=x, x2=x + is_patch.map({True: 1, False: 2}), y=y, y2=y + 1)
    across = alt.Scale(domain=[0, max(ground.columns, 2 * n)], nice=False)
    height = alt.Scale(domain=[0, ground.rows + top], reverse=True, nice=False)
    base = alt.Chart(shown).encode(
        x=alt.X("x:Q", axis=None, scale=across), y=alt.Y("y:Q", axis=None, scale=height)
    )
    words = base.transform_filter(f"datum.pos < {n}").mark_text(
        align="left", baseline="top", dx=3, dy=3, fontSize=_SIZE, tooltip=False
    )
    return _grounded(base, shown, value, legend, [words.encode(text="token:N")], height=_SIDE)


def _grounded(
    base: Any, shown: pd.DataFrame, value: str, legend: str, over: list[Any], *, height: int
) -> Any:
    """Grounds that can be clicked, what stands over them, and the frame of what is chosen."""
    reach = float(shown[value].abs().max()) or 1.0
    if (shown[value] < 0).any():
        scale = alt.Scale(domain=[-reach, 0, reach], range=[LESS_TO_MORE[i] for i in (0, 2, 4)])
    else:
        scale = alt.Scale(domain=[0, reach], range=["#1fa18700", _GROUND])
    cells = (
        base.mark_rect(cursor="pointer", opacity=_UNDER, cornerRadius=2)
        .encode(
            x2="x2:Q",
            y2="y2:Q",
            color=alt.Color(f"{value}:Q", title=legend, scale=scale, legend=None),
            tooltip=tooltips({"token": None, "pos": None, value: legend}, shown, ".2f"),
        )
        .add_params(cell_selection(PLACE, "pos"))
    )
    chosen = base.transform_filter("datum.chosen").mark_rect(
        filled=False, stroke=MARKED, strokeWidth=2, tooltip=False
    )
    return alt.layer(cells, *over, chosen.encode(x2="x2:Q", y2="y2:Q")).properties(height=height)
