"""Correlation of word frequency with attention weight and with vector length."""

import pandas as pd

from analysis.statistics.norms import frequency_correlation
from analysis.statistics.parts import OF_TOKENS
from pages.norms.transforms import by_gates
from pages.ui.charts.standard import bars
from pages.ui.choices.links import link_to_view
from pages.ui.finding import Finding, Findings
from pages.ui.page import section
from pages.ui.store.absences import has_special
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import interval, side_of, with_interval
from pages.ui.words.levels import level_names, of_level
from pages.ui.words.numbers import change, signed
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import say

_LENGTH = "value_norm"
_STEPS = {"above": "shorter", "below": "longer"}
_COLUMNS = ("origin", "name", "special", "spearman", "low", "high", *OF_TOKENS, "n")


def _summary(inquiry: Inquiry) -> Findings:
    """Correlation of a word's frequency with ‖f(x)‖ within texts, beside those of the others."""
    frame = inquiry.ask(frequency_correlation.correlations)
    frame = frame[~frame["special_tokens"]].dropna(subset="spearman").drop_duplicates("quantity")
    frame = frame.sort_values("quantity", key=lambda names: names != _LENGTH, kind="stable")
    within = of_level(frame, OF_TOKENS[0]).dropna(subset="spearman")
    if within.empty or within["quantity"].iloc[0] != _LENGTH:
        return
    row = within.iloc[0]
    step = _STEPS.get(side_of(row["low"], row["high"]), "unclear")
    yield Finding(
        say("finding.label_frequency"),
        f"ρ = {change(row['spearman'])}",
        say(
            f"finding.frequency_{step}",
            interval=interval(row["low"], row["high"], change),
            **frame.iloc[0][["spearman", *OF_TOKENS]].map(change),
        ),
        within.assign(name=within["quantity"].map(quantity_name), value=within["spearman"])[
            ["name", "value", "low", "high"]
        ],
        baseline=0.0,
        format="+.2f",
    )


@section("frequency", frequency_correlation.TABLE, lacking=by_gates, findings=_summary)
def frequency(view: View) -> None:
    level = view.pick("level", level_names(OF_TOKENS))
    frame = view.ask(frequency_correlation.correlations)
    if not has_special(view):  # then nothing is left out, and both are the same
        frame = frame[~frame["special_tokens"]]
    special = {True: view.say("with_special"), False: view.say("without_special")}
    frame = frame.assign(
        special=frame["special_tokens"].map(special),
        name=frame["quantity"].map(quantity_name),
        origin=[view.say(f"source_{origin}") for origin in frame["source"]],
    )
    for source, part in frame.groupby("source", sort=False):
        _correlations(view, str(source), part.dropna(subset="spearman"), level)
    view.table("table", frame, _COLUMNS)
    view.draw(link_to_view, "layer_mixing", "frequency", view.say("see_ratio"))


def _correlations(view: View, source: str, frame: pd.DataFrame, level: str) -> None:
    if frame.empty:
        return view.nothing("nothing_varies")
    for _, row in frame[~frame["special_tokens"]].iterrows():
        view.finding(_finding(view, row))
    frame = of_level(frame, level)
    chart = bars(
        frame,
        x="name",
        y="spearman",
        colour="special",
        x_title="",
        colour_title=" ",
    )
    caption = f"{view.say(f'caption_{level}')} {view.say('caption')}"
    view.figure(f"question_{source}", frame, chart, state=level, caption=caption)


def _finding(view: View, row: pd.Series) -> str:
    """Report the correlation within texts, and its part of the pooled correlation."""
    within, between = OF_TOKENS
    ends = (f"{within}_spearman", f"{within}_spearman_low", f"{within}_spearman_high")
    own, low, high = row[[*ends]]
    who = "rare" if low > 0 else "frequent" if high < 0 else "unclear"
    return view.say(
        f"finding_{who}",
        quantity=row["name"],
        rho=with_interval(own, low, high),
        pooled=signed(row["spearman"]),
        within=change(row[within]),
        between=change(row[between]),
    )
