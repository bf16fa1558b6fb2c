"""Absence of what a file, a model or a choice lacks: the reason in its place, and the command."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pages.kit.items import Control
from pages.services.open_file import described, provenance, rows, version_of
from pages.words.say import catalogue
from tests.analysis.models.hybrids import ATTENDING, hybrid_run
from tests.pages.conftest import sentences
from tests.pages.kit.charts import Unit, units
from tests.pages.kit.ran import FOR_ALL, ran
from tests.pages.kit.stores import changed_copy, lacking
from tests.tiny import HEADS, LAYERS

pytestmark = pytest.mark.slow
MAPS = [*lacking("relevance_map"), *lacking("relevance_summary"), *lacking("sequence_relevance")]
MOST = int((2**27 // (LAYERS * HEADS)) ** 0.5)
"""Tokens of the longest text whose relevance is kept."""
LONG = f"update stored.sequence set n_tokens = {MOST + 1} + seq"
MASKED_LM = "update stored.provenance set value = 'masked_lm' where name = 'gradient_objective'"
GATED = "update stored.provenance set value = 'gated' where name = 'transforms'"
ONE_WAY = [
    "update stored.pair_delta set mean_ff_res = abs(mean_ff_res) + 1e-9",
    *lacking("pair_extreme"),
]


ABSENT: dict[str, tuple[str, str, Sequence[str], str, str]] = {
    "lengths of a gated model by head": (
        "norms/transformation", "", [GATED, *lacking("head_token")], "a token has no length", ""),
    "a correlation that is nowhere": (
        "norms/relation", "",
        ["update stored.attention_norm_correlation set spearman = null, median = null"],
        "nothing to rank", "+"),
    "gradients of a corpus without masks": (
        "habits/matters", "", [*lacking("gradient_importance"), MASKED_LM],
        "no token of this corpus is masked", "+--mask 0.15"),
    "differences of habits": (
        "habits/heads", "hh_weighing=difference", lacking("head_pattern_difference"),
        "", "--statistics head_pattern_difference"),
    "colours by effect": (
        "head_map/map", "hm_colour=change", lacking("head_effect"),
        "head_effect", "+--statistics head_effect"),
    "a step that brings no token nearer": (
        "layer_mixing/modules", "lm_effect=res_ln&lm_quantity=gain", (),
        "changes nothing of this kind", ""),
    "heads that depend so much on position": (
        "positions/claim", "po_least=0.5", ["update stored.head_offset set dependence = 0.05"],
        "No head has η² ≥ 0.5", "+"),
    "maps of texts that are too long": (
        "relevance/text", "", [*MAPS, LONG], f"may have 512 MiB: {MOST:,} tokens", ""),
    "parsers of few sentences": (
        "syntax/parsers", "", lacking("parser_accuracy"), "has too few sentences with trees", ""),
    "trees": ("store: syntax/relations", "", (), r"text\.txt", "--corpus demo-treebank"),
    "mentions": (
        "store: coreference/heads", "", (), "no mentions are marked", "--corpus demo-treebank"),
    "single pairs of a window": (
        "token_pairs/pmi", "tp_pmi_window=5", (), "Single pairs", "+"),
    "a step that changes all one way": (
        "token_pairs/tables", "tp_effect=ff_res", ONE_WAY, "keeps of itself", "+"),
    "a token as frequent as that": (
        "head/tokens", "he_least=10000", (), "choose a smaller number", ""),
}  # fmt: skip
"""By what is absent: file and section, choices, statements, what is said, and a part of the
command; a + before it where the section shows other charts."""


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_absent_is_said_with_its_remedy(name, request, scratch, monkeypatch):
    place, address, statements, said, command = ABSENT[name]
    file, _, place = place.rpartition(": ")
    folder = request.getfixturevalue(f"{file or 'treebank'}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    store = described(version_of(folder / "tiny.duckdb"))
    if statements:
        request.getfixturevalue("after")(*statements, to="treebank")
        changed = scratch(folder)
        store = replace(store, facts=provenance(changed), rows=rows(changed))
    choices: dict[str, Any] = dict(part.split("=") for part in address.split("&") if part)
    page, _, stem = place.partition("/")
    section = ran(page, stem, store, **FOR_ALL | choices)
    reasons = section.texts("info")
    assert reasons
    assert any(said in reason for reason in reasons), reasons
    assert bool(section.shown) == command.startswith("+")
    wanted = command.removeprefix("+")
    commands = section.texts("code")
    assert any(wanted in made and "precompute run" in made for made in commands) or not wanted
    assert wanted or not commands, commands


NAMED = "Layers 1, 4, 5, 7 (Lfm2ShortConv)"


@pytest.fixture
def hybrid_folder(tmp_path_factory, monkeypatch) -> Path:
    folder = hybrid_run(tmp_path_factory, "lfm2")[0].output.parent
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    return folder


def drawn(page: str, stem: str) -> Iterator[tuple[Any, Unit, list[dict[str, Any]]]]:
    """Yield marks of the charts of a section, each with its encoding and its rows of data."""
    for chart in filter(None, ran(page, stem, **FOR_ALL).drawn.values()):
        for part, unit in units(chart):
            yield part.get("mark"), unit, chart["datasets"].get(unit.data, [])


@pytest.mark.usefixtures("hybrid_folder")
def test_lines_break_at_gaps_and_bands_become_rules():
    parts = list(drawn("layer_mixing", "ratio"))
    assert "area" not in {unit.mark for _, unit, _ in parts}
    for mark, _, data in (part for part in parts if part[1].mark == "line"):
        assert mark["point"], "a layer alone has no line"
        stretches: dict[Any, set] = {}
        for row in data:
            if row["layer"] is not None:
                stretches.setdefault(row["stretch"], set()).add(row["layer"])
        assert sorted(map(sorted, stretches.values())) == [[2, 3], [6]]


@pytest.mark.usefixtures("hybrid_folder")
def test_heads_are_chosen_among_those_that_attend():
    [heads] = (item for item in ran("norms", "heads").items if getattr(item, "key", "") == "head")
    assert isinstance(heads, Control)
    attending = {f"L{layer}" for layer in ATTENDING["lfm2"]}
    assert {label.split("·")[0] for label in heads.labels.values()} == attending


@pytest.mark.usefixtures("hybrid_folder")
def test_what_is_carried_through_all_layers_is_absent_with_its_reason():
    section = ran("layer_mixing", "rollout")
    assert section.texts("info") == [
        f"What is shown here follows tokens from layer to layer. {NAMED} of this model have no "
        "attention to follow them through, so no run can add it."
    ]
    assert not section.shown
    assert not section.texts("code"), "no command adds it"


def test_bar_and_methods_name_the_layers_without_attention(opened, hybrid_folder):
    session = opened("methods", hybrid_folder, me_entry="models")
    assert NAMED in sentences(session)
    assert NAMED in session.sidebar.info[0].value


def test_sections_speak_of_tables_of_distances(turned_folder, tmp_path, monkeypatch):
    by_tables = "update stored.provenance set value = 'distance' where name = 'positions_by'"
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(changed_copy(turned_folder, tmp_path, by_tables)))
    found = [ran("positions", stem) for stem in ("claim", "heads", "content")]
    assert all(section.shown for section in found)
    of_tables = [key for key in catalogue() if key.startswith("distance.positions.")]
    starts = [catalogue()[key]["en"].partition("{")[0] for key in of_tables]
    assert any(len(start) > 20 and start in of.said for start in starts for of in found)
    assert not any("it turns queries and keys" in section.said for section in found)
