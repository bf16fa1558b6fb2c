"""Definition, limits and source of every statistic."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from analysis.scopes import ORDERS
from analysis.sources import PAPERS
from analysis.statistics.mixing import bias_reading
from pages.ui.choices.links import link_to_view
from pages.ui.choices.picker import pick
from pages.ui.folds import folded
from pages.ui.frame import table
from pages.ui.statistic_method import mathematics, methods
from pages.ui.store.chosen import Store, chosen_file, readable, without_attention
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.missing import show_more_checks
from pages.ui.table_documentation import citation, contracts
from pages.ui.words.columns import column_settings
from pages.ui.words.interval_sentence import interval_sentence, listed_form
from pages.ui.words.names import scope_meaning, scope_name
from pages.ui.words.numbers import percent, scientific, signed
from pages.ui.words.say import say
from pages.ui.words.scope import words_of

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
    heads = f"|{say('methods.layer.scope')}|{say('methods.layer.counted')}|"
    for order in ORDERS.values():
        st.markdown(say(f"methods.layer.scopes_{order.name}"))
        rows = [f"|{scope_name(scope)}|{scope_meaning(scope)}|" for scope in order.scopes]
        st.markdown("\n".join([heads, "|---|---|", *rows]))


def statistics() -> None:
    """Show formula, text and tables of every statistic of one picked page; all at once are slow."""
    page = pick(
        "me_page",
        say("methods.statistics.page"),
        list(dict.fromkeys(method.page for method in methods().values())),
        default="attention_norms",
        format=lambda stem: say(f"page.{stem}.title"),
        kind="pills",
        named=False,
    )
    of_page = {name: method for name, method in methods().items() if method.page == page}
    for name, method in of_page.items():
        st.subheader(say(f"method.{name}.title"), anchor=_anchor(name))
        _written(*map(_displayed, method.formulas), say(f"method.{name}.text"))
        if name == "bias_reading":  # its numbers are shown only here
            bias_readings()
        if method.view:
            link_to_view(method.page, method.view, say("methods.see"))
        draw = partial(contracts, method.tables)
        folded("expander", say("methods.contract"), f"contract_{name}", draw)


def bias_readings() -> None:
    """Tabulate how the handling of the bias changes the results of the open file.

    If there is no file, or the file lacks the statistic, a caption says so.
    """
    path = chosen_file()
    store = path and readable(path)
    if not isinstance(store, Store) or not store.holds(bias_reading.TABLE):
        st.caption(say("methods.bias.absent"))
        return
    frame = Inquiry(store).ask(bias_reading.by_layer)
    st.markdown(_bias_finding(frame[frame["layer"].isna()].set_index("reading")))
    layers = [
        say("methods.bias.all") if pd.isna(layer) else str(int(layer)) for layer in frame["layer"]
    ]
    names = frame["reading"].map(lambda reading: say(f"methods.bias.{reading}"))
    formats: dict[str, str | None] = {
        **dict.fromkeys(("similarity", "similarity_low", "similarity_high", "mixing_ratio")),
        **dict.fromkeys(("same_amplified", "same_attenuated"), "%.1f"),
    }
    with words_of("methods", "bias"):
        numbers = column_settings(frame, formats)
        sure = interval_sentence("bias", listed_form(frame, formats))
    layer_column = st.column_config.TextColumn(say("axis.layer"), width="small")
    table(
        store,
        frame.assign(layer=layers, name=names),
        key="methods_bias_readings",
        question=say("methods.bias.question"),
        caption=f"{say('methods.bias.caption', n=int(frame['n_sequences'].max()))} {sure}".strip(),
        columns={"layer": layer_column, "name": say("methods.bias.reading"), **numbers},
        options={"placeholder": "—"},
    )
    show_more_checks(store, bias_reading.TABLE)


def _bias_finding(means: pd.DataFrame) -> str:
    """Report similarity and ratio for each handling of the bias, and how many top pairs stay."""
    sentence = say(
        "methods.bias.finding",
        **means["similarity"].map(signed),
        **means["mixing_ratio"].map(percent).add_suffix("_ratio"),
    )
    same = means["same_amplified"]
    if same.isna().any():
        return sentence
    return f"{sentence} {say('methods.bias.finding_pairs', **same.map('{:.1f}'.format))}"


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
