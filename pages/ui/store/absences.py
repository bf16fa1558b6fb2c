"""Notices on tokens, pairs and positions that the open file's model or corpus lacks."""

import streamlit as st

from analysis.statistics import image
from analysis.statistics.corpus import masked_share, token_type_counts
from pages.ui.store.chosen import ask, is_causal, shows_images
from pages.ui.store.windows import windows
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say

SPECIAL = ("bos", "cls", "sep", "register")
FIRST = "first"
APART = (*SPECIAL, FIRST, "comma_period")
"""Token types that are set apart from all others."""


def has_special() -> bool:
    """Return True if the corpus, as the model reads it, has special tokens such as [CLS]."""
    return _has(*SPECIAL)


def types_apart() -> str:
    """Names of those of `APART` that the file has."""
    names = [name for name, there in (("first", has_first()), ("special", has_special())) if there]
    return say(f"types_apart.{'_'.join(names) or 'marks'}")


def has_first() -> bool:
    """Return True if the first token of a text is a type of its own."""
    return _has(FIRST)


def _has(*types: str) -> bool:
    return bool(ask(token_type_counts)["token_type"].isin(types).any())


def absences() -> None:
    """Show which special tokens and pairs are missing, and how sequences are masked.

    For images, also says what their tokens are. Empty for a text model that lacks nothing.
    """
    sentences = [
        say(f"absent.{name}")
        for name, absent in (
            ("special", not has_special()),
            ("first", has_first()),
            ("behind", is_causal()),
        )
        if absent
    ]
    sentences += [*_windows(), *_masked()]
    if shows_images():
        sentences = [_order(), *sentences, say("of_images.marks")]
    if sentences:
        st.caption(" ".join(sentences))


def masked_places() -> None:
    """Show how masked positions are counted, if there are any."""
    for sentence in _masked():
        st.caption(sentence)


def _windows() -> list[str]:
    sizes = [size for size in windows().values() if size is not None]
    if not sizes:
        return []
    window = ", ".join(map(count, sorted(set(sizes))))
    return [say("absent.beyond", n=count(len(sizes)), of=count(len(windows())), window=window)]


def _masked() -> list[str]:
    share = ask(masked_share)
    return [say("absent.masked", share=percent(share))] if share else []


def order_of_patches() -> None:
    """Show the order of the patches of an image, which offsets depend on; empty for a text."""
    if shows_images():
        st.caption(_order())


def _order() -> str:
    row = ask(image.grid).iloc[0]
    return say("of_images.order", rows=row["rows"], columns=row["columns"])
