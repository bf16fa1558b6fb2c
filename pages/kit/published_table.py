"""Published numbers compared with those of the open file, if both are of one experiment."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Any

import pandas as pd
import streamlit as st

from analysis.published.numbers import EXPERIMENTS, ONE_SEGMENT, Experiment, Published, numbers
from pages.kit.table_documentation import citation
from pages.kit.view import View
from pages.services.open_file import Store
from pages.words.columns import title
from pages.words.numbers import count, percent
from pages.words.say import plain, say
from pages.words.scope import say_here

_ROUNDING = 1e-9
_WHOLE = 16  # rows of a table that is shown without scrolling
_NONE = "none"  # value in files of models without segments
_MINUS = str.maketrans("-", "−")
_WHERE = {"cell": "notebook", "section": "itself", "appendix": "itself", "own_table": "itself"}


@dataclass(frozen=True)
class Row:
    """A printed number, its name in the reader's language, and the file's own with its interval."""

    of: str
    published: Published
    ours: float | None
    low: float | None = None
    high: float | None = None

    @property
    def difference(self) -> float | None:
        if self.ours is None or pd.isna(self.ours):
            return None
        return self.ours - self.published.value

    @property
    def agrees(self) -> bool:
        """Return True if the file's value rounds to the printed one."""
        difference = self.difference
        return difference is not None and abs(difference) <= self.published.tolerance + _ROUNDING

    @property
    def is_consistent(self) -> bool:
        """Return True if the printed value lies in the file's interval, as far as it is rounded.

        Without an interval, the file's value must round to the printed one.
        """
        if pd.isna(self.low) or pd.isna(self.high):
            return self.agrees
        printed, within = self.published.value, self.published.tolerance + _ROUNDING
        return self.low - within <= printed <= self.high + within

    @property
    def cells(self) -> dict[str, str | None]:
        """Display name, printed value, the file's value and the difference, as text.

        The file's value and the difference have one digit more than the printed value.
        """
        known = self.difference is not None
        return {
            "of": self.of,
            "published": _written(self.published, self.published.value, self.published.decimals),
            "ours": _written(self.published, self.ours) if known else None,
            "difference": _written(self.published, self.difference, change=True) if known else None,
        }


def statistic_of(of: str, statistic: str) -> str:
    """Display name of a row: a statistic of something."""
    return say("published.statistic", of=of, statistic=statistic)


def printed(
    quantity: str,
    ours: pd.DataFrame,
    keys: Sequence[str],
    name: Callable[[Published], str],
    is_shown: Callable[[Published], bool] = lambda _: True,
) -> pd.DataFrame:
    """Return the printed numbers of a quantity with those of the file, as rows of the kind
    `Published`.

    Args:
        ours: rows with the keys (missing where a printed number has None) and a column for each
            statistic; `STATISTIC_low` and `STATISTIC_high` are its interval.
        name: display name of what a number is of.
        is_shown: whether a number is among the rows.
    """
    held = ours.astype(object).where(ours.notna(), None).to_dict("records")
    known = {tuple(row[key] for key in keys): row for row in held}
    rows = []
    for number in filter(is_shown, numbers(quantity)):
        row = known.get(tuple(getattr(number, key) for key in keys), {})
        statistic = number.statistic
        ends = {end: row.get(f"{statistic}_{end}") for end in ("low", "high")}
        of = statistic_of(name(number), title(statistic))
        rows.append({"of": of, "number": number, "ours": row.get(statistic), **ends})
    return pd.DataFrame(rows)


def apart(store: Store, experiment: str) -> str:
    """Difference between the open file and a paper's experiment; empty if they are the same.

    The published corpus is recognised by its numbers of sequences and of tokens.

    Returns:
        "model", "weights", "corpus", "masking", "segments", or "".
    """
    of = EXPERIMENTS[experiment]
    run = store.run
    if not _is_model(run, of):
        return "model"
    if (store.random_weights is not None) != of.untrained:
        return "weights"
    sizes = {"n_sequences": of.n_sequences, "n_tokens": of.n_tokens}
    if of.unknown or any(size is not None and run[name] != size for name, size in sizes.items()):
        return "corpus"
    if of.mask_rate is not None and abs(run["mask_rate"] - of.mask_rate) >= _ROUNDING:
        return "masking"
    return "segments" if of.segments not in (None, store.facts.get("segments_given")) else ""


