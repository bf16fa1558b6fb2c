"""Freeze what pages show: every frame behind every figure, table and finding, as Parquet.

    python -m tests.freeze FOLDER OUT

Each section runs on each file of FOLDER with its default choices, then once for each other option
of one picker at a time (at most `MOST` of a picker). OUT gets each frame that is not that of the
default choices as FILE/PAGE/SECTION/CHOICE/NAME.parquet; frozen.json has digests and headlines.
"""

import hashlib
import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import numpy as np
import pandas as pd

from pages.kit.items import Control, Figure, Item, Markup, Table, every_item
from pages.kit.links import VIEWS
from pages.kit.page import Page
from pages.kit.recorded import fill
from pages.kit.run import Run, within
from pages.kit.section import Section
from pages.kit.source import Given, SectionEnds
from pages.kit.view import View
from pages.services.chosen import speak_of_file
from pages.services.open_file import Store, looked_at

MOST = 8
"""Options of a picker that are tried beside its default."""
_LONGEST = 150
"""Letters of the name of a file."""
LEFT_OUT = {"query": "readers write its queries"}
NO_MODEL = patch("pages.services.live_model.find_spec", return_value=None)
"""Pages show what files hold, as on a machine without torch."""
Frames = dict[str, tuple[pd.DataFrame, str]]  # frame and headline by name


def freeze(folder: Path, out: Path) -> None:
    """Freeze all sections of all files of a folder."""
    os.environ["MIXSCOPE_STATISTICS"] = str(folder)
    logging.disable(logging.WARNING)  # Streamlit's, of a page without a server
    digests: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.duckdb")):
        store = looked_at(path)
        for place, frames in every_view(store):
            for name, (frame, headline) in frames.items():
                at = f"{path.stem}/{place}/{quote(name, safe=' ')[:_LONGEST]}"
                digests[at] = [write(frame, out / f"{at}.parquet"), headline]
        (out / "frozen.json").write_text(json.dumps(digests, indent=1, ensure_ascii=False))
        print(f"{path.name}: {sum(at.startswith(f'{path.stem}/') for at in digests)} frames")


def every_view(store: Store) -> Iterator[tuple[str, Frames]]:
    """Yield the frames of every page's findings, then of every section with every choice."""
    for name in ("overview", *VIEWS):
        if name in LEFT_OUT:
            continue
        page = getattr(import_module(f"pages.{name}.page"), "PAGE", None)
        if not isinstance(page, Page):
            continue
        yield f"{name}/findings/default", findings_of(page, store)
        for section in page.sections:
            if section.when(store) and store.holds(*section.needs):
                yield from views_of(page, section, store)


def findings_of(page: Page, store: Store) -> Frames:
    """Evidence and sentence of each finding of a page."""
    speak_of_file(store)  # as comparisons speak of other files
    with within(Run(words=(page.name,))):
        found = page.findings(store)
    return {
        f"{finding.view} {place}": (finding.evidence, f"{finding.number}: {finding.sentence}")
        for place, finding in enumerate(found)
    }


def views_of(page: Page, section: Section, store: Store) -> Iterator[tuple[str, Frames]]:
    """Yield a section's frames with its default choices and with each other option of a picker."""
    place = f"{page.name}/{section.name}"
    items, default = shown(page, section, store, {})
    yield f"{place}/default", default
    for control in (item for item in items if isinstance(item, Control) and item.labels):
        options = list(control.labels)
        for option in options[:: max(1, -(-len(options) // MOST))]:
            frames = shown(page, section, store, {control.key: [str(option)]})[1]
            moved = {name: got for name, got in frames.items() if not same(got, default.get(name))}
            yield f"{place}/{control.key}={quote(str(option), safe=' ')}", moved


def shown(
    page: Page, section: Section, store: Store, names: dict[str, list[str]]
) -> tuple[list[Item], Frames]:
    """Items of a section with some choices, and the frames among them."""
    view = View(page.prefix, section.name, store, choices=Given(names), needs=section.needs)
    frames: Frames = {}
    speak_of_file(store)
    try:
        with within(Run(words=(page.name, section.name))), suppress(SectionEnds):
            fill(section, view)
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        frames["error"] = (pd.DataFrame({"error": [text]}), "")
    items = list(every_item(view.items))
    for item in items:
        if isinstance(item, Figure | Table | Markup):
            frame = item.full if isinstance(item, Table) else item.shown.frame
            key, n = item.shown.key, 1
            while (name := key if n == 1 else f"{key} {n}") in frames:
                n += 1
            frames[name] = (frame, item.shown.finding or item.shown.above)
    return items, frames


def same(one: tuple[pd.DataFrame, str], other: tuple[pd.DataFrame, str] | None) -> bool:
    """Return True if frame and headline are equal."""
    return other is not None and one[1] == other[1] and plain(one[0]).equals(plain(other[0]))


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Frame whose columns are numbers or texts, as Parquet holds them."""
    columns = {str(name): column for name, column in frame.reset_index(drop=True).items()}
    for name, column in columns.items():
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
            columns[name] = column.map(lambda x: json.dumps(x, default=readable)).astype(str)
    return pd.DataFrame(columns)


def readable(value: object) -> object:
    """Return what JSON can hold of a value."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def write(frame: pd.DataFrame, path: Path) -> str:
    """Write a frame as Parquet; return its digest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = plain(frame)
    frame.to_parquet(path)
    content = (list(frame.columns), list(map(str, frame.dtypes)), frame.to_csv(index=False))
    return hashlib.sha256(repr(content).encode()).hexdigest()


if __name__ == "__main__":
    with NO_MODEL:
        freeze(*map(Path, sys.argv[1:]))
