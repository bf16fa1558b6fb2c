"""Rules and published methods side by side: on one input, in rank, and by what a class hangs on."""

import streamlit as st

from analysis.tables.relevance import (
    class_prediction,
    perturbation,
    relevance_agreement,
    relevance_map,
    sequence_perturbation,
)
from analysis.tables.table import Table
from pages.relevance.method_agreement import agreement
from pages.relevance.method_curves import curves
from pages.relevance.method_maps import image_methods, text_methods
from pages.ui.about import about
from pages.ui.store.chosen import open_store, require, shows_images
from pages.ui.words.say import say


def show() -> None:
    require(relevance_map.TABLE)
    st.header(say("relevance_methods.title"), anchor=False)
    images = shows_images()
    seq = image_methods() if images else text_methods()
    missing = []
    if _has(relevance_agreement.TABLE):
        agreement()
    else:
        missing.append(relevance_agreement.TABLE)
    if _has(perturbation.TABLE):
        curves(seq)
    elif images and _has(class_prediction.TABLE):
        missing.append(perturbation.TABLE)
    else:
        st.caption(say(f"relevance_methods.no_curves_{'unclassified' if images else 'text'}"))
    about(
        relevance_map.TABLE,
        relevance_agreement.TABLE,
        perturbation.TABLE,
        sequence_perturbation.TABLE,
    )
    require(*missing)


def _has(statistic: Table) -> bool:
    return bool(open_store().rows.get(statistic.name))
