"""Drawing of charts by a few processes, reused from one chart to the next."""

from base64 import b64decode
from queue import LifoQueue
from typing import Any

from pages.ui.limited_process.process import BoundedProcess, Ended, Limits
from pages.ui.words.say import say

LIMITS = Limits(seconds=60.0, memory=2 * 2**30, letters=64 * 2**20)
_RENDERER = "pages.ui.export.renderer"
_AT_ONCE = 2
_LARGE = 4 * 2**20
"""Letters of a drawing above which its process is ended, to free its memory."""
_idle: LifoQueue[BoundedProcess | None] = LifoQueue()
for _ in range(_AT_ONCE):
    _idle.put(None)


class NotDrawn(Exception):
    """Raised if a chart cannot be drawn within the limits of time, memory and size."""

    def __init__(self, reason: str):
        super().__init__(f"A chart could not be drawn: {reason}")


def not_drawn() -> str:
    """Return the message for a chart that cannot be drawn."""
    return say("figure.not_drawn", seconds=f"{LIMITS.seconds:g}", memory=LIMITS.memory // 2**30)


def svg_of(chart: dict[str, Any]) -> str:
    """Return a chart in Vega-Lite, with its data inside, as SVG.

    Raises:
        NotDrawn: like all functions below.
    """
    return _drawn("svg", chart)


def png_of(svg: str) -> bytes:
    return b64decode(_drawn("png", svg))


def pdf_of(svg: str) -> bytes:
    return b64decode(_drawn("pdf", svg))


def scripts() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script."""
    return _drawn("scripts", None)


def _drawn(form: str, given: Any) -> str:
    """Return the output of the process that was used last, or else of a new one."""
    process = _idle.get()
    try:
        if process is None or not process.is_alive:
            process = BoundedProcess(_RENDERER, LIMITS)
        reply = process.ask((form, given))
        if len(reply.get("drawn", "")) > _LARGE:
            process.close()
            process = None
    except Ended as end:
        process = None
        raise NotDrawn(end.name) from end
    finally:
        _idle.put(process)
    if "fault" in reply:
        raise NotDrawn(reply["fault"])
    return reply["drawn"]
