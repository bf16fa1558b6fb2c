"""What a file says at a glance of norms beside attention weights."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.tables.norms import attention_norm_correlation as correlation
from analysis.tables.norms import frequency_correlation as frequency
from analysis.tables.norms import input_norm_dispersion, token_type_mixing, value_norm_dispersion
from pages.ui.finding import Finding, rows_of, shares_by_layer
from pages.ui.store.absences import FIRST, SPECIAL, types_apart
from pages.ui.store.chosen import ask
from pages.ui.words.lines import with_capital
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent, signed
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import say

APART = (*SPECIAL, FIRST, "comma_period")
_NEAR = 0.02
_WEAK = 0.1


def _weight_against_norm() -> Iterator[Finding]:
    """What types told apart get of the weight and of the norm, over all layers and in each."""
    frame = ask(token_type_mixing.by_layer, head=None)
    shares, evidence = [], []
    for quantity in ("weighted_norm", "attention"):
        part = frame[frame["quantity"] == quantity]
        means = part.groupby("token_type")["mean"].mean()
        shares.append((means / means.sum()).reindex(APART).sum())
        own = part["token_type"].isin(APART)
        evidence.append(shares_by_layer(part, own, quantity_name(quantity)))
    norm, weight = shares
    if weight == 0:
        return
    step = "less" if norm < weight - _NEAR else "more" if norm > weight + _NEAR else "same"
    yield Finding(
        say("finding.label_layers", types=with_capital(types_apart())),
        f"{percent(weight)} → {percent(norm)}",
        say(
            f"finding.mixing_{step}",
            types=types_apart(),
            weight=percent(weight),
            norm=percent(norm),
        ),
        "layers",
        pd.concat(evidence, ignore_index=True),
        baseline=quantity_name("attention"),
    )


def _strongest_correlation() -> Iterator[Finding]:
    frame = ask(correlation.by_type, layer=None, head=None).dropna()
    frame = frame[frame["token_type"].isin(APART)]
    if frame.empty:
        return
    row = frame.loc[frame["spearman"].abs().idxmax()]
    name = token_type_name(row["token_type"])
    others = frame.drop(index=row.name)
    kind = "negative" if row["spearman"] < 0 else "positive"
    if abs(row["spearman"]) < _WEAK:
        kind = "none_alone" if others.empty else "none"
    said = say(f"finding.correlation_{kind}", token_type=name, types=types_apart())
    yield Finding(
        say("finding.label_relation", token_type=name),
        f"ρ = {signed(row['spearman'])}",
        f"{said} {_others(others)}".strip(),
        "relation",
        _coefficients(pd.concat([frame.loc[[row.name]], others]), "token_type", token_type_name),
        format="+.2f",
    )


def _coefficients(frame: pd.DataFrame, column: str, called: Callable[[str], str]) -> pd.DataFrame:
    """Correlations as evidence; those of types have no interval."""
    ends = frame.reindex(columns=["low", "high"])
    return ends.assign(name=frame[column].map(called), value=frame["spearman"])


def _others(frame: pd.DataFrame) -> str:
    """The other types, if the model has any."""
    pairs = zip(frame["token_type"], frame["spearman"], strict=True)
    named = [f"{token_type_name(token_type)} {signed(rho)}" for token_type, rho in pairs]
    return say("finding.correlation_others", others=say("list.comma").join(named)) if named else ""


def _dispersion() -> Iterator[Finding]:
    pooled, of_input = (
        float(frame[frame["layer"].isna()]["cv"].iloc[0])
        for frame in (ask(value_norm_dispersion.by_head), ask(input_norm_dispersion.by_layer))
    )
    cvs = {"pooled": pooled, "within": ask(value_norm_dispersion.mean_cv), "of_input": of_input}
    shown = {name: f"{cv:.2f}" for name, cv in cvs.items()}
    yield Finding(
        say("finding.label_dispersion"),
        f"CV = {shown['pooled']}",
        say("finding.dispersion", per_head=shown["within"], **shown),
        "dispersion",
        rows_of((say(f"finding.dispersion_{name}"), cv) for name, cv in cvs.items()),
        format=".2f",
    )


def _frequency() -> Iterator[Finding]:
    frame = ask(frequency.correlations)
    frame = frame[~frame["special_tokens"]].dropna().drop_duplicates("quantity")
    frame = frame.sort_values("quantity", key=lambda names: names != "value_norm", kind="stable")
    if "value_norm" not in set(frame["quantity"]):
        return
    row = frame.iloc[0]
    unclear = not (row["low"] > 0 or row["high"] < 0)
    step = "unclear" if unclear else "shorter" if row["spearman"] > 0 else "longer"
    yield Finding(
        say("finding.label_frequency"),
        f"ρ = {signed(row['spearman'])}",
        say(f"finding.frequency_{step}", low=signed(row["low"]), high=signed(row["high"])),
        "frequency",
        _coefficients(frame, "quantity", quantity_name),
        baseline=0.0,
        format="+.2f",
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "token_type_mixing": _weight_against_norm,
    "attention_norm_correlation": _strongest_correlation,
    "value_norm_dispersion": _dispersion,
    "frequency_correlation": _frequency,
}
