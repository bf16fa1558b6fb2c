"""Pages of a hybrid model: layers without attention are gaps, and are named."""

from pathlib import Path
from typing import Any

import pytest

from pages.kit.links import VIEWS
from tests.analysis.models.hybrids import ATTENDING, N_LAYERS, hybrid_run
from tests.pages.conftest import assert_sound, charts, options_of, sentences

LAYERS, EVERY = ATTENDING["lfm2"], list(range(1, N_LAYERS["lfm2"] + 1))


@pytest.fixture(scope="session")
def hybrid_folder(tmp_path_factory) -> Path:
    return hybrid_run(tmp_path_factory, "lfm2")[0].output.parent


def parts_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """All parts of a chart that have a mark."""
    inner = [
        part for name in ("layer", "concat", "hconcat", "vconcat") for part in chart.get(name, ())
    ]
    return [part for one in inner for part in parts_of(one)] if inner else [chart]


def kind_of(part: dict[str, Any]) -> str:
    return part["mark"] if isinstance(part["mark"], str) else part["mark"]["type"]


@pytest.fixture
def drawn(opened, offered, hybrid_folder):
    """Charts of a section, each part with its rows of data."""

    def draw(page: str, stem: str) -> list[tuple[dict[str, Any], list[dict]]]:
        place = {VIEWS[page]: stem, "tp_min_count": "1"}
        assert_sound(opened(page, hybrid_folder, **place))
        found = []
        for _, drawing in offered.values():
            if drawing is not None:
                chart = drawing.to_dict()
                for part in parts_of(chart):
                    data = part.get("data") or chart.get("data") or {}
                    found.append((part, chart["datasets"].get(data.get("name"), [])))
        return found

    return draw


@pytest.mark.parametrize(
    ("page", "stem", "channel"),
    [
        *[("norms", stem, way) for stem, way in (("heads", "y"), ("layers", "x"))],
        ("layer_mixing", "completeness", "x"),
    ],
)
def test_axes_of_named_layers_keep_a_place_for_every_layer(page, stem, channel, drawn):
    axes = [part["encoding"].get(channel, {}) for part, _ in drawn(page, stem)]
    of_layers = [
        axis for axis in axes if axis.get("field") == "layer" and axis["type"] == "ordinal"
    ]
    assert of_layers
    assert all(axis["scale"]["domain"] == EVERY for axis in of_layers)


@pytest.mark.parametrize(
    ("page", "stem"),
    [("layer_mixing", "ratio"), ("habits", "layers")],
)
def test_lines_break_at_gaps_and_bands_become_rules(page, stem, drawn):
    parts = drawn(page, stem)
    lines = [(part, rows) for part, rows in parts if kind_of(part) == "line"]
    assert lines
    assert not any(kind_of(part) == "area" for part, _ in parts)
    for part, rows in lines:
        details = part["encoding"]["detail"]
        details = details if isinstance(details, list) else [details]
        assert "stretch" in [detail["field"] for detail in details]
        assert part["mark"]["point"], "a layer alone has no line"
        stretches: dict[Any, set] = {}
        for row in rows:
            if row["layer"] is not None:
                stretches.setdefault(row["stretch"], set()).add(row["layer"])
        assert sorted(map(sorted, stretches.values())) == [[2, 3], [6]]


def test_layers_and_heads_are_chosen_among_those_that_attend(opened, hybrid_folder):
    session = opened("sequences", hybrid_folder, **{VIEWS["sequences"]: "pairs"})
    assert_sound(session)
    assert options_of(session, "seq_layer") == list(map(str, LAYERS))
    session = opened("norms", hybrid_folder, **{VIEWS["norms"]: "heads"})
    heads = next(picker.options for picker in session.selectbox if picker.key == "head")
    assert {head.split("·")[0] for head in heads} == {f"L{layer}" for layer in LAYERS}


@pytest.mark.parametrize(
    ("page", "stem"),
    [("layer_mixing", "rollout"), ("relevance", "text")],
)
def test_what_is_carried_through_all_layers_is_absent_with_its_reason(
    page, stem, opened, hybrid_folder
):
    session = opened(page, hybrid_folder, **{VIEWS[page]: stem})
    assert_sound(session)
    assert [note.value for note in session.main.info] == [
        "What is shown here follows tokens from layer to layer. Layers 1, 4, 5, 7 (Lfm2ShortConv) "
        "of this model have no attention to follow them through, so no run can add it."
    ]
    assert not session.code, "no command adds it"


@pytest.mark.parametrize(
    ("lang", "named"),
    [("en", "Layers 1, 4, 5, 7 (Lfm2ShortConv)"), ("ja", "第1、4、5、7（Lfm2ShortConv）層")],
)
def test_bar_and_methods_name_the_layers_without_attention(lang, named, opened, hybrid_folder):
    session = opened("methods", hybrid_folder, lang=lang, me_entry="models")
    assert named in sentences(session)
    [note] = session.sidebar.info
    assert named in note.value


def test_other_models_have_no_gaps(opened, store_folder):
    session = opened("layer_mixing", store_folder, **{VIEWS["layer_mixing"]: "ratio"})
    assert not session.sidebar.info
    lines = [
        part for chart in charts(session) for part in parts_of(chart) if kind_of(part) == "line"
    ]
    assert lines
    assert not any("stretch" in str(part) for part in lines)
