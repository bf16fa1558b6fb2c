"""The paper's lists of pairs, with those marked that the open file lists too."""

import pandas as pd

from analysis.published.pairs import AMPLIFIED, ATTENUATED
from pages.token_pairs.grid import STYLE, arrow, rows_of_layers
from pages.ui.published_table import experiment, source_sentence
from pages.ui.view import View
from pages.ui.words.say import say

EFFECT = "ff"
_PAPER = "kobayashi-2024"
_LISTS = {"amplified": (AMPLIFIED, ("table", 3)), "attenuated": (ATTENUATED, ("table", 4))}
_QUOTES = str.maketrans("’", "'")  # in print they look the same
_MARKS = """<style>
.tp-grid.tp-paper td {min-width: 3.7rem; padding: .18rem .3rem; overflow-wrap: anywhere}
.tp-grid.tp-paper td.tp-found {outline: 2px solid #2c9c7c}
.tp-grid.tp-paper td.tp-both {min-width: 2.6rem; text-align: right}
</style>"""


def pair_lists(view: View, frame: pd.DataFrame, shown: tuple[str, ...]) -> None:
    """Draw the paper's tables 3 and 4, and mark pairs that the file lists as well.

    Args:
        frame: rows of `pair_delta.top` for the feed-forward network, with their `direction`.
        shown: directions to draw.
    """
    title = say("published.title_pairs")
    with experiment(view, _PAPER, title):
        printed = _compared(frame, shown)
        sentence = say("published.pairs_found", n=int(printed["in_both"].sum()), of=len(printed))
        sources = source_sentence([_LISTS[direction][1] for direction in shown], _PAPER)
        tables = (
            _table(view, part, str(direction)) for direction, part in printed.groupby("direction")
        )
        caption = f"{sentence} {say('published.pairs_caption')} {sources}"
        view.marked(
            view.key("published"),
            printed,
            STYLE + _MARKS + "".join(tables),
            {"question": title, "caption": caption},
        )


def _compared(frame: pd.DataFrame, shown: tuple[str, ...]) -> pd.DataFrame:
    """Printed pairs: direction, layer, place, source, target, in_both."""
    rows = [
        (direction, layer, place, *pair)
        for direction in shown
        for layer, pairs in _LISTS[direction][0].items()
        for place, pair in enumerate(pairs, start=1)
    ]
    printed = pd.DataFrame(rows, columns=["direction", "layer", "place", "source", "target"])
    return printed.assign(in_both=_read(printed).isin(_read(frame)))


def _read(frame: pd.DataFrame) -> pd.MultiIndex:
    """Index of pairs that ignores differences between quotation marks."""
    tokens = {side: frame[side].str.translate(_QUOTES) for side in ("source", "target")}
    return pd.MultiIndex.from_frame(frame[["direction", "layer"]].assign(**tokens))


def _table(view: View, printed: pd.DataFrame, direction: str) -> str:
    """Markup of one printed list; each layer begins with its number of common pairs."""
    places = range(1, int(printed["place"].max()) + 1)
    heads = (say("published.pairs_both"), *places)
    cells = {int(str(layer)): _row(part) for layer, part in printed.groupby("layer")}
    return rows_of_layers(view.say(f"direction_{direction}"), heads, cells, kind="tp-paper")


def _row(part: pd.DataFrame) -> list[str]:
    both = f'<td class="tp-both">{int(part["in_both"].sum())} / {len(part)}</td>'
    marks = part["in_both"].map({True: ' class="tp-found"', False: ""})
    pairs = map(arrow, part["source"], part["target"])
    return [both, *(f"<td{mark}>{pair}</td>" for mark, pair in zip(marks, pairs, strict=True))]
