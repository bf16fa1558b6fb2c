"""Spectra of several files, and of one source in texts of all lengths."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from analysis.statistics.positions import position_spectrum
from analysis.statistics.table import Table
from pages.positions.spectra.charts import below_each_other, span, spectrum_chart, spectrum_lines
from pages.positions.spectra.peaks import with_period
from pages.ui.charts.colours import SERIES_COLOURS
from pages.ui.store.chosen import other_stores
from pages.ui.store.folder import files
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.numbers import count
from pages.ui.words.say import plain, say
from pages.ui.words.scope import say_here

_MOST = len(SERIES_COLOURS)


def pick_stores(view: View, table: Table) -> list[Store]:
    """Let the reader pick files that hold a statistic, under a heading; name the other files.

    By default the open file and those that follow it.
    """
    view.write("subheader", view.say("files_title"), anchor=False)
    stores = {
        store.name: store for store in (view.store, *other_stores(view.store)) if store.holds(table)
    }
    names = [path.name for path in files()]
    holding = [name for name in names if name in stores]
    chosen = view.pick_many("files", holding, default=list(stores)[:_MOST], limit=_MOST)
    if lacking := [plain(name) for name in names if name not in stores]:
        view.write("caption", view.say("files_lacking", names=say("list.comma").join(lacking)))
    if not chosen:
        view.nothing("files_none")
    return [stores[name] for name in chosen]


def file_label(store: Store) -> str:
    """Display name of a file: its model, and its name, since several files may be of one model."""
    return say_here("file_label", model=store.model_name, file=store.name)


def file_panels(frame: pd.DataFrame, y: str, scale: str) -> Any:
    """Draw one panel for every name in the column `file`, over the same frequencies.

    Each has its own scale, and a band if there are quartiles, q25 and q75.
    """
    parts = {str(name): part for name, part in frame.groupby("file", sort=False)}
    colours = dict(zip(parts, SERIES_COLOURS, strict=False))

    def lines(part: pd.DataFrame, x: alt.X) -> Any:
        band = part["q25"].notna() if "q25" in part else None
        colour = colours[part["file"].iloc[0]]
        return spectrum_lines(part, y, x, scale=scale, colours=colour, band=band)

    return below_each_other(parts, lines, span(frame), height=130)


class Chosen(NamedTuple):
    """Source and layer of a spectrum, its amount, and the scale of amplitudes."""

    source: str
    layer: int
    amount: str
    scale: str


def in_several_files(view: View, chosen: Chosen) -> None:
    """Draw one panel per chosen file that has the layer, each with its own scale."""
    stores = pick_stores(view, position_spectrum.TABLE)
    spectra = {store.name: _of_file(view, store, chosen) for store in stores}
    if without := [plain(name) for name, spectrum in spectra.items() if spectrum.empty]:
        names = say("list.comma").join(without)
        view.write("caption", view.say("files_no_layer", layer=chosen.layer, names=names))
    shown = [spectrum for spectrum in spectra.values() if not spectrum.empty]
    if not shown:
        return
    frame = pd.concat(shown, ignore_index=True)
    view.figure(
        "other_files",
        frame,
        file_panels(frame, "per_token", chosen.scale),
        state=(*chosen, len(shown)),
        source=view.say(f"source_{chosen.source}"),
        layer=chosen.layer,
        amount=view.say(f"amount_of_{chosen.amount}"),
    )


def _of_file(view: View, store: Store, chosen: Chosen) -> pd.DataFrame:
    """Spectrum of the file's texts of the commonest length; empty without that layer."""
    texts = view.asked.ask(store, position_spectrum.lengths).iloc[0]
    label = view.say(
        "file_panel",
        label=file_label(store),
        layer=chosen.layer,
        layers=int(store.run["n_layers"]),
        length=count(texts["length"]),
        n=count(texts["n_sequences"]),
    )
    return _per_token(view, store, int(texts["length"]), chosen).assign(file=label)


def in_all_lengths(view: View, names: Mapping[int, str], chosen: Chosen) -> None:
    """Draw a line for texts of each length."""
    if len(names) < 2:
        view.write("caption", view.say("lengths_one"))
        return
    view.write("subheader", view.say("lengths_title"), anchor=False)
    store = view.store
    parts = [
        _per_token(view, store, length, chosen).assign(name=name) for length, name in names.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    if frame.empty:
        return view.nothing("layer_none")
    colours = dict(zip(dict.fromkeys(frame["name"]), SERIES_COLOURS, strict=False))
    view.figure(
        "lengths",
        frame,
        spectrum_chart(frame, "per_token", scale=chosen.scale, colours=colours, height=400),
        state=chosen,
        source=view.say(f"source_{chosen.source}"),
        layer=chosen.layer,
    )


def _per_token(view: View, store: Store, length: int, chosen: Chosen) -> pd.DataFrame:
    """Divide amplitude by length, so that a wave is as high in short texts as in long ones.

    Returns:
        layer, frequency, period, amplitude, per_token, length, n_sequences.
    """
    of = {"source": chosen.source, "length": length, "control": "kept"}
    frame = with_period(view.asked.ask(store, position_spectrum.by_layer, **of)).assign(
        length=length
    )
    frame = frame[frame["layer"] == chosen.layer].rename(columns={chosen.amount: "amplitude"})
    frame = frame.assign(per_token=frame["amplitude"] / length)
    columns = ["layer", "frequency", "period", "amplitude", "per_token", "length", "n_sequences"]
    return frame.loc[frame["per_token"] > 0, columns]
