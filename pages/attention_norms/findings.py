"""Findings for the overview on attention weights and norms."""

from collections.abc import Callable, Collection, Iterator

import pandas as pd

from analysis.statistics.norms import attention_norm_correlation as correlation
from analysis.statistics.norms import frequency_correlation as frequency
from analysis.statistics.norms import norm_dispersion, token_type_mixing
from analysis.statistics.parts import OF_PAIRS, OF_TOKENS
from pages.attention_norms.weight_and_norm import lowest_within, weight_and_norm
from pages.ui.finding import Finding, rows_of, share_of
from pages.ui.store.absences import FIRST, SPECIAL, types_apart
from pages.ui.store.chosen import ask
from pages.ui.words.interval import interval, is_clear
from pages.ui.words.levels import of_level
from pages.ui.words.lines import with_capital
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import change, count, percent
from pages.ui.words.quantities import quantity_name
from pages.ui.words.say import say

APART = (*SPECIAL, FIRST, "comma_period")


def shares_of_types(frame: pd.DataFrame, types: Collection[str]) -> pd.DataFrame:
    """Share of some token types in all ‖αf(x)‖ and in all weight, over all layers, with evidence.

    Args:
        frame: rows of `token_type_mixing.by_layer`.
    """
    parts = ((name, frame[frame["quantity"] == name]) for name in ("weighted_norm", "attention"))
    return rows_of(
        (quantity_name(name), *share_of(part, part["token_type"].isin(types)))
        for name, part in parts
    )


def _weight_against_norm() -> Iterator[Finding]:
    """Compare the shares of weight and norm of the types in `APART`, over all layers."""
    evidence = shares_of_types(ask(token_type_mixing.by_layer, head=None), APART)
    norm, weight = evidence["value"].map(percent)
    if not evidence["value"].iloc[1]:
        return
    types = with_capital(types_apart())
    yield Finding(
        say("finding.label_layers", types=types),
        f"{weight} → {norm}",
        say("finding.mixing", types=types, weight=weight, norm=norm),
        "layers",
        evidence,
        baseline=quantity_name("attention"),
    )


def _weight_and_length() -> Iterator[Finding]:
    """Name the type of `APART` with the lowest correlation of weight and norm within heads."""
    frame = ask(correlation.by_type, layer=None, head=None)
    frame = frame[frame["token_type"].isin(APART)].dropna(subset="median")
    row = lowest_within(frame)
    if row is None:
        return
    medians = {"median": "value", "median_low": "low", "median_high": "high"}
    others = frame[frame["token_type"] != row["token_type"]]
    evidence = pd.concat([frame.loc[[row.name]], others]).rename(columns=medians)
    yield Finding(
        say("finding.label_relation", token_type=token_type_name(row["token_type"])),
        f"ρ = {change(row['median'])}",
        weight_and_norm(frame, ask(correlation.signs, layer=None), OF_PAIRS),
        "relation",
        evidence.assign(name=evidence["token_type"].map(token_type_name))[
            ["name", *medians.values()]
        ],
        baseline=0.0,
        format="+.2f",
    )


def _dispersion() -> Iterator[Finding]:
    """Compare the variation of ‖f(x)‖ within heads with that of the layers' inputs."""
    row, heads = ask(norm_dispersion.values_and_inputs), ask(norm_dispersion.by_head)
    pooled = float(heads[heads["layer"].isna()]["cv"].iloc[0])
    cvs = {"within": row["values"], "of_input": row["inputs"], "pooled": pooled}
    shown = {name: f"{cv:.2f}" for name, cv in cvs.items()}
    counts = row[["n_above", "n_heads"]].map(count)
    yield Finding(
        say("finding.label_dispersion"),
        f"CV = {shown['within']}",
        say("finding.dispersion", **counts, **shown),
        "dispersion",
        rows_of((say(f"finding.dispersion_{name}"), cv) for name, cv in cvs.items()),
        format=".2f",
        known_by=say("finding.dispersion_known_by", **counts),
    )


def _frequency() -> Iterator[Finding]:
    frame = ask(frequency.correlations)
    frame = frame[~frame["special_tokens"]].dropna(subset="spearman").drop_duplicates("quantity")
    frame = frame.sort_values("quantity", key=lambda names: names != "value_norm", kind="stable")
    if "value_norm" not in set(frame["quantity"]):
        return
    within = of_level(frame, OF_TOKENS[0]).dropna(subset="spearman")
    if within.empty or within["quantity"].iloc[0] != "value_norm":
        return
    row = within.iloc[0]
    step = "unclear"
    if is_clear(row["low"], row["high"]):
        step = "shorter" if row["spearman"] > 0 else "longer"
    yield Finding(
        say("finding.label_frequency"),
        f"ρ = {change(row['spearman'])}",
        say(
            f"finding.frequency_{step}",
            interval=interval(row["low"], row["high"], change),
            **frame.iloc[0][["spearman", *OF_TOKENS]].map(change),
        ),
        "frequency",
        within.assign(name=within["quantity"].map(quantity_name), value=within["spearman"])[
            ["name", "value", "low", "high"]
        ],
        baseline=0.0,
        format="+.2f",
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "token_type_mixing": _weight_against_norm,
    "attention_norm_correlation": _weight_and_length,
    "value_norm_dispersion": _dispersion,
    "frequency_correlation": _frequency,
}
