"""What a file says at a glance of what heads look at."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.habits import TOKEN_TYPES
from analysis.tables.heads import gradient_importance, head_pattern
from pages.ui.finding import Finding, rows_of, shares_by_layer
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads
from pages.ui.head.habits import importance_shares
from pages.ui.store.absences import FIRST, types_apart
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_OTHER = "other"
_FIRST = ("bos", FIRST)
"""Types of tokens that the habit is attention to."""
_STAND_IN = "pooled_length"


def _habits() -> Iterator[Finding]:
    """How many heads have one habit above all, and which."""
    counts = behaviours_of_heads()["behaviour"].value_counts()
    surely = behaviours_of_heads(by="low")["behaviour"] != _OTHER
    n, other = int(counts.sum()), int(counts.get(_OTHER, 0))
    named = [
        say("finding.habits_one", n=many, behaviour=behaviour_name(str(behaviour)))
        for behaviour, many in counts.items()
        if behaviour != _OTHER
    ]
    if not named:
        return
    yield Finding(
        say("finding.label_habits"),
        say("finding.habits_number", n=n - other, of=n),
        say("finding.habits", of=n, shares=say("list.comma").join(named), other=other),
        "heads",
        rows_of((behaviour_name(str(behaviour)), many / n) for behaviour, many in counts.items()),
        known_by=say("finding.habits_known_by", n=int(surely.sum()), of=n - other),
    )


def _gradients() -> Iterator[Finding]:
    """Whether the type that gets most attention is one that the loss depends on."""
    if not open_store().holds(head_pattern.TABLE):
        return
    frame = ask(gradient_importance.by_layer)
    objective = str(frame["objective"].iloc[0])
    means = frame[frame["head"].isna()].rename(columns={"importance": "mean"})
    shares = importance_shares(means)
    patterns = ask(head_pattern.by_layer)
    weights = patterns[patterns["quantity"].isin(TOKEN_TYPES)].groupby("quantity")["mean"].mean()
    if weights.empty:
        return
    most = str(weights.idxmax())
    kinds = _FIRST if most == FIRST else (most,)
    weight, share = float(weights[most]), float(shares.reindex(kinds).sum())
    kind = "_stand_in" if objective == _STAND_IN else ""
    name = token_type_name(next((kind for kind in kinds if kind in shares), most))
    compared = say("finding.of_weight")
    of_weight = patterns[patterns["quantity"] == most].rename(columns={"mean": "value"})
    of_weight = of_weight[["layer", "value", "low", "high"]].assign(name=compared)
    of_type = shares_by_layer(means, means["token_type"].isin(kinds), say("finding.of_importance"))
    yield Finding(
        say(f"finding.label_gradients{kind}", token_type=name),
        f"{percent(weight)} → {percent(share)}",
        say(
            f"finding.gradients_{'less' if share < weight else 'more'}",
            types=types_apart(),
            token_type=name,
            weight=percent(weight),
            share=percent(share),
            objective=say(f"finding.objective_{objective}"),
        ),
        "gradients",
        pd.concat([of_type, of_weight], ignore_index=True),
        baseline=compared,
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "head_pattern": _habits,
    "gradient_importance": _gradients,
}
