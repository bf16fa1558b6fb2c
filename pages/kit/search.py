"""Search box: one list of places with the words that find them, and what the open file contains."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import Any

import streamlit as st

from analysis import sources
from analysis.contracts import every_table
from analysis.scopes import RELATIONS
from analysis.statistics.base.tables import Table
from analysis.statistics.probing.accuracy import DEPENDENCY_ACCURACY
from pages.kit.address import LONGEST_TEXT
from pages.kit.contents import PAGES
from pages.kit.head_choice import HEAD, every_head, head_name
from pages.kit.links import VIEWS, link
from pages.kit.section import rows_of
from pages.kit.sections import paper_entries, sections
from pages.kit.statistic_method import GENERAL, mathematics, methods
from pages.kit.table_documentation import citation
from pages.services.chosen import shown_file
from pages.services.inquiry import Inquiry
from pages.words.contracts import digest, japanese, parts_of
from pages.words.dependencies import names_of_relation, relation_name
from pages.words.numbers import count
from pages.words.say import catalogue, plain, say

_MOST = 4  # places of one kind
_NOT = 4  # rank of what does not match
_HEAD = re.compile(
    r"(?:l|layer|層|第)?\s*(\d{1,3})(?:[-–−·・.,:/\s]|層|第|の|head|h|ヘッド)+(\d{1,3})(?:ヘッド)?"
)
_NUMBERED = {
    "figure": re.compile(r"(?:figure|fig\.?|図)\s*(?=\d)"),
    "table": re.compile(r"(?:table|tab\.?|表)\s*(?=\d)"),
}
_ARROW = re.compile(r"\s*(?:→|->|\s)\s*")
_LEAST = 3  # letters of a search for texts
_SOUGHT = """
    with sought as (
        select s.token_id as source, t.token_id as target from vocabulary as s, vocabulary as t
        where s.token = $source and t.token = $target)
    select distinct source as source_id, target as target_id from sought"""
_COUNTED = f"{_SOUGHT} semi join pair using (source, target) order by all"
_STANDING = f"""{_SOUGHT}
    join token as s on s.token_id = source
    join token as t on t.token_id = target and t.seq = s.seq
    where s.pos < t.pos or s.pos > t.pos and not $is_causal order by all"""
_TOKENS_FROM = """
    select piece.token, count(*) as n from token as piece
    where starts_with(lower(piece.token), $text) group by piece.token
    order by length(piece.token) > length($text), n desc, piece.token limit $limit"""
"""Tokens that begin with a lower-case text, the exact token first."""
SEQUENCES_WITH = """
    select seq, n_tokens, text from sequence
    where contains(lower(text), lower($text)) or (seq::varchar = $text and text is not null)
    order by seq::varchar = $text desc, seq
    limit $limit"""
"""Sequences that contain a text in any case; the one with this number first."""
_BEFORE, _AFTER = 20, 50  # letters of a text around a match


@dataclass(frozen=True)
class Place:
    """A place in the dashboard.

    Attributes:
        label: in markdown.
        page: its folder.
        choices: parameters of its address; of several options the first that a file has.
        names: what it is called, in all languages.
        shown: what it shows: names of tables and columns.
        said: what is said of it.
        text: shown below its link.
    """

    label: str
    page: str
    choices: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    names: Sequence[str] = ()
    shown: Sequence[str] = ()
    said: Sequence[str] = ()
    text: str = ""


def search_box(room: Any) -> None:
    """Draw the search box, with links to the matches; nothing if no file can be read."""
    store = shown_file()
    if store is None:
        return
    with room:
        wanted = st.text_input(
            say("search.label"),
            key="search",
            placeholder=say("search.hint"),
            help=say("search.help"),
            label_visibility="collapsed",
        )
        matches = places(Inquiry(store), wanted[:LONGEST_TEXT].strip())
        for place in matches:
            link(place.page, place.label, **place.choices)
            if place.text:
                st.caption(place.text)
        if wanted.strip() and not matches:
            st.caption(say("search.none"))


def places(inquiry: Inquiry, text: str) -> list[Place]:
    """Matches of every kind, the most specific kind first."""
    if not text:
        return []
    kinds = (
        _heads(inquiry, text),
        _pairs(inquiry, text),
        *(matching(of(inquiry), text) for of in (_figures, _relations, _sections, _statistics)),
        _tokens(inquiry, text),
        matching(_terms(inquiry), text),
        _texts(inquiry, text),
    )
    return [place for found in kinds for place in found]


def matching(listed: Iterable[Place], text: str) -> list[Place]:
    """Places with all words of a text, the best first.

    First are those that are called just that, then those with the words in their names. Words
    begin as the text's do: `det` does not find "undetermined".
    """
    wanted = _usual(text)
    words = [re.compile(rf"(?<![a-z0-9]){re.escape(word)}") for word in wanted.split()]

    def rank(place: Place) -> int:
        names = [*map(_usual, place.names)]
        if wanted in names:
            return 0
        text = ""
        for rank, texts in enumerate((names, place.shown, place.said), 1):
            text = "\n".join([text, *map(_usual, texts)])
            if all(word.search(text) for word in words):
                return rank
        return _NOT

    ranked = [(rank(place), place) for place in listed]
    found = sorted((one for one in ranked if one[0] != _NOT), key=itemgetter(0))
    return [place for _, place in found[:_MOST]]


@lru_cache(16_384)
def _usual(text: str) -> str:
    """Text in one spelling: small letters, `figure3` for "Fig. 3" and 図3."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    for kind, spelled in _NUMBERED.items():
        text = spelled.sub(kind, text)
    return text


