"""Small images in every form that files have, made in code."""

from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

ORIENTATION = 0x0112


def encoded(image: Image.Image, form: str = "PNG", **settings) -> bytes:
    """The image as a file of a form."""
    written = BytesIO()
    image.save(written, form, **settings)
    return written.getvalue()


def greys(*rows: tuple[int, ...]) -> Image.Image:
    """An image of the given greys."""
    return Image.fromarray(np.array(rows, dtype=np.uint8))


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    """Colours at random."""
    drawn = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(drawn)


def labels(*rows: tuple[int, ...], colours: dict[int, tuple[int, int, int]]) -> Image.Image:
    """An image of places in a palette."""
    image = Image.fromarray(np.array(rows, dtype=np.uint8)).convert("L")
    palette = np.zeros((256, 3), dtype=np.uint8)
    for place, colour in colours.items():
        palette[place] = colour
    image.putpalette(palette.ravel().tolist())
    return image


def note(turn: int) -> Image.Exif:
    """EXIF data with an orientation."""
    exif = Image.Exif()
    exif[ORIENTATION] = turn
    return exif


def saved(path: Path, image: Image.Image, form: str = "PNG", **settings) -> Path:
    """Save an image under a name, in any format."""
    path.write_bytes(encoded(image, form, **settings))
    return path
