"""Which relation, direction, merging and head are looked at; all sections share the choice."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.tables.annotation import MERGINGS
from analysis.tables.probing import dependency_accuracy, dependency_best
from analysis.tables.probing.dependency_prediction import DIRECTIONS
from pages.syntax.names import EVERYTHING, direction_name, relation_name
from pages.ui.choices.pick import choose, pick
from pages.ui.head.choice import Head, head_name, pick_head
from pages.ui.store.chosen import ask
from pages.ui.words.say import say

LEAST = 100
"""Relations with fewer cases are hidden unless the reader asks for them, as in the paper."""
_EITHER = "either"


@dataclass(frozen=True)
class Chosen:
    """What every section on a relation looks at."""

    relation: str
    direction: str
    merging: str
    weighing: str

    @property
    def key(self) -> str:
        return f"{self.relation}_{self.direction}_{self.merging}_{self.weighing}"


def pick_merging() -> str:
    """How the weights of a word's pieces become one: their mean, or those of the first piece."""
    return pick(
        "sy_merging",
        say("syntax.merging.label"),
        MERGINGS,
        default=MERGINGS[0],
        format=lambda each: say(f"syntax.merging.{each}"),
        help=say("syntax.merging.help"),
    )


def pick_direction() -> str:
    return pick(
        "sy_direction",
        say("syntax.direction.label"),
        (_EITHER, *DIRECTIONS),
        default=_EITHER,
        format=direction_name,
        help=say("syntax.direction.help"),
    )


def pick_relation() -> str:
    """One of the corpus's relations, the most frequent first; the clearest one unless chosen."""
    names = ask(dependency_accuracy.relations)["relation"].tolist()
    everything = [each for each in EVERYTHING if each in names]
    options = [*(each for each in names if each not in EVERYTHING), *everything]
    return pick(
        "sy_relation",
        say("syntax.relation.label"),
        options,
        default=_clearest() or options[0],
        format=relation_name,
        kind="select",
        help=say("syntax.relation.help"),
    )


def _clearest() -> str | None:
    """The relation whose best head is furthest above the best fixed offset, of frequent ones."""
    best = ask(dependency_best.best, merging=MERGINGS[0], chosen_on="all")
    best = best[~best["relation"].isin(EVERYTHING)].dropna(subset="difference")
    if best.empty:
        return None
    frequent = best[best["n"] >= LEAST]
    return str((frequent if len(frequent) else best).nlargest(1, "difference")["relation"].iloc[0])


def pick_probe(chosen: Chosen) -> Head:
    """A head, or the best one for a relation, whichever that is."""
    best = best_head(chosen)
    told = say("syntax.head.best", relation=chosen.relation, head=head_name(*best))
    return pick_head(
        say("syntax.head.label"), default=best, help=say("syntax.head.help"), best=told
    )


def best_head(chosen: Chosen) -> Head:
    """The head that is right most often about a relation."""
    scores = all_heads(chosen)
    if scores.empty:
        return 1, 1
    best = scores.nlargest(1, "accuracy").iloc[0]
    return int(best["layer"]), int(best["head"])


def all_heads(chosen: Chosen) -> pd.DataFrame:
    """Every head's accuracy for a relation; in either direction, the better one of each head.

    Returns:
        layer, head, direction, n, accuracy, low, high.
    """
    directions = DIRECTIONS if chosen.direction == _EITHER else (chosen.direction,)
    parts = [
        ask(
            dependency_accuracy.of_relation,
            relation=chosen.relation,
            merging=chosen.merging,
            direction=each,
            weighing=chosen.weighing,
        ).assign(direction=each)
        for each in directions
    ]
    scores = pd.concat(parts, ignore_index=True)
    if scores.empty:
        return scores
    best = scores.groupby(["layer", "head"])["accuracy"].idxmax()
    return scores.loc[best].reset_index(drop=True)


def direction_of(chosen: Chosen, layer: int, head: int) -> str:
    """The direction that is looked at; of either, the one in which the head is better."""
    if chosen.direction != _EITHER:
        return chosen.direction
    scores = all_heads(chosen)
    found = scores.loc[(scores["layer"] == layer) & (scores["head"] == head), "direction"]
    return str(found.iloc[0]) if len(found) else DIRECTIONS[0]


def to_view(view: str, label: str) -> None:
    """A button to another section of the page, which goes on with the same choices."""
    st.button(label, key=f"sy_to_{view}", on_click=choose, args=("sy_view", view))
