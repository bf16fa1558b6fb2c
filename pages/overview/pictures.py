"""What the images of the open file look like, and how they are cut up."""

from collections.abc import Mapping

import streamlit as st

from analysis.tables import image
from pages.ui.charts.image_ground import ImageGround
from pages.ui.store.chosen import ask, shows_images
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say

_SHOWN = 10


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
