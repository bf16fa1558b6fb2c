"""Findings of planted numbers, and what is custom on the page."""

import duckdb
import pytest

from analysis.scopes import POST_NORM, PRE_NORM
from pages.words.numbers import percent, scientific
from tests.pages.conftest import bodies, charts, frames, in_address, options_of, sentences
from tests.pages.kit.figures import click, frame_of

PLANTS = [
    (
        "similarity",
        "update stored.scope_similarity set spearman = 0.9, low = 0.8, high = 0.95; "
        "update stored.scope_similarity set spearman = 0.5, low = 0.4, high = 0.6 "
        "where list_contains([scope_a, scope_b], 'attn_res_ln') "
        "and list_contains([scope_a, scope_b], 'attn_res_ln_ff')",
        "**Of all steps through a layer, “feed-forward network” changes most which tokens mix with "
        "which**: ρ before and after “feed-forward network” 0.500 [0.400, 0.600], below that of",
    ),
    (
        "ratio",
        "update stored.mixing_ratio set mean = 0.3, low = 0.2, high = 0.4 "
        "where layer is null and token_type = 'all' and scope like 'attn_res%'; "
        "update stored.mixing_ratio set mean = 0.8, low = 0.7, high = 0.9 "
        "where layer is null and token_type = 'all' and scope = 'attn'",
        "**Attention alone overstates how much context a token takes in**: share of context in all "
        "tokens “after normalisation” 30.0% [20.0%, 40.0%], below “after attention”, "
        "80.0% [70.0%, 90.0%]; “whole layer” 30.0% [20.0%, 40.0%].",
    ),
    (
        "frequency",
        "update stored.ratio_frequency_correlation set within_sequences_spearman = -0.5, "
        "within_sequences_spearman_low = -0.6, within_sequences_spearman_high = -0.4",
        "**The more frequent a word, the more context it takes in**",
    ),
    (
        "modules",
        "update stored.relation_share set ratio = 2, ratio_low = 1.5, ratio_high = 2.5 "
        "where ratio is not null and relation = 'adjacent'; update stored.relation_share "
        "set ratio = 1, ratio_low = 0.5, ratio_high = 1.5 where ratio is not null "
        "and relation <> 'adjacent'",
        "**The feed-forward network acts most on pairs of the kind “neighbours”**: share of "
        "“neighbours” in the change (feed-forward network) over their share of the mixing before, "
        "mean over layers, 2.00 [1.50, 2.50], above 1. Layer by layer, the 95% interval is above 1 "
        "in 2 of 2 layers and below it in 0.",
    ),
    (
        "rollout",
        "update stored.vector_rollout set mean = case scope when 'vectors' then 0.2 else 0.03 end, "
        "low = case scope when 'vectors' then 0.19 else 0.029 end, "
        "high = case scope when 'vectors' then 0.21 else 0.031 end where distance = 0",
        "**Followed as vectors, which can cancel, more of a token stays its own**: share of a "
        "token's own input in it after layer 2, by vectors, 20.0% [19.0%, 21.0%], above that by "
        "rollout of “whole layer”, 3.0% [2.9%, 3.1%], and that by attention rollout, 3.0% [2.9%, "
        "3.1%].",
    ),
    (
        "completeness",
        "update stored.layer_completeness set relative_error = 0.5",
        f"**The parts do not add up everywhere**: the largest relative error of a token is "
        f"{scientific(0.5)} (whole layer",
    ),
]


def text_of(session) -> str:
    return sentences(session).replace("\\", "").replace("**", "")


@pytest.mark.parametrize(("view", "planted", "expected"), PLANTS)
def test_findings_follow_the_numbers(view, planted, expected, section, after):
    after(*planted.split("; "))
    view, *address = view.split("&")
    session = section(view, **dict(part.split("=") for part in address))
    text = text_of(session)
    assert expected.replace("**", "") in text, text[text.find(expected[2:20]) :][:700]


