"""Choice of relation, direction, merging and head, shared by all sections."""

from typing import NamedTuple

import pandas as pd

from analysis.statistics.annotation import MERGINGS
from analysis.statistics.probing import dependency_accuracy, dependency_best
from analysis.statistics.probing.dependency_scores import DIRECTIONS
from pages.syntax.names import explain, word_counts
from pages.ui.head.choice import Head, head_with_most, short_name
from pages.ui.head.picker import pick_head
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.dependencies import EVERYTHING, relation_name

LEAST = 10
"""Relations with fewer words are hidden unless the reader asks for them."""
_FREQUENT = 100
"""Number of words of a relation from which it counts as frequent, as in the paper."""
EITHER = "either"


class Chosen(NamedTuple):
    """Choices shared by the sections on a relation."""

    relation: str
    direction: str
    merging: str
    weighing: str

    def heads(self, inquiry: Inquiry) -> pd.DataFrame:
        """Accuracy of every head; for either direction, the better of both.

        Returns:
            layer, head, direction, n, accuracy, low, high.
        """
        choices = {"relation": self.relation, "merging": self.merging, "weighing": self.weighing}
        directions = DIRECTIONS if self.direction == EITHER else (self.direction,)
        scores = inquiry.ask_each(
            dependency_accuracy.of_relation, "direction", directions, **choices
        )
        best = scores.groupby(["layer", "head"])["accuracy"].idxmax()
        return scores.loc[best].reset_index(drop=True)

    def direction_of(self, inquiry: Inquiry, layer: int, head: int) -> str:
        """Chosen direction; for either, the one in which the head is more accurate."""
        directions = self.heads(inquiry).set_index(["layer", "head"])["direction"]
        usual = DIRECTIONS[0] if self.direction == EITHER else self.direction
        return str(directions.get((layer, head), usual))


def pick_chosen(view: View) -> Chosen:
    """Let the reader pick weighing, relation, direction and merging; explain the relation."""
    weighing = view.pick_weighing()
    relation = pick_relation(view)
    direction = view.pick("direction", (EITHER, *DIRECTIONS))
    merging = view.pick("merging", MERGINGS)
    explain(view, relation)
    return Chosen(relation, direction, merging, weighing)


def pick_relation(view: View) -> str:
    """Let the reader pick a relation, the most frequent first; by default that of `_clearest`."""
    counts = word_counts(view)
    options = [relation for relation in counts if relation not in EVERYTHING]
    options += [relation for relation in EVERYTHING if relation in counts]
    default = _clearest(view) or options[0]
    return view.pick("relation", options, default=default, format=relation_name, kind="select")


def _clearest(inquiry: Inquiry) -> str | None:
    """Frequent relation whose best head exceeds the best fixed offset most.

    Without frequent relations, the most frequent one: a few words prove nothing.
    """
    best = inquiry.ask(dependency_best.best, merging=MERGINGS[0], chosen_on="all")
    best = best[~best["relation"].isin(EVERYTHING)].dropna(subset="difference")
    frequent = best[best["n"] >= _FREQUENT]
    clearest = frequent.nlargest(1, "difference") if len(frequent) else best.nlargest(1, "n")
    return str(clearest["relation"].iloc[0]) if len(clearest) else None


def best_heads(inquiry: Inquiry, merging: str, chosen_on: str, weighing: str) -> pd.DataFrame:
    """Best head of every relation, the most accurate first, with its number of words as `total`."""
    best = inquiry.ask(
        dependency_best.best, merging=merging, chosen_on=chosen_on, weighing=weighing
    )
    best = best.dropna(subset="accuracy").assign(total=best["relation"].map(word_counts(inquiry)))
    return best.sort_values("accuracy", ascending=False, ignore_index=True)


def pick_probe(view: View, chosen: Chosen) -> Head:
    """Let the reader pick a head; by default the most accurate one on some relation.

    The first head if none was scored.
    """
    best = head_with_most(chosen.heads(view), "accuracy")
    name = view.say("head_best", head=short_name(*best))
    return pick_head(view, default=best, best=name)
