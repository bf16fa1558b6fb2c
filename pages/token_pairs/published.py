"""The paper's lists of pairs, and which of theirs are in the lists of the open file."""

from html import escape

import pandas as pd

from analysis.published.pairs import AMPLIFIED, ATTENUATED, Pair
from pages.token_pairs.grid import STYLE
from pages.ui.figure import markup
from pages.ui.published import experiment, told_sources
from pages.ui.words.say import say

EFFECT = "ff"
_PAPER = "kobayashi-2024"
_LISTS = {"amplified": (AMPLIFIED, ("table", 3)), "attenuated": (ATTENUATED, ("table", 4))}
_QUOTES = str.maketrans("’", "'")  # in print there is no telling them apart
_MARKS = """<style>
.tp-grid.tp-paper td {min-width: 3.7rem; padding: .18rem .3rem; overflow-wrap: anywhere}
.tp-grid.tp-paper td.tp-found {outline: 2px solid #2c9c7c}
.tp-grid.tp-paper td.tp-both {min-width: 2.6rem; text-align: right}
</style>"""


def pair_lists(frame: pd.DataFrame, shown: tuple[str, ...]) -> None:
    """The paper's tables 3 and 4, with the pairs marked that the file lists as well.

    Args:
        frame: rows of `pair_delta.top` for the feed-forward network, with their `direction`.
        shown: directions to draw.
    """
    title = say("published.title_pairs")
    with experiment(_PAPER, title):
        told = _compared(frame[frame["direction"].isin(shown)], shown)
        found = say("published.pairs_found", n=int(told["in_both"].sum()), of=len(told))
        sources = told_sources([_LISTS[each][1] for each in shown], _PAPER)
        markup(
            STYLE + _MARKS + "".join(_table(told, each) for each in shown),
            key="tp_published",
            question=title,
            caption=f"{found} {say('published.pairs_caption')} {sources}",
            frame=told,
        )


def _compared(frame: pd.DataFrame, shown: tuple[str, ...]) -> pd.DataFrame:
    """The printed pairs: direction, layer, place, source, target, in_both."""
    columns = (frame["direction"], frame["layer"], frame["source"], frame["target"])
    ours = {
        (direction, layer, _read((source, target)))
        for direction, layer, source, target in zip(*columns, strict=True)
    }
    rows = [
        (direction, layer, place, *pair, (direction, layer, _read(pair)) in ours)
        for direction in shown
        for layer, pairs in _LISTS[direction][0].items()
        for place, pair in enumerate(pairs, start=1)
    ]
    names = ["direction", "layer", "place", "source", "target", "in_both"]
    return pd.DataFrame(rows, columns=names)


def _read(pair: Pair) -> Pair:
    source, target = (token.translate(_QUOTES) for token in pair)
    return source, target


def _table(told: pd.DataFrame, direction: str) -> str:
    of_direction = told[told["direction"] == direction]
    places = range(1, int(of_direction["place"].max()) + 1)
    heads = "".join(f'<th scope="col">{place}</th>' for place in places)
    rows = (_row(layer, part, len(places)) for layer, part in of_direction.groupby("layer"))
    title = say(f"token_pairs.tables.direction_{direction}")
    return (
        '<div class="tp-scroll"><table class="tp-grid tp-paper">'
        f"<caption>{escape(title)}</caption><thead>"
        f'<tr><th scope="col">{escape(say("axis.layer"))}</th>'
        f'<th scope="col">{escape(say("published.pairs_both"))}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(layer: object, part: pd.DataFrame, places: int) -> str:
    cells = "".join(map(_cell, part["source"], part["target"], part["in_both"]))
    missing = '<td class="tp-none">–</td>' * (places - len(part))
    both = f'<td class="tp-both">{int(part["in_both"].sum())} / {len(part)}</td>'
    return f'<tr><th scope="row">{layer}</th>{both}{cells}{missing}</tr>'


def _cell(source: str, target: str, in_both: object) -> str:
    mark = ' class="tp-found"' if in_both else ""
    return f"<td{mark}><bdi>{escape(source)}</bdi> → <bdi>{escape(target)}</bdi></td>"
