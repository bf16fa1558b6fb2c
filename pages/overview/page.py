"""What is in this file, what it says at a glance, and can it be trusted?"""

from collections.abc import Mapping

import streamlit as st

from analysis.tables import image
from pages.overview.file_account import (
    corpus,
    has_others,
    holdings,
    making,
    other_files,
    soundness,
)
from pages.overview.glance import findings
from pages.ui.charts.image_ground import ImageGround
from pages.ui.choices.links import link_to_view
from pages.ui.finding import Finding
from pages.ui.store.absences import absences
from pages.ui.store.chosen import ask, open_store, shows_images
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_SHOWN = 10  # images
_AT_ONCE, _A_ROW = 6, 3  # findings


def headline() -> None:
    store = open_store()
    run = store.run
    st.title(say("overview.headline", model=plain(store.model_name)), anchor=False)
    numbers = {name: count(run[name]) for name in ("n_sequences", "n_tokens", "hidden_size")}
    shape = {name: run[name] for name in ("n_layers", "n_heads")}
    told = {"corpus": plain(run["corpus"]), **numbers, **shape}
    st.markdown(size_of_images(told) if shows_images() else say("overview.size", **told))
    absences()


def size_of_images(told: Mapping[str, object]) -> str:
    """The sentence on the size of a file of images: how many, their grid, the model's shape.

    Args:
        told: the values that a file of any kind has.
    """
    grid = ask(image.grid).iloc[0]
    tokens = say("list.comma").join(plain(each) for each in grid["special"])
    special = say("of_images.special_tokens", tokens=tokens) if tokens else ""
    size = say(
        "of_images.size", rows=grid["rows"], columns=grid["columns"], special=special, **told
    )
    n_masks = int(grid["n_masks"])
    if not n_masks:
        return size
    which = "all" if n_masks == grid["n_images"] else "some"
    return f"{size}\n\n{say(f'of_images.masks_{which}', n=count(n_masks))}"


def pictures() -> None:
    """The first images that are kept, as the model sees them; nothing for a file of texts."""
    if not shows_images():
        return
    shown, grid = ask(image.pictures, limit=_SHOWN), ask(image.grid).iloc[0]
    if shown.empty:
        return
    rows, columns = int(grid["rows"]), int(grid["columns"])
    for cell, row in zip(st.columns(_SHOWN), shown.to_dict("records"), strict=False):
        drawn = ImageGround(rows, columns, special=(), picture=bytes(row["picture"]))
        cell.image(drawn.address() or "", width="stretch", caption=plain(row["name"]))
    st.caption(say("of_images.pictures_caption", n=len(shown)))


def glance() -> None:
    """The findings in cards: the first ones at once, all others a click away."""
    found = findings()
    if not found:
        return
    st.header(say("overview.glance"), anchor=False)
    with st.container(key="findings"):
        _cards(found[:_AT_ONCE])
        if further := found[_AT_ONCE:]:
            with st.expander(say("overview.further", n=len(further))):
                _cards(further)
    st.caption(say("overview.glance_caption"))


def _cards(found: list[Finding]) -> None:
    for start in range(0, len(found), _A_ROW):
        for cell, finding in zip(st.columns(_A_ROW), found[start:], strict=False):
            with cell.container(border=True, height="stretch"):
                st.caption(finding.label)
                st.subheader(finding.number, anchor=False)
                st.markdown(finding.sentence)
                label = say(f"finding.link_{finding.view}")
                link_to_view(finding.page, finding.view, label)


def account() -> None:
    """What the file holds and how it was made, a tab each."""
    parts = {"sound": soundness, "corpus": corpus, "holdings": holdings, "making": making}
    if has_others():
        parts["others"] = other_files
    titles = [say(f"{each}.title") for each in parts]
    for tab, part in zip(st.tabs(titles), parts.values(), strict=True):
        with tab:
            part()


headline()
pictures()
glance()
account()
