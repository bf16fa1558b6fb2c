"""Display names and meanings of relations, directions and heads."""

import pandas as pd

from analysis.statistics.probing import dependency_accuracy
from pages.ui.head.choice import head_names
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.dependencies import (
    EVERYTHING,
    relation_label,
    relation_line,
    relation_name,
)
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say
from pages.ui.words.scope import say_here

LEFT_OUT = ("root", "punct")
UNIVERSAL = (
    *("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound"),
    *("conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat"),
    *("goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan"),
    *("parataxis", "punct", "reparandum", "root", "vocative", "xcomp"),
)
"""The 37 relations of Universal Dependencies, version 2."""
_SHARES = ("accuracy", "accuracy_chosen", "accuracy_weight", "accuracy_norm", "offset_accuracy")
_ENDS = ("low", "high", "difference", "difference_low", "difference_high")
_FORMATS = {**dict.fromkeys((*_SHARES, *_ENDS), "percent"), "offset": "%+d"}


def direction_name(direction: str) -> str:
    return say(f"syntax.direction_{direction}")


def is_of(relation: str, label: str) -> bool:
    """Return True if the label belongs to the relation; a universal relation includes subtypes."""
    if relation in EVERYTHING:
        return relation == "all_words" or label not in LEFT_OUT
    return relation in (label, label.partition(":")[0])


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace relations, and directions and heads if there are any, by display names."""
    named = frame.assign(relation_named=frame["relation"].map(relation_name))
    if "head" not in frame:
        return named
    directions = frame["direction"].map(direction_name)
    return named.assign(head_name=head_names(frame), direction_named=directions)


def columns(*names: str) -> dict[str, str | None]:
    """Columns of a table with their number formats: shares in per cent, offsets signed."""
    return {name: _FORMATS.get(name) for name in names}


def word_counts(inquiry: Inquiry) -> dict[str, int]:
    """Number of words of each relation in the corpus."""
    return inquiry.ask(dependency_accuracy.relations).set_index("relation")["n"].to_dict()


def explain(view: View, relation: str) -> None:
    """Explain a relation in one line."""
    view.note(f"**{relation_label(relation)}**: {relation_line(relation) or say_here('unknown')}")


def explain_all(view: View) -> None:
    """Explain the universal relations and those of the corpus in a fold, with their counts."""
    counts = word_counts(view)
    heads = "|".join(say_here(f"meanings_{name}") for name in ("label", "meaning", "n"))
    rows = [
        f"|{plain(relation_name(relation))}|{relation_line(relation) or say_here('unknown')}|"
        f"{count(counts[relation]) if relation in counts else '—'}|"
        for relation in sorted({*UNIVERSAL, *counts} - set(EVERYTHING))
    ]
    with view.place("expander", say_here("meanings")):
        view.write("markdown", say_here("meanings_lead"))
        view.write("markdown", "\n".join([f"|{heads}|", "|---|---|--:|", *rows]))
