"""Columns that tables of sinks share."""

from analysis.sinks import EVERY, FIRST, FIRST_CONTENT
from analysis.statistics.columns import named, small

_MEANING = (
    f"{FIRST} (the first token), {FIRST_CONTENT} (the first that is no special token), or a type "
    "of token; one token may be of several places"
)
PLACE = named("place", _MEANING)
PLACE_OR_ALL = named("place", f"{EVERY} (every token), {_MEANING}")
DEPTH = small("depth", "layers gone through: 0 is what the first layer reads", "layers")
