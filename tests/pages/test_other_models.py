"""Models with layers without attention, or with tables of distances, have words of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.kit.items import Control, Figure
from pages.kit.links import VIEWS
from pages.kit.sections import page_of
from pages.services.chosen import open_store
from pages.words.say import catalogue
from tests.analysis.models.hybrids import ATTENDING, N_LAYERS, hybrid_run
from tests.pages.conftest import options_of, sentences
from tests.pages.kit.exports import Unit, units
from tests.pages.kit.ran import FOR_ALL, ran, spoken
from tests.pages.kit.stores import folder_of

pytestmark = pytest.mark.slow
LAYERS, EVERY = ATTENDING["lfm2"], list(range(1, N_LAYERS["lfm2"] + 1))
NAMED = {"en": "Layers 1, 4, 5, 7 (Lfm2ShortConv)", "ja": "第1、4、5、7（Lfm2ShortConv）層"}


@pytest.fixture(scope="session")
def hybrid_folder(tmp_path_factory) -> Path:
    return hybrid_run(tmp_path_factory, "lfm2")[0].output.parent


@pytest.fixture(autouse=True)
def chosen(monkeypatch, hybrid_folder):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(hybrid_folder))


def drawn(page: str, stem: str) -> Iterator[tuple[Any, Unit, list[dict[str, Any]]]]:
    """Yield marks of the charts of a section, each with its encoding and its rows of data."""
    for item in ran(page, stem, **FOR_ALL).shown:
        if isinstance(item, Figure):
            chart = item.shown.chart.to_dict()
            for part, unit in units(chart):
                yield part.get("mark"), unit, chart["datasets"].get(unit.data, [])


@pytest.mark.parametrize(
    ("page", "stem", "channel"),
    [("norms", "heads", "y"), ("norms", "layers", "x"), ("layer_mixing", "completeness", "x")],
)
def test_axes_of_named_layers_keep_a_place_for_every_layer(page, stem, channel):
    axes = [unit.encoding.get(channel, {}) for _, unit, _ in drawn(page, stem)]
    of_layers = [
        axis for axis in axes if axis.get("field") == "layer" and axis["type"] == "ordinal"
    ]
    assert of_layers
    assert all(axis["scale"]["domain"] == EVERY for axis in of_layers)


@pytest.mark.parametrize(("page", "stem"), [("layer_mixing", "ratio"), ("habits", "layers")])
def test_lines_break_at_gaps_and_bands_become_rules(page, stem):
    parts = list(drawn(page, stem))
    kinds = {unit.mark for _, unit, _ in parts}
    assert "line" in kinds
    assert "area" not in kinds
    for mark, _, rows in (part for part in parts if part[1].mark == "line"):
        assert mark["point"], "a layer alone has no line"
        stretches: dict[Any, set] = {}
        for row in rows:
            if row["layer"] is not None:
                stretches.setdefault(row["stretch"], set()).add(row["layer"])
        assert sorted(map(sorted, stretches.values())) == [[2, 3], [6]]


def test_layers_and_heads_are_chosen_among_those_that_attend(opened, hybrid_folder):
    session = opened("sequences", hybrid_folder, **{VIEWS["sequences"]: "pairs"})
    assert options_of(session, "seq_layer") == list(map(str, LAYERS))
    [heads] = (item for item in ran("norms", "heads").items if getattr(item, "key", "") == "head")
    assert isinstance(heads, Control)
    assert {label.split("·")[0] for label in heads.labels.values()} == {f"L{n}" for n in LAYERS}


@pytest.mark.parametrize(("page", "stem"), [("layer_mixing", "rollout"), ("relevance", "text")])
def test_what_is_carried_through_all_layers_is_absent_with_its_reason(page, stem):
    section = ran(page, stem)
    assert section.texts("info") == [
        "What is shown here follows tokens from layer to layer. Layers 1, 4, 5, 7 (Lfm2ShortConv) "
        "of this model have no attention to follow them through, so no run can add it."
    ]
    assert not section.shown
    assert not section.texts("code"), "no command adds it"


@pytest.mark.parametrize("lang", NAMED)
def test_bar_and_methods_name_the_layers_without_attention(lang, opened, hybrid_folder):
    session = opened("methods", hybrid_folder, lang=lang, me_entry="models")
    assert NAMED[lang] in sentences(session)
    [note] = session.sidebar.info
    assert NAMED[lang] in note.value


_STATISTICS = ["relative_position_cluster", "exemplar_attention"]
_MORE = ["offset_agreement", "score_share", "position_kernel", "query_key_error"]
t5_folder = folder_of("t5", statistics=_STATISTICS + _MORE)
dinov3_folder = folder_of("dinov3_vit", statistics=[*_STATISTICS, "patch_offset"])


def words_of_tables(lang: str) -> list[str]:
    """Beginnings of what the page says of models with tables of distances alone."""
    of_tables = (
        texts[lang].partition("{")[0]
        for key, texts in catalogue().items()
        if key.startswith("distance.positions.")
    )
    return [text for text in of_tables if len(text) > 20]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_sections_speak_of_tables_of_distances(lang, t5_folder, monkeypatch):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(t5_folder))
    with spoken(lang):
        found = {stem: ran("positions", stem) for stem in ("claim", "heads", "content")}
    for section in found.values():
        assert section.shown
        assert not section.texts("warning")
        assert "it turns queries and keys" not in section.said
    assert any(text in found["content"].said for text in words_of_tables(lang))


def test_patches_that_are_turned_have_no_offsets_and_the_overview_finds_none(
    dinov3_folder, t5_folder, monkeypatch
):
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(dinov3_folder))
    offered = [part.name for part in page_of("positions").sections if part.when(open_store())]
    assert offered == ["heads"]
    assert ran("positions", "heads").shown
    assert not page_of("positions").findings(open_store())
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(t5_folder))
    assert page_of("positions").findings(open_store())
