"""The paper's table 1 beside what this file has; its treebank has labels of its own."""

import pandas as pd

from analysis.published.heads import PublishedHead, numbers
from analysis.tables.probing import dependency_best
from pages.syntax.names import direction_name, relation_label
from pages.ui.head.choice import head_name
from pages.ui.published import Row
from pages.ui.store.chosen import ask
from pages.ui.words.offsets import offset_label
from pages.ui.words.place import say_here

UNIVERSAL = {
    "all": "all_words",
    "nn": "compound",
    "dobj": "obj",
    "poss": "nmod:poss",
    "auxpass": "aux:pass",
    "prt": "compound:prt",
}
"""The universal relation that is nearest to a label of Stanford Dependencies, where it has another
name. `prep` and `pobj` have none: there the preposition governs the noun, in Universal Dependencies
the noun governs it."""
_TABLE_1 = ("own_table", 1)


def published_heads(merging: str) -> list[Row]:
    """Table 1 beside the best heads and offsets of this file, chosen and scored on all of it."""
    best = ask(dependency_best.best, merging=merging, chosen_on="all").set_index("relation")
    rows = []
    for head in numbers("dependency_accuracy", place=_TABLE_1):
        (offset,) = numbers("dependency_baseline", place=_TABLE_1, relation=head.relation)
        label = _label(head)
        name, signed = head_name(head.layer or 0, head.head or 0), offset_label(offset.offset or 0)
        title = say_here(
            "published_head", relation=label, head=name, direction=direction_name(head.direction)
        )
        rows.append(Row(title, head, _ours(best["accuracy"], head)))
        title = say_here("published_offset", relation=label, offset=signed)
        rows.append(Row(title, offset, _ours(best["offset_accuracy"], offset)))
    return rows


def _ours(values: pd.Series, published: PublishedHead) -> float | None:
    """This file's value for a relation of the paper, under whichever label it has here."""
    nearest = UNIVERSAL.get(published.relation, "")
    return values.get(nearest, values.get(published.relation))


def _label(published: PublishedHead) -> str:
    """The paper's label, and the universal one where that is another."""
    relation = published.relation
    if relation == "all":
        return relation_label("all_words")
    return f"{relation} (UD {UNIVERSAL[relation]})" if relation in UNIVERSAL else relation
