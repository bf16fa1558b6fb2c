"""Numbers as sentences write them."""

import re

import numpy as np

_NUMBER = re.compile(r"(?<![\w.,])[+−-]?\d+(?:,\d{3})*(?:\.\d+)?%?", re.ASCII)
_PLACES = re.compile(
    r"(layer|head|layers|heads|offset|pieces) \d+(?![\d.%])|"
    r"第\d+層|ヘッド\d+|\b(10⁻|rule )\S+|[₀-₉⁰-⁹]+|\d+·10\S+"
)
"""Things called by a number: layers, heads, powers of ten, places in a text."""


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, but for those that are part of a name."""
    return _NUMBER.findall(_PLACES.sub(" ", text.replace("\\", "").replace("*", "")))


def is_among(written: str, values: np.ndarray) -> bool:
    """Return True if a written number is one of these values, rounded, as a share or as points."""
    plain = written.rstrip("%").replace(",", "").replace("−", "-")
    digits = len(plain.partition(".")[2])
    scales = (100,) if written.endswith("%") else (1, 100)
    least = 0.5000001 * 10.0**-digits
    return any(
        np.any(np.abs(np.abs(values) * scale - abs(float(plain))) <= least) for scale in scales
    )
