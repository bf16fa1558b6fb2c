"""How is it measured? Every definition, what it leaves out, and where it comes from."""

import streamlit as st

from analysis.scopes import POST_NORM, PRE_NORM, LayerOrder
from analysis.sources import PAPERS
from pages.methods.bias_readings import bias_readings
from pages.ui.about import citation, contract
from pages.ui.choices.links import link_to_view
from pages.ui.method import mathematics, methods
from pages.ui.words.names import scope_meaning, scope_name
from pages.ui.words.say import say

MEASURED = {"bias_reading": bias_readings}
"""What of a method is measured in the chosen file, and shown here and nowhere else."""
FORMULAS = mathematics("methods")
CHAPTERS = ("token_types", "masked", "intervals", "ranks", "omissions", "limits", "differences")


def contents() -> None:
    """Links to the parts of the page."""
    parts = ("foundation", "layer", "statistics", *CHAPTERS, "glossary", "papers")
    st.markdown(" · ".join(f"[{say(f'methods.{part}.title')}](#{_anchor(part)})" for part in parts))


def _anchor(name: str) -> str:
    return name.replace("_", "-")


def foundation() -> None:
    """The identity that everything rests on."""
    st.header(say("methods.foundation.title"), anchor="foundation")
    st.markdown(say("methods.foundation.before"))
    st.latex(FORMULAS["foundation"]["block"])
    st.latex(FORMULAS["foundation"]["parts"])
    st.markdown(say("methods.foundation.after"))


def layer() -> None:
    """The same identity for a whole layer, module by module."""
    st.header(say("methods.layer.title"), anchor="layer")
    for name, formula in FORMULAS["layer"].items():
        st.markdown(say(f"methods.layer.{name}"))
        st.latex(formula)
    st.markdown(say("methods.layer.scopes"))
    _scopes(POST_NORM)
    st.markdown(say("methods.layer.scopes_pre_norm"))
    _scopes(PRE_NORM)


def _scopes(order: LayerOrder) -> None:
    rows = [f"|{scope_name(scope)}|{scope_meaning(scope)}|" for scope in order.scopes]
    heads = f"|{say('methods.layer.scope')}|{say('methods.layer.counted')}|"
    st.markdown("\n".join([heads, "|---|---|", *rows]))


def statistics() -> None:
    """Each statistic: what it asks, its formula, its table."""
    st.header(say("methods.statistics.title"), anchor="statistics")
    for name, method in methods().items():
        st.subheader(say(f"method.{name}.title"), anchor=_anchor(name))
        for formula in method.formulas:
            st.latex(formula)
        st.markdown(say(f"method.{name}.text"))
        if name in MEASURED:
            MEASURED[name]()
        if method.view:
            link_to_view(method.page, method.view, say("methods.see"))
        with st.expander(say("methods.contract")):
            for table in method.tables:
                contract(table)


def chapters() -> None:
    """What holds for several statistics."""
    for name in CHAPTERS:
        st.header(say(f"methods.{name}.title"), anchor=_anchor(name))
        st.markdown(say(f"methods.{name}.text"))


def glossary() -> None:
    st.header(say("methods.glossary.title"), anchor="glossary")
    rows = [
        f"|{symbol}|{say(f'glossary.{name}.term')}|{say(f'glossary.{name}.text')}|"
        for name, symbol in FORMULAS["glossary"].items()
    ]
    heads = [say(f"methods.glossary.{each}") for each in ("symbol", "term", "meaning")]
    st.markdown("\n".join([f"|{'|'.join(heads)}|", "|---|---|---|", *rows]))


def papers() -> None:
    st.header(say("methods.papers.title"), anchor="papers")
    st.markdown("\n".join(f"- {citation(key)}" for key in PAPERS))


st.title(say("methods.title"), anchor=False)
st.markdown(say("methods.lead"))
contents()
foundation()
layer()
statistics()
chapters()
glossary()
papers()
