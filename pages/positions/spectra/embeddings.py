"""Waves in the position embeddings, of one file and of several (figures 3, 8 and 9)."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.published.positions import COMPONENTS, PEAK
from analysis.statistics.corpus import Identity, identity_in
from analysis.statistics.positions import position_spectrum
from pages.positions.spectra.charts import SCALES, spectrum_chart
from pages.positions.spectra.comparisons import file_label, file_panels, pick_stores
from pages.positions.spectra.peaks import UNIT, peaks, peaks_text, wave_words, with_period
from pages.ui.charts.chart_theme import Chart, column_tooltips, layered
from pages.ui.charts.colours import CONTROL_COLOURS, NEUTRAL, SERIES_COLOURS
from pages.ui.finding import Finding, Findings, rows_of
from pages.ui.page import section
from pages.ui.published_table import Row, show_published
from pages.ui.store.inquiry import Inquiry
from pages.ui.store.open_file import Store
from pages.ui.view import View
from pages.ui.words.columns import title
from pages.ui.words.numbers import count, percent
from pages.ui.words.say import say
from pages.ui.words.scope import say_here

_SERIES = ("kept", "words", "permuted")
_OF_THE_PAPER = (4, 12)
_LEAST = 24  # components that are drawn where fewer would do
_NEARLY_ALL = 0.95


def _summary(inquiry: Inquiry) -> Findings:
    """Clearest wave of the position embeddings, and the components with 90% of their variance."""
    frame, variance = (
        inquiry.ask(position_spectrum.spectra),
        inquiry.ask(position_spectrum.cumulative),
    )
    frequencies = peaks(frame[frame["control"] == "kept"])
    if not frequencies or variance.empty:
        return
    clearest, most = wave_words(frequencies[0]), _needed(variance, 0.9)
    yield Finding(
        say("finding.label_embeddings"),
        f"f = {clearest['frequency']}",
        say("finding.embeddings", **clearest, most=most, width=count(len(variance))),
        rows_of((say("finding.of_wave", **wave_words(at)), at) for at in frequencies),
        format=".0f",
        known_by=say("finding.embeddings_known_by"),
    )


@section(
    "embeddings",
    position_spectrum.EMBEDDINGS,
    position_spectrum.VARIANCE,
    when=lambda store: store.adds_positions,
    findings=_summary,
)
def embeddings(view: View) -> None:
    spectra, variance = view.ask(position_spectrum.spectra), view.ask(position_spectrum.cumulative)
    kept = spectra[spectra["control"] == "kept"]
    words, length = _words(view, _positions(spectra))
    half, most = (_needed(variance, share) for share in (0.5, 0.9))
    width = count(len(variance))
    components = view.say("finding_components", half=half, most=most, width=width)
    view.finding(f"{_finding(view, kept, words)} {components}")
    scale = view.pick("scale", SCALES)
    _spectrum(view, spectra, words, length, scale)
    chart = components_chart(variance)
    view.figure("components", variance, chart, half=half, most=most, all=width)
    show_published(view, "embeddings", *_published(view, variance, peaks(kept)))
    _several_files(view, scale)


def _finding(view: View, kept: pd.DataFrame, words: pd.DataFrame) -> str:
    frequencies = peaks(kept)
    if not frequencies:
        return view.say("finding_none")
    sentence = view.say("finding", peaks=peaks_text(frequencies, word="peak"))
    if words.empty or peaks(words):
        return sentence
    return f"{sentence} {view.say('finding_words')}"


def _spectrum(
    view: View, spectra: pd.DataFrame, words: pd.DataFrame, length: int, scale: str
) -> None:
    """Draw the spectrum of position embeddings, with words of the texts and shuffled positions.

    Words come from texts of `length` tokens, if there are any.
    """
    names = {control: view.say(f"series_{control}") for control in _SERIES}
    series = pd.concat([spectra.rename(columns={"control": "series"}), words], ignore_index=True)
    frame = with_period(series[series["series"].isin(_SERIES)])
    frame = frame[frame["mean"] > 0]
    caption = view.say("spectrum_caption", width=count(view.store.run["hidden_size"]))
    if length:
        sizes = {"length": count(length), "positions": count(_positions(spectra))}
        caption = f"{caption} {view.say('spectrum_words', **sizes)}"
    chart = spectrum_chart(
        frame.assign(name=frame["series"].map(names)),
        "mean",
        scale=scale,
        colours={name: CONTROL_COLOURS[control] for control, name in names.items()},
        band=frame["series"] == "kept",
    )
    view.figure("spectrum", frame, chart, state=scale, caption=caption)


def _positions(spectra: pd.DataFrame) -> int:
    """Number of positions of the model: the lowest frequency is one wave over all of them."""
    frequency = spectra["frequency"]
    return round(UNIT / frequency[frequency > 0].min())


def _words(inquiry: Inquiry, positions: int) -> tuple[pd.DataFrame, int]:
    """Spectrum of word embeddings and the length of its texts; empty and 0 if the file has none.

    Amplitudes are scaled to `positions` words, by the square root of the ratio of lengths.
    """
    if not inquiry.store.holds(position_spectrum.TABLE):
        return pd.DataFrame(), 0
    length = int(inquiry.ask(position_spectrum.lengths)["length"].iloc[0])
    frame = inquiry.ask(
        position_spectrum.by_layer, source="word_embedding", length=length, control="kept"
    )
    columns = ["mean", "q25", "q75", "max"]
    frame[columns] *= (positions / length) ** 0.5
    return frame.assign(series="words")[["series", "frequency", *columns]], length


def _published(view: View, variance: pd.DataFrame, frequencies: list[float]) -> list[Row]:
    """Rows for the variance of the first components and the clearest peak of the spectrum."""
    cumulative = variance.set_index("component")["cumulative"]
    rows = []
    for number in COMPONENTS:
        name = view.say("published.components", n=number.component)
        rows.append(Row(name, number, cumulative.get(number.component)))
    return [*rows, Row(view.say("published.peak"), PEAK, next(iter(frequencies), None))]


def _several_files(view: View, scale: str) -> None:
    """Draw one panel per chosen file, each with its own scale, and tabulate the peaks."""
    stores = pick_stores(view, position_spectrum.EMBEDDINGS, alike=_model)
    if not stores:
        return
    spectra = [_kept(view, store) for store in stores]
    frame = pd.concat(spectra, ignore_index=True)
    chart = file_panels(frame, "mean", scale)
    view.figure("other_files", frame, chart, state=f"{scale}_{len(stores)}")
    rows = [_row(view, store, spectrum) for store, spectrum in zip(stores, spectra, strict=True)]
    columns = {"file": None, "positions": "%d", "peaks": None, "largest": "%.3g"}
    view.table("file_table", pd.DataFrame(rows), columns | {"half": "%d", "most": "%d"})


def _model(store: Store) -> Identity | str:
    """Identity of a file's model, on which position embeddings depend alone."""
    return identity_in(store.facts) or store.name


