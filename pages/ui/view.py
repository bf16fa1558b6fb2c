"""Canvas of a section: findings, figures and tables that look up their own words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import pandas as pd
import streamlit as st

from analysis.statistics.norms.weighing import WEIGHT
from pages.ui import published
from pages.ui.charts.headline import emphasised, joined, sentences
from pages.ui.charts.layer_gaps import with_gaps
from pages.ui.choices import clicks
from pages.ui.choices.otherwise import DrawingEnds
from pages.ui.figure import figure, markup, table
from pages.ui.pickers import Pickers
from pages.ui.stage import columns, stage
from pages.ui.words.columns import column_settings, with_names
from pages.ui.words.interval_sentence import interval_form, interval_sentence, listed_form
from pages.ui.words.place import say_here
from pages.ui.words.say import say

_NOTHING = {"selection": {"rows": []}}


@dataclass(frozen=True)
class View(Pickers):
    """A section while it is drawn.

    Names given to its methods are those of words of the section, or of its page: `NAME` is the
    label of a picker or the question of a figure, `NAME_OPTION` an option, `NAME_caption` a
    caption. Names in the address and keys start with the prefix of the page.
    """

    def finding(self, text: str) -> None:
        """Set the finding of the section, with its numbers: the headline of the next chart."""
        if text:
            stage().announce(text)

    def note(self, text: str) -> None:
        """Add a note to the explanation of the next chart."""
        stage().note(text)

    def nothing(self, name: str, /, **values: Any) -> None:
        """Show why there is nothing to draw, in place of the content."""
        st.info(self.say(name, **values))

    def end(self, name: str, /, **values: Any) -> NoReturn:
        """Show why there is nothing more to draw, and end the section."""
        self.nothing(name, **values)
        raise DrawingEnds

    def columns(self, n: int | Sequence[int]) -> list[Any]:
        """Columns for charts that share a finding, of the given widths."""
        if finding := stage().begin():
            first, *others = sentences(finding)
            st.markdown(emphasised(first))
            stage().note(" ".join(others))
        return columns(n)

    def figure(
        self,
        name: str,
        frame: pd.DataFrame,
        chart: Any,
        *,
        state: object = "",
        click: bool = False,
        caption: str | None = None,
        weighing: str = WEIGHT,
        width: Literal["stretch", "content"] = "stretch",
        **values: Any,
    ) -> None:
        """Draw a chart under the question that it answers.

        Args:
            frame: the data that are offered for export.
            state: of the choices that a click in the chart would change.
            click: whether clicks are read, at the start of the next run, by `clicked(name)`.
            caption: in place of the word `NAME_caption`; the kind of interval is appended.
            weighing: measure of attention; the caption names it unless it is the weights.
            values: arguments of the question and the caption.
        """
        chart = with_gaps(chart)
        if stage().is_unseen:
            stage().reach(self.key(name), chart, frame)
            return
        key = self._keyed(name, state)
        texts = self._texts(name, caption, values, interval_form(chart))
        if weighing != WEIGHT:
            texts["caption"] = f"{say('weighing.caption')} {texts['caption']}"
        event = figure(
            chart,
            key=key,
            name=self.key(name),
            **texts,
            frame=frame,
            clickable=click,
            width=width,
        )
        if click:
            clicks.remember(self.key(name), key, event)

    def clicked(self, name: str) -> list[Any]:
        """Return the marks or rows clicked in a figure since it was last drawn; usually none."""
        return clicks.fresh_click(self.key(name))

    def table(
        self,
        name: str,
        frame: pd.DataFrame,
        columns: Sequence[str] | Mapping[str, str | None],
        *,
        state: object = "",
        caption: str | None = None,
        settings: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        click: Sequence[str] = (),
        **values: Any,
    ) -> Any:
        """Draw a table under the question that it answers.

        Args:
            columns: columns to show, in order, with the number format if it is not the usual one.
            settings: columns of a kind of their own.
            options: further ones of `st.dataframe`.
            click: columns that `clicked(name)` returns of a clicked row; none ignores clicks.
            values: arguments of the question and the caption.
        """
        if stage().is_unseen:
            return _NOTHING
        named, key = with_names(frame), self._keyed(name, state)
        given = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
        shown = {**column_settings(named, given), **(settings or {})}
        selecting = {"on_select": "rerun", "selection_mode": "single-row"} if click else {}
        event = table(
            named,
            key=key,
            columns=shown,
            **self._texts(name, caption, values, listed_form(frame, given)),
            **{"placeholder": "—", **selecting, **(options or {})},
        )
        if click:
            clicks.remember(self.key(name), key, event, frame[list(click)].to_dict("records"))
        return event

    def markup(
        self,
        name: str,
        frame: pd.DataFrame,
        body: str | Callable[[], str],
        chart: Any = None,
        *,
        state: object = "",
        caption: str | None = None,
        **values: Any,
    ) -> None:
        """Draw markup under the question that it answers.

        Args:
            frame: the data that are offered for export.
            body: with all text from files and readers escaped; or a function that draws it, with
                links between its parts, and returns it.
            chart: the same as a picture for export, if it can be drawn.
            caption: in place of the word `NAME_caption`.
        """
        if stage().is_unseen:
            return
        texts = self._texts(name, caption, values)
        markup(body, key=self._keyed(name, state), frame=frame, chart=chart, **texts)

    def beside(self, name: str, *rows: published.Row, **values: Any) -> None:
        """Draw published numbers with the file's own, titled by the shared word `title_NAME`."""
        if stage().is_unseen:
            return
        title = say_here(f"title_{name}", shared="published", **values)
        published.beside(*rows, key=self.key(f"published_{name}"), title=title)

    def _keyed(self, name: str, state: object) -> str:
        parts = state if isinstance(state, tuple) else (state,)
        return self.key("_".join(filter(None, (self.stem, name, *map(str, parts)))))

    def _texts(
        self, name: str, caption: str | None, values: Mapping[str, Any], form: str | None = None
    ) -> dict[str, str]:
        """Question and caption; the caption ends with the kind of its intervals, if it has any."""
        text = say_here(f"{name}_caption", **values) if caption is None else caption
        text = joined(filter(None, (text, interval_sentence(name, form))))
        return {"question": say_here(name, **values), "caption": text}
