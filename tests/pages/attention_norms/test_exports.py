"""Charts of the page as files for a paper."""

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

from analysis.tables.norms import (
    attention_norm_histogram,
    attention_norm_sample,
    singular_value,
    token_type_mixing,
)
from pages.attention_norms.panels import density_panels, sample_panels
from pages.attention_norms.spectrum_chart import spectrum_chart
from pages.ui.charts.head_map import quantity_maps
from pages.ui.export import files as export
from pages.ui.words.place import words_of
from pages.ui.words.quantities import QUANTITIES

SCOPE: dict[str, Any] = {"layer": None, "head": None}


@pytest.fixture
def store(store_folder) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection


def maps(store) -> Any:
    tops = dict.fromkeys(QUANTITIES, 1.0)
    return quantity_maps(token_type_mixing.by_head(store, token_type="sep"), tops, marked=(1, 2))


def density(store) -> Any:
    return density_panels(attention_norm_histogram.densities(store, **SCOPE))


def sample(store) -> Any:
    return sample_panels(attention_norm_sample.scatter(store, limit=50, **SCOPE))


def spectrum(store) -> Any:
    shown = singular_value.spectra(store, heads=[(1, 1), (2, 3)]).assign(name="a head")
    ranks = shown.groupby("rank")["value"].agg(low="min", high="max").reset_index()
    return spectrum_chart(shown, ranks, log=True)


@pytest.mark.parametrize(
    ("draw", "section"),
    [(maps, "heads"), (density, "relation"), (sample, "relation"), (spectrum, "spectra")],
)
def test_a_chart_becomes_a_picture_with_its_marks(draw: Callable[[Any], Any], section: str, store):
    with words_of("attention_norms", section):
        picture = export.svg(draw(store))
    assert picture.startswith("<svg")
    assert "mark-" in picture
    assert "NaN" not in picture
