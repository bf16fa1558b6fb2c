"""What a file says at a glance of what heads look at."""

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.tables import (
    coreference_best,
    dependency_best,
    gradient_importance,
    head_pattern,
    layer_cohesion,
    parser_accuracy,
)
from pages.shared.finding import Finding
from pages.shared.head_choice import head_name
from pages.shared.head_facts import LEAST, MERGING, SUMS
from pages.shared.head_habits.habits import importance_shares
from pages.shared.head_map.behaviours import behaviour_name, behaviours_of_heads
from pages.shared.look import token_type_name
from pages.shared.numbers import count, percent
from pages.shared.store import ask, open_store
from pages.shared.words import plain, say

_OTHER = "other"
_TYPES = ("cls", "sep", "comma_period")
_STAND_IN = "pooled_length"
_SURE = 0.05
_PARSERS = (
    "attention_words",
    "attention",
    "distances_words",
    "right_branching",
    "attention_words_shuffled",
)
_HALF = "first"  # the half that the best is chosen on; it is scored on the other


def _habits() -> Iterator[Finding]:
    """How many heads have one habit above all, and which."""
    found = behaviours_of_heads()["behaviour"].value_counts()
    n, other = int(found.sum()), int(found.get(_OTHER, 0))
    if not n:
        return
    told = [
        say("finding.habits_one", n=many, behaviour=behaviour_name(str(each)))
        for each, many in found.items()
        if each != _OTHER
    ]
    if not told:
        return
    yield Finding(
        say("finding.label_habits"),
        say("finding.habits_number", n=n - other, of=n),
        say("finding.habits", of=n, told=say("list.comma").join(told), other=other),
        "head_habits",
        "heads",
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
    )


def _cohesion() -> Iterator[Finding]:
    """Whether heads of one layer are alike, over all layers."""
    frame = ask(layer_cohesion.cohesion)
    every = frame[frame["layer"].isna()]
    if every.empty:
        return
    row = every.iloc[0]
    alike = row["difference"] > 0 and row["p_value"] < _SURE
    yield Finding(
        say("finding.label_cohesion"),
        say(
            "finding.cohesion_number",
            within=f"{row['within']:.2f}",
            between=f"{row['between']:.2f}",
        ),
        say(f"finding.cohesion_{'alike' if alike else 'unclear'}", p=f"{row['p_value']:.2g}"),
        "head_map",
        "layers",
    )


def _syntax() -> Iterator[Finding]:
    """The relation on which a head, chosen on other sentences, is furthest above its offset."""
    frame = ask(dependency_best.best, merging=MERGING, chosen_on=_HALF)
    frame = frame[(frame["n"] >= LEAST) & ~frame["relation"].isin(SUMS)]
    if frame.empty:
        return
    row = frame.loc[frame["difference"].idxmax()]
    relation = str(row["relation"])
    yield Finding(
        say("finding.label_syntax", relation=plain(relation)),
        percent(row["accuracy"]),
        say(
            "finding.syntax",
            **_told(row),
            offset=percent(row["offset_accuracy"]),
            clear=int((frame["difference_low"] > 0).sum()),
            of=len(frame),
            least=LEAST,
        ),
        "syntax",
        "relations",
    )


def _parsers() -> Iterator[Finding]:
    """How much of a tree all heads together tell, mean over seeds, beside what needs no heads."""
    means = ask(parser_accuracy.accuracies).groupby("method")["uas"].mean()
    if not set(_PARSERS) <= set(means.index):
        return
    told = {name: percent(float(means[name])) for name in _PARSERS}
    yield Finding(
        say("finding.label_parsers"),
        told["attention_words"],
        say("finding.parsers", **told),
        "syntax",
        "parsers",
    )


def _coreference() -> Iterator[Finding]:
    """The head that is best at antecedents, scored on other texts beside the rules there."""
    frame = ask(coreference_best.best, merging=MERGING, chosen_on=_HALF)
    frame = frame[frame["mention_type"] == "all"]
    if frame.empty:
        return
    pairs = zip(frame["baseline"], frame["baseline_accuracy"], strict=True)
    rules = [f"{say(f'coreference.method_{rule}')} {percent(share)}" for rule, share in pairs]
    row = frame.iloc[0]
    yield Finding(
        say("finding.label_coreference"),
        percent(row["accuracy"]),
        say("finding.coreference", **_told(row), rules=say("list.comma").join(rules)),
        "coreference",
        "rules",
    )


def _told(row: pd.Series) -> dict[str, object]:
    """The head of a row, from how many it was chosen, and how it does."""
    shares = {name: percent(row[name]) for name in ("accuracy", "low", "high")}
    head = head_name(int(row["layer"]), int(row["head"]))
    return {**shares, "head": head, "tried": count(row["n_tried"]), "n": count(row["n"])}


FINDERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "head_pattern": _habits,
    "gradient_importance": _gradients,
    "layer_cohesion": _cohesion,
    "dependency_best": _syntax,
    "parser_accuracy": _parsers,
    "coreference_best": _coreference,
}
