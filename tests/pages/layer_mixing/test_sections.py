"""Every section shows the numbers that the file holds."""

from itertools import pairwise

import duckdb
import pandas as pd
import pytest

from analysis.scopes import POST_NORM
from pages.ui.words.numbers import percent, scientific
from tests.pages.conftest import bodies, charts, frames, options_of

SCOPES = POST_NORM.scopes


def frame_with(session, column: str) -> pd.DataFrame:
    """The one table that has a column."""
    (table,) = (frame for frame in frames(session) if column in frame)
    return table


def test_every_scope_is_explained_once(section):
    body = bodies(section("ratio"))
    assert body.count('class="lm-name"') == body.count('class="lm-what"') == len(SCOPES)
    assert "AttnResLnFfResLn" in body


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
