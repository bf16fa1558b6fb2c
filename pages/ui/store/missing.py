"""Notices on statistics that a file lacks, with a remedy and with files that hold them."""

from collections.abc import Iterable

import streamlit as st

from analysis.needs import OF_TEXTS, Need
from analysis.statistics import annotation
from analysis.statistics.probing import dependency_accuracy
from analysis.statistics.table import Table
from pages.ui.choices.address import stop
from pages.ui.choices.picker import choose
from pages.ui.store.chosen import stores, without_attention
from pages.ui.store.commands import run_command
from pages.ui.store.folder import folder
from pages.ui.store.open_file import Store
from pages.ui.words.say import plain, say

_FROM_A_TREEBANK = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)

_LEAST_MORE = 16
"""Sequences of which a mean has an interval."""


def require(store: Store, *tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics."""
    if lacking := _annotation_lacking(store, tables):  # no run could add it
        problem, remedy = lacking
        st.info(say(problem, name=plain(store.name), corpus=plain(store.run["corpus"])))
        name_files_with(*tables)
        st.markdown(say(remedy))
        st.code(_FROM_A_TREEBANK, language="bash", wrap_lines=True)
        stop()
    missing = [table for table in tables if not store.holds(table)]
    if not missing:
        return
    if store.without_attention and any(Need.EVERY_LAYER in table.needs for table in missing):
        st.info(say("store.has_gaps", layers=without_attention(store)))  # no run could add it
        name_files_with(*missing)
    elif store.shows_images and (reason := what_images_lack(missing)):  # no run could add it
        st.info(say(f"of_images.{reason}", corpus=plain(store.run["corpus"])))
        name_files_with(*missing)
        st.caption(say("of_images.elsewhere"))
    else:
        names = ", ".join(table.name for table in missing)
        st.info(say("store.missing", name=plain(store.name), statistics=names))
        name_files_with(*missing)
        st.markdown(say("store.make_it"))
        show_command(store, *missing)
    stop()


def _annotation_lacking(store: Store, tables: Iterable[Table]) -> tuple[str, str] | None:
    """Words for the annotation that the corpus lacks, and for the remedy; None if it lacks none."""
    store, needs = store, {need for table in tables for need in table.needs}
    has_words = store.holds(annotation.WORDS)
    if Need.TREES in needs and (not has_words or store.found_nothing(dependency_accuracy.TABLE)):
        return "syntax.no_trees", "syntax.no_trees_remedy"
    if Need.COREFERENCE in needs and not store.holds(annotation.MENTIONS):
        return "coreference.no_mentions", "coreference.no_mentions_remedy"
    return None


def what_images_lack(tables: Iterable[Table]) -> str | None:
    """Name of a need of any of the tables that images cannot meet; None if there is none."""
    return next((need for table in tables for need in table.needs if need in OF_TEXTS), None)


def show_command(store: Store, *tables: Table) -> None:
    """Show the command that adds statistics to the chosen file; without any, that makes it."""
    store, names = store, [table.name for table in tables]
    command = run_command(store.run, store.facts, folder() / store.name, statistics=names)
    st.code(command, language="bash", wrap_lines=True)


def name_files_with(*tables: Table) -> None:
    """List the files of the folder that hold these statistics, if any, as buttons."""
    if names := [store.name for store in stores() if store.holds(*tables)]:
        st.markdown(say("store.others_have"))
        for name in names:
            st.button(plain(name), key=f"open {name}", on_click=choose, args=("file", name))


def show_more_checks(store: Store, *tables: Table) -> None:
    """Show the command that checks more sequences than the file has; nothing if it has all."""
    n, of = (int(number) for number in store.facts.get("checked", "1/1").split("/"))
    if n == of:
        return
    more = {"check_sequences": str(min(of, max(_LEAST_MORE, 2 * n)))}
    names = [table.name for table in tables]
    command = run_command(store.run, store.facts | more, folder() / store.name, statistics=names)
    st.caption(say("checks.more", n=n, of=of))
    st.code(command, language="bash", wrap_lines=True)
