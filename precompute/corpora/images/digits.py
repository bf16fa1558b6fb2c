"""The bundled images: handwritten digits of scikit-learn that the bundled model was not trained on.

They were made from 32 × 32 scans by counting the inked pixels of every 4 × 4 block (0 to 16), so
that a number is the share of ink in its place. Ink is white here.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import UInt8

from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.images import content_sha256, image_sequence, read_picture
from precompute.corpora.images.pictures import png
from precompute.corpora.reading import Reading
from precompute.corpora.source import DEMO_DIGITS
from precompute.models.identity import reader_settings

N_HELD_OUT = 360
FULL, HALF = 16, 8
SIDE = 8
SPLIT_SEED = 0


@dataclass(frozen=True)
class Digit:
    """One digit, by its place in scikit-learn's data set, counted from 0."""

    number: int
    label: int
    ink: UInt8[np.ndarray, "height image_width"]

    @property
    def name(self) -> str:
        """Return the digit's name on pages."""
        return f"digit {self.label} no. {self.number}"

    @property
    def png(self) -> bytes:
        """Return the image as a PNG file, from black to white."""
        return png(np.rint(self.ink * (255 / FULL)).astype(np.uint8)[None])

    @property
    def mask(self) -> bytes:
        """Return the mask as a PNG file: white where at least half of a pixel's area is ink."""
        return png(np.where(self.ink >= HALF, np.uint8(255), np.uint8(0))[None])


@cache
def digits() -> tuple[Digit, ...]:
    """Return the held-out digits; every digit has the share that it has in all."""
    # these take half a second to import, which runs over other corpora need not wait for
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    ink = np.asarray(pixels, dtype=np.uint8).reshape(-1, SIDE, SIDE)
    _, held_out = train_test_split(
        np.arange(len(labels)), test_size=N_HELD_OUT, random_state=SPLIT_SEED, stratify=labels
    )
    return tuple(Digit(int(index), int(labels[index]), ink[index]) for index in sorted(held_out))


def read_digit_images(reader: ImageReader, *, limit: int | None = None) -> Reading:
    """Read the held-out digits, in the order of the data set."""
    sequences = [
        image_sequence(index, read_picture(digit.png, name=digit.name, mask=digit.mask), reader)
        for index, digit in enumerate(digits()[:limit])
    ]
    content = content_sha256(sequences)
    settings = {"images": content, "reader": reader_settings(reader)}
    return Reading(
        DEMO_DIGITS,
        settings,
        lambda first: iter(sequences[first:]),
        lambda: content,
        is_images=True,
    )