def test_the_headline_is_the_framed_cell(section, answers):
    session = section("similarity")
    pair = [session.session_state[f"lm_scope_{side}"] for side in "ab"]
    ((rho, lowest),) = answers(
        f"select any_value(spearman) filter ((scope_a, scope_b) = {tuple(pair)}), min(spearman) "
        "from scope_similarity join scope a on a.scope = scope_a join scope b on b.scope = scope_b "
        "where layer is null and b.position = a.position + 1"
    )
    assert rho == pytest.approx(lowest)
    assert f"{rho:.3f}" in sentences(session)
    ring = charts(session)[0]["layer"][2]["transform"][0]["filter"]
    assert all(f"'{scope}'" in ring for scope in pair)
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_w"})
    assert in_address(session, "lm_scope_b") == ["attn_w"]
    click(session, "lm_matrix", "cell", {"scope_a": "attn", "scope_b": "attn_res_ln_ff_res_ln"})
    assert "ρ of the mixing “after attention” and “whole layer”" in sentences(session).replace(
        "Ρ", "ρ"
    )


def test_at_most_four_lines_come_first(section):
    def n_lines(**address) -> int:
        (curves, *_) = charts(section("ratio", **address))
        return len(curves["layer"][-1]["encoding"]["color"]["scale"]["domain"])

    assert [n_lines(**({"lm_span": span} if span else {})) for span in ("", "residual", "all")] == [
        4,
        6,
        8,
    ]


def test_rollout_stands_alone_where_no_vectors_were_followed(section, without):
    session = section("rollout", without("vector_rollout"))
    text = sentences(session)
    assert "by rollout of “whole layer”" in text
    assert "vectors, which" not in text
    assert "does not follow vectors" in session.info[0].value
    assert len(charts(session)) == 3


def test_a_residual_brings_no_other_token_nearer(section):
    session = section("modules", lm_effect="res_ln", lm_quantity="gain")
    assert "changes nothing of this kind" in session.info[0].value
    assert not charts(session)


def test_every_scope_is_explained_once(section, gpt2_folder):
    for folder, order in ((None, POST_NORM), (gpt2_folder, PRE_NORM)):
        body = bodies(section("ratio", *filter(None, [folder])))
        assert body.count('class="lm-name"') == len(order.scopes)
    assert len(options_of(section("modules", gpt2_folder), "lm_effect")) == len(PRE_NORM.effects)


def test_masked_tokens_are_told_and_offered_where_there_are_some(section, masked_folder):
    with duckdb.connect(str(masked_folder / "tiny.duckdb"), read_only=True) as store:
        [(share,)] = store.execute("select avg(is_masked::int) from token").fetchall()
    session, plain = section("ratio", masked_folder), section("ratio")
    words = f"{percent(share)} of the tokens are masked"
    assert any(caption.value.startswith(words) for caption in session.caption)
    assert not any("tokens are masked" in caption.value for caption in plain.caption)
    assert "[MASK]" in options_of(session, "lm_type")
    assert "[MASK]" not in options_of(plain, "lm_type")


def test_the_worst_error_comes_first(section, answers):
    ((worst, seq),) = answers(
        "select relative_error, seq from (from layer_completeness union all by name "
        "select * exclude attention_sum_error from sequence_completeness) "
        "order by relative_error desc limit 1"
    )
    session = section("completeness")
    [table] = (frame for frame in frames(session) if "error" in frame)
    assert table[["error", "seq"]].iloc[0].tolist() == pytest.approx([worst, seq])
    assert scientific(worst) in sentences(session).replace("\\.", ".")


def test_words_have_their_frequency_and_mean_ratio_without_special_tokens(section, store, exported):
    section("frequency", lm_frequency_scope="attn_res")
    words = frame_of(exported, "lm_frequency_words").set_index("token")
    rows = store.sql("""
        select token, mean from token_mixing_ratio join token using (seq, pos)
        where scope = 'attn_res' and token_type not in ('cls', 'sep') and not is_masked""").df()
    tokens = rows.groupby("token")["mean"].agg(["size", "mean"])
    assert words["n"].to_dict() == tokens["size"].to_dict()
    assert words["ratio"].to_dict() == pytest.approx(tokens["mean"].to_dict())
    assert words["rank"].is_monotonic_increasing