def _heads(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Head of the form 3-9, L3H9, layer 3 head 9 or 第3層ヘッド9, if the model has it."""
    match = _HEAD.fullmatch(_usual(text))
    if match and (head := (int(match[1]), int(match[2]))) in every_head(inquiry.store):
        place = {VIEWS["head"]: "profile", HEAD: "{}-{}".format(*head)}
        yield Place(head_name(*head), "head", place)


def _figures(inquiry: Inquiry) -> Iterator[Place]:
    """Papers, then those of their figures and tables that files like the open one can have."""
    store = inquiry.store
    heads = ["best", *("{}-{}".format(*head) for head in every_head(store))]
    offered = {(page, section.name) for page, section in sections(store)}
    for paper, entries in groupby(paper_entries(), key=attrgetter("paper")):
        word = paper.replace("-", "_")
        cited = say(f"papers.cited.{word}")
        names = [sources.PAPERS[paper].authors, *_both(f"papers.cited.{word}")]
        yield Place(say(f"papers.name.{word}"), "papers", {"pa_view": paper}, names)
        for entry in entries:
            has_kind = not entry.only or getattr(store, entry.only)
            if has_kind and (entry.page, entry.view) in offered:
                choices = {VIEWS[entry.page]: entry.view, **entry.choices}
                if HEAD in choices:
                    choices[HEAD] = [head for head in choices[HEAD] if head in heads]
                label = say(f"papers.label_{entry.kind}", number=entry.number)
                label, title = say("papers.label", paper=cited, label=label), f"papers.{entry.word}"
                names_of_it = [entry.stem, *names, *_both(title)]
                yield Place(f"{label}: {say(title)}", entry.page, choices, names_of_it)


def _relations(inquiry: Inquiry) -> Iterator[Place]:
    """Relations of the open file's treebank, then those of pairs of tokens."""
    if inquiry.store.holds(DEPENDENCY_ACCURACY):
        asked = "select distinct relation from dependency_accuracy order by relation"
        for relation in rows_of(asked, inquiry, {})["relation"]:
            label = f"{say('page.syntax.title')}: {plain(relation_name(relation))}"
            choices = {VIEWS["syntax"]: "heads", "sy_relation": relation}
            yield Place(label, "syntax", choices, names_of_relation(relation))
    for relation in RELATIONS:
        key = f"relation.{relation}.name"
        choices = {VIEWS["token_pairs"]: "workbench", "tp_relation": relation}
        label = f"{say('page.token_pairs.title')}: {say(key)}"
        yield Place(label, "token_pairs", choices, [relation, *_both(key)])


def _sections(inquiry: Inquiry) -> Iterator[Place]:
    """Pages, then the sections that the open file is offered; these also by what they show."""
    for page in PAGES:
        key = f"page.{page}.title"
        yield Place(say(key), page, names=_both(key))
    for page, section in sections(inquiry.store):
        key = f"{page}.view_{section.name}"
        label, choices = f"{say(f'page.{page}.title')}: {say(key)}", {VIEWS[page]: section.name}
        shown = _called(*section.needs, *section.also)
        yield Place(label, page, choices, _both(key), shown)


def _statistics(_: Inquiry) -> Iterator[Place]:
    """Entries of Methods; tables of no statistic are in the documentation beside the query."""
    of_methods: set[str] = set()
    for name, method in methods().items():
        title, text = f"method.{name}.title", f"method.{name}.text"
        shown, said = _called(*method.tables), _explained(*method.tables)
        said += _both(text) if text in catalogue() else ()
        choices = {"me_page": method.page, "me_entry": name}
        label = f"{say('page.methods.title')}: {say(title)}"
        yield Place(label, "methods", choices, _both(title), shown, said)
        of_methods.update(table.name for table in method.tables)
    for table in every_table():
        for view in table.all_views if table.name not in of_methods else ():
            choices = {VIEWS["query"]: "ask", "qu_of": view.name}
            names, shown, said = [view.name], _called(table), _explained(table)
            yield Place(f"`{view.name}`", "query", choices, names, shown, said)


def _called(*tables: Table) -> list[str]:
    """Names of tables, of their views and of the columns of these."""
    views = [view for table in tables for view in table.all_views]
    columns = dict.fromkeys(column.name for view in views for column in view.columns)
    titles = (catalogue().get(f"column.{name}", {}).values() for name in columns)
    return [*(part.name for part in (*tables, *views)), *columns, *chain(*titles)]


def _explained(*tables: Table) -> list[str]:
    """Sources of tables, and meanings of their columns."""
    views = [view for table in tables for view in table.all_views]
    meanings = [column.definition for view in views for column in view.columns]
    parts = (part for meaning in meanings for part in parts_of(meaning))
    in_japanese = (japanese().get(digest(part), "") for part in parts)
    return [*(citation(table.source) for table in tables), *meanings, *in_japanese]


def _terms(_: Inquiry) -> Iterator[Place]:
    """Terms of the glossary, with their meaning."""
    choices = {"me_page": GENERAL, "me_entry": "glossary"}
    for name in mathematics(GENERAL)["glossary"]["symbols"]:
        key, text = f"glossary.{name}.term", say(f"glossary.{name}.text")
        yield Place(say(key), "methods", choices, _both(key), text=text)


def _both(key: str) -> list[str]:
    """Texts of a key in all languages."""
    return [*catalogue()[key].values()]


def _tokens(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Tokens with this beginning, the most frequent first, and their pairs."""
    if inquiry.store.shows_images:
        return
    known = {"text": text.lower(), "limit": _MOST}
    for row in rows_of(_TOKENS_FROM, inquiry, known).to_dict("records"):
        label = say("search.token", token=plain(row["token"]), n=count(row["n"]))
        found = {"tp_source_text": f'"{row["token"]}"', "tp_direction": "both"}
        yield Place(label, "token_pairs", found)


def _pairs(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Two tokens of one text, at any distance."""
    parts = _ARROW.split(text)
    if len(parts) != 2 or inquiry.store.shows_images:
        return
    tokens: dict[str, str] = dict(zip(("source", "target"), parts, strict=True))
    if ids_of_pair(inquiry, tokens):
        label = say("search.pair", **{side: plain(token) for side, token in tokens.items()})
        yield Place(label, "token_pairs", {f"tp_{side}": token for side, token in tokens.items()})


def ids_of_pair(inquiry: Inquiry, tokens: Mapping[str, Any]) -> dict[str, int]:
    """Ids of a source and a target within a text, also beyond a layer's window; empty if none."""
    known = {"is_causal": inquiry.store.is_causal, **tokens}
    for sql in (_COUNTED, _STANDING):
        for row in rows_of(sql, inquiry, known).head(1).to_dict("records"):
            return {str(name): int(number) for name, number in row.items()}
    return {}


def _texts(inquiry: Inquiry, text: str) -> Iterator[Place]:
    """Texts of the corpus that contain the words."""
    if len(text) < _LEAST:
        return
    for row in rows_of(SEQUENCES_WITH, inquiry, {"text": text, "limit": _MOST}).to_dict("records"):
        label = say("search.text", seq=row["seq"], text=plain(_around(row["text"], text)))
        yield Place(label, "sequences", {"seq_seq": str(row["seq"])})


def _around(text: str, words: str) -> str:
    """Match in a text with some letters on both sides."""
    start = max(text.lower().find(words.lower()), 0)
    return text[max(start - _BEFORE, 0) : start + _AFTER]
