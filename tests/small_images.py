"""A handful of small images, two of them with masks, made in code."""

from pathlib import Path

import numpy as np
from PIL import Image

SIZES = {
    "bar.png": (36, 48),
    "cross & <b>bold.png": (40, 40),
    "disc.png": (48, 64),
    "noise.png": (12, 16),
    "plain.png": (24, 32),
}
"""Height and width in pixels of every image, by its name."""
MASKED = ("bar.png", "disc.png")


def write_images(folder: Path) -> Path:
    """The images and masks as PNG files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (name, size) in enumerate(SIZES.items()):
        inside = shape_of(name, size)
        noise = np.random.default_rng(place).integers(0, 60, (*size, 3))
        pixels = np.where(inside[..., None], (230 - 40 * place, 90, 60 + 30 * place), noise)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / name)
        if name in MASKED:
            mask = Image.fromarray(np.where(inside, 255, 0).astype(np.uint8))
            mask.save(folder / f"{Path(name).stem}_mask.png")
    return folder


def shape_of(name: str, size: tuple[int, int]) -> np.ndarray:
    """Mask of the pixels of an image that belong to its object."""
    row, column = np.indices(size) / np.reshape(size, (2, 1, 1))
    return {
        "bar": (column > 0.4) & (column < 0.6),
        "cross": (np.abs(row - 0.5) < 0.1) | (np.abs(column - 0.5) < 0.1),
        "disc": np.hypot(row - 0.4, column - 0.6) < 0.3,
        "noise": row > 1,
        "plain": row >= 0,
    }[name.split(".")[0].split(" ")[0]]
