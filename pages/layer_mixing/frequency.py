"""Rank correlation of word frequency and mixing ratio (Kobayashi et al. 2021, table 3)."""

from typing import Any

import pandas as pd

from analysis.published.numbers import numbers
from analysis.statistics.mixing import mixing_ratio
from analysis.statistics.parts import OF_TOKENS
from pages.ui.charts.points import scatter
from pages.ui.charts.standard import bars
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.absences import has_special
from pages.ui.view import View
from pages.ui.words.interval import interval
from pages.ui.words.levels import level_names, of_level
from pages.ui.words.names import scope_name
from pages.ui.words.numbers import change, count, signed

_DRAWN = 1_500


@section("frequency", mixing_ratio.FREQUENCY_CORRELATION, mixing_ratio.PER_TOKEN)
def frequency(view: View) -> None:
    level = view.pick("frequency_level", level_names(OF_TOKENS), of="level")
    every = view.ask(mixing_ratio.frequency_correlations)
    frame = every if has_special(view) else every[~every["special_tokens"]]
    if frame["spearman"].isna().all():
        return view.nothing("nothing_varies")
    frame = frame.assign(
        special=[_special(view, special) for special in frame["special_tokens"]],
        origin=[view.say(f"source_{origin}") for origin in frame["source"]],
    )
    scopes = view.store.layer_order
    order = [scope_name(scope) for scope in scopes.of_ratios]
    look: dict[str, Any] = {"x_title": "", "colour": "special", "colour_title": " "}
    for source, part in frame.dropna(subset="spearman").groupby("source", sort=False):
        view.finding(_finding(view, part[~part["special_tokens"]].set_index("scope")))
        shown = of_level(part, level)
        chart = bars(shown, x="scope", y="spearman", order=order, **look)
        caption = f"{view.say(f'caption_{level}')} {view.say('caption')}"
        view.figure(f"question_{source}", shown, chart, state=level, caption=caption)
    scope = view.pick(
        "frequency_scope", scopes.of_ratios, default=scopes.before_network, of="scope"
    )
    words = view.ask(mixing_ratio.words_by_frequency, scope=scope, special=False, limit=_DRAWN)
    points = scatter(words, x="rank", y="ratio", tooltip=("token", "rank", "n", "ratio"))
    view.figure("words", words, points, scope=scope_name(scope), n=count(len(words)))
    columns = ["origin", "scope", "special", "spearman", "low", "high", *OF_TOKENS, "n"]
    view.table("table", frame, columns)
    rows = _published(view, every)
    show_published(view, "ratio_frequency", *rows)
    if all(row.ours is None for row in rows):
        view.write("caption", view.say("no_file"))


def _special(view: View, special_tokens: object) -> str:
    """Display name of the set of tokens with or without [CLS] and [SEP]."""
    return view.say("with_special" if special_tokens else "without_special")


def _published(view: View, correlations: pd.DataFrame) -> list[Row]:
    """Rows of table 3: ρ of frequency rank and ratio, by the frequencies that the run was given."""
    given = correlations[correlations["source"] == "file"]
    spearman = given.set_index(["scope", "special_tokens"])["spearman"]
    return [
        Row(
            statistic_of(scope_name(number.scope), _special(view, number.special_tokens)),
            number,
            spearman.get((number.scope, number.special_tokens)),
        )
        for number in numbers("ratio_frequency")
    ]


def _finding(view: View, words: pd.DataFrame) -> str:
    """Report ρ within texts at the scope before FF, its part of the pooled ρ, and ρ by weights."""
    before = view.store.layer_order.before_network
    if not {before, "attn_w"} <= set(words.index):
        return ""
    within, between = OF_TOKENS
    rows = of_level(words.reset_index(), within).set_index("scope")
    rows = rows[["spearman", "low", "high"]].astype(float).to_dict("index")
    block, weights = rows[before], rows["attn_w"]
    pooled = words[["spearman", within, between]].astype(float).to_dict("index")[before]
    kind = "rare" if block["low"] > 0 else "frequent" if block["high"] < 0 else "unclear"
    return view.say(
        f"finding_{kind}",
        scope=scope_name(before),
        rho=signed(block["spearman"]),
        interval=interval(block["low"], block["high"]),
        pooled=signed(pooled["spearman"]),
        within=change(pooled[within]),
        between=change(pooled[between]),
        weights_scope=scope_name("attn_w"),
        weights_rho=signed(weights["spearman"]),
        weights_interval=interval(weights["low"], weights["high"]),
    )
