"""The overview says what the file says."""

from importlib import import_module

import pytest

from pages.layer_mixing.findings import _mixing_ratio, _relation
from pages.ui.choices.links import VIEWS
from pages.ui.words.numbers import percent, scientific
from tests.pages.kit.copies import changed_copy, lacking

pytestmark = pytest.mark.slow


def test_an_untrained_model_is_called_so_wherever_it_is_named_and_its_errors_are_told(
    opened, changed
):
    folder = changed(
        "update stored.provenance set value = '3' where name = 'random_weights'",
        "update stored.completeness set relative_error = 0.5",
    )
    session = opened("overview", folder, lang="ja")
    texts = [text.value.replace("\\", "") for text in (*session.title, *session.caption)]
    name = "（未学習の重み、シード 3）"
    assert name in texts[0]
    sources = [line for line in texts if "tiny.duckdb" in line]
    assert sources
    assert all(name in source for source in sources)
    [note] = session.sidebar.warning
    assert "このモデルは何も学習していません" in note.value
    assert "--random-weights 3" in "".join(code.value for code in session.code)
    assert not session.success, "an error above the limit is none"
    assert scientific(0.5) in session.main.warning[0].value


def test_a_file_of_one_statistic_without_the_proof_has_no_findings_and_is_not_trusted(
    opened, plain_folder, tmp_path
):
    session = opened("overview", changed_copy(plain_folder, tmp_path, *lacking("completeness")))
    assert not session.exception
    assert "At a glance" not in [header.value for header in session.header]
    assert not session.success
    assert "completeness" in session.warning[0].value


@pytest.mark.parametrize(("left", "side"), [(0.1, "below"), (0.9, "above"), (0.58, "unclear")])
def test_the_residual_is_set_against_attention_alone_by_both_intervals(left, side, after):
    after(
        "update stored.mixing_ratio set mean = 0.6, low = 0.57, high = 0.62 where scope = 'attn'",
        f"update stored.mixing_ratio set mean = {left}, low = {left} - 0.03, high = {left} + 0.03 "
        "where scope = 'attn_res_ln'",
    )
    [finding] = _mixing_ratio()
    assert finding.number == f"60% → {percent(left)}"
    assert finding.side == side


@pytest.mark.parametrize(
    ("change", "low", "n", "side"),
    [(0.5, 4, 2, "above"), (0.5, 0.9, 0, "unclear"), (0.5, "null", 0, "unsure")],
)
def test_the_relation_that_the_network_changes_most_is_told(change, low, n, side, after):
    """Most for what it held of the mixing before; its number of pairs decides nothing."""
    after(
        "update stored.relation_share set mean = 0.1",
        "update stored.relation_share set mean = 0.001 "
        "where relation = 'same_segment' and quantity = 'pairs'",
        "update stored.relation_share set ratio = 1 where quantity = 'change'",
        f"update stored.relation_share set mean = {change}, ratio = {10 * change}, "
        f"ratio_low = {low}, ratio_high = {low} + 9 "
        "where relation = 'adjacent' and quantity = 'change'",
    )
    [finding] = _relation()
    assert finding.number == f"{10 * change:.2f} times"
    assert f"10% of that mixing and {percent(change)} of the change" in finding.sentence
    assert f"above 1 in {n} of 2 layers" in finding.sentence
    assert finding.side == side


def assert_section(page: str, view: str) -> None:
    definition = import_module(f"pages.{page}.page").PAGE
    assert view in [section.stem for section in definition.sections], (
        f"{page} has no section {view}"
    )
    assert VIEWS[page] == f"{definition.prefix}_view"


FINDINGS = """
import streamlit as st
from pages.overview.glance import findings
st.session_state["found"] = findings()
"""


def test_the_clearest_finding_comes_first_and_checks_are_none(opened, in_session, treebank_folder):
    ranked = in_session(FINDINGS, treebank_folder).session_state["found"]
    assert {finding.page for finding in ranked} == {
        *("attention_norms", "head_habits", "head_map", "layer_mixing", "positions", "relevance"),
        *("sinks", "syntax", "coreference"),
    }
    strengths = [finding.strength for finding in ranked]
    known = [strength for strength in strengths if strength > 0]
    assert len(known) > 2
    assert strengths[: len(known)] == sorted(known, reverse=True)
    numbers = [heading.value for heading in opened("overview", treebank_folder).subheader]
    assert numbers[:5] == [finding.number for finding in ranked[:5]]
    assert not any("10⁻" in finding.number for finding in ranked)


def test_the_ends_of_a_share_of_several_types_hold_it(in_session, treebank_folder):
    ranked = in_session(FINDINGS, treebank_folder).session_state["found"]
    [shares] = [
        finding.evidence
        for finding in ranked
        if finding.page == "attention_norms" and finding.view == "layers"
    ]
    assert len(shares) == 2  # by norm and by weight
    assert shares["low"].le(shares["value"]).all()
    assert shares["high"].ge(shares["value"]).all()
