"""Levels of a correlation: charts of pairs, and the sentence on the largest part."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.parts import OF_PAIRS
from pages.norms.frequency import frequency
from pages.norms.relation import relation
from pages.ui.words.levels import carried, carrier
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.after import said_in
from tests.pages.kit.figures import figure_of
from tests.pages.kit.inquiries import inquiry


def drawn(section, exported, name: str, **address: str) -> pd.DataFrame:
    section("relation", **address)
    return figure_of(exported, f"an_relation_{name}")[0]


def test_a_sample_within_heads_is_over_the_means_of_its_heads(section, exported, answers):
    frame = drawn(section, exported, "pairs_within", an_marks="sample")
    raw = drawn(section, exported, "pairs_pooled", an_marks="sample", an_level="pooled")
    rows = answers(
        "select layer, head, token_type, "
        "exp(sum(n_tokens * ln(value_norm)) / sum(n_tokens)) as mean "
        "from head_token join sequence using (seq) group by all"
    )
    means = {tuple(place): mean for *place, mean in rows}
    places = raw[["layer", "head", "token_type"]].itertuples(index=False, name=None)
    expected = raw["value_norm"].to_numpy() / [means[place] for place in places]
    assert frame["value_norm"].to_numpy() == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("level", "per_layer"), [("between_heads", 3), ("between_layers", 1)])
def test_heads_and_layers_are_points_of_their_mean_ranks(
    level, per_layer, section, exported, answers
):
    frame = drawn(section, exported, f"ranks_{level}", an_level=level)
    assert set(frame.groupby(["token_type", "layer"]).size()) == {per_layer}
    ranks = frame[["attention_rank", "norm_rank"]]
    if level == "between_heads":
        means = frame.groupby(["token_type", "layer"])[["attention_rank", "norm_rank"]].mean()
        assert means.abs().to_numpy().max() < 1e-9
    else:
        assert ranks.to_numpy().min() >= 0
        assert ranks.to_numpy().max() <= 1


def test_bars_of_a_type_add_up_to_its_correlation(section, exported, answers):
    frame = drawn(section, exported, "parts")
    sums = frame.groupby("token_type")["contribution"].sum()
    stored = dict(
        answers(
            "select token_type, spearman from attention_norm_correlation "
            "where layer is null and spearman is not null"
        )
    )
    assert len(sums) == len(stored)
    assert sorted(sums) == pytest.approx(sorted(stored.values()))


def test_one_layer_has_no_level_between_layers_and_one_head_has_none(section):
    one_layer = section("relation", an_scope="layer", an_layer="2", an_level="between_layers")
    assert "no other layers" in one_layer.info[0].value
    assert "between_layers" not in frames(one_layer)[0]
    one_head = section("relation", an_scope="head", head="2-1")
    assert "within_heads" not in frames(one_head)[0]
    assert charts(one_head)


def test_the_sentence_says_what_heads_do_and_what_carries_the_rest(section, after):
    after(
        "update stored.attention_norm_correlation set median = -0.3, median_low = -0.4, "
        "median_high = -0.2, spearman = 0.5, within_heads = -0.1, between_heads = 0.6, "
        "between_layers = 0.0, between_heads_spearman = 0.8, between_heads_spearman_low = 0.6, "
        "between_heads_spearman_high = 0.9 where layer is null"
    )
    text = sentences(section("relation"))
    assert "Within heads, weight and length pull against each other most" in text
    assert "−0.30 [−0.40, −0.20]" in text
    assert "ρ is the sum of −0.10 within heads, +0.60 between heads of a layer" in text
    assert "between heads of a layer, where ρ by itself is +0.80 [+0.60, +0.90], clear of 0" in text


def test_the_carrier_goes_the_way_of_the_whole():
    row = {"spearman": -0.2, "within_heads": 0.3, "between_heads": -0.1, "between_layers": -0.4}
    row |= {f"{part}_spearman{end}": np.nan for part in OF_PAIRS for end in ("", "_low", "_high")}
    assert carrier(row, OF_PAIRS) == "between_layers"
    assert carrier(row | {"spearman": 0.2}, OF_PAIRS) == "within_heads"
    ends = {"between_layers_spearman_low": -0.9, "between_layers_spearman_high": 0.1}
    assert "not clear of 0" in carried(row | ends, OF_PAIRS)
    assert "too few" in carried(row, OF_PAIRS)


@pytest.mark.parametrize(
    ("median", "expected"),
    [
        (-0.5, "the shorter its vector"),
        (0.5, "go together for every type"),
        (0.05, "hardly pull against each other for any type"),
    ],
)
def test_a_weak_correlation_is_not_told_as_one(median, expected, after):
    after(
        f"update stored.attention_norm_correlation set median = {median}, "
        f"median_low = {median - 0.01}, median_high = {median + 0.01}"
    )
    assert expected in said_in(relation.findings(inquiry()))


def test_a_pooled_correlation_that_heads_do_not_have_is_no_tendency_of_theirs(after):
    """Plant the ρ of [CLS] over all pairs of the demo, all of it between layers."""
    after(
        "update stored.attention_norm_correlation set spearman = -0.5, within_heads = 0.0, "
        "between_heads = -0.1, between_layers = -0.4, between_layers_spearman = -0.95, "
        "median = -0.01, median_low = -0.02, median_high = 0.0"
    )
    said = said_in(relation.findings(inquiry()))
    assert "hardly pull against each other" in said
    assert "the shorter" not in said
    assert "+0.00 within heads, −0.10 between heads of a layer, −0.40 between layers" in said
    assert "Most of it is between layers, where ρ by itself is −0.95" in said


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 0.4, "Frequent words have shorter vectors"),
        (-0.4, -0.2, "Frequent words have longer vectors"),
        (-0.1, 0.3, "No clear relation"),
    ],
)
def test_an_interval_that_holds_0_claims_nothing(low, high, expected, after):
    after(
        "update stored.frequency_correlation set spearman = 0.9, low = 0.8, high = 1.0, "
        f"within_sequences_spearman = {(low + high) / 2}, "
        f"within_sequences_spearman_low = {low}, within_sequences_spearman_high = {high}"
    )
    assert expected in said_in(frequency.findings(inquiry()))
