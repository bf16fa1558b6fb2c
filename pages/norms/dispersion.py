"""Coefficient of variation of ‖f(x)‖, compared with that of the inputs ‖x‖ (tables 1 and 2)."""

import pandas as pd

from analysis.published.numbers import numbers
from analysis.statistics.norms import norm_dispersion
from pages.norms.opened_head import CARD_TABLES, opened_below
from pages.norms.transforms import by_gates
from pages.ui.charts.head_map import head_map
from pages.ui.charts.standard import lines
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.head.choice import to_head
from pages.ui.page import section
from pages.ui.published_table import Row, show_published, statistic_of
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count
from pages.ui.words.say import say

_STATISTICS = dict.fromkeys(("mean", "std", "cv", "max", "min"), "%.2f")
_PRINTED = {"heads": ("value_norm", "‖f(x)‖"), "inputs": ("input_norm", "‖x‖")}


def _summary(inquiry: Inquiry) -> Findings:
    """Compare the variation of ‖f(x)‖ within heads with that of the layers' inputs."""
    cvs, counts = _variation(inquiry)
    shown = cvs.map("{:.2f}".format)
    yield Finding(
        say("finding.label_dispersion"),
        f"CV = {shown['within']}",
        say("finding.dispersion", **counts, **shown),
        rows_of((say(f"finding.dispersion_{name}"), cv) for name, cv in cvs.items()),
        baseline=say("finding.dispersion_of_input"),
        format=".2f",
        known_by=say("finding.dispersion_known_by", **counts),
    )


@section(
    "dispersion",
    norm_dispersion.VALUE_NORM,
    norm_dispersion.INPUT_NORM,
    also=CARD_TABLES,
    lacking=by_gates,
    findings=_summary,
)
def dispersion(view: View) -> None:
    heads, inputs = view.ask(norm_dispersion.by_head), view.ask(norm_dispersion.by_layer)
    view.finding(_finding(view, _pooled(inputs)["cv"]))
    _by_layer(view, heads, inputs)
    every = heads.dropna(subset="layer").astype({"layer": "int64", "head": "int64"})
    with opened_below(view) as marked:
        chart = head_map(every, "cv", view.say("cv_axis"), format=".3f", marked=marked)
        view.figure("map", every, chart, state=marked, click=to_head)
    _extremes(view, heads, "heads")
    _extremes(view, inputs, "inputs")
    show_published(
        view, "norms", *_published(view, heads, "heads"), *_published(view, inputs, "inputs")
    )
    columns = dict.fromkeys(("layer", "head")) | _STATISTICS | {"n": None}
    view.table("all", every.sort_values("cv", ascending=False), columns)


def _pooled(frame: pd.DataFrame) -> pd.Series:
    return frame[frame["layer"].isna()].iloc[0]


def _variation(inquiry: Inquiry) -> tuple[pd.Series, pd.Series]:
    """CV of ‖f(x)‖ within heads, of ‖x‖, and of ‖f(x)‖ in all heads; numbers of heads, as text.

    Heads are also not pooled: they may differ in mean length without f changing single tokens.
    """
    row = inquiry.ask(norm_dispersion.values_and_inputs)
    pooled = _pooled(inquiry.ask(norm_dispersion.by_head))["cv"]
    cvs = {"within": row["values"], "of_input": row["inputs"], "pooled": pooled}
    return pd.Series(cvs), row[["n_above", "n_heads"]].map(count)


def _finding(view: View, pooled_inputs: float) -> str:
    """Compare the mean variation within heads after f with that before f."""
    cvs, counts = _variation(view)
    cvs["pooled_inputs"] = pooled_inputs
    return view.say("finding", **counts, **cvs.map("{:.2f}".format))


def _extremes(view: View, frame: pd.DataFrame, name: str) -> None:
    """Tabulate largest, smallest and pooled CV, as the paper does."""
    known = frame.dropna(subset=["layer", "cv"])["cv"]
    shown = frame.loc[[known.idxmax(), known.idxmin(), _pooled(frame).name]]
    places = shown.reindex(columns=["layer", "head"]).to_numpy()
    shown[f"which_{name}"] = [
        view.say(f"{name}_{which}", layer=f"{layer:.0f}", head=f"{head:.0f}")
        for which, (layer, head) in zip(("largest", "smallest", "all"), places, strict=True)
    ]
    view.table(f"table_{name}", shown, {f"which_{name}": None, **_STATISTICS})


def _published(view: View, frame: pd.DataFrame, name: str) -> list[Row]:
    """Rows of tables 1 and 2: the heads or layers that the paper names, and the pooled value."""
    quantity, symbol = _PRINTED[name]
    places = [column for column in ("layer", "head") if column in frame]
    rows = []
    for number in numbers(quantity):
        place, here = {column: getattr(number, column) for column in places}, frame
        for column, value in place.items():
            here = here[here[column].isna() if value is None else here[column] == value]
        whole = number.layer is None
        where = view.say(f"{name}_all") if whole else say(f"published.{places[-1]}", **place)
        of = statistic_of(say("list.comma").join([symbol, where]), title(number.statistic))
        rows.append(Row(of, number, next(iter(here[number.statistic]), None)))
    return rows


def _by_layer(view: View, heads: pd.DataFrame, inputs: pd.DataFrame) -> None:
    """Draw the CV of each layer's input with the mean, least and greatest CV of its heads."""
    of_heads = heads.dropna(subset=["layer", "cv"]).groupby("layer")["cv"]
    spread = of_heads.agg(cv="mean", min="min", max="max").reset_index()
    of_inputs = inputs.dropna(subset=["layer", "cv"])[["layer", "cv"]]
    of_inputs = of_inputs.assign(min=of_inputs["cv"], max=of_inputs["cv"])
    parts = {"of_values": spread, "of_inputs": of_inputs}
    frame = pd.concat([part.assign(of=view.say(name)) for name, part in parts.items()])
    frame["layer"] = frame["layer"].astype("int64")
    chart = lines(
        frame,
        y="cv",
        colour="of",
        y_title=view.say("cv_axis"),
        colour_title=" ",
        ends=("min", "max"),
    )
    view.figure("layers", frame, chart)
