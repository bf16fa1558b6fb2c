"""Definition, source and tables of every statistic, and what all of them rest on: by entry."""

import streamlit as st

from analysis.scopes import ORDERS
from analysis.sources import PAPERS
from pages.kit.links import link_to_view
from pages.kit.picker import pick
from pages.kit.sections import sections_with
from pages.kit.statistic_method import GENERAL, Method, mathematics, methods
from pages.kit.table_documentation import citation, contracts
from pages.services.chosen import shown_file, without_attention
from pages.words.names import paper_name, scope_meaning, scope_name
from pages.words.numbers import scientific
from pages.words.say import catalogue, say

_HEIGHT = 520  # pixels of the tables; with the rest of an entry they fill a screen


def scopes() -> None:
    """Tabulate the scopes of each order of a layer's modules."""
    columns = (say(f"method.scopes.{name}") for name in ("scope", "in_papers", "counted"))
    head = [f"|{'|'.join(columns)}|", "|---|---|---|"]
    tabs = st.tabs([name.replace("_", "-") for name in ORDERS])
    for tab, (name, order) in zip(tabs, ORDERS.items(), strict=True):
        rows = (
            f"|{scope_name(scope)}|{paper_name(scope)}|{scope_meaning(scope)}|"
            for scope in order.scopes
        )
        tab.markdown("\n".join([say(f"method.scopes.{name}"), "", *head, *rows]))


def models() -> None:
    """Write how well the model of the open file was read."""
    store = shown_file()
    facts = store.facts if store else {}
    if errors := [float(value) for name, value in facts.items() if name.startswith("proof_")]:
        error = scientific(max(errors))
        st.markdown(say(f"method.models.{facts.get('reading', 'found')}", error=error))
    if store and (gaps := without_attention(store)):
        st.markdown(say("method.models.gaps", layers=gaps))
    if settings := facts.get("settings_not_read"):
        st.markdown(say("method.models.settings", names=settings))


def glossary() -> None:
    """List the terms with their symbols."""
    symbols = mathematics(GENERAL)["glossary"]["symbols"].items()
    lines = (
        f"- **{say(f'glossary.{name}.term')}** {symbol}: {say(f'glossary.{name}.text')}"
        for name, symbol in symbols
    )
    st.markdown("\n".join(lines))


def papers() -> None:
    """List all sources."""
    with st.container(height=_HEIGHT, border=False):
        st.markdown("\n".join(f"- {citation(key)}" for key in PAPERS))


MORE = {"scopes": scopes, "models": models, "glossary": glossary, "papers": papers}
"""Functions that draw more below the text of an entry."""


def define(name: str, method: Method) -> None:
    """Show formulas and text, then the sources of a statistic and links to all its sections."""
    texts = [f"$$\n{formula.strip()}\n$$" for formula in method.formulas]
    if (key := f"method.{name}.text") in catalogue():
        texts.append(say(key))
    if texts:
        st.markdown("\n\n".join(texts))  # as one element: many make a page slow
    if name in MORE:
        MORE[name]()
    if sources := dict.fromkeys(table.source for table in method.tables):
        st.caption(f"{say('about.source')} {say('list.comma').join(map(citation, sources))}")
        with st.container(horizontal=True):
            for page, view in sections_with(method.tables, shown_file()):
                title = f"{say(f'page.{page}.title')}: {say(f'{page}.view_{view}')}"
                link_to_view(page, view, title)


st.title(say("methods.title"), anchor=False, help=say("methods.lead"))
with st.container(key="sections"):
    page = pick(
        "me_page",
        say("methods.page"),
        list(dict.fromkeys(method.page for method in methods().values())),
        default=GENERAL,
        format=lambda page: say("methods.general" if page == GENERAL else f"page.{page}.title"),
    )
names = [name for name, method in methods().items() if method.page == page]
name = pick(
    "me_entry",
    say("methods.entry"),
    names,
    default=names[0],
    format=lambda name: say(f"method.{name}.title"),
    kind="select",
)
chosen = methods()[name]
st.header(say(f"method.{name}.title"), anchor=False)
if chosen.tables:
    definition, stored = st.tabs([say("methods.definition"), say("methods.contract")])
    with definition:
        define(name, chosen)
    with stored.container(height=_HEIGHT, border=False):
        contracts(chosen.tables)
else:
    define(name, chosen)
