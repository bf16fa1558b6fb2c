"""What a file says at a glance of what heads look at."""

from collections.abc import Callable, Iterator

from analysis.tables.heads import gradient_importance, head_pattern
from pages.ui.finding import Finding, rows_of
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads
from pages.ui.head.habits import importance_shares
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_OTHER = "other"
_TYPES = ("cls", "sep", "comma_period")
_STAND_IN = "pooled_length"


def _habits() -> Iterator[Finding]:
    """How many heads have one habit above all, and which."""
    found = behaviours_of_heads()["behaviour"].value_counts()
    n, other = int(found.sum()), int(found.get(_OTHER, 0))
    if not n:
        return
    named = [
        say("finding.habits_one", n=many, behaviour=behaviour_name(str(each)))
        for each, many in found.items()
        if each != _OTHER
    ]
    if not named:
        return
    yield Finding(
        say("finding.label_habits"),
        say("finding.habits_number", n=n - other, of=n),
        say("finding.habits", of=n, shares=say("list.comma").join(named), other=other),
        "head_habits",
        "heads",
        rows_of((behaviour_name(str(each)), many / n) for each, many in found.items()),
    )


def _gradients() -> Iterator[Finding]:
    """Whether the special type that gets most attention is one that the loss depends on."""
    if not open_store().rows.get(head_pattern.TABLE.name):
        return
    frame = ask(gradient_importance.by_layer)
    objective = str(frame["objective"].iloc[0])
    means = frame[frame["head"].isna()]
    shares = importance_shares(means.rename(columns={"importance": "mean"}))
    weights = ask(head_pattern.by_layer).groupby("quantity")["mean"].mean()
    weights = weights[weights.index.isin(_TYPES)]
    if weights.empty:
        return
    most = str(weights.idxmax())
    weight, share = float(weights[most]), float(shares.get(most, 0.0))
    kind = "_stand_in" if objective == _STAND_IN else ""
    name = token_type_name(most)
    yield Finding(
        say(f"finding.label_gradients{kind}", token_type=name),
        f"{percent(weight)} → {percent(share)}",
        say(
            f"finding.gradients_{'less' if share < weight else 'more'}",
            token_type=name,
            weight=percent(weight),
            share=percent(share),
            objective=say(f"finding.objective_{objective}"),
        ),
        "head_habits",
        "gradients",
        rows_of([(say("finding.of_importance"), share), (say("finding.of_weight"), weight)]),
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "head_pattern": _habits,
    "gradient_importance": _gradients,
}
