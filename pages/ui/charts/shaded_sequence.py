"""A sequence of the open file with its tokens shaded: a text to be read, an image to be seen."""

from analysis.tables import image
from pages.ui.charts import shading
from pages.ui.store.chosen import ask, shows_images
from pages.ui.words.say import plain


def shaded_sequence(tokens: list[shading.Shaded], top: float) -> str:
    """The tokens of a text in a line; of an image special tokens, then every patch in its place.

    Args:
        top: the value of the strongest ground; shared by the sequences that are compared.
    """
    if not shows_images():
        return shading.text(tokens, top)
    grid = ask(image.grid).iloc[0]
    special, columns = len(grid["special"]), int(grid["columns"])
    before = shading.text(tokens[:special], top) if special else ""
    return before + shading.patches(tokens[special:], top, columns=columns)


def sequence_name(seq: int) -> str:
    """The number of a sequence; of an image with the name of its file."""
    if not shows_images():
        return str(seq)
    names = ask(image.images).set_index("seq")["name"]
    return f"{seq}, {plain(names[seq])}"
