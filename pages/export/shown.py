"""Content shown on a page, with everything that accompanies it in an export."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from textwrap import shorten
from typing import Any

import pandas as pd

from analysis.contracts import every_table
from analysis.statistics.corpus import LEAST_COUNT, SEQUENCES, least_count, samples
from analysis.statistics.pairs.changes import PAIR, PAIR_DELTA, PAIR_EXTREME
from pages.services.inquiry import Asked
from pages.services.open_file import Store
from pages.words.columns import title_or_name
from pages.words.say import plain, say
from pages.words.scope import here, words_of
from pages.words.units import PERCENT, in_unit, with_unit, without_unit

_SQL = 400  # letters of the reader's own SQL
_NAME = re.compile(r"\w+")
_PAIRS = {view.name for table in (PAIR, PAIR_DELTA, PAIR_EXTREME) for view in table.all_views}
_REFERENCES = (files("pages.export") / "references.bib").read_text(encoding="utf-8").split("\n\n")
_REVISION = 8  # letters of an abbreviated commit or hash


@dataclass(frozen=True)
class Shown:
    """A figure, a table or markup.

    Attributes:
        key: unique on all pages.
        question: that it answers.
        caption: what to see in it; in markdown, as `finding`.
        frame: the data that are offered for export.
        chart: None for a table, and for markup that cannot be drawn.
        body: the markup.
        papers: keys of those behind it.
        asked: what was asked for it, of the open file first.
        source: files and runs behind the numbers, in plain text.
        origin: the same, escaped.
        columns: of a table, as `st.dataframe` takes them.
        headings: of the numbers of a chart: the title, or "" for that of the column, and whether
            they are shares in per cent.
        place: of its words.
        above: the finding that stands above it and others beside it.
        called: parts of the names of its exported files, in English whatever the reader's language.
        name: in its section, by which an address finds it.
    """

    key: str
    question: str
    caption: str
    frame: pd.DataFrame
    finding: str = ""
    above: str = ""
    chart: Any = None
    body: str = ""
    papers: tuple[str, ...] = ()
    asked: Asked = field(default_factory=Asked)
    source: str = ""
    origin: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)
    headings: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    place: tuple[str, ...] = field(default_factory=here)
    called: tuple[str, ...] = ()
    name: str = ""

    @property
    def version(self) -> str:
        """Version of Mixscope that made the file."""
        return self.asked.stores[0].run["tool_version"]

    @cached_property
    def printed(self) -> pd.DataFrame:
        """Frame with the headings and the units of the page.

        A column keeps its name if two would have the same heading.
        """
        if self.asked.own:  # its columns have the names of the reader's own SQL
            return self.frame
        headings = dict(self.headings) | {n: _heading(c) for n, c in self.columns.items()}
        shares = [name for name, (_, in_percent) in headings.items() if in_percent]
        shares = [name for name in shares if name in self.frame]
        shares = [name for name in shares if pd.api.types.is_numeric_dtype(self.frame[name])]
        frame = in_unit(self.frame, PERCENT, shares)
        titles = {name: self._title(name, headings) for name in map(str, frame)}
        unique = pd.Series(titles, dtype=object).drop_duplicates(keep=False)
        return frame.rename(columns=unique.to_dict())

    def _title(self, name: str, headings: Mapping[str, tuple[str, bool]]) -> str:
        bare = name if name in self.frame else without_unit(name)
        with words_of(*self.place):
            title = headings.get(bare, ("", False))[0] or title_or_name(bare)
        return title if bare == name else with_unit(title, PERCENT)


def _heading(column: Any) -> tuple[str, bool]:
    """Heading of a column of a table, and whether it shows shares in per cent."""
    if not isinstance(column, Mapping):
        return str(column), False
    form = (column.get("type_config") or {}).get("format")
    return column.get("label") or "", form == "percent"


def sourced(content: Shown, asked: Asked) -> Shown:
    """Content with the sources of what was asked for it until now."""
    return replace(content, asked=asked.so_far(), source=source(asked, str), origin=source(asked))


def source(asked: Asked, written: Callable[[object], str] = plain) -> str:
    """Origin of numbers, one sentence per file, the open one first.

    Args:
        written: escapes names.
    """
    sql = shorten(asked.own, _SQL, placeholder=" …")
    own = [f"SQL: {written(sql)}"] if sql else []
    return " ".join([*(_source(store, asked, written) for store in asked.stores), *own])


def _source(store: Store, asked: Asked, written: Callable[[object], str]) -> str:
    sentence = say(
        "figure.source",
        file=written(store.name),
        model=written(store.model_name),
        revision=store.run["revision"].rpartition(":")[2][:_REVISION],
        corpus=written(store.run["corpus"]),
        n_sequences=f"{store.run['n_sequences']:,}",
    )
    return " ".join([sentence, *_left_out(store, asked)])


def _left_out(store: Store, asked: Asked) -> Iterator[str]:
    """Yield a sentence for each queried table that the file holds only in part."""
    named = set(_NAME.findall(" ".join(asked.queries)))
    parts = samples(store.facts)
    for table in every_table():
        if table.name not in parts or (table == SEQUENCES and "text" not in named):
            continue
        if not named.isdisjoint(view.name for view in table.all_views):
            kept, of = (f"{number:,}" for number in parts[table.name])
            yield say("figure.sample", table=table.name, kept=kept, of=of)
    if LEAST_COUNT in store.facts and not named.isdisjoint(_PAIRS):
        yield say("figure.least_count", least=least_count(store.facts))


def bibliography(papers: tuple[str, ...], version: str) -> str:
    """BibTeX of Mixscope and of the papers behind the content."""
    entries = {entry.partition("{")[2].partition(",")[0]: entry for entry in _REFERENCES}
    written = (entries[key].strip() for key in ("mixscope", *papers))
    return "\n".join(written).replace("VERSION", version)
