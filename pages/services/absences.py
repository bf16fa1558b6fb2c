"""Notices on tokens, pairs and positions that the open file's model or corpus lacks."""

import streamlit as st

from analysis.statistics.corpus import PATCHES
from pages.kit.section import rows_of
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.numbers import count, percent
from pages.words.say import say

SPECIAL = ("bos", "cls", "sep", "register")
FIRST = "first"


def has_special(inquiry: Inquiry) -> bool:
    """Return True if the corpus, as the model reads it, has special tokens such as [CLS]."""
    return _has(inquiry, *SPECIAL)


def has_first(inquiry: Inquiry) -> bool:
    """Return True if the first token of a text is a type of its own."""
    return _has(inquiry, FIRST)


def _has(inquiry: Inquiry, *types: str) -> bool:
    found = rows_of("select distinct token_type from token", inquiry, {})["token_type"]
    return bool(found.isin(types).any())


def absences(inquiry: Inquiry) -> None:
    """Show which special tokens and pairs are missing, and how sequences are masked.

    For images, also says what their tokens are. Empty for a text model that lacks nothing.
    """
    sentences = [
        say(f"absent.{name}")
        for name, absent in (
            ("special", not has_special(inquiry)),
            ("first", has_first(inquiry)),
            ("behind", inquiry.store.is_causal),
        )
        if absent
    ]
    sentences += [*_windows(inquiry.store), *_masked(inquiry)]
    if inquiry.store.shows_images:
        sentences = [_order(inquiry), *sentences, say("of_images.marks")]
    if sentences:
        st.caption(" ".join(sentences))


def _windows(store: Store) -> list[str]:
    sizes = [size for size in store.windows.values() if size is not None]
    if not sizes:
        return []
    window = ", ".join(map(count, sorted(set(sizes))))
    return [say("absent.beyond", n=count(len(sizes)), of=count(len(store.windows)), window=window)]


def _masked(inquiry: Inquiry) -> list[str]:
    share = rows_of("select avg(is_masked::int) as share from token", inquiry, {})["share"][0]
    return [say("absent.masked", share=percent(share))] if share else []


def order_of_patches(inquiry: Inquiry) -> None:
    """Show the order of the patches of an image, which offsets depend on; empty for a text."""
    if inquiry.store.shows_images:
        st.caption(_order(inquiry))


def _order(inquiry: Inquiry) -> str:
    row = rows_of(PATCHES, inquiry, {}).iloc[0]
    return say("of_images.order", rows=row["rows"], columns=row["columns"])
