"""What clusters of attention profiles are called and coloured: by direction, then by strength."""

from collections.abc import Sequence

from pages.ui.words.say import say

_STRENGTHS = ("strong", "moderate", "weak")
_SHADES = {
    "previous": ("#1f6bb0", "#9ccbee"),
    "self": ("#a63d8a", "#e6aed3"),
    "next": ("#bd5f0a", "#f5c08a"),
    "both": ("#1f8262", "#97d4bc"),
    "flat": ("#6c7580", "#c3c8ce"),
}
"""The darkest and the lightest colour of a direction; what leans nowhere is grey."""


def cluster_name(cluster: str) -> str:
    """A cluster's name in the reader's language: direction, strength, and a number if another
    cluster has the same two."""
    direction, strength, number = _parts(cluster)
    told = say(
        "positions_head.cluster.name",
        direction=say(f"positions_head.cluster.{direction}"),
        strength=say(f"positions_head.cluster.{strength}"),
    )
    return f"{told} ({number})" if number > 1 else told


def cluster_colours(clusters: Sequence[str]) -> dict[str, str]:
    """Colours of all clusters, in their order: those of one direction together, strongest first."""
    families: dict[str, list[str]] = {family: [] for family in _SHADES}
    for cluster in sorted(clusters, key=_rank):
        families[_family(cluster)].append(cluster)
    return {
        cluster: _shade(_SHADES[family], place, len(members))
        for family, members in families.items()
        for place, cluster in enumerate(members)
    }


def _parts(cluster: str) -> tuple[str, str, int]:
    direction, strength, *number = cluster.split("_")
    return direction, strength, int(number[0]) if number else 1


def _rank(cluster: str) -> tuple[int, int]:
    _, strength, number = _parts(cluster)
    return _STRENGTHS.index(strength), number


def _family(cluster: str) -> str:
    direction, strength, _ = _parts(cluster)
    return "flat" if (direction, strength) == ("both", "weak") else direction


def _shade(ends: tuple[str, str], place: int, n: int) -> str:
    """The colour at a place of n evenly spread ones, the dark end first."""
    share = place / (n - 1) if n > 1 else 0.35
    dark, light = ([int(end[start : start + 2], 16) for start in (1, 3, 5)] for end in ends)
    mixed = (round(a + share * (b - a)) for a, b in zip(dark, light, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
