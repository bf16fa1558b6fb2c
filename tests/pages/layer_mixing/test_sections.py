"""Every section shows the numbers that the file holds."""

from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.scopes import POST_NORM, PRE_NORM
from pages.layer_mixing.modules import _finding
from pages.ui.words.numbers import percent, scientific
from pages.ui.words.say import catalogue
from pages.ui.words.scope import words_of
from tests.pages.conftest import bodies, captions, charts, frames, in_address, options_of, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.figures import click
from tests.pages.kit.inquiries import view_of

SCOPES = POST_NORM.scopes


def frame_with(session, column: str) -> pd.DataFrame:
    """The one table that has a column."""
    (table,) = (frame for frame in frames(session) if column in frame)
    return table


def test_every_scope_is_explained_once(section):
    body = bodies(section("ratio"))
    assert body.count('class="lm-name"') == body.count('class="lm-what"') == len(SCOPES)
    assert 'title="AttnResLnFfResLn">whole layer<' in body
    assert 'title="Attn-w">attention weights<' in body


def test_the_anatomy_and_the_steps_are_those_of_the_order(section, gpt2_folder):
    session = section("ratio", gpt2_folder)
    assert bodies(session).count('class="lm-name"') == len(PRE_NORM.scopes)
    assert catalogue()["layer_mixing.anatomy_pre_norm"]["en"] in captions(session)
    for absent in ("absent.special", "absent.behind"):
        assert catalogue()[absent]["en"] in captions(session)
        assert catalogue()[absent]["en"] not in captions(section("ratio"))
    assert len(options_of(section("modules", gpt2_folder), "lm_effect")) == len(PRE_NORM.effects)


def test_the_table_of_steps_names_the_layer_that_is_changed_most(section, answers):
    shown = frame_with(section("similarity"), "step_named")
    steps = list(pairwise(SCOPES))
    for (before, after), (_, row) in zip(steps, shown.iterrows(), strict=True):
        where = f"scope_a = '{before}' and scope_b = '{after}'"
        ((mean,),) = answers(
            f"select spearman from scope_similarity where layer is null and {where}"
        )
        ((lowest,),) = answers(
            f"select arg_min(layer, spearman) from scope_similarity where layer > 0 and {where}"
        )
        assert (row["spearman"], row["lowest"]) == (pytest.approx(mean), lowest)


def test_scopes_with_a_residual_can_be_looked_at_alone(section):
    def n_lines(**address) -> int:
        (curves, *_) = charts(section("ratio", **address))
        return len(curves["layer"][-1]["encoding"]["color"]["scale"]["domain"])

    assert (n_lines(), n_lines(lm_type="sep", lm_span="residual")) == (8, 6)


def test_masked_places_are_told_where_there_are_some(section, masked_folder):
    with duckdb.connect(str(masked_folder / "tiny.duckdb"), read_only=True) as store:
        [(share,)] = store.execute("select avg(is_masked::int) from token").fetchall()
    captions = [caption.value for caption in section("ratio", masked_folder).caption]
    assert any(
        caption.startswith(f"{percent(share)} of the tokens are masked") for caption in captions
    )
    assert not any("tokens are masked" in caption.value for caption in section("ratio").caption)


def test_masked_tokens_are_offered_where_there_are_some(section, masked_folder):
    def offered(session) -> list[str]:
        return options_of(session, "lm_type")

    assert "[MASK]" not in offered(section("ratio"))
    assert "[MASK]" in offered(section("ratio", masked_folder))


def test_a_residual_brings_no_other_token_nearer(section):
    session = section("modules", lm_effect="res_ln", lm_quantity="gain")
    assert "amplifies no pair" in session.info[0].value
    assert not charts(session)


def test_the_largest_error_of_all_is_told_with_its_sequence(section, answers):
    session = section("completeness")
    ((worst, seq, pos, percentile),) = answers(
        "select relative_error, seq, worst_pos, max(percentile_99) over () from ("
        "from layer_completeness union all select seq, layer, relative_error, worst_pos, "
        "percentile_99 from sequence_completeness) order by relative_error desc limit 1"
    )
    [success] = session.success
    assert scientific(worst) in success.value
    assert f"sequence {seq}, position {pos})" in success.value
    assert f"within {scientific(percentile)}" in success.value
    assert frame_with(session, "error")["error"].iloc[0] == pytest.approx(worst)