def _kept(view: View, store: Store) -> pd.DataFrame:
    frame = view.asked.ask(store, position_spectrum.spectra)
    return with_period(frame[frame["control"] == "kept"]).assign(file=file_label(store))


def _row(view: View, store: Store, spectrum: pd.DataFrame) -> dict[str, object]:
    """Peaks of a file's spectrum, and the number of components with 50% and 90% of the variance."""
    frequencies, variance = peaks(spectrum), view.asked.ask(store, position_spectrum.cumulative)
    known = len(variance) > 0
    return {
        "file": file_label(store),
        "positions": round(float(spectrum["period"].max())),
        "peaks": peaks_text(frequencies) if frequencies else None,
        "largest": float(spectrum["mean"].max()),
        "half": _needed(variance, 0.5) if known else None,
        "most": _needed(variance, 0.9) if known else None,
    }


def _needed(variance: pd.DataFrame, share: float) -> int:
    """Least number of components that hold a share of the variance."""
    enough = variance[variance["cumulative"] >= share - 1e-9]
    return int(enough["component"].min()) if len(enough) else int(variance["component"].max())


def components_chart(variance: pd.DataFrame) -> Any:
    """Draw variance and cumulative variance of the components; the paper's 4 and 12 are marked."""
    last = max(_LEAST, _needed(variance, _NEARLY_ALL) + 4)
    frame = variance[variance["component"] <= last]
    x = alt.X(
        "component:Q",
        title=title("component"),
        scale=alt.Scale(domain=[0, int(frame["component"].max()) + 1], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, grid=False),
    )
    y = alt.Y(
        "cumulative:Q",
        title=say_here("components_axis"),
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    tooltip = column_tooltips(frame, component="d", ratio=".2%", cumulative=".2%")
    base = Chart(frame).encode(x=x, tooltip=tooltip)
    ratio = alt.Y("ratio:Q", title=say_here("components_axis"))
    bars = base.mark_bar(color=NEUTRAL, opacity=0.55, size=9).encode(y=ratio)
    line = base.mark_line(color=SERIES_COLOURS[0], point={"size": 40, "filled": True}).encode(y=y)
    marked = frame[frame["component"].isin(_OF_THE_PAPER)]
    shares = zip(marked["component"], marked["cumulative"], strict=True)
    labels = [say_here("components_mark", n=n, share=percent(share)) for n, share in shares]
    marks = Chart(marked.assign(label=labels)).encode(x=x)
    rules = marks.mark_rule(color=SERIES_COLOURS[1], strokeDash=[4, 3])
    words = marks.mark_text(align="left", dx=9, dy=16, fontSize=12)
    words = words.encode(y=alt.Y("cumulative:Q"), text=alt.Text("label:N"))
    return layered(bars, line, rules, words, height=320)
