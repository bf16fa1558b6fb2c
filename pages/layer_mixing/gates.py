"""Agreement of the rules that divide a gated network among its inputs; share of closed gates."""

import pandas as pd

from analysis.statistics.mixing import gate_rule_agreement
from pages.ui.charts.standard import lines
from pages.ui.page import section
from pages.ui.store.missing import show_more_checks
from pages.ui.view import View
from pages.ui.words.interval import with_interval
from pages.ui.words.numbers import percent, three_decimals

_QUANTITIES = ("spearman", "closed")
_SAME = 0.99


@section(
    "gates",
    gate_rule_agreement.TABLE,
    gate_rule_agreement.PER_SEQUENCE,
    when=lambda store: store.has_gates,
)
def gates(view: View) -> None:
    frame = view.ask(gate_rule_agreement.by_layer)
    mean, layers = frame[frame["layer"].isna()].iloc[0], frame.dropna(subset="layer")
    view.finding(_finding(view, mean, layers))
    for column, quantity in zip(view.columns(2), _QUANTITIES, strict=True):
        with column:
            ends = f"{quantity}_low", f"{quantity}_high"
            chart = lines(layers, y=quantity, ends=ends, zero=quantity == "closed")
            view.figure(quantity, layers, chart)
    view.table("table", frame, ["layer", *_QUANTITIES, "n_sequences"])
    view.draw(show_more_checks, view.store, gate_rule_agreement.TABLE)


def _finding(view: View, mean: pd.Series, layers: pd.DataFrame) -> str:
    """Report the mean agreement of the rules, its lowest layer, and the share of closed gates."""
    least = layers.iloc[int(layers["spearman"].argmin())]
    return view.say(
        "alike" if mean["spearman"] >= _SAME else "differ",
        rho=with_interval(
            mean["spearman"], mean["spearman_low"], mean["spearman_high"], three_decimals
        ),
        closed=percent(mean["closed"]),
        layer=int(least["layer"]),
        least=three_decimals(least["spearman"]),
        closed_there=percent(least["closed"]),
    )
