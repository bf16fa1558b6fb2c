"""Where attention weight goes and where the summed vectors come from, layer by layer (figure 5)."""

import pandas as pd

from analysis.tables.norms import token_type_mixing
from pages.attention_norms.findings import APART
from pages.ui.charts.standard import bars
from pages.ui.page import section
from pages.ui.store.absences import types_apart
from pages.ui.store.chosen import ask, open_store
from pages.ui.view import View
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.quantities import QUANTITIES, in_type_order, quantity_axis, quantity_name

_PAIR = ("attention", "weighted_norm")
_NEAR = 0.02  # shares that differ by less count as the same


@section("layers", token_type_mixing.TABLE)
def layers(view: View) -> None:
    head = _pick_head(view)
    chosen = view.pick(
        "quantity",
        ["pair", *QUANTITIES],
        format=lambda option: view.say("pair") if option == "pair" else quantity_name(option),
    )
    frame = ask(token_type_mixing.by_layer, head=head)
    wide = _wide(frame)
    view.finding(_finding(view, wide))
    quantities = _PAIR if chosen == "pair" else (chosen,)
    has_norm = "weighted_norm" in quantities
    as_share = has_norm and view.pick("norm_as", ["length", "share"]) == "share"
    for place, quantity in zip(view.columns(len(quantities)), quantities, strict=True):
        with place:
            _chart(view, frame[frame["quantity"] == quantity], quantity, as_share=as_share)
    columns = ["layer", "token_type", *QUANTITIES, "norm_share", "n_present"]
    view.table("table", wide, columns)


def _pick_head(view: View) -> int | None:
    """One head of every layer, or None for the mean over the heads."""
    heads = range(1, int(open_store().run["n_heads"]) + 1)
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


def _finding(view: View, wide: pd.DataFrame) -> str:
    """Which type that is told apart gets most weight, and how much of the norm arrives from it."""
    means = wide.groupby("token_type")[list(_PAIR)].sum()
    means = (means / means.sum())[means.index.isin(APART)]
    if means.empty:
        return view.say("no_special")
    most = str(means["attention"].idxmax())
    peak = wide[wide["token_type"] == most].nlargest(1, "attention").iloc[0]
    weight, norm = (float(means[quantity][most]) for quantity in _PAIR)
    kind = "same" if abs(norm - weight) < _NEAR else "less" if norm < weight else "more"
    sentence = view.say(
        f"finding_{kind}",
        types=types_apart(),
        type=token_type_name(most),
        **means.loc[most].map(percent),
        layer=peak["layer"],
        peak=percent(peak["attention"]),
        peak_norm=percent(peak["norm_share"]),
    )
    if len(means) == 1:
        return sentence
    return f"{sentence} {view.say('together', types=types_apart(), **means.sum().map(percent))}"
