"""Attention weight and norm of the summed vectors by token type, for every layer (figure 5)."""

from collections.abc import Collection

import pandas as pd

from analysis.statistics.norms import token_type_mixing
from pages.attention_norms.transforms import by_gates
from pages.ui.charts.standard import bars
from pages.ui.finding import Finding, Findings, compared, rows_of, share_of
from pages.ui.page import section
from pages.ui.store.absences import APART, types_apart
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import verdict
from pages.ui.words.lines import with_capital
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.quantities import QUANTITIES, in_type_order, quantity_axis, quantity_name
from pages.ui.words.say import say

_PAIR = ("attention", "weighted_norm")


def _summary(inquiry: Inquiry) -> Findings:
    """Compare the shares of weight and norm of the types in `APART`, over all layers."""
    evidence = _shares_of(inquiry.ask(token_type_mixing.by_layer, head=None), APART)
    if not evidence["value"].iloc[1]:
        return
    types, shares = with_capital(types_apart(inquiry)), _percents(evidence)
    norm, weight = shares["weighted_norm"], shares["attention"]
    yield Finding(
        say("finding.label_layers", types=types),
        f"{weight} → {norm}",
        say("finding.mixing", types=types, weight=weight, norm=norm),
        evidence,
        baseline=quantity_name("attention"),
    )


@section("layers", token_type_mixing.TABLE, lacking=by_gates, findings=_summary)
def layers(view: View) -> None:
    head = _pick_head(view)
    chosen = view.pick(
        "quantity",
        ["pair", *QUANTITIES],
        format=lambda option: view.say("pair") if option == "pair" else quantity_name(option),
    )
    frame = view.ask(token_type_mixing.by_layer, head=head)
    wide = _wide(frame)
    view.finding(_finding(view, frame, wide))
    quantities = _PAIR if chosen == "pair" else (chosen,)
    has_norm = "weighted_norm" in quantities
    as_share = has_norm and view.pick("norm_as", ["length", "share"]) == "share"
    for place, quantity in zip(view.columns(len(quantities)), quantities, strict=True):
        with place:
            _chart(view, frame[frame["quantity"] == quantity], quantity, as_share=as_share)
    columns = ["layer", "token_type", *QUANTITIES, "norm_share", "n_present"]
    view.table("table", wide, columns)


def _pick_head(view: View) -> int | None:
    """Let the reader pick a head number for all layers; None for the mean over heads."""
    heads = range(1, int(view.store.run["n_heads"]) + 1)
    named: dict[str | int, str] = {"mean": view.say("mean")}
    named |= {head: view.say("one_head", head=head) for head in heads}
    chosen = view.pick("layers_head", named, kind="select")
    return None if chosen == "mean" else int(chosen)


def _chart(view: View, frame: pd.DataFrame, quantity: str, *, as_share: bool) -> None:
    shown = quantity
    if as_share and quantity == "weighted_norm":
        shown, total = "weighted_norm_share", frame.groupby("layer")["mean"].transform("sum")
        frame = frame.assign(**{end: frame[end] / total for end in ("mean", "low", "high")})
    title = quantity_axis(shown)
    chart = bars(frame, x="layer", y="mean", colour="token_type", y_title=title)
    view.figure(shown, frame, chart)


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per layer and type: the three means, and the share of the layer's ‖αf(x)‖."""
    index = ["layer", "token_type", "n_present"]
    wide = frame.pivot(index=index, columns="quantity", values="mean").reset_index()
    total = wide.groupby("layer")["weighted_norm"].transform("sum")
    return in_type_order(wide).assign(norm_share=wide["weighted_norm"] / total)


def _finding(view: View, frame: pd.DataFrame, wide: pd.DataFrame) -> str:
    """Name the type of `APART` with most weight, and its share of the norm."""
    weights = wide[wide["token_type"].isin(APART)].groupby("token_type")["attention"].sum()
    if weights.empty:
        return view.say("no_special")
    most = str(weights.idxmax())
    peak = wide[wide["token_type"] == most].nlargest(1, "attention").iloc[0]
    of_most, of_all = (_shares_of(frame, types) for types in ((most,), APART))
    sentences = [
        view.say(
            "finding", types=types_apart(view), type=token_type_name(most), **_percents(of_most)
        ),
        verdict(compared(of_most, quantity_name("attention"))),
        view.say(
            "finding_peak",
            layer=peak["layer"],
            peak=percent(peak["attention"]),
            peak_norm=percent(peak["norm_share"]),
        ),
    ]
    if len(weights) > 1:
        sentences.append(view.say("together", types=types_apart(view), **_percents(of_all)))
    return " ".join(sentences)


def _shares_of(frame: pd.DataFrame, types: Collection[str]) -> pd.DataFrame:
    """Share of some token types in all ‖αf(x)‖ and in all weight, over all layers, with evidence.

    Args:
        frame: rows of `token_type_mixing.by_layer`.
    """
    parts = ((name, frame[frame["quantity"] == name]) for name in ("weighted_norm", "attention"))
    return rows_of(
        (quantity_name(name), *share_of(part, part["token_type"].isin(types)))
        for name, part in parts
    )


def _percents(evidence: pd.DataFrame) -> dict[str, str]:
    return dict(zip(("weighted_norm", "attention"), evidence["value"].map(percent), strict=True))
