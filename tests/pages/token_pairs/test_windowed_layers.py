"""Pairs of models with windowed layers: pairs outside of a window are named as such."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.token_pairs.pair import PAGE
from pages.words.say import catalogue, plain
from tests.pages.conftest import assert_sound, captions, sentences
from tests.shared_store import shared_store

WINDOWED = {"gemma3_text": 1, "modernbert": 2, "mistral": 1}
"""A layer of each family that looks through a window; of Mistral every layer does."""
pytestmark = pytest.mark.parametrize("family", [*WINDOWED], indirect=True, scope="session")
STATISTICS = ["pair_occurrence", "pair_pmi_correlation"]
STANDING = """
    with window_size as (
        select string_split(value, ', ')[$layer]::int as size
        from provenance where name = 'windows')
    select s.token, t.token,
        count(*) filter (abs(s.pos - t.pos) <= (select size from window_size)) as inside,
        count(*) as everywhere
    from token as s join token as t using (seq)
    where s.pos < t.pos and s.token_type in ('other', 'first') and t.token_type = 'other'
        and s.token_id <> t.token_id
    group by all order by s.token, t.token
"""
"""Counts of two words one before the other, and of those inside of a layer's window."""


@pytest.fixture
def folder(family, tmp_path_factory) -> Path:
    return shared_store(tmp_path_factory, family, statistics=STATISTICS).parent


@pytest.fixture
def layer(family) -> int:
    return WINDOWED[family]


@pytest.fixture
def store(folder) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(folder / "tiny.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture
def standing(store, layer) -> list[tuple[str, str, int, int]]:
    return store.execute(STANDING, {"layer": layer}).fetchall()


@pytest.fixture
def outside(standing, layer) -> dict[str, str]:
    """The address of a pair that is always outside of the window of the layer."""
    source, target = next(pair for *pair, inside, _ in standing if not inside)
    return {"tp_source": source, "tp_target": target, "tp_layer": str(layer)}


def shown_text(session: AppTest) -> str:
    return "\n".join((captions(session), sentences(session), *(box.value for box in session.info)))


def words(name: str, lang: str = "en", **values: object) -> str:
    """A sentence of the section up to the first value that is not given."""
    text = catalogue()[f"token_pairs.workbench.{name}"][lang]
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text.partition("{")[0]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_pair_beyond_the_window_of_a_layer_is_said_to_be_outside(
    section, folder, family, outside, layer, lang
):
    text = shown_text(section("workbench", folder, lang, **outside))
    assert {"en": "outside of the window", "ja": "窓の外"}[lang] in text
    assert {"en": "does not occur", "ja": "出現しません"}[lang] not in text
    assert "nan" not in re.split(r"\W+", text)
    assert words("outside", lang, layer=layer) in text
    assert (words("layers_outside", lang) in text) == (family != "mistral")
    assert {"en": "of 2 layers a token looks no more", "ja": "2 層のうち"}[lang] in text


def test_running_the_model_computes_nothing_for_a_pair_outside(section, folder, outside, layer):
    text = shown_text(section("workbench", folder, tp_live="live", **outside))
    assert words("outside", layer=layer) in text
    assert "points**" not in text


def test_the_changes_of_other_layers_are_drawn_and_the_line_breaks(
    section, exported, folder, family, outside, layer, store
):
    section("workbench", folder, **outside)
    if family == "mistral":  # no layer mixes them
        assert "tp_workbench_layers" not in exported
        return
    frame, chart = exported["tp_workbench_layers"]
    other = 3 - layer
    [(mean,)] = store.execute(
        "select mean_delta from pair_delta where layer = $layer and effect = 'ff' "
        "and source = $source and target = $target",
        {"layer": other, "source": outside["tp_source"], "target": outside["tp_target"]},
    ).fetchall()
    frame = frame.dropna(subset="in_points_mean_delta")
    assert frame["layer"].tolist() == [other]
    np.testing.assert_allclose(frame["in_points_mean_delta"], [100 * mean])
    for rows in chart.to_dict()["datasets"].values():
        if "in_points_mean_delta" in rows[0]:
            missing = [row["layer"] for row in rows if pd.isna(row["in_points_mean_delta"])]
            assert missing == [layer]


def test_a_pair_that_is_inside_in_part_is_said_to_count_there_alone(
    section, folder, layer, standing
):
    orders = [pair for *pair, _, _ in standing]
    source, target, n, everywhere = next(
        row for row in standing if 0 < row[2] < row[3] <= PAGE and [row[1], row[0]] not in orders
    )
    address = {"tp_source": source, "tp_target": target, "tp_layer": str(layer)}
    text = shown_text(section("workbench", folder, **address))
    assert f"the {n} occurrences inside of its window count." in text
    assert text.count(words("outside", layer=layer)) == everywhere - n


def test_the_search_finds_a_pair_that_no_window_spans(opened, folder, outside):
    session = opened("methods", folder)
    source, target = outside["tp_source"], outside["tp_target"]
    session.text_input(key="search").set_value(f"{source} → {target}").run()
    assert_sound(session)
    labels = [link.proto.label for link in session.get("page_link")]
    assert any(f"{plain(source)} → {plain(target)}" in label for label in labels)


def test_a_pair_of_no_text_does_not_occur(section, folder, outside):
    session = section("workbench", folder, **outside | {"tp_source": "no such token"})
    assert "does not occur" in session.info[0].value
