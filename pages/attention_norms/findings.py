"""What a file says at a glance of norms beside attention weights."""

from collections.abc import Callable, Collection, Iterator

import pandas as pd

from analysis.tables.norms import attention_norm_correlation as correlation
from analysis.tables.norms import frequency_correlation as frequency
from analysis.tables.norms import input_norm_dispersion, token_type_mixing, value_norm_dispersion
from pages.ui.finding import Finding, rows_of, share_of
from pages.ui.store.absences import has_special
from pages.ui.store.chosen import ask
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent, signed
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import say

SPECIAL = ("bos", "cls", "sep", "comma_period", "register")
_WEAK = 0.1


def weight_and_norm(frame: pd.DataFrame, types: Collection[str]) -> pd.DataFrame:
    """Evidence of the share of some types in all of ‖αf(x)‖ and in all weight, over all layers.

    Args:
        frame: rows of `token_type_mixing.by_layer`.
    """
    parts = ((name, frame[frame["quantity"] == name]) for name in ("weighted_norm", "attention"))
    return rows_of(
        (quantity_name(name), *share_of(part, part["token_type"].isin(types)))
        for name, part in parts
    )


def _weight_against_norm() -> Iterator[Finding]:
    """Shares of the special types in the weight and in the norm, over all layers."""
    evidence = weight_and_norm(ask(token_type_mixing.by_layer, head=None), SPECIAL)
    norm, weight = evidence["value"].map(percent)
    if not evidence["value"].iloc[1]:
        return
    types = say(f"finding.types_{'special' if has_special() else 'marks'}")
    yield Finding(
        say("finding.label_layers"),
        f"{weight} → {norm}",
        say("finding.mixing", types=types, weight=weight, norm=norm),
        "layers",
        evidence,
        baseline=quantity_name("attention"),
    )


def _strongest_correlation() -> Iterator[Finding]:
    frame = ask(correlation.by_type, layer=None, head=None).dropna()
    frame = frame[frame["token_type"].isin(SPECIAL)]
    if frame.empty:
        return
    row = frame.loc[frame["spearman"].abs().idxmax()]
    name = token_type_name(row["token_type"])
    others = frame.drop(index=row.name)
    kind = "negative" if row["spearman"] < 0 else "positive"
    if abs(row["spearman"]) < _WEAK:
        kind = "none_alone" if others.empty else "none"
    yield Finding(
        say("finding.label_relation", token_type=name),
        f"ρ = {signed(row['spearman'])}",
        f"{say(f'finding.correlation_{kind}', token_type=name)} {_others(others)}".strip(),
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
    heads, inputs = ask(value_norm_dispersion.by_head), ask(input_norm_dispersion.by_layer)
    pooled, of_input = (
        float(part.loc[part["layer"].isna(), "cv"].iloc[0]) for part in (heads, inputs)
    )
    cvs = {"pooled": pooled, "within": ask(value_norm_dispersion.mean_cv), "of_input": of_input}
    shown = {name: f"{cv:.2f}" for name, cv in cvs.items()}
    yield Finding(
        say("finding.label_dispersion"),
        f"CV = {shown['pooled']}",
        say("finding.dispersion", **shown, **heads_above_input(heads, inputs)),
        "dispersion",
        rows_of((say(f"finding.dispersion_{name}"), cv) for name, cv in cvs.items()),
        format=".2f",
        known_by=say("finding.dispersion_known_by"),
    )


def heads_above_input(heads: pd.DataFrame, inputs: pd.DataFrame) -> dict[str, int]:
    """Number of heads whose ‖f(x)‖ has a larger CV than the ‖x‖ that their layer reads."""
    both = heads.merge(inputs.dropna(subset="layer"), on="layer", suffixes=("", "_of_input"))
    both = both.dropna(subset=["cv", "cv_of_input"])
    return {"above": int((both["cv"] > both["cv_of_input"]).sum()), "of": len(both)}


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
