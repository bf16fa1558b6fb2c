"""The paper's tables 1 and 3 beside what this file has; its treebank has labels of its own."""

import pandas as pd

from analysis.published.heads import RANDOM_INIT, PublishedHead, numbers
from analysis.tables.probing import dependency_best
from pages.syntax.names import direction_name
from pages.ui.head.choice import head_name
from pages.ui.published import Row, beside
from pages.ui.store.chosen import ask, open_store
from pages.ui.words.offsets import offset_told
from pages.ui.words.say import say

UNIVERSAL = {
    "all": "all_words",
    "det": "det",
    "nn": "compound",
    "nsubj": "nsubj",
    "amod": "amod",
    "dobj": "obj",
    "advmod": "advmod",
    "aux": "aux",
    "poss": "nmod:poss",
    "auxpass": "aux:pass",
    "ccomp": "ccomp",
    "mark": "mark",
    "prt": "compound:prt",
}
"""The universal relation that is nearest to a label of Stanford Dependencies. `prep` and `pobj`
have none: there the preposition governs the noun, in Universal Dependencies the noun governs it."""
_UNTRAINED_IS = "attention_words"  # of a file whose model was never trained
_TABLE_1 = ("own_table", 1)


def relations_beside(merging: str) -> None:
    """Table 1 beside the best heads and offsets of this file, chosen and scored on all of it."""
    best = ask(dependency_best.best, merging=merging, chosen_on="all").set_index("relation")
    rows = []
    for head in numbers("dependency_accuracy", place=_TABLE_1):
        (offset,) = numbers("dependency_baseline", place=_TABLE_1, relation=head.relation)
        rows.append(Row(_told_head(head), head, _ours(best, head, "accuracy")))
        rows.append(Row(_told_offset(offset), offset, _ours(best, offset, "offset_accuracy")))
    beside(*rows, key=f"sy_published_{merging}", title=say("syntax.published.title"))


def parsers_beside(means: pd.Series) -> None:
    """Table 3 beside the means of this file, which are by method.

    Its row on a model that was never trained stands first, by itself, if this file is of such one.
    """
    if open_store().random_weights is not None:
        row = Row(say(f"syntax.parsers.{RANDOM_INIT.method}"), RANDOM_INIT, means[_UNTRAINED_IS])
        beside(row, key="sy_published_untrained", title=say("syntax.published.title_untrained"))
    rows = [
        Row(say(f"syntax.parsers.{each.method}"), each, means.get(each.method))
        for each in numbers("parser_accuracy")
    ]
    beside(*rows, key="sy_published_parsers", title=say("syntax.published.title_parsers"))


def _ours(best: pd.DataFrame, published: PublishedHead, column: str) -> float | None:
    """This file's value for a relation of the paper, under whichever label it has here."""
    names = (UNIVERSAL.get(published.relation), published.relation)
    values = best[column].to_dict()
    return next((values[each] for each in names if each in values), None)


def _told_head(published: PublishedHead) -> str:
    return say(
        "syntax.published.head",
        relation=_label(published),
        head=head_name(published.layer or 0, published.head or 0),
        direction=direction_name(published.direction),
    )


def _told_offset(published: PublishedHead) -> str:
    offset = offset_told(published.offset or 0)
    return say("syntax.published.offset", relation=_label(published), offset=offset)


def _label(published: PublishedHead) -> str:
    """The paper's label, and the universal one where that is another."""
    relation = published.relation
    if relation == "all":
        return say("syntax.relation.all_words")
    nearest = UNIVERSAL.get(relation, "")
    return relation if nearest in ("", relation) else f"{relation} (UD {nearest})"