def scopes(session) -> tuple[str, str]:
    return session.session_state["lm_scope_a"], session.session_state["lm_scope_b"]


def test_a_click_compares_the_scopes_of_its_cell_and_does_not_undo_a_newer_choice(section):
    session = section("similarity")
    assert not session.expander[0].proto.expanded
    before = scopes(session)
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn"})
    assert scopes(session) == before, "on the diagonal there is nothing to compare"
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
    assert scopes(session) == ("attn", "attn_w")
    assert in_address(session, "lm_scope_b") == ["attn_w"]
    assert session.expander[0].proto.expanded
    ring = charts(session)[0]["layer"][2]["transform"][0]["filter"]
    assert "'attn'" in ring
    assert "'attn_w'" in ring
    session.selectbox(key="lm_scope_a").set_value("attn_res").run()
    session.run()
    assert scopes(session) == ("attn_res", "attn_w")
    assert not session.info
    session.selectbox(key="lm_scope_a").set_value("attn_w").run()
    assert session.info, "a scope is not compared with itself"


@pytest.fixture(scope="module")
def poor(store_folder, tmp_path_factory) -> Path:
    """A folder with a file that lacks something of every section."""
    return changed_copy(
        store_folder,
        tmp_path_factory.mktemp("poor"),
        "delete from stored.scope_similarity where scope_a <> scope_b",
        "delete from stored.sequence_scope_similarity where scope_b <> 'attn'",
        "delete from stored.mixing_ratio where token_type <> 'all'",
        "update stored.ratio_frequency_correlation set spearman = null, low = null, high = null",
        "delete from stored.relation_share where quantity <> 'pairs'",
        "delete from stored.rollout where token_type in ('cls', 'sep')",
        "update stored.layer_completeness set relative_error = 0.5",
    )


def test_a_poor_file_is_told_to_be_one_and_shows_nothing_empty(poor, section):
    similarity, ratio, rollout, completeness, *without = (
        section(view, poor)
        for view in ("similarity", "ratio", "rollout", "completeness", "frequency", "modules")
    )
    assert "nothing to compare" in sentences(similarity)
    assert similarity.info, "no sequence compares the two that were chosen"
    assert len(charts(ratio)) == 2
    assert frames(ratio)
    assert "[SEP]" not in sentences(rollout).split("By ")[-1]
    assert not completeness.success
    assert scientific(0.5) in completeness.warning[0].value
    for session in without:
        assert session.info
        assert not charts(session)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "expected"),
    [
        (1.0, 0.5, 1.5, "holds 1: that is not clearly more"),
        (1.05, 1.04, 1.06, "The 95% interval is above 1"),
        (2.0, 1.5, 2.5, "above 1 in 2 of 2 layers and below it in 0"),
        (0.5, 0.4, 0.6, "The 95% interval is below 1"),
        (2.0, 0.5, 2.5, "holds 1: that is not clearly more"),
        (2.0, np.nan, np.nan, "whether this is clear of 1 is not known"),
    ],
)
def test_a_finding_says_whether_it_is_clear_of_the_mixing_before(ratio, low, high, expected):
    shares = {"change": 0.1 * ratio, "before": 0.1, "pairs": 0.1}
    rows = [(layer, name, share) for layer in (1, 2) for name, share in shares.items()]
    frame = pd.DataFrame(rows, columns=["layer", "quantity", "mean"]).assign(
        relation="adjacent", low=0.0, high=1.0
    )
    of_change = frame["quantity"] == "change"
    for name, value in (("ratio", ratio), ("ratio_low", low), ("ratio_high", high)):
        frame[name] = np.where(of_change, value, np.nan)
    with words_of("layer_mixing", "modules"):
        assert expected in _finding(view_of("lm", "modules"), frame, "ff", "change")
