"""Similarity of the mixing at different scopes, and the module that changes it most (figure 3)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from analysis.published.numbers import numbers
from analysis.scopes import POST_NORM
from analysis.statistics.mixing import scope_similarity
from pages.ui.charts.colours import LOW_TO_HIGH
from pages.ui.charts.number_map import Ramp, number_map
from pages.ui.charts.standard import lines
from pages.ui.choices.links import link_to_sequence
from pages.ui.choices.picker import choose
from pages.ui.finding import Finding, Findings, compared
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.interval import row_with_interval, verdict
from pages.ui.words.names import effect_name, scope_name, step_name
from pages.ui.words.numbers import signed, three_decimals
from pages.ui.words.say import plain, say

_FIELDS = ("scope_a", "scope_b")
_LISTED = 20  # sequences in the list


def _summary(inquiry: Inquiry) -> Findings:
    """Name the module that changes the mixing most, with ρ of every module."""
    steps = _mean_steps(inquiry)
    if len(steps) < 2:
        return
    named = (steps["name"] + " " + steps["value"].map(three_decimals)).tolist()
    yield Finding(
        say("finding.label_similarity", step=steps["name"].iloc[0]),
        f"ρ = {three_decimals(steps['value'].iloc[0])}",
        say("finding.similarity", step=named[0], others=say("list.comma").join(named[1:])),
        steps[["name", "value", "low", "high"]],
        baseline=steps["name"].iloc[1],
        format=".3f",
    )


@section("similarity", scope_similarity.TABLE, scope_similarity.PER_SEQUENCE, findings=_summary)
def similarity(view: View) -> None:
    steps = view.ask(scope_similarity.steps).dropna(subset="spearman")
    steps["step"] = steps["scope_b"]
    mean, by_layer = steps[steps["layer"].isna()], steps.dropna(subset="layer")
    chosen = view.pick("layer", ["mean", *map(str, view.store.layers)], kind="pills")
    layer = None if chosen == "mean" else int(chosen)
    matrix = view.place("container")
    scopes = _least_similar(view, layer)
    view.finding(_finding(view, by_layer))
    with matrix:
        _matrix(view, layer, scopes)
    if len(mean) and len(by_layer):
        _steps(view, mean, by_layer.astype({"layer": int}))
    show_published(view, "similarity", *_published(mean))


def _choose(view: View, cell: Mapping[Any, Any]) -> None:
    """Choose the two scopes of a cell that was clicked."""
    if cell["scope_a"] != cell["scope_b"]:
        for name in _FIELDS:
            choose(view.key(name), cell[name])


def _published(mean: pd.DataFrame) -> list[Row]:
    """Rows for figure 3: the feed-forward network and what follows it, as mean over layers."""
    ours = mean.set_index(list(_FIELDS))[["spearman", "low", "high"]]
    return [
        Row(
            effect_name(number.effect),
            number,
            *ours.T.get(POST_NORM.effects[number.effect], (None,)),
        )
        for number in numbers("similarity")
    ]


def _finding(view: View, by_layer: pd.DataFrame) -> str:
    """Name the modules that change the mixing most, second most and least on average."""
    steps = _mean_steps(view)
    if len(steps) < 2:
        return view.say("nothing_varies")
    most, following, least = (steps.iloc[place] for place in (0, 1, -1))
    deepest = by_layer[by_layer["step"] == most["scope_b"]].nsmallest(1, "spearman").iloc[0]
    sentences = [
        view.say(
            "finding",
            most=most["name"],
            of_most=row_with_interval(most, "spearman", three_decimals),
            next=following["name"],
            of_next=row_with_interval(following, "spearman", three_decimals),
        ),
        verdict(compared(steps, following["name"])),
        view.say(
            "finding_ends",
            least=least["name"],
            of_least=row_with_interval(least, "spearman", three_decimals),
            layer=f"{deepest['layer']:.0f}",
            deepest=three_decimals(deepest["spearman"]),
        ),
    ]
    network = steps.iloc[2:-1]
    for _, row in network[network["scope_b"] == view.store.layer_order.network].iterrows():
        of_network = row_with_interval(row, "spearman", three_decimals)
        sentences.append(view.say("finding_network", of_network=of_network))
    return " ".join(sentences)


def _mean_steps(inquiry: Inquiry) -> pd.DataFrame:
    """Rank correlation of the mixing before and after every module, the lowest first: name, value.

    Values are means over layers. The step from weights to norms counts as a module.
    """
    steps = inquiry.ask(scope_similarity.steps)
    steps = steps[steps["layer"].isna()].dropna(subset="spearman").sort_values("spearman")
    names = steps["scope_b"].map(step_name)
    return steps.assign(name=names, value=steps["spearman"]).reset_index(drop=True)


def _matrix(view: View, layer: int | None, scopes: tuple[str, str]) -> None:
    """Draw the similarity of every two scopes, with a frame around the compared pair."""
    frame = view.ask(scope_similarity.matrix, layer=layer)
    if frame.empty:
        return view.nothing("nothing_varies")
    lowest = min(int(float(frame["spearman"].min()) * 10 - 1) / 10, 0.9)
    chart = number_map(
        frame,
        x="scope_b",
        y="scope_a",
        value="spearman",
        tooltip=("low", "high"),
        orders=dict.fromkeys(_FIELDS, view.store.layer_order.scopes),
        colours=Ramp(LOW_TO_HIGH, lowest, 1.0),
        format=".2f",
        marked=dict(zip(_FIELDS, scopes, strict=True)),
    )
    where = view.say("layer_mean") if layer is None else view.say("in_layer", layer=layer)
    view.figure(
        "matrix", frame, chart, state=(layer, *scopes), click=partial(_choose, view), where=where
    )


def _least_similar(view: View, layer: int | None) -> tuple[str, str]:
    """Let the reader pick two scopes, and list the sequences in which they agree least, in a fold.

    The fold is open once the reader has picked scopes.

    Returns:
        the scopes; by default those before and after the feed-forward network.
    """
    defaults = dict(zip(_FIELDS, view.store.layer_order.effects["ff"], strict=True))
    picked = {
        name: view.choices.state(view.key(name)) or "".join(view.choices.asked(view.key(name))[:1])
        for name in _FIELDS
    }
    others = any(picked[name] not in ("", default) for name, default in defaults.items())
    with view.place("expander", view.say("least"), expanded=others):
        one, other = (
            view.pick(name, view.store.layer_order.scopes, default=default, kind="select")
            for name, default in defaults.items()
        )
        if one == other:
            view.nothing("least_same")
        else:
            _sequences(view, layer, one, other)
    return one, other


def _sequences(view: View, layer: int | None, one: str, other: str) -> None:
    """List the sequences, least similar first, with the text of the selected one."""
    scopes = {"scope_a": one, "scope_b": other}
    frame = view.ask(scope_similarity.extremes, layer=layer, limit=_LISTED, **scopes)
    if frame.empty:
        return view.nothing("nothing_varies")
    event = view.table(
        "least_mean" if layer is None else "least_layer",
        frame,
        ["seq", "spearman", "n_tokens", "text"],
        state=f"{layer}_{one}_{other}",
        caption=view.say("least_caption"),
        options={
            "height": 248,
            "on_select": "rerun",
            "selection_mode": "single-row",
            "selection_default": {"selection": {"rows": [0]}},
        },
        layer=layer,
        one=scope_name(one),
        other=scope_name(other),
    )
    rows = [place for place in event["selection"]["rows"] if place < len(frame)] or [0]
    row = frame.iloc[rows[0]]
    rho, text = signed(row["spearman"]), plain(row["text"])
    view.write("markdown", view.say("least_selected", seq=row["seq"], rho=rho, text=text))
    view.draw(link_to_sequence, row["seq"])


def _steps(view: View, mean: pd.DataFrame, by_layer: pd.DataFrame) -> None:
    """Draw the similarity before and after every module: by layer, on average, and where lowest."""
    chart = lines(
        by_layer,
        y="spearman",
        colour="step",
        y_title=view.say("axis"),
        colour_title=" ",
        zero=False,
        height=400,
    )
    view.figure("steps", by_layer, chart)
    lowest = by_layer.loc[by_layer.groupby("step")["spearman"].idxmin(), ["step", "layer"]]
    frame = mean.drop(columns="layer").merge(lowest, on="step", how="left")
    frame = frame.rename(columns={"layer": "lowest"})
    view.table("table", frame, ["step", "spearman", "low", "high", "lowest"])
