"""Check of the markup of collected texts, which may come from any source."""

import re

import nh3

LONGEST = 2 * 2**20
"""Letters of a text with its markup."""
_DEEPEST = 32
_TAGS = {"div", "span", "i", "b"}
_ATTRIBUTES = {tag: {"class", "title", "style"} for tag in _TAGS}
_STYLES = {"background", "grid-template-columns"}
_PART = re.compile(rf'[^<]++|<({"|".join(_TAGS)})(?: [a-z]++="[^"]*+")*+>|</({"|".join(_TAGS)})>')


def clean(body: str) -> str:
    """Return markup without anything that runs, fetches or leaves its place."""
    return nh3.clean(
        body,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags={"style", "script"},
        filter_style_properties=_STYLES,
    )


def fault_of(body: str) -> str:
    """Return the reason why markup is no output of `clean`; empty if it is allowed.

    It is read once from end to end. A browser, and `clean` too, may take time quadratic in its
    length to read markup that is nested deeply or closed in another order.
    """
    place, within = 0, []
    while place < len(body):
        part = _PART.match(body, place)
        if part is None or (part[2] and (not within or within.pop() != part[2])):
            return f"is no markup of a report at letter {place + 1}: {body[place : place + 40]!r}"
        if part[1]:
            within.append(part[1])
        if len(within) > _DEEPEST:
            return f"nests more than {_DEEPEST} elements"
        place = part.end()
    return f"does not close <{within[-1]}>" if within else ""
