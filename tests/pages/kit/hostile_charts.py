"""Charts that take all memory, go on for ever or fetch something, and a sound one."""

from copy import deepcopy
from typing import Any

import altair as alt
import pandas as pd

from pages.ui.export.files import with_data

FRAME = pd.DataFrame({"token": ["[CLS]", "[SEP]"], "share": [0.25, None], "n": [3, 4]})
SOUND = with_data(alt.Chart(FRAME).mark_point().encode(x="share:Q", y="token:N"))
_MUCH = 1e9
_NO_DATA = {"data": {"values": [{"share": 1}]}}
_POINTS = {"mark": "point", "encoding": {"x": {"field": "data", "type": "quantitative"}}}
_SEQUENCE = {"start": 0, "stop": _MUCH}
_EVERY: dict[str, Any] = {"mark": "point", "encoding": {}}


def _with(*path: str | int, **parts: Any) -> dict[str, Any]:
    """The sound chart with further parts at a place."""
    chart = deepcopy(SOUND)
    inner: Any = chart
    for step in path:
        inner = inner.setdefault(step, {})
    inner.update(parts)
    return chart


def _rows(n: int) -> list[dict[str, Any]]:
    return [{"share": place, "token": f"{place}"} for place in range(n)]


def _of_rows(n: int, mark: str = "point", **encoding: Any) -> dict[str, Any]:
    return {
        "data": {"name": "rows"},
        "datasets": {"rows": _rows(n)},
        "mark": mark,
        "encoding": encoding,
    }


def _layered(chart: dict[str, Any], times: int) -> dict[str, Any]:
    """A chart that draws its data so many times."""
    data = {name: chart[name] for name in ("data", "datasets")}
    return {**data, "layer": [_EVERY] * times}


_X, _Y = ("encoding", "x"), ("encoding", "y")
_NAME, _NUMBER = ({"field": f, "type": t} for f, t in (("token", "nominal"), ("share", "ordinal")))
ENDLESS: dict[str, tuple[dict[str, Any], str]] = {
    "a sequence": ({"data": {"sequence": _SEQUENCE}, **_POINTS}, "['data']"),
    "a graticule": (
        {"data": {"graticule": {"step": [1e-4, 1e-4]}}, "mark": "geoshape"},
        "['data']",
    ),
    "a sphere": ({"data": {"sphere": True}, "mark": "geoshape"}, "['data']"),
    "a mark for maps": (_with(mark="geoshape"), "['mark']"),
    "values of another place": (_with(data={"url": "https://example.org/a.json"}), "example.org"),
    "values beside the data": (_with(data={**_NO_DATA["data"], "name": "a"}), "['data']"),
    "a wide chart": (_with(width=_MUCH), "['width']"),
    "a high view": ({"hconcat": [_EVERY | {"height": -_MUCH}]}, "['height']"),
    "words that need room": (_with("usermeta", least_width=_MUCH), "['least_width']"),
    "large letters": (_with("config", "axis", labelFontSize=_MUCH), "['config']['axis']"),
    "a far mark": (_with("encoding", x={"value": _MUCH}), "['x']['value']"),
    "many ticks": (_with(*_X, axis={"tickCount": 1e7}), "['tickCount']"),
    "a tick each millisecond": (_with(*_X, axis={"tickCount": "millisecond"}), "['tickCount']"),
    "a time": (_with(*_X, type="temporal"), "['x']['type']"),
    "wide bands": (_with(width={"step": _MUCH}), "['width']['step']"),
    "many bins": (_with(*_X, bin={"maxbins": _MUCH}), "['bin']"),
    "short bins": (_with(*_X, bin={"step": 1e-9}), "['bin']"),
    "a scale of many powers": (_with(*_X, scale={"type": "log", "base": 1.0000001}), "['base']"),
    "a density": (_with(transform=[{"density": "share", "steps": 1e8}]), "['density']"),
    "quantiles": (_with(transform=[{"quantile": "share", "step": 1e-9}]), "['quantile']"),
    "flattened lists": (_with(transform=[{"flatten": ["a", "b"]}]), "['flatten']"),
    "a list for each row": (
        _with(transform=[{"calculate": "sequence(0, 1e9)", "as": "a"}]),
        "['calculate']",
    ),
    "missing values": (
        _with(*_Y, impute={"keyvals": {"start": 0, "stop": _MUCH, "step": 1}}),
        "['impute']",
    ),
    "a column of each name": (_with(transform=[{"pivot": "token", "value": "n"}]), "['pivot']"),
    "a long number": (_with(*_X, axis={"format": "999999999d"}), "['format']"),
    "a long label": (_with(*_X, axis={"labelExpr": "pad('x', 1e9, 'y')"}), "['labelExpr']"),
    "a longer label": (_with(*_X, axis={"labelExpr": "replace('a', 'a', 'aa')"}), "['labelExpr']"),
    "a number in a label": (
        _with(*_X, axis={"labelExpr": "format(datum.value, '999999999d')"}),
        "['labelExpr']",
    ),
    "an expression that looks back": (
        _with(transform=[{"filter": "test(regexp('(a+)+$'), datum.token)"}]),
        "['filter']",
    ),
    "a long condition": (_with(transform=[{"filter": "1 + " * 400 + "1"}]), "['filter']"),
    "a signal": (_with(params=[{"name": "a", "expr": "1", "bind": {}}]), "['bind']"),
    "a link": (_with("encoding", href={"field": "token"}), "['href']"),
    "repeated views": ({"repeat": ["a"] * 999, "spec": _EVERY}, "['repeat']"),
    "a view for each row": (_with("encoding", facet={"field": "token"}), "['facet']"),
    "many views": ({"hconcat": [_EVERY] * 101}, "views"),
    "many parts": ({"layer": [_EVERY] * 6000}, "parts"),
    "many rows": (_of_rows(100_001), "rows"),
    "many marks": (_layered(_of_rows(3000), 70), "marks"),
    "many texts": (_of_rows(10_001, "text"), "marks"),
    "many names": (_of_rows(2001, color=_NAME), "names"),
    "many names of one that is not there": (
        _of_rows(2001, x={"field": "['share']", "type": "ordinal"}),
        "names",
    ),
    "many numbers as names": (_of_rows(2001, y=_NUMBER), "names"),
    "a number that none is": (_with("datasets", a=[{"share": float("nan")}]), "['datasets']"),
    "a row in a row": (_with("datasets", a=[{"share": {"a": 1}}]), "['datasets']"),
    "no rows": (_with("datasets", a=3), "['datasets']"),
}
"""Each with what names it when it is refused."""
_deep: dict[str, Any] = _EVERY
for _ in range(200):
    _deep = {"layer": [_deep]}
ENDLESS["nested views"] = (_deep, "deep")
