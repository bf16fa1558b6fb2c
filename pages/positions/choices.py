"""Pickers and words that the sections on spectra share."""

from collections.abc import Mapping, Sequence

from pages.positions.peaks import period
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.choices.pick import pick
from pages.ui.words.say import say

_BLUE, _ORANGE, *_, _GREY, _ = SERIES_COLOURS
_COLOURS = {
    "kept": _BLUE,
    "compared": _BLUE,
    "words": _ORANGE,
    "removed": _ORANGE,
    "permuted": _GREY,
}


def pick_scale() -> str:
    """How amplitudes are drawn, `linear` or `log`."""
    return pick(
        "po_scale",
        say("positions.scale"),
        ("linear", "log"),
        default="linear",
        format=lambda each: say(f"positions.{each}"),
        help=say("positions.scale_help"),
    )


def series_colours(names: Mapping[str, str]) -> dict[str, str]:
    """The colour of every series under the name that readers see."""
    return {name: _COLOURS[series] for series, name in names.items()}


def told_frequency(frequency: float) -> str:
    """A frequency without needless digits."""
    return f"{frequency:.3g}"


def told_period(frequency: float) -> str:
    """How many tokens a wave of this frequency takes."""
    return f"{period(frequency):.2g}" if period(frequency) < 10 else f"{period(frequency):.0f}"


def told_peaks(frequencies: Sequence[float], *, bold: bool = False) -> str:
    """Peaks with their periods, as a list."""
    key = "positions.peak" if bold else "positions.peak_plain"
    told = [
        say(key, frequency=told_frequency(each), period=told_period(each)) for each in frequencies
    ]
    return say("list.comma").join(told)
