"""Notices on statistics that a file lacks, with a remedy and with files that hold them."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from analysis.needs import OF_TEXTS, Need
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import MENTIONS, WORDS
from analysis.statistics.probing.accuracy import DEPENDENCY_ACCURACY
from pages.kit.address import stop
from pages.kit.items import Drawn, Text
from pages.services.chosen import link_files, stores, without_attention
from pages.services.commands import run_command
from pages.services.folder import folder
from pages.services.open_file import Store
from pages.words.say import plain, say

_FROM_A_TREEBANK = (
    "python -m precompute run --model demo --corpus demo-treebank "
    "--output statistics/demo-treebank.duckdb"
)


def require(store: Store, *tables: Table) -> None:
    """Stop the page with a remedy unless the chosen file holds these statistics."""
    lacking = absence(store, *tables)
    for item in lacking:
        if isinstance(item, Drawn):
            item.draw()
        else:
            getattr(st, item.kind)(item.body, **item.options)
    if lacking:
        stop()


def absence(store: Store, *tables: Table) -> list[Text | Drawn]:
    """Return items to show in place of statistics that a file lacks; empty if it has them all.

    First the reason, as `info`; the command that makes them, as `code`, comes last.
    """
    if lacking := _annotation_lacking(store, tables):  # no run could add it
        problem, remedy = lacking
        values = {"name": plain(store.name), "corpus": plain(store.run["corpus"])}
        return [
            Text("info", say(problem, **values)),
            _other_files(tables),
            Text("markdown", say(remedy)),
            _command(_FROM_A_TREEBANK),
        ]
    missing = [table for table in tables if not store.holds(table)]
    if not missing:
        return []
    if store.without_attention and any(Need.EVERY_LAYER in table.needs for table in missing):
        reason = say("store.has_gaps", layers=without_attention(store))  # no run could add it
        return [Text("info", reason), _other_files(missing)]
    if store.shows_images and (reason := what_images_lack(missing)):  # no run could add it
        return [
            Text("info", say(f"of_images.{reason}", corpus=plain(store.run["corpus"]))),
            _other_files(missing),
            Text("caption", say("of_images.elsewhere")),
        ]
    names = ", ".join(table.name for table in missing)
    return [
        Text("info", say("store.missing", name=plain(store.name), statistics=names)),
        _other_files(missing),
        Text("markdown", say("store.make_it")),
        _command(_adding(store, missing)),
    ]


def _other_files(tables: Iterable[Table]) -> Drawn:
    return Drawn(partial(name_files_with, *tables))


def _command(command: str) -> Text:
    return Text("code", command, {"language": "bash", "wrap_lines": True})


def _annotation_lacking(store: Store, tables: Iterable[Table]) -> tuple[str, str] | None:
    """Words for the annotation that the corpus lacks, and for the remedy; None if it lacks none."""
    needs = {need for table in tables for need in table.needs}
    has_words = store.holds(WORDS)
    if Need.TREES in needs and (not has_words or store.found_nothing(DEPENDENCY_ACCURACY)):
        return "syntax.no_trees", "syntax.no_trees_remedy"
    if Need.COREFERENCE in needs and not store.holds(MENTIONS):
        return "coreference.no_mentions", "coreference.no_mentions_remedy"
    return None


def what_images_lack(tables: Iterable[Table]) -> str | None:
    """Name of a need of any of the tables that images cannot meet; None if there is none."""
    return next((need for table in tables for need in table.needs if need in OF_TEXTS), None)


def show_command(store: Store, *tables: Table) -> None:
    """Show the command that adds statistics to the chosen file; without any, that makes it."""
    st.code(_adding(store, tables), language="bash", wrap_lines=True)


def _adding(store: Store, tables: Iterable[Table]) -> str:
    names = [table.name for table in tables]
    return run_command(store.run, store.facts, folder() / store.name, statistics=names)


def name_files_with(*tables: Table) -> None:
    """Link to the files of the folder that hold these statistics, if any."""
    link_files("store.others_have", [store.name for store in stores() if store.holds(*tables)])
