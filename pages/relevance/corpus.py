"""Distribution of relevance over the tokens of a whole corpus, by rule, layer and head."""

import numpy as np
import pandas as pd

from analysis.relevance_rules import RULES
from analysis.statistics.relevance import relevance_map, relevance_summary
from pages.relevance.absence import too_long
from pages.relevance.corpus_heads import heads_and_extremes
from pages.relevance.quantities import (
    CHANCE,
    QUANTITIES,
    quantity_axis,
    quantity_name,
    with_interval,
    written,
)
from pages.relevance.rule_lines import layer_lines
from pages.relevance.rules import pick_rules, rule_evidence, rule_meanings, rule_name
from pages.ui.finding import Finding, Findings
from pages.ui.page import section
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.numbers import count, percent, scientific
from pages.ui.words.say import say

_FIRST, _LAST = RULES[0], RULES[-1]


def _summary(inquiry: Inquiry) -> Findings:
    yield from _in_mask(inquiry)
    yield from _on_tokens(inquiry)


def _on_tokens(inquiry: Inquiry) -> Findings:
    """Compare the share of [CLS] and of the top tokens by rollout with that by rule iv."""
    top = _whole_way(inquiry, "top5_share")
    if not {_FIRST, _LAST} <= set(top.index):
        return
    on_cls = _whole_way(inquiry, "cls_share")
    kind, shares = ("cls", on_cls) if len(on_cls) else ("content", top)
    first, last = (percent(shares["mean"][rule]) for rule in (_FIRST, _LAST))
    yield Finding(
        say(f"finding.label_relevance_{kind}"),
        f"{first} → {last}",
        say(
            f"finding.relevance_{kind}",
            first=first,
            last=last,
            top_first=percent(top["mean"][_FIRST]),
            top_last=percent(top["mean"][_LAST]),
        ),
        rule_evidence(shares.loc[[_LAST, _FIRST]]),
        baseline=rule_name(_FIRST),
        choices={"re_quantity": f"{'cls' if kind == 'cls' else 'top5'}_share"},
    )


def _in_mask(inquiry: Inquiry) -> Findings:
    """Name the rule with the largest mask gain, with the gains of the others.

    The gain is the relevance inside the mask beyond that of a uniform map.
    """
    gains, shares = _whole_way(inquiry, "mask_gain"), _whole_way(inquiry, "mask_share")
    of_rules = gains[gains.index.isin(RULES)]
    if of_rules.empty:
        return
    best = str(of_rules["mean"].idxmax())
    row, others = of_rules.loc[[best]].to_dict("records")[0], of_rules.drop(index=best)
    rest = [
        say("finding.mask_other", rule=rule_name(str(rule)), gain=written("mask_gain", float(mean)))
        for rule, mean in others["mean"].sort_values(ascending=False).items()
    ]
    sentence = say(
        "finding.mask",
        rule=rule_name(best),
        share=percent(shares["mean"][best]),
        chance=percent(shares["mean"][best] - row["mean"]),
        gain=with_interval("mask_gain", row),
        others=say("list.comma").join(rest),
    )
    overall = str(gains["mean"].idxmax())
    if overall != best:
        gain = written("mask_gain", float(gains["mean"][overall]))
        sentence += say("finding.mask_method", method=rule_name(overall), gain=gain)
    yield Finding(
        say("finding.label_mask", rule=rule_name(best)),
        written("mask_gain", row["mean"]),
        sentence,
        rule_evidence(pd.concat([of_rules.loc[[best]], others])),
        baseline=0.0,
        format="+.0%",
        choices={"re_quantity": "mask_gain"},
    )


def _whole_way(inquiry: Inquiry, quantity: str) -> pd.DataFrame:
    """Value of every rule with relevance from the last layer: rows mean, low, high."""
    frame = inquiry.ask(relevance_summary.by_layer, quantity=quantity)
    return frame[frame["layer"] == frame["layer"].max()].set_index("rule")