def _is_model(run: pd.Series, of: Experiment) -> bool:
    """Return True if the last part of the name, without its revision, and the shape agree."""
    name = PureWindowsPath(str(run["model"])).name.partition("@")[0]
    return name == of.model and all(run[size] == n for size, n in of.shape.items())


@contextmanager
def experiment(view: View, name: str, title: str) -> Iterator[bool]:
    """Place for a paper's numbers: in the page, or in a fold that names the difference.

    Yields True if the open file is of the same experiment.
    """
    reason, of = apart(view.store, name), EXPERIMENTS[name]
    if not reason:
        yield True
        return
    with view.place("expander", say(f"published.folded_{reason}", title=title, model=of.model)):
        store = view.store
        run = store.run
        view.write(
            "markdown",
            say(
                "published.apart",
                model=say("published.untrained", model=of.model) if of.untrained else of.model,
                measured=_measured_on(of),
                this_model=plain(store.model_name),
                this_corpus=plain(run["corpus"]),
                this_n=count(run["n_sequences"]),
                this_masking=_given(run["mask_rate"], store.facts.get("segments_given", _NONE)),
            ),
        )
        yield False


def _measured_on(of: Experiment) -> str:
    """Corpus of an experiment and its masking, as text."""
    if of.n_sequences is None or of.mask_rate is None:
        return say(f"published.on_{of.corpus}")
    masking = _given(of.mask_rate, of.segments or _NONE)
    return say(f"published.on_{of.corpus}", n=count(of.n_sequences), masking=masking)


def _given(mask_rate: float, segments: str) -> str:
    """Input of the model: masking, and segment ids if it has any."""
    masked = say("published.masked", rate=percent(mask_rate))
    masking = masked if mask_rate else say("published.not_masked")
    if segments == _NONE:
        return masking
    kind = "one" if segments == ONE_SEGMENT else "several"
    return say("list.comma").join((masking, say(f"published.segments_{kind}", ids=segments)))


def show_published(view: View, name: str, *rows: Row, **values: Any) -> None:
    """Show a paper's numbers with the file's own; compared only for the same experiment.

    Args:
        name: of the shared word `title_NAME`.
        values: of the title.
    """
    if not rows:
        return
    view.published += rows
    title = say_here(f"title_{name}", shared="published", **values)
    with experiment(view, rows[0].published.experiment, title) as same:
        frame = pd.DataFrame([row.cells for row in rows])
        agreement = say("published.agree", n=sum(row.agrees for row in rows), of=len(rows))
        names = ["of", "published", "ours", *(["difference"] if same else [])]
        sources = source_sentence([row.published.place for row in rows], rows[0].published.paper)
        view.listed(
            view.key(f"published_{name}"),
            frame,
            {
                name: st.column_config.TextColumn(
                    say(f"published.{name}"), alignment="left" if name == "of" else "right"
                )
                for name in names
            },
            {"question": title, "caption": f"{agreement} {sources}" if same else sources},
            options={
                "placeholder": "—",
                "height": "content" if len(rows) <= _WHOLE else "auto",
            },
        )


def _written(
    published: Published,
    value: float | None,
    decimals: int | None = None,
    *,
    change: bool = False,
) -> str:
    """Format a number as the paper does: in per cent, or whole for counts."""
    counts = published.statistic == "n"
    digits = 0 if counts else published.decimals + 1 if decimals is None else decimals
    shown = (value or 0.0) * (100 if published.percent else 1)
    unit = "" if not published.percent else say("published.points") if change else "%"
    form = f"{'+' if change else ''}{',' if counts else ''}.{digits}f"
    return f"{shown:{form}}{unit}".translate(_MINUS)


def source_sentence(places: Sequence[tuple[str, int | str]], paper: str) -> str:
    """Sentence on the paper and the places of its numbers."""
    named = [say(f"published.in_{kind}", number=number) for kind, number in dict.fromkeys(places)]
    where = _WHERE.get(places[0][0], "earlier")
    return say(
        f"published.source_{where}", paper=citation(paper), places=say("list.comma").join(named)
    )
