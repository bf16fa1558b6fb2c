"""Findings for the overview on relevance propagated to the input."""

from collections.abc import Callable, Iterator
from itertools import chain

import pandas as pd

from analysis.relevance_rules import RULES
from analysis.statistics.relevance import perturbation, relevance_summary
from analysis.statistics.relevance.perturbation import RANDOM
from pages.relevance.quantities import with_interval, written
from pages.relevance.rules import rule_name
from pages.ui.finding import Finding
from pages.ui.store.chosen import ask
from pages.ui.words.interval import row_with_interval
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_FIRST, _LAST = RULES[0], RULES[-1]


def _where() -> Iterator[Finding]:
    """Compare the share of [CLS] and of the top tokens by rollout with that by rule iv."""
    top = _whole_way("top5_share")
    if not {_FIRST, _LAST} <= set(top.index):
        return
    on_cls = _whole_way("cls_share")
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
        "corpus",
        _rules(shares.loc[[_LAST, _FIRST]]),
        baseline=rule_name(_FIRST),
        choices={"re_quantity": f"{'cls' if kind == 'cls' else 'top5'}_share"},
    )


def _mask() -> Iterator[Finding]:
    """Name the rule with the largest mask gain, with the gains of the others.

    The gain is the relevance inside the mask beyond that of a uniform map.
    """
    gains, shares = _whole_way("mask_gain"), _whole_way("mask_share")
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
        "corpus",
        _rules(pd.concat([of_rules.loc[[best]], others])),
        baseline=0.0,
        format="+.0%",
        choices={"re_quantity": "mask_gain"},
    )


def _deletion() -> Iterator[Finding]:
    """Name the rule with the smallest deletion area, with that of a random order."""
    areas = ask(perturbation.areas)
    areas = areas[areas["curve"] == "deletion"].set_index("rule")
    named = areas[areas.index != RANDOM]
    if named.empty or RANDOM not in areas.index:
        return
    best = str(named["mean"].idxmin())
    row, random = named.loc[best], areas.loc[RANDOM]
    yield Finding(
        say("finding.label_deletion", rule=rule_name(best)),
        f"{percent(random['mean'])} → {percent(row['mean'])}",
        say(
            "finding.deletion",
            rule=rule_name(best),
            mean=row_with_interval(row, written=percent),
            random=row_with_interval(random, written=percent),
            others=len(named) - 1,
        ),
        "methods",
        _rules(areas.loc[[best, RANDOM]]),
        baseline=rule_name(RANDOM),
    )


def _whole_way(quantity: str) -> pd.DataFrame:
    """Value of every rule with relevance from the last layer: rows mean, low, high."""
    frame = ask(relevance_summary.by_layer, quantity=quantity)
    return frame[frame["layer"] == frame["layer"].max()].set_index("rule")


def _rules(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of rules as evidence of a finding."""
    named = frame.assign(name=frame.index.map(rule_name), value=frame["mean"])
    return named[["name", "value", "low", "high"]]


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "relevance_summary": lambda: chain(_mask(), _where()),
    "perturbation": _deletion,
}
