"""Cleaning of the markup of collected texts."""

import nh3

_TAGS = {"div", "span", "i", "b"}
_ATTRIBUTES = {tag: {"class", "title", "style"} for tag in _TAGS}
_STYLES = {"background", "grid-template-columns"}


def clean(body: str) -> str:
    """Return markup without anything that runs, fetches or leaves its place."""
    return nh3.clean(
        body,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags={"style", "script"},
        filter_style_properties=_STYLES,
    )
