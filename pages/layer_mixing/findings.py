"""What a file says at a glance of the modules around attention."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.tables.mixing import mixing_ratio, scope_similarity
from analysis.tables.pairs import relation_share
from pages.ui.finding import Finding, rows_of
from pages.ui.store.chosen import ask, layer_order
from pages.ui.words.names import relation_name, step_name
from pages.ui.words.numbers import percent, signed
from pages.ui.words.say import say

_EVERY = "all"
_NEAR = 0.02
_CLEAR = 1.1


def _similarity() -> Iterator[Finding]:
    """The module that changes the mixing most; vectors in place of weights are no module."""
    steps = ask(scope_similarity.steps)
    steps = steps[steps["layer"].isna() & (steps["scope_a"] != "attn_w")].sort_values("spearman")
    if steps.empty:
        return
    names = [step_name(scope) for scope in steps["scope_b"]]
    others = [f"{name} {signed(rho)}" for name, rho in zip(names, steps["spearman"], strict=True)]
    yield Finding(
        say("finding.label_similarity", module=names[0]),
        f"ρ = {signed(steps['spearman'].iloc[0])}",
        say("finding.similarity", module=names[0], others=say("list.comma").join(others[1:])),
        "similarity",
        steps.assign(name=names, value=steps["spearman"])[["name", "value", "low", "high"]],
        baseline=names[1] if len(names) > 1 else None,
        format=".2f",
    )


def _mixing_ratio() -> Iterator[Finding]:
    """What attention alone says of a token's context, and what the residual leaves of it."""
    order, frame = layer_order(), ask(mixing_ratio.pooled)
    every = frame[frame["token_type"] == _EVERY].set_index("scope")
    scopes = {"network": order.before_network, "vectors": order.vectors, "whole": order.whole}
    names = {scope: say(f"finding.ratio_at_{name}") for name, scope in scopes.items()}
    shares = every.loc[[order.vectors, order.before_network, order.whole], "mean"]
    shares.index = ["before", "after", "whole"]
    before, after = shares[:2]
    step = "less" if after < before - _NEAR else "more" if after > before + _NEAR else "same"
    yield Finding(
        say("finding.label_ratio"),
        f"{percent(before)} → {percent(after)}",
        say(f"finding.ratio_{step}", **shares.map(percent)),
        "ratio",
        rows_of((names[scope], *every.loc[scope, ["mean", "low", "high"]]) for scope in names),
        baseline=names[order.vectors],
    )


def _relation() -> Iterator[Finding]:
    """The relation whose share of FF's change is most above its share of the mixing before."""
    frame = ask(relation_share.by_layer, effect="ff")
    shares = frame.pivot_table(index="relation", columns="quantity", values="mean", observed=True)
    if not {"before", "change", "pairs"} <= set(shares):
        return
    ratio = (shares["change"] / shares["before"]).dropna()
    most = str(ratio.idxmax())
    here = frame[(frame["relation"] == most) & (frame["quantity"] == "change")]
    name = relation_name(most)
    written = shares.loc[most, ["before", "change", "pairs"]].map(percent)
    yield Finding(
        say("finding.label_relation_share", relation=name),
        f"{written['before']} → {written['change']}",
        say(
            f"finding.relation_{how_sure(here, ratio[most])}",
            relation=name,
            **written,
            ratio=f"{ratio[most]:.1f}",
            above=int((here["ratio_low"] > 1).sum()),
            layers=len(here),
        ),
        "modules",
        here[["layer", "ratio", "ratio_low", "ratio_high"]]
        .set_axis(["layer", "value", "low", "high"], axis=1)
        .assign(name=name),
        baseline=1.0,
        format=".1f",
    )


def how_sure(here: pd.DataFrame, ratio: float) -> str:
    """Whether a ratio is worth telling, and clear of 1 in some layer."""
    if ratio < _CLEAR:
        return "even"
    if here["ratio_low"].isna().all():
        return "unsure"
    return "clear" if (here["ratio_low"] > 1).any() else "even"


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "scope_similarity": _similarity,
    "mixing_ratio": _mixing_ratio,
    "relation_share": _relation,
}
