"""Token pairs whose mixing a module changes differently in two files."""

import pandas as pd

from analysis.comparison.pair_changes import changed_pairs, pairs_with_error
from analysis.statistics.pairs import pair_delta
from pages.compare.dots import dots
from pages.compare.files import can_compare, pick_sides, texts_sentence
from pages.compare.numbers import LEVEL
from pages.ui.page import section
from pages.ui.store.inquiry import Asked
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain

_SHOWN, _LISTED = 15, 300
_COUNTS = (3, 5, 10, 20)
_SIDES = ("_one", "_other")


@section("pairs", pair_delta.TABLE, when=can_compare)
def pairs(view: View) -> None:
    sides = pick_sides(view, "pairs", pair_delta.TABLE)
    first, other = sides
    layer = view.pick("layer", list(view.store.layers))
    effect = view.pick("effect", tuple(view.store.layer_order.effects), default="ff")
    least = view.pick("least", _COUNTS, default=5, kind="select")
    shown = view.pick("shown", ("clear", "differs", "all"), kind="select")
    order = view.pick("order", ("rank", "difference"), kind="select")
    choices = {"layer": layer, "effect": effect, "least": least}
    changed = view.ask_together(_changed, first, other, **choices)
    chosen = {
        "clear": changed["is_clear"],
        "differs": changed["q"] <= LEVEL,
        "all": changed["n_one"] > 0,
    }
    kept = changed[chosen[shown]]
    if order == "difference":
        kept = kept.sort_values("difference", key=abs, ascending=False, kind="stable")
    if kept.empty:
        view.end("none_left")
    view.finding(_finding(view, sides, changed, kept))
    view.finding(texts_sentence(view, sides))
    state = (layer, effect, least, shown, order, other.key)
    long = _long(kept.head(_SHOWN), sides)
    rows = list(dict.fromkeys(long["name"]))
    chart = dots(long, sides, x="mean_delta", rows=rows, tooltip=("n", "rank"), at_zero=True)
    view.figure("changed", long, chart, state=state, layer=layer)
    _table(view, kept.head(_LISTED), state)


def _table(view: View, kept: pd.DataFrame, state: tuple[object, ...]) -> None:
    """Tabulate ranks, means and differences."""
    ranks, means = ("moved", "rank_one", "rank_other"), ("mean_one", "mean_other")
    changes = ("difference", "difference_low", "difference_high")
    columns: dict[str, str | None] = {"name": None, **dict.fromkeys(ranks, "%d")}
    columns |= dict.fromkeys((*changes, *means), "%.4f")
    columns |= {"q": "%.2g", "n_one": None, "n_other": None}
    view.table("ranks", kept, columns, state=state)


def _changed(
    asked: Asked, first: Store, other: Store, *, layer: int, effect: str, least: int
) -> pd.DataFrame:
    sides = (
        asked.ask(store, pairs_with_error, layer=layer, effect=effect, min_count=least)
        for store in (first, other)
    )
    changed = changed_pairs(*sides)
    return changed.assign(name=changed["source_token"] + " → " + changed["target_token"])


def _long(kept: pd.DataFrame, sides: list[Store]) -> pd.DataFrame:
    """A row per pair and file, with its mean, interval, rank and n."""
    parts = [
        pd.DataFrame(
            {
                "name": kept["name"],
                "file": side.label,
                "mean_delta": kept[f"mean{end}"],
                "low": kept[f"low{end}"],
                "high": kept[f"high{end}"],
                "rank": kept[f"rank{end}"].astype("int64"),
                "n": kept[f"n{end}"],
            }
        )
        for side, end in zip(sides, _SIDES, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def _finding(view: View, sides: list[Store], changed: pd.DataFrame, kept: pd.DataFrame) -> str:
    if not kept["moved"].any():
        return view.say("finding_still", of=count(len(kept)))
    first = kept.iloc[0]
    return view.say(
        "finding",
        source=plain(first["source_token"]),
        target=plain(first["target_token"]),
        one=count(first["rank_one"]),
        other=count(first["rank_other"]),
        first=plain(sides[0].label),
        file=plain(sides[1].label),
        n=count((changed["q"] <= LEVEL).sum()),
        of=count(len(changed)),
    )
