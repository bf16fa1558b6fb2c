"""Page that compares several files, with tests of their differences."""

from functools import partial
from typing import Any

import pandas as pd

from analysis.comparison.heads import PROFILES
from analysis.comparison.numbers import NUMBERS, TABLES
from analysis.statistics.heads.single_heads import SEQUENCE_HEAD_PATTERN
from analysis.statistics.pairs.changes import PAIR_DELTA
from pages.charts.maps import HeadMap
from pages.charts.plots import Lines, Rows
from pages.compare import charts, files, numbers
from pages.compare.files import files_of
from pages.kit.habits import HABITS, SHARES
from pages.kit.head_choice import Head, head_with_most
from pages.kit.kinds import Custom, Drawn, Table
from pages.kit.page import Page
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section
from pages.services.inquiry import Inquiry

_ENDS = {"value": "", "low": "_low", "high": "_high"}
_USUAL = "ratio_whole"
_RANKS: dict[str, str | None] = {
    **dict.fromkeys(("moved", "rank_one", "rank_other"), "%d"),
    **dict.fromkeys(("difference", *(f"difference{end}" for end in ("_low", "_high"))), "%.4f"),
    **{"mean_one": "%.4f", "mean_other": "%.4f", "q": "%.2g", "n_one": None, "n_other": None},
}
OF_FILES: dict[str, Any] = {"colour": "file", "colours": charts.colours}
OF_ALL = {"value": "difference", "format": "+.4f", **OF_FILES}
OF_PAIRS = {"y": "name", "value": "mean_delta", "format": ".4f", "level": 0.0, "row": 18}
MEANS, CHANGES = (
    partial(ask, by_layer=False) for ask in (numbers.numbers_of, numbers.differences_of)
)
FILES = Pick("files", kind=files.pick_files)


def numbers_held(inquiry: Inquiry, choices: Choices) -> list[str]:
    present = set(numbers.numbers_of(inquiry, choices, by_layer=True)["number"])
    return sorted(present, key=lambda number: (number != _USUAL, NUMBERS.index(number)))


def found(row: pd.Series, name: str, at: int, **more: Any) -> dict[str, Any]:
    """Row of a finding on a difference."""
    ends = {"value": row["difference"], "low": row["low"], "high": row["high"]}
    return {"sentence": at, "name": name, **ends, **more}


