"""Findings for the overview on habits of heads."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.habits import TOKEN_TYPES
from analysis.statistics.heads import gradient_importance, head_pattern
from analysis.statistics.heads.head_behaviour import OTHER
from pages.ui.finding import Finding, over_layers, rows_of, share_of
from pages.ui.head.behaviours import behaviour_name, behaviours_of_heads, habits_sentence
from pages.ui.store.absences import FIRST, types_apart
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.names import token_type_name
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_STAND_IN = "pooled_length"


def _habits() -> Iterator[Finding]:
    """Count the heads with a dominant habit, by habit."""
    heads = behaviours_of_heads()
    counts = heads["behaviour"].value_counts()
    surely = behaviours_of_heads(by="low")["behaviour"] != OTHER
    of, some = len(heads), int((heads["behaviour"] != OTHER).sum())
    if not some:
        return
    rows = [(say("finding.habits_any"), some)]
    rows += [(behaviour_name(str(behaviour)), many) for behaviour, many in counts.items()]
    yield Finding(
        say("finding.label_habits"),
        say("finding.habits_number", n=some, of=of),
        f"{say('finding.habits')} {habits_sentence(heads)}",
        "heads",
        rows_of(rows),
        format=",.0f",
        known_by=say("finding.habits_known_by", n=int(surely.sum()), of=some),
    )


def weight_and_importance(means: pd.DataFrame) -> tuple[str, pd.DataFrame] | None:
    """Token type with most attention, with its share of |∂L/∂α| compared with that of the weight.

    Both are means over layers, with evidence. None if the file lacks the shares of attention.

    Args:
        means: rows layer, token_type, mean, low, high of the importance, means over heads.
    """
    if not open_store().holds(head_pattern.TABLE):
        return None
    patterns = ask(head_pattern.by_layer)
    weights = patterns[patterns["quantity"].isin(TOKEN_TYPES)].groupby("quantity")["mean"].mean()
    if weights.empty:
        return None
    most = str(weights.idxmax())
    kinds = ("bos", FIRST) if most == FIRST else (most,)  # the habit is of both
    layers = (part for _, part in means.groupby("layer"))
    importance = over_layers(
        pd.DataFrame([share_of(part, part["token_type"].isin(kinds)) for part in layers])
    )
    weight = over_layers(patterns[patterns["quantity"] == most])
    rows = [(say("finding.of_importance"), *importance), (say("finding.of_weight"), *weight)]
    return next((kind for kind in kinds if kind in set(means["token_type"])), most), rows_of(rows)


def importance_sentence(most: str, evidence: pd.DataFrame) -> str:
    """Sentence on the result of `weight_and_importance`."""
    share, weight = evidence["value"].map(percent)
    return say(
        "finding.gradients",
        types=types_apart(),
        token_type=token_type_name(most),
        weight=weight,
        share=share,
    )


def _gradients() -> Iterator[Finding]:
    """Share of |∂L/∂α| of the token type with most attention."""
    frame = ask(gradient_importance.by_layer)
    objective = str(frame["objective"].iloc[0])
    found = weight_and_importance(
        frame[frame["head"].isna()].rename(columns={"importance": "mean"})
    )
    if found is None:
        return
    most, evidence = found
    share, weight = evidence["value"].map(percent)
    kind = "_stand_in" if objective == _STAND_IN else ""
    yield Finding(
        say(f"finding.label_gradients{kind}", token_type=token_type_name(most)),
        f"{weight} → {share}",
        f"{importance_sentence(most, evidence)} {say(f'finding.objective_{objective}')}",
        "gradients",
        evidence,
        baseline=say("finding.of_weight"),
    )


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "head_pattern": _habits,
    "gradient_importance": _gradients,
}
