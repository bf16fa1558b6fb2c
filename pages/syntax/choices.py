"""Which relation, direction, merging and head are looked at; all sections share the choice."""

from typing import NamedTuple

import pandas as pd

from analysis.tables.annotation import MERGINGS
from analysis.tables.probing import dependency_accuracy, dependency_best
from analysis.tables.probing.dependency_prediction import DIRECTIONS
from pages.syntax.names import EVERYTHING, explain, relation_name, word_counts
from pages.ui.head.bar import pick_head
from pages.ui.head.choice import Head, head_with_most, short_name
from pages.ui.store.chosen import ask
from pages.ui.store.together import ask_each
from pages.ui.view import View

LEAST = 100
"""Relations with fewer cases are hidden unless the reader asks for them, as in the paper."""
EITHER = "either"


class Chosen(NamedTuple):
    """What every section on a relation looks at."""

    relation: str
    direction: str
    merging: str
    weighing: str

    def heads(self) -> pd.DataFrame:
        """Every head's accuracy; in either direction, the better one of each head.

        Returns:
            layer, head, direction, n, accuracy, low, high.
        """
        choices = {"relation": self.relation, "merging": self.merging, "weighing": self.weighing}
        directions = DIRECTIONS if self.direction == EITHER else (self.direction,)
        scores = ask_each(dependency_accuracy.of_relation, "direction", directions, **choices)
        best = scores.groupby(["layer", "head"])["accuracy"].idxmax()
        return scores.loc[best].reset_index(drop=True)

    def direction_of(self, layer: int, head: int) -> str:
        """The direction that is looked at; of either, the one in which the head is better."""
        directions = self.heads().set_index(["layer", "head"])["direction"]
        usual = DIRECTIONS[0] if self.direction == EITHER else self.direction
        return str(directions.get((layer, head), usual))


def pick_chosen(view: View) -> Chosen:
    """Relation, direction and the two ways to weigh, and in one line what the relation is."""
    weighing = view.pick_weighing()
    relation = pick_relation(view)
    direction = view.pick("direction", (EITHER, *DIRECTIONS))
    merging = view.pick("merging", MERGINGS)
    explain(relation)
    return Chosen(relation, direction, merging, weighing)


def pick_relation(view: View) -> str:
    """One of the corpus's relations, the most frequent first; the clearest one unless chosen."""
    counts = word_counts()
    options = [relation for relation in counts if relation not in EVERYTHING]
    options += [relation for relation in EVERYTHING if relation in counts]
    default = _clearest() or options[0]
    return view.pick("relation", options, default=default, format=relation_name, kind="select")


def _clearest() -> str | None:
    """The relation whose best head is furthest above the best fixed offset, of frequent ones;
    where none is frequent, the most frequent, since of a few words nothing can be said."""
    best = ask(dependency_best.best, merging=MERGINGS[0], chosen_on="all")
    best = best[~best["relation"].isin(EVERYTHING)].dropna(subset="difference")
    frequent = best[best["n"] >= LEAST]
    clearest = frequent.nlargest(1, "difference") if len(frequent) else best.nlargest(1, "n")
    return str(clearest["relation"].iloc[0]) if len(clearest) else None


def best_heads(merging: str, chosen_on: str, weighing: str) -> pd.DataFrame:
    """The best head of every relation, the most accurate first, and its words as `total`."""
    best = ask(dependency_best.best, merging=merging, chosen_on=chosen_on, weighing=weighing)
    best = best.dropna(subset="accuracy").assign(total=best["relation"].map(word_counts()))
    return best.sort_values("accuracy", ascending=False, ignore_index=True)


def pick_probe(view: View, chosen: Chosen) -> Head:
    """A head, or the one that is right most often on a relation, whichever that is; the first of
    all where none was scored."""
    best = head_with_most(chosen.heads(), "accuracy")
    name = view.say("head_best", head=short_name(*best))
    return pick_head(view.say("head"), default=best, help=view.say("head_help"), best=name)
