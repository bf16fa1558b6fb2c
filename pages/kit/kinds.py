"""Kinds of charts: each draws the rows of a figure, by columns that it names."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import pandas as pd

from pages.charts.chart_theme import (
    Chart,
    Scale,
    coloured,
    layered,
    tooltips,
    with_axes,
)
from pages.charts.head_map import CELL, around_zero, from_zero, head_map
from pages.charts.paired_stacks import paired_stacks
from pages.charts.points import scatter
from pages.charts.standard import bars, lines
from pages.kit.links import link_to_sequence
from pages.kit.published_table import Row, show_published
from pages.kit.section import Choices, Figure
from pages.kit.spread import spread
from pages.words.columns import NAMES, title, value_name
from pages.words.quantities import in_type_order
from pages.words.scope import optional_word

if TYPE_CHECKING:
    from pages.kit.view import View

IS_CLEAR = "is_clear"
"""Column of differences that says which intervals exclude 0; missing without one."""
ENDS = ("low", "high")
_ROW, _AROUND = 30, 90  # pixels of a row of dots; of the legend and the axis
_WIDTH = 630  # pixels of maps side by side, without their axes


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """Way to show the rows of a figure."""

    @abstractmethod
    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        """Record a figure of a section; `said` fills its words."""


@dataclass(frozen=True, kw_only=True)
class Plot(Kind):
    """Chart of the column `value`, whose ends are the columns `ends` where the rows have them.

    `format` is that of the value, in the notation of both Python and D3. `axis_word` is the title
    of its axis in place of the word `NAME_axis`, and may name choices: `axis_{weighing}`.
    """

    value: str = "mean"
    format: str = ".3f"
    ends: tuple[str, str] = ENDS
    axis_word: str = ""
    height: int = 300
    width: Literal["stretch", "content"] = "stretch"

    @abstractmethod
    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        """Chart of the rows of a figure whose words begin with `name`."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that identify a mark; without them, B − A is not offered."""
        return ()

    @property
    def shared(self) -> tuple[str, ...]:
        """Channels that two charts of the kind have on one scale."""
        return ("y", "color")

    def signed(self) -> "Plot | None":
        """Kind for differences around 0; None if it cannot draw them."""
        return None

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple["Plot", list[pd.DataFrame]]:
        """Kind and rows of charts whose colours mean the same in each."""
        return self, frames

    def format_of(self, row: Mapping[Any, Any]) -> str:
        """Format of the number of a row."""
        return self.format

    def headings(self, name: str, choices: Choices) -> dict[str, tuple[str, bool]]:
        """Titles of the numbers in exports, and whether they are in per cent."""
        in_percent = self.format.endswith("%")
        return {self.value: (self.title(name, choices), in_percent)} | dict.fromkeys(
            ENDS, ("", in_percent)
        )

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        name = figure.words(choices)
        view.figure(
            name,
            frame,
            self.draw(frame, name, choices),
            width=self.width,
            drawn_by=self,
            chosen=choices,
            **{**said, "weighing": choices.get("weighing", "weight")},
            **figure.options(view.key, frame, choices, said),
        )

    def axis(self, name: str, **more: Any) -> alt.Axis:
        """Axis of the value."""
        form = "~%" if self.format.endswith("%") else ".6~g"
        return alt.Axis(format=form, tickCount=6, **more)

    def title(self, name: str, choices: Choices | None = None) -> str:
        """Title of the axis of the value."""
        word = self.axis_word.format_map(choices or {}) or f"{name}_axis"
        return optional_word(word) or title(self.value)


Colours = Mapping[Any, str] | Callable[[Choices], Mapping[Any, str]] | None
"""Colours of values, which may depend on choices."""


