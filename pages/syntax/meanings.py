"""What every label of a dependency means, in one line each."""

import streamlit as st

from analysis.tables.probing import dependency_accuracy
from pages.syntax.names import EVERYTHING, relation_line, relation_name
from pages.ui.store.chosen import ask
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

UNIVERSAL = (
    *("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound"),
    *("conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat"),
    *("goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan"),
    *("parataxis", "punct", "reparandum", "root", "vocative", "xcomp"),
)
"""The 37 relations of Universal Dependencies, version 2."""


def meanings() -> None:
    """A fold with the universal relations and those of the corpus, and how often they occur."""
    found = ask(dependency_accuracy.relations).set_index("relation")["n"].to_dict()
    labels = sorted({*UNIVERSAL, *found} - set(EVERYTHING))
    with st.expander(say("syntax.meanings.title")):
        st.markdown(say("syntax.meanings.lead"))
        heads = [say(f"syntax.meanings.{each}") for each in ("label", "meaning", "n")]
        rows = [
            f"|{_label(each)}|{relation_line(each) or say('syntax.unknown')}|"
            f"{count(found[each]) if each in found else '—'}|"
            for each in labels
        ]
        st.markdown("\n".join([f"|{'|'.join(heads)}|", "|---|---|--:|", *rows]))


def _label(relation: str) -> str:
    label, dot, name = relation_name(relation).partition(" · ")
    return f"{plain(label)}{dot}{plain(name)}"
