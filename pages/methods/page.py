"""Definition, limits and source of every statistic."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from analysis.scopes import ORDERS
from analysis.sources import PAPERS
from pages.kit.folds import folded
from pages.kit.links import link_to_view
from pages.kit.picker import pick
from pages.kit.statistic_method import mathematics, methods
from pages.kit.table_documentation import citation, contracts
from pages.services.chosen import Store, chosen_file, readable, without_attention
from pages.words.names import paper_name, scope_meaning, scope_name
from pages.words.numbers import scientific
from pages.words.say import say

FORMULAS = mathematics("methods")
CHAPTERS = ("token_types", "masked", "intervals", "ranks", "omissions", "limits", "differences")
"""Texts on methods shared by several statistics."""


def _anchor(name: str) -> str:
    return name.replace("_", "-")


def _written(*paragraphs: str) -> None:
    """Write paragraphs as one element: hundreds of elements make a page slow."""
    st.markdown("\n\n".join(paragraphs))


def _displayed(formula: str) -> str:
    """Format a formula as a display equation."""
    return f"$$\n{formula.strip()}\n$$"


def foundation() -> None:
    """Show the decomposition of attention into vectors that all statistics start from."""
    before, after = (say(f"methods.foundation.{name}") for name in ("before", "after"))
    _written(before, *map(_displayed, FORMULAS["foundation"].values()), after)


def layer() -> None:
    """Show the same decomposition for a whole layer, module by module."""
    for name, formula in FORMULAS["layer"].items():
        _written(say(f"methods.layer.{name}"), _displayed(formula))
    st.markdown(say("methods.layer.scopes"))
    columns = ("scope", "in_papers", "counted")
    heads = f"|{'|'.join(say(f'methods.layer.{column}') for column in columns)}|"
    for order in ORDERS.values():
        st.markdown(say(f"methods.layer.scopes_{order.name}"))
        rows = [
            f"|{scope_name(scope)}|{paper_name(scope)}|{scope_meaning(scope)}|"
            for scope in order.scopes
        ]
        st.markdown("\n".join([heads, "|---|---|---|", *rows]))


def statistics() -> None:
    """Show formula, text and tables of every statistic of one picked page; all at once are slow."""
    page = pick(
        "me_page",
        say("methods.statistics.page"),
        list(dict.fromkeys(method.page for method in methods().values())),
        default="norms",
        format=lambda stem: say(f"page.{stem}.title"),
        kind="pills",
        named=False,
    )
    of_page = {name: method for name, method in methods().items() if method.page == page}
    for name, method in of_page.items():
        st.subheader(say(f"method.{name}.title"), anchor=_anchor(name))
        _written(*map(_displayed, method.formulas), say(f"method.{name}.text"))
        if method.view:
            link_to_view(method.page, method.view, say("methods.see"))
        draw = partial(contracts, method.tables)
        folded("expander", say("methods.contract"), f"contract_{name}", draw)


def models() -> None:
    """Describe how models are read and proved, and how well the one of the open file was."""
    paragraphs = [say("methods.models.text")]
    path = chosen_file()
    store = readable(path) if path is not None else None
    facts = store.facts if isinstance(store, Store) else {}
    errors = [float(value) for name, value in facts.items() if name.startswith("proof_")]
    if errors:
        error = scientific(max(errors))
        paragraphs.append(say(f"methods.models.{facts.get('reading', 'found')}", error=error))
    if isinstance(store, Store) and (gaps := without_attention(store)):
        paragraphs.append(say("methods.models.gaps", layers=gaps))
    if settings := facts.get("settings_not_read"):
        paragraphs.append(say("methods.models.settings", names=settings))
    _written(*paragraphs)


def glossary() -> None:
    rows = [
        f"|{symbol}|{say(f'glossary.{name}.term')}|{say(f'glossary.{name}.text')}|"
        for name, symbol in FORMULAS["glossary"].items()
    ]
    heads = [say(f"methods.glossary.{name}") for name in ("symbol", "term", "meaning")]
    st.markdown("\n".join([f"|{'|'.join(heads)}|", "|---|---|---|", *rows]))


def papers() -> None:
    st.markdown("\n".join(f"- {citation(key)}" for key in PAPERS))


PARTS: dict[str, Callable[[], None]] = {
    "foundation": foundation,
    "layer": layer,
    "statistics": statistics,
    **{name: partial(_written, say(f"methods.{name}.text")) for name in CHAPTERS},
    "models": models,
    "glossary": glossary,
    "papers": papers,
}
titles = {name: say(f"methods.{name}.title") for name in PARTS}
st.title(say("methods.title"), anchor=False)
st.markdown(say("methods.lead"))
st.markdown(" · ".join(f"[{title}](#{_anchor(name)})" for name, title in titles.items()))
for name, draw in PARTS.items():
    st.header(titles[name], anchor=_anchor(name))
    draw()