def summary(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The difference that is largest for its interval, and that of the picked number."""
    changes = numbers.differences_of(inquiry, choices, by_layer=False)
    if changes.empty:
        return changes
    means = numbers.numbers_of(inquiry, choices, by_layer=False).set_index(["file", "number"])
    first, *others = files_of(inquiry, choices)
    most, by_layer = numbers.most_different(changes), numbers.by_layer(inquiry, choices)
    here, there = (means["mean"][of, most["number"]] for of in (most["file"], first.label))
    of = {"number": most["name"], "file": most["file"], "first": first.label}
    rows = [found(most, "most", 1, here=f"{here:.4f}", there=f"{there:.4f}", **of)]
    if len(by_layer):
        most = numbers.most_different(by_layer)
        of |= {"number": most["name"], "file": most["file"], "layer": int(most["layer"])}
        rows.append(found(most, "layer", 2, **of))
    sure = changes["is_clear"].dropna()
    rows.append({"sentence": 3, "name": "counts", "n": int(sure.sum()), "of": len(sure)})
    if left := [of.label for of in others if files.reasons_of(inquiry, first, of, "paired")]:
        texts = {"files": ", ".join(left), "first": first.label}
        rows.append({"sentence": 4, "name": "texts", **texts})
    return pd.DataFrame(rows)


HEADLINES = Section(
    "headlines",
    (),
    also=TABLES,
    picks=(FILES, Pick("number", numbers_held, format=numbers.number_name, kind="select")),
    figures=(
        Figure("numbers", MEANS, Rows(y="name", row=15, format=".4f", **OF_FILES)),
        Figure("over_steps", numbers.over_steps, Lines(x="step_of_training", zero=False)),
        Figure("lines", numbers.by_depth, Lines(x="depth", zero=False, x_format=".1f", **OF_FILES)),
        Figure("lines", numbers.of_files, Lines(zero=False, **OF_FILES), half=True),
        Figure("apart", numbers.by_layer, Lines(level=0.0, **OF_ALL), half=True),
        Figure("changes", CHANGES, Rows(y="name", row=15, level=0.0, more=("p", "q"), **OF_ALL)),
        Figure("alone", files.alone, Drawn(record=files.show_command)),
    ),
    finding=Finding(summary, format="+.4f", level=0.0, overview=()),
)


def most_changed(inquiry: Inquiry, choices: Choices) -> Head:
    changes = numbers.head_changes(inquiry, choices)
    return head_with_most(changes.assign(size=changes["difference"].abs()), "size")


def profiles(inquiry: Inquiry, choices: Choices) -> list[str]:
    sides = files_of(inquiry, choices, "sides")
    return [name for name, table in PROFILES.items() if all(side.holds(table) for side in sides)]


def heads_found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The head whose habit differs most, how many do, and how many are matched with themselves."""
    first, other = files_of(inquiry, choices, "sides")
    of, rows = {"first": first.label, "other": other.label, "habit": choices["quantity"]}, []
    changes = numbers.head_changes(inquiry, choices)
    if len(changes):
        most = changes.sort_values("difference", key=abs, ascending=False).iloc[0]
        head: dict[str, Any] = {name: int(most[name]) for name in ("layer", "head")}
        head["format"] = "+.1%" if choices["quantity"] in SHARES else "+.2f"
        n = {"n": int(changes["differs"].sum()), "of": int(changes["q"].notna().sum())}
        rows = [found(most, "change", 1, **of, **head)]
        rows.append({"sentence": 2, "name": "differ" if n["of"] else "few", **of, **n})
    if choices["profile"] is not None:
        frame = numbers.matches(inquiry, choices)
        n = {"n": int(frame["is_same"].sum()), "of": len(frame)}
        rows.append({"sentence": 3, "name": "matched", "value": None, **of, **n})
    return pd.DataFrame(rows)


def change_map(habits: tuple[str, ...], form: str, kind: str) -> Figure:
    """Map of the changes of one of some habits."""
    shown: dict[str, Any] = {"more": ("one", "other", "q"), "clear": "dotless", "is_signed": True}
    chart = HeadMap(value="difference", format=form, axis_word=f"axis_{kind}", **shown)
    return Figure(
        "map", numbers.head_changes, chart, when={"quantity": habits}, click=HEAD, half=True
    )


OF_HABIT = {"quantity": HABITS}
HEADS = Section(
    "heads",
    (),
    also=(SEQUENCE_HEAD_PATTERN, *PROFILES.values()),
    picks=(
        FILES,
        Pick("sides", kind=files.pick_sides("heads")),
        Pick("quantity", numbers.habits, of="habit", kind="select"),
        Pick("weighing", kind="weighing", when=OF_HABIT),
        Pick("head", kind="head", default=most_changed, when=OF_HABIT),
        Pick("profile", profiles),
    ),
    figures=(
        change_map(SHARES, ".1%", "share"),
        change_map(tuple(habit for habit in HABITS if habit not in SHARES), ".2f", "entropy"),
        Figure("unlike", numbers.head_changes, Table(columns=()), when={"quantity": (None,)}),
        Figure("matching", numbers.matches, Custom(chart=charts.matching), half=True),
    ),
    finding=Finding(heads_found, level=0.0, overview=()),
    when=files.can_compare("heads"),
)


def pairs_found(inquiry: Inquiry, choices: Choices) -> pd.DataFrame:
    """The first of the shown pairs, and how many differ."""
    first, other = files_of(inquiry, choices, "sides")
    changed, kept = numbers.pairs(inquiry, choices), numbers.shown_pairs(inquiry, choices)
    if kept.empty:
        return pd.DataFrame()
    row, of = kept.iloc[0], {"file": other.label, "first": first.label}
    of |= {name: row[f"difference{end}"] for name, end in _ENDS.items()}
    of |= {name: f"{row[name]:,.0f}" for name in ("rank_one", "rank_other")}
    tokens = {side: row[f"{side}_token"] for side in ("source", "target")}
    counts = {"n": int((changed["q"] <= numbers.LEVEL).sum()), "of": len(changed)}
    counts |= {"sentence": 2, "name": "differ" if kept["moved"].any() else "still"}
    return pd.DataFrame([{"sentence": 1, "name": "pair", **tokens, **of}, counts])


PAIRS = Section(
    "pairs",
    (PAIR_DELTA,),
    picks=(
        FILES,
        Pick("sides", kind=files.pick_sides("pairs", PAIR_DELTA)),
        Pick("layer", lambda inquiry, _: inquiry.store.layers, kind="select"),
        Pick("effect", lambda inquiry, _: [*inquiry.store.layer_order.effects], "ff"),
        Pick("least", (3, 5, 10, 20), 5, kind="select", is_rare=True),
        Pick("shown", ("clear", "differs", "all"), kind="select", is_rare=True),
        Pick("order", ("rank", "difference"), kind="select", is_rare=True),
    ),
    figures=(
        Figure("changed", numbers.pairs_by_file, Rows(**OF_PAIRS, **OF_FILES)),
        Figure("ranks", numbers.shown_pairs, Table(columns={"name": None, **_RANKS})),
    ),
    finding=Finding(pairs_found, format="+.4f", level=0.0, overview=()),
    when=files.can_compare("pairs", PAIR_DELTA),
)

PAGE = Page(
    "compare",
    "cmp",
    (HEADLINES, HEADS, PAIRS),
    moved={"layers": "headlines", "training": "headlines", "head_changes": "heads"},
)

if __name__ == "__main__":
    PAGE.show()
