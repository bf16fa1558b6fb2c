"""Charts and collections from any source: refused in one line, or drawn within limits."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from itertools import cycle
from random import Random
from typing import Any

from pages.ui.export.drawing import NotDrawn, svg_of
from tests.pages.kit.hostile_charts import ENDLESS, SOUND
from tests.tools.faults.hostile import samples
from tests.tools.faults.hostile.inputs import outcome, shown
from tests.tools.faults.process import Wrong

Kind = Callable[[Random], str]
_NUMBERS = (1e9, -1e9, 1e308, 1e-308, 10**400, 0, -1, 1e7, 65_536)
_TEXTS = ("sequence(0, 1e9)", "999999999d", "x" * 10**6, "container", "'a'", "https://example.org")
_CHANGED = 3
_MUCH = 200_000


def kinds() -> dict[str, Kind]:
    """Charts with values, properties and data that ours never have, and collections of too much."""
    endless = cycle(ENDLESS)
    return {
        "collections with strange charts": _planted,
        "collections with too much of anything": _much,
        "strange charts that nobody looked at": partial(_drawn, endless),
    }


def _planted(chance: Random) -> str:
    """Parts of endless charts, and strange values, at any place of a sound one."""
    chart = deepcopy(SOUND)
    for _ in range(chance.randint(1, _CHANGED)):
        other = chance.choice([SOUND, *(chart for chart, _ in ENDLESS.values())])
        place, name, value = chance.choice(_places(other))
        targets = [inner for inner, _, _ in _places(chart) if isinstance(inner, dict)]
        target = chance.choice(targets)
        value = chance.choice((value, value, chance.choice(_NUMBERS), chance.choice(_TEXTS)))
        target[name if isinstance(place, dict) else chance.choice([*target])] = deepcopy(value)
    return _read(chart=chart)


def _places(part: Any) -> list[tuple[Any, Any, Any]]:
    """Every part of a chart with its parent and its name or index; for long lists, the first."""
    inner = part.items() if isinstance(part, dict) else enumerate(part[:3])
    places = [(part, name, value) for name, value in inner]
    return places + [
        place
        for _, _, value in places
        if isinstance(value, dict | list)
        for place in _places(value)
    ]


def _much(chance: Random) -> str:
    """A text, a list or a nesting that has no end."""
    n = chance.randrange(2, _MUCH)
    tags = [chance.choice(("<div>", "<b>", "</i>", "<b title='a'>", "&lt;", "<")) for _ in range(3)]
    wide = {"columns": ["a"] * n, "rows": [[0] * n] * chance.randint(1, 9), "chart": None}
    changes: list[dict[str, Any]] = [
        {"body": "".join(tags) * n, "chart": None},
        {"note": "x" * n},
        {"rows": [["a"]] * n, "columns": ["a"], "chart": None},
        {"rows": [[{}] * n], "columns": ["a"] * n, "chart": None},
        {"papers": ["a"] * n},
        {"question": [[]] * n},
        {f"{place}": place for place in range(n)},
        wide,
    ]
    return _read(**chance.choice(changes))


def _read(**change: Any) -> str:
    """Outcome of reading a collection with one changed item."""
    collection = json.loads(samples.COLLECTION)
    collection["items"][0] |= change
    content = json.dumps(collection).encode()
    return outcome(partial(shown, content), content)


def _drawn(names: Any, chance: Random) -> str:
    """An endless chart that was not refused is drawn within limits, or ends its process alone."""
    name = next(names)
    try:
        svg_of(ENDLESS[name][0])
        ended = "drawn"
    except NotDrawn:
        ended = "not drawn"
    if not svg_of(SOUND).startswith("<svg"):
        raise Wrong(f"after {name} no chart is drawn any more")
    return ended