def named(
    frame: pd.DataFrame, column: str | None, colours: Colours, choices: Choices | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows with display names in the column of colours, and arguments for their colours.

    The words `COLUMN_VALUE` name values that have no names on all pages; with `colours`, these are
    the values that are drawn, in their order.
    """
    colours = colours(choices or {}) if callable(colours) else colours
    if column is None or (column in NAMES and colours is None):
        return frame, {"colour": column}
    if colours is not None:
        frame = frame[frame[column].isin(list(colours))]
    names = {value: value_said(column, value) for value in colours or dict.fromkeys(frame[column])}
    given = {names[value]: colour for value, colour in colours.items()} if colours else None
    frame = frame.assign(**{column: frame[column].map(names)})
    return frame, {"colour": column, "colours": given, "colour_title": " "}


def value_said(column: str, value: Any) -> str:
    """Display name of a value: the word `COLUMN_VALUE`, or else that of its column."""
    return optional_word(f"{column}_{value}") or value_name(column, value)


@dataclass(frozen=True, kw_only=True)
class Bars(Plot):
    """Bars side by side, a group per `x` and one bar per colour."""

    x: str = "layer"
    colour: str | None = None
    colours: Mapping[Any, str] | None = None
    more: tuple[str, ...] = ()
    domain: tuple[float, float] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.x, self.colour)))

    def signed(self) -> Plot:
        return replace(self, domain=None)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, drawn = named(frame, self.colour, self.colours)
        order = None
        if self.x in NAMES:
            known = set(frame[self.x])
            order = [value_name(self.x, value) for value in NAMES[self.x].colours if value in known]
        elif not pd.api.types.is_numeric_dtype(frame[self.x]):
            frame, _ = named(frame, self.x, None)
            order = frame[self.x].drop_duplicates().tolist()
        return bars(
            frame,
            x=self.x,
            y=self.value,
            order=order,
            **drawn,
            y_title=self.title(name),
            domain=self.domain,
            tick_format="~%" if self.format.endswith("%") else None,
            tooltip=self.more,
            format=self.format,
            height=self.height,
        )


@dataclass(frozen=True, kw_only=True)
class Lines(Plot):
    """One line per colour over a whole-numbered `x`, with bands.

    `level` is a value to compare with, and `dashed` are values of colour whose lines are
    references. `x_format` is that of an x that holds shares. `scale` may be the name of its pick.
    """

    x: str = "layer"
    colour: str | None = None
    colours: Colours = None
    dashed: tuple[str, ...] = ()
    level: float | None = None
    scale: Scale | str = "linear"
    zero: bool = True
    columns: int | None = None
    points: bool = True
    x_format: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.x, self.colour)))

    def signed(self) -> Plot:
        return replace(self, scale="linear", zero=True, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, drawn = named(frame, self.colour, self.colours, choices)
        chart = lines(
            frame,
            x=self.x,
            y=self.value,
            **drawn,
            y_title=self.title(name, choices),
            dashed=[value_said(str(self.colour), value) for value in self.dashed],
            level=self.level,
            ends=self.ends,
            y_scale=choices.get(self.scale, self.scale),
            zero=self.zero,
            columns=self.columns,
            points=self.points,
            format=self.format,
            height=self.height,
        )
        axes = {"y": self.axis(name)}
        if self.x_format:
            axes["x"] = alt.Axis(format=self.x_format, tickCount=9, labelAngle=0)
        return with_axes(chart, **axes)


@dataclass(frozen=True, kw_only=True)
class Spread(Plot):
    """Means over heads by layer as lines with bands, and every head as a point.

    Rows without a head are the means; `dashed` is the value of colour whose line is a reference.
    """

    colour: str
    dashed: str | None = None
    scale: Scale = "linear"
    height: int = 380

    @property
    def keys(self) -> tuple[str, ...]:
        return ("layer", "head", self.colour)

    def signed(self) -> Plot:
        return replace(self, scale="linear")

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        return spread(
            frame,
            colour=self.colour,
            dashed=self.dashed,
            title=self.title(name, choices),
            axis=self.axis(name),
            format=self.format,
            scale=self.scale,
            marked=(choices["layer"], choices["head"]),
            height=self.height,
        )


@dataclass(frozen=True, kw_only=True)
class Rows(Plot):
    """A row per value of `y`, from the top as they come, with a dot and an interval per colour.

    `level` is a value to compare with, and `row` the height of a row in pixels.
    """

    y: str
    colour: str | None = None
    colours: Colours = None
    more: tuple[str, ...] = ()
    level: float | None = None
    row: int = _ROW

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.y, self.colour)))

    @property
    def shared(self) -> tuple[str, ...]:
        return ("x", "color")

    def signed(self) -> Plot:
        return replace(self, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, drawn = named(frame, self.colour, self.colours, choices)
        frame = frame.assign(**{self.y: [value_said(self.y, value) for value in frame[self.y]]})
        frame, encoding, present = coloured(
            frame, drawn["colour"], drawn.get("colour_title"), drawn.get("colours")
        )
        order = frame[self.y].drop_duplicates().tolist()
        across: dict[str, Any] = {"title": self.title(name), "axis": self.axis(name)}
        shown = dict.fromkeys((self.y, self.colour)) | {self.value: self.title(name)}
        ends = [end for end in self.ends if end in frame]
        base = Chart(frame).encode(
            y=alt.Y(f"{self.y}:N", sort=order, title=None, axis=alt.Axis(labelLimit=280)),
            color=encoding,
            tooltip=tooltips(shown | dict.fromkeys((*ends, *self.more)), frame, self.format),
        )
        if not frame[self.y].duplicated().any():  # one dot in a row stands in its middle
            present = present[:1]
        if len(present) > 1:
            base = base.encode(yOffset=alt.YOffset(f"{self.colour}:N", sort=present))
        points = base.mark_circle(size=80, opacity=1).encode(x=alt.X(f"{self.value}:Q", **across))
        rules = []
        if self.level is not None:
            at = Chart(alt.InlineData(values=[{"level": self.level}]))
            rules = [at.mark_rule(strokeDash=[4, 3]).encode(x=alt.X("level:Q"))]
        if ends and frame[ends[0]].notna().any():
            interval = base.encode(x=alt.X(f"{ends[0]}:Q", **across), x2=alt.X2(ends[1]))
            rules.append(interval.mark_rule(strokeWidth=2))
        n_colours = max(len(present), 1)
        height = self.row * len(order) * (1 if n_colours == 1 else 0.7 * n_colours) + _AROUND
        return layered(*rules, points, height=round(height))


@dataclass(frozen=True, kw_only=True)
class HeadMap(Plot):
    """Cell per layer and head, with a frame around the chosen head; a click chooses another.

    `panel` is a column with a map for each value, in the order of `panels`, side by side; `formats`
    are those of panels with another one.
    `is_signed` values have colours on both sides of 0; others from `low`, or else the least of the
    rows. `clear` is a column that says which cells have no dot. `top` is a column of the values
    whose largest ends a scale.
    """

    panel: str | None = None
    panels: tuple[str, ...] = ()
    formats: Mapping[str, str] = field(default_factory=dict)
    is_signed: bool = False
    low: float | None = 0.0
    more: tuple[str, ...] = ()
    clear: str | None = None
    top: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(filter(None, ("layer", "head", self.panel)))

    @property
    def shared(self) -> tuple[str, ...]:
        return ("color",)

    def format_of(self, row: Mapping[Any, Any]) -> str:
        return self.formats.get(row[self.panel], self.format) if self.panel else self.format

    def signed(self) -> Plot:
        return replace(self, is_signed=True, top=None, clear=IS_CLEAR)

    def on_one_scale(self, frames: list[pd.DataFrame]) -> tuple[Plot, list[pd.DataFrame]]:
        if self.panel is None:
            return self, frames
        tops = pd.concat(frames).groupby(self.panel)[self.top or self.value].max()
        topped = [frame.assign(top=frame[self.panel].map(tops)) for frame in frames]
        return replace(self, top="top"), topped

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        marked = (choices["layer"], choices["head"]) if "head" in choices else None
        if self.panel is None:
            return self._map(frame, self.title(name, choices), marked, CELL)
        maps = [
            replace(self, format=self.formats.get(panel, self.format))
            ._map(
                frame[frame[self.panel] == panel],
                optional_word(f"{name}_axis_{panel}") or value_said(self.panel, panel),
                marked,
                f"{CELL}_{panel}",
            )
            .properties(title=value_said(self.panel, panel), width=_WIDTH / len(self.panels))
            for panel in self.panels
        ]
        together = alt.concat(*maps, columns=len(maps), spacing=14)
        return together.resolve_scale(color="independent")

    def _map(
        self, frame: pd.DataFrame, title: str, marked: tuple[int, int] | None, name: str
    ) -> Any:
        values = frame[self.top or self.value]
        low = float(values.min()) if self.low is None else self.low
        ends = [end for end in ENDS if end in frame]
        return head_map(
            frame,
            self.value,
            title,
            around_zero(values) if self.is_signed else from_zero(float(values.max()), low),
            format=self.format,
            legend_format="~%" if self.format.endswith("%") else ".3~r",
            tooltip=(*ends, *self.more),
            marked=marked,
            clear=self.clear,
            name=name,
        )


@dataclass(frozen=True, kw_only=True)
class Points(Plot):
    """A point per row at `x` and the value, identified by `marks`.

    `more` are further columns of the tooltip, and `level` is a value to compare with.
    """

    x: str
    x_scale: Scale = "log"
    marks: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    level: float | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return self.marks

    def signed(self) -> Plot:
        return replace(self, level=0.0)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        chart = scatter(
            frame,
            x=self.x,
            y=self.value,
            x_scale=self.x_scale,
            tooltip=(*self.more, self.x, self.value),
            level=self.level,
            format=self.format,
            height=self.height,
        )
        return with_axes(chart, y=self.axis(name))


@dataclass(frozen=True, kw_only=True)
class Stacks(Plot):
    """Bars of shares that add up to 1, one per layer and value of `side`.

    `sides` are these values, which may name choices, with the opacities of their bars; `more` are
    further columns of the tooltip.
    """

    colour: str
    colours: Mapping[Any, str] | None = None
    side: str
    sides: Mapping[str, float]
    more: tuple[str, ...] = ENDS
    format: str = ".1%"
    height: int = 400

    @property
    def keys(self) -> tuple[str, ...]:
        return ("layer", self.colour, self.side)

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        frame, drawn = named(frame, self.colour, self.colours)
        sides = {side.format_map(choices): opacity for side, opacity in self.sides.items()}
        sides = {side: sides[side] for side in sides if side in set(frame[self.side])}
        if self.side not in NAMES:
            frame, _ = named(frame, self.side, None)
            sides = {value_said(self.side, side): opacity for side, opacity in sides.items()}
        return paired_stacks(
            frame,
            y=self.value,
            colour=self.colour,
            colours=drawn.get("colours"),
            side=self.side,
            sides=list(sides),
            opacities=list(sides.values()),
            tooltip=self.more,
            format=self.format,
            height=self.height,
        )


@dataclass(frozen=True, kw_only=True)
class Custom(Plot):
    """Chart by a function of the rows, the name of the words, and the choices.

    `marks` are the columns that identify a mark.
    """

    chart: Callable[[pd.DataFrame, str, Choices], Any]
    marks: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return self.marks

    def headings(self, name: str, choices: Choices) -> dict[str, tuple[str, bool]]:
        return {}

    def draw(self, frame: pd.DataFrame, name: str, choices: Choices) -> Any:
        return self.chart(frame, name, choices)


@dataclass(frozen=True, kw_only=True)
class Table(Kind):
    """Numbers by columns, each with the format of Streamlit if it is not the usual one.

    `named` are columns whose values have words. A table that `has_texts`, by a column seq, links to
    the one that is selected.
    """

    columns: Sequence[str] | Mapping[str, str | None]
    named: tuple[str, ...] = ()
    has_texts: bool = False

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        given = self.columns if isinstance(self.columns, Mapping) else dict.fromkeys(self.columns)
        frame = in_type_order(frame) if "token_type" in given else frame
        for column in self.named:
            frame, _ = named(frame, column, None)
        listed = {"height": 248, "on_select": "rerun", "selection_mode": "single-row"}
        event = view.table(
            figure.words(choices),
            frame,
            {name: form for name, form in given.items() if name in frame},
            **said,
            **figure.options(view.key, frame, choices, said),
            options=listed if self.has_texts else None,
        )
        for row in event["selection"]["rows"] if self.has_texts else ():
            view.draw(link_to_sequence, frame["seq"].iloc[min(row, len(frame) - 1)])


@dataclass(frozen=True, kw_only=True)
class Facts(Kind):
    """Numbers of a single row side by side, large, under the titles of their columns."""

    formats: Mapping[str, str]

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        row = frame.iloc[0]
        known = {name: form for name, form in self.formats.items() if pd.notna(row.get(name))}
        with view.place("container", border=True):
            for place, (name, form) in zip(view.split(len(known)), known.items(), strict=True):
                with place:
                    label = optional_word(f"{figure.name}_{name}") or title(name)
                    view.write("metric", label, value=f"{row[name]:{form}}".replace("-", "−"))


@dataclass(frozen=True, kw_only=True)
class Drawn(Kind):
    """Content that a function records: texts, pictures, or all that no other kind can show."""

    record: Callable[["View", Figure, pd.DataFrame, Choices], None]

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        self.record(view, figure, frame, choices)


@dataclass(frozen=True, kw_only=True)
class Published(Kind):
    """Numbers that a paper printed, beside those of the file.

    Rows: `of` (display name), `number` (of `analysis.published.numbers`), `ours`, and `low` and
    `high` if known; `pages.kit.published_table.printed` returns them for numbers with keys. The
    word `title_NAME` is the title.
    """

    def show(
        self, view: "View", figure: Figure, frame: pd.DataFrame, choices: Choices, said: Choices
    ) -> None:
        ends = [frame[end] if end in frame else [None] * len(frame) for end in ENDS]
        rows = zip(frame["of"], frame["number"], frame["ours"], *ends, strict=True)
        show_published(view, figure.words(choices), *(Row(*row) for row in rows), **said)
