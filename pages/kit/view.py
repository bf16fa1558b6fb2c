"""Recorder that a section runs with: findings, figures and tables that look up their own words."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pandas as pd

from analysis.statistics.base.tables import Table as OfFile
from analysis.statistics.base.weighing import WEIGHT
from pages.charts.headline import emphasised, joined, sentences
from pages.charts.layer_gaps import with_gaps
from pages.export.shown import Shown, sourced
from pages.kit.controls import Controls, Place
from pages.kit.items import Figure, Follow, Markup, Table
from pages.kit.run import run
from pages.kit.source import Reader, SectionEnds
from pages.services.inquiry import Inquiry
from pages.services.open_file import Store
from pages.words.columns import column_settings, with_names
from pages.words.interval_sentence import interval_form, interval_sentence, listed_form
from pages.words.say import catalogue, say
from pages.words.scope import say_here

if TYPE_CHECKING:
    from pages.kit.kinds import Plot

_IN_FILE_NAMES = ("seq", "layer", "head", "scope", "effect", "relation", "place", "token_type")
_NOTHING = {"selection": {"rows": []}}


class View(Controls, Inquiry):
    """A section while it runs: what it shows is recorded, and nothing is drawn.

    Names given to its methods are those of words of the section, or of its page: `NAME` is the
    label of a picker or the question of a figure, `NAME_OPTION` an option, `NAME_caption` a
    caption. Names in the address and keys start with the prefix of the page.

    Attributes:
        published: printed numbers that were shown so far, each with the file's own.
    """

    def __init__(
        self,
        prefix: str,
        stem: str,
        store: Store,
        *,
        choices: Reader | None = None,
        needs: Sequence[OfFile] = (),
        until: str = "",
    ) -> None:
        """Begin a recording.

        Args:
            store: the file to show.
            choices: by default the reader's.
            needs: tables without which the section has nothing to show.
            until: name of a figure, with the prefix of its page, at which the section ends.
        """
        Controls.__init__(self, prefix, stem, Reader() if choices is None else choices)
        Inquiry.__init__(self, store)
        self.needs, self.papers = needs, tuple(dict.fromkeys(table.source for table in needs))
        self.published: list[Any] = []
        self._until = until
        self._headline: list[str] = []
        self._above = ""
        self._notes: list[str] = []

    def finding(self, text: str) -> None:
        """Set the finding of the section, with its numbers: the headline of the next chart."""
        if text:
            self._headline.append(text)
            self._above = ""

    def note(self, text: str) -> None:
        """Add a note to the explanation of the next chart."""
        self._notes.append(text)

    def nothing(self, name: str, /, **values: Any) -> None:
        """Show why there is nothing to draw, in place of the content."""
        self.write("info", self.say(name, **values))

    def end(self, name: str, /, **values: Any) -> NoReturn:
        """Show why there is nothing more to draw, and end the section."""
        self.nothing(name, **values)
        raise SectionEnds

    def rest(self) -> list[str]:
        """Return, once, findings and notes that no chart took."""
        return [*filter(None, (self._taken(), *self._noted()))]

    def columns(self, n: int | Sequence[int]) -> list[Place]:
        """Columns for charts that share a finding, of the given widths."""
        if finding := self._taken():
            self._above = finding
            first, *others = sentences(finding)
            self.write("markdown", emphasised(first))
            self._notes.append(" ".join(others))
        return self.split(n)

    def figure(
        self,
        name: str,
        frame: pd.DataFrame,
        chart: Any,
        *,
        state: object = "",
        click: Follow | None = None,
        caption: str | None = None,
        weighing: str = WEIGHT,
        width: Literal["stretch", "content"] = "stretch",
        drawn_by: "Plot | None" = None,
        chosen: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> None:
        """Show a chart under the question that it answers.

        Args:
            frame: the data that are offered for export.
            state: of the choices that a click in the chart would change.
            click: makes choices from the mark that was clicked, before the section runs again.
            caption: in place of the word `NAME_caption`; the kind of interval is appended.
            weighing: measure of attention; the caption names it unless it is the weights.
            drawn_by: the kind that drew the chart, and can draw others, with the `chosen` options.
            values: arguments of the question and the caption.
        """
        chart = with_gaps(self.store, chart)
        texts = self._texts(name, caption, values, interval_form(chart))
        if weighing != WEIGHT:
            texts["caption"] = f"{say('weighing.caption')} {texts['caption']}"
        key, called = self._keyed(name, state), self._called(name)
        given = chosen or {}
        headings = drawn_by.headings(name, given) if drawn_by else {}
        content = self._shown(
            key, frame, texts, chart=chart, called=called, headings=headings, name=name
        )
        drawn = {"kind": drawn_by, "words": name, "choices": given, "picked": self.picked}
        self.add(Figure(content, self.key(name), click, width, self._noted(), **drawn))
        if self.key(name) == self._until:
            raise SectionEnds

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
        click: Follow | None = None,
        **values: Any,
    ) -> Any:
        """Show a table under the question that it answers; return its selection.

        Args:
            columns: columns to show, in order, with the number format if it is not the usual one.
            settings: columns of a kind of their own.
            options: further ones of `st.dataframe`.
            click: makes choices from the row that was clicked.
            values: arguments of the question and the caption.
        """
        named = with_names(frame)
        given = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
        texts = self._texts(name, caption, values, listed_form(frame, given))
        shown_columns = {**column_settings(named, given), **(settings or {})}
        return self.listed(
            self._keyed(name, state),
            named,
            shown_columns,
            texts,
            options={"placeholder": "—", **(options or {})},
            click=click,
            called=self._called(name),
            name=name,
        )

    def listed(
        self,
        key: str,
        frame: pd.DataFrame,
        columns: Mapping[str, Any],
        texts: Mapping[str, str],
        *,
        options: Mapping[str, Any] | None = None,
        click: Follow | None = None,
        called: tuple[str, ...] = (),
        name: str = "",
    ) -> Any:
        """Show a table with its own texts, question and caption; return its selection.

        Args:
            key: unique on all pages.
            columns: columns to show, in order: a human name, or a `st.column_config` column.
        """
        selecting = {} if click is None else {"selection_mode": "single-row"}
        given = {**selecting, **(options or {})}
        shown = frame[list(columns)]
        content = self._shown(
            key, shown, texts, columns=columns, called=called or (key,), name=name or key
        )
        self.add(Table(content, frame, given, click, self._noted()))
        before = self.choices.state(content.key)
        return given.get("selection_default", _NOTHING) if before is None else before

    def markup(
        self,
        name: str,
        frame: pd.DataFrame,
        body: str | Callable[[], str],
        *,
        state: object = "",
        caption: str | None = None,
        **values: Any,
    ) -> None:
        """Show markup under the question that it answers.

        Args:
            frame: the data that are offered for export.
            body: with all text from files and readers escaped; or a function that draws it, with
                links between its parts, and returns it.
            caption: in place of the word `NAME_caption`.
        """
        texts, key = self._texts(name, caption, values), self._keyed(name, state)
        content = self._shown(key, frame, texts, called=self._called(name), name=name)
        self.add(Markup(content, body, self._noted()))

    def _keyed(self, name: str, state: object) -> str:
        parts = state if isinstance(state, tuple) else (state,)
        return self.key("_".join(filter(None, (self.stem, name, *map(str, parts)))))

    def _shown(self, key: str, frame: pd.DataFrame, texts: Mapping[str, str], **more: Any) -> Shown:
        """Content with the finding that waits for it and what was asked until now."""
        content = Shown(
            key,
            frame=frame,
            finding=self._taken(),
            above=self._above,
            papers=self.papers,
            **texts,
            **more,
        )
        return sourced(content, self.asked)

    def _called(self, name: str) -> tuple[str, ...]:
        """Choices behind a figure, the title of its section, and its name."""
        page, stem = run().words
        of = {picked.column: picked.chosen for picked in self.picked.values()}
        choices = [f"{column}-{of[column]}" for column in _IN_FILE_NAMES if column in of]
        title = catalogue().get(f"{page}.view_{stem}", {}).get("en", stem)
        return (*choices, title, *([] if name == "question" else [name]))

    def _taken(self) -> str:
        """Return the finding for the next chart; pickers that follow belong to the one after it."""
        self.row()
        headline, self._headline = " ".join(self._headline), []
        return headline

    def _noted(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def _texts(
        self, name: str, caption: str | None, values: Mapping[str, Any], form: str | None = None
    ) -> dict[str, str]:
        """Question and caption; the caption ends with the kind of its intervals, if it has any."""
        text = say_here(f"{name}_caption", **values) if caption is None else caption
        text = joined(filter(None, (text, interval_sentence(name, form))))
        return {"question": say_here(name, **values), "caption": text}