@section(
    "corpus",
    relevance_summary.TABLE,
    relevance_summary.PER_SEQUENCE,
    also=(relevance_map.TABLE,),
    lacking=too_long,
    findings=_summary,
)
def corpus(view: View) -> None:
    long = view.ask(relevance_summary.table)
    quantity = view.pick("quantity", _present(long), format=quantity_name, kind="pills")
    view.note(view.say(f"quantities.{quantity}_meaning"))
    of_quantity = long[long["quantity"] == quantity]
    of_quantity = of_quantity.assign(name=of_quantity["rule"].map(rule_name))
    is_mean = of_quantity["head"].isna()
    means = of_quantity[is_mean].drop(columns="head")
    rules = pick_rules(view, "rules", means["rule"])
    means, chance = means[means["rule"].isin(rules)], _chance(long, quantity)
    view.finding(f"{_finding(view, means, quantity)} {_beyond(view, means, quantity, chance)}")
    level = None if chance is None else (view.say("even_map"), chance)
    lines = layer_lines(means, rules=rules, quantity=quantity, level=level)
    view.figure("layers", means, lines, state=quantity, quantity=quantity_name(quantity))
    rule_meanings(view, rules)
    heads_and_extremes(view, of_quantity[~is_mean], quantity)
    columns = dict.fromkeys(("name", "layer", "head", "mean", "low", "high", "n_sequences"))
    columns |= dict.fromkeys(("mean", "low", "high"), "%.4f")
    view.table(
        "numbers",
        pd.concat([of_quantity[is_mean], of_quantity[~is_mean]]),
        columns,
        state=quantity,
        options={"height": 320},
        quantity=quantity_axis(quantity),
    )
    view.note(_conservation(view))


def _present(long: pd.DataFrame) -> list[str]:
    """Quantities in the file; the share of special tokens only if it differs from that of [CLS]."""
    means = {quantity: rows["mean"].to_numpy() for quantity, rows in long.groupby("quantity")}
    special = means["special_share"]
    if np.array_equal(means.get("cls_share", []), special) or not special.any():
        del means["special_share"]
    return [quantity for quantity in QUANTITIES if quantity in means]


def _chance(long: pd.DataFrame, quantity: str) -> float | None:
    """Value of a uniform map; None if unknown."""
    if quantity == "evenness":
        return 1.0
    if quantity not in CHANCE:
        return 0.0 if quantity in CHANCE.values() else None
    share, gain = (long[long["quantity"] == name] for name in (quantity, CHANCE[quantity]))
    of_all = share["n_sequences"] == share["n_sequences"].max()  # some methods skip sequences
    return float(share.loc[of_all, "mean"].mean() - gain.loc[of_all.to_numpy(), "mean"].mean())


def _finding(view: View, means: pd.DataFrame, quantity: str) -> str:
    """Name the rules with most and least from the last layer, and the first and the last rule."""
    last = means[means["layer"] == means["layer"].max()].sort_values("mean", ascending=False)
    most, least = last.to_dict("records")[0], last.to_dict("records")[-1]
    finding = view.say(
        f"finding_{'one' if len(last) == 1 else 'many'}",
        layer=most["layer"],
        quantity=quantity_name(quantity),
        most=most["name"],
        of_most=with_interval(quantity, most),
        least=least["name"],
        of_least=with_interval(quantity, least),
    )
    ends = last.set_index("rule").reindex([_FIRST, _LAST]).dropna(subset="mean")
    if len(ends) < 2 or {most["rule"], least["rule"]} == set(ends.index):
        return finding
    values = {
        name: value
        for name, row in zip(("first", "last"), ends.to_dict("records"), strict=True)
        for name, value in ((name, row["name"]), (f"of_{name}", with_interval(quantity, row)))
    }
    return f"{finding} {view.say('finding_ends', **values)}"


def _beyond(view: View, means: pd.DataFrame, quantity: str, chance: float | None) -> str:
    """Name the rules above chance from the last layer; empty for quantities without chance."""
    if quantity not in CHANCE or chance is None:
        return ""
    gains = _whole_way(view, CHANCE[quantity])
    gains = gains[gains.index.isin(means["rule"])]
    above = [rule_name(rule) for rule in gains.index[gains["low"] > 0]]
    return view.say(
        f"finding_{'above' if above else 'not_above'}",
        chance=written(quantity, chance),
        rules=say("list.comma").join(above),
    )


def _conservation(view: View) -> str:
    """Report the largest deviation from conservation of total relevance."""
    worst, n = view.ask(relevance_summary.conservation).iloc[0]
    in_place = view.say("in_place", n=count(n)) if n else view.say("none_in_place")
    return view.say("conserved", worst=scientific(float(worst)), in_place=in_place)
