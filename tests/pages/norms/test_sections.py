"""Norms: numbers reckoned by hand, verdicts of findings, charts of pairs, and what files lack."""

import json
from itertools import cycle

import duckdb
import numpy as np
import pandas as pd
import pytest

from pages.kit.recorded import findings
from pages.norms.page import PAGE
from pages.norms.pair_panels import DENSITIES, SAMPLE, edges
from tests.pages.conftest import charts, frames, in_address, sentences
from tests.pages.kit.after import said_in
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import click, frame_of
from tests.pages.kit.inquiries import inquiry
from tests.pages.kit.section_checks import stems


def mixing(quantity: str, cls: float, by: float = 0.01) -> str:
    """Plant how much of a quantity [CLS] gets in every layer and head, and all others together."""
    mean = f"if(token_type = 'cls', {cls}, if(token_type = 'other', {1 - cls}, 0))"
    return (
        f"update stored.token_type_mixing set mean = {mean}, low = {mean} - {by}, "
        f"high = {mean} + {by} where quantity = '{quantity}'"
    )


def rho(column: str, value: float, by: float = 0.01, table: str = "attention_norm_correlation"):
    return (
        f"update stored.{table} set {column} = {value}, {column}_low = {value - by}, "
        f"{column}_high = {value + by}"
    )


VERDICTS = [
    (
        "layers",
        [mixing("attention", 0.4), mixing("norm_share", 0.1)],
        "**[CLS] draws most attention, but less arrives from it**: share of the length ‖αf(x)‖ "
        "that arrives from [CLS], over all layers, 10% [9%, 11%], below its share of the weight, "
        "40% [39%, 41%].",
    ),
    (
        "layers",
        [mixing("attention", 0.4), mixing("norm_share", 0.5)],
        "**[CLS] draws most attention, and even more arrives from it**",
    ),
    (
        "layers",
        [mixing("attention", 0.4), mixing("norm_share", 0.405)],
        "**[CLS] draws most attention, and about as much arrives from it**",
    ),
    (
        "relation",
        [rho("median", -0.5)],
        "**Within heads, the more weight a token “[CLS]” gets, the shorter its vector**",
    ),
    (
        "relation",
        [rho("median", 0.5)],
        "**Within heads, more weight goes with longer vectors, even for “[CLS]”**",
    ),
    (
        "relation",
        [rho("median", -0.05)],
        "**Within heads, more weight hardly goes with shorter vectors, not even for “[CLS]”**",
    ),
    (
        "relation",
        [rho("median", -0.2, by=0.3), "update stored.attention_norm_correlation set spearman = -1"],
        "**Within heads, more weight does not clearly go with shorter vectors, not even for",
    ),
    (
        "transformation",
        ["update stored.value_norm_dispersion set cv = 0.3 where layer is not null",
         "update stored.input_norm_dispersion set cv = 0.1"],
        "In a head, the lengths ‖f(x)‖ have a coefficient of variation of 0.30, against that of "
        "the lengths ‖x‖ that it reads, 0.10 (without intervals).",
    ),
    *(
        (
            "frequency",
            [rho("within_sequences_spearman", value, by, "frequency_correlation")],
            f"**{claim}",
        )
        for value, by, claim in (
            (0.7, 0.1, "Rarer words have longer vectors"),
            (-0.7, 0.1, "Rarer words have shorter vectors"),
            (0.2, 0.3, "Rare and frequent words do not clearly differ in the length"),
            (0.05, 0.01, "Rare and frequent words hardly differ in the length of their vectors"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stem", "statements", "expected"), VERDICTS)
def test_a_finding_says_what_its_intervals_allow(stem, statements, expected, after):
    after(*statements)
    [recorded] = (part for part in PAGE.sections if part.name == stem)
    assert expected in said_in(findings(recorded, "norms", inquiry()))


def test_a_type_that_is_clearly_below_0_is_named_before_a_lower_one_that_is_not(after):
    """Of two types, the one that the claim would overlook is the result."""
    after(
        rho("median", 0.0),
        rho("median", -0.4, by=0.5) + " where token_type = 'sep'",
        rho("median", -0.2) + " where token_type = 'other'",
    )
    [relation] = (part for part in PAGE.sections if part.name == "relation")
    assert "the more weight a token “other” gets" in said_in(findings(relation, "norms", inquiry()))


def test_a_headline_says_what_is_within_heads_between_them_and_between_layers(section, after):
    after(
        rho("median", -0.3, by=0.1),
        rho("between_heads_spearman", 0.8, by=0.1),
        "update stored.attention_norm_correlation set between_layers_spearman = -0.9, "
        "between_layers_spearman_low = null, between_layers_spearman_high = null",
    )
    text = sentences(section("relation"))
    for said in ("−0.30 [−0.40, −0.20], below 0", "+0.80 [+0.70, +0.90], above 0"):
        assert said in text
    assert "−0.90, against 0 (without intervals)" in text
    assert "Over the pairs of all these heads" in sentences(section("relation", an_level="pooled"))


def test_shares_of_norms_are_those_that_are_stored(section, exported):
    section("layers", an_norm_as="share")
    frame = frame_of(exported, "an_layers_norm_share")
    assert frame["quantity"].unique() == ["norm_share"]
    assert frame.groupby("layer")["mean"].sum().tolist() == pytest.approx([1.0, 1.0], abs=1e-5)


def test_the_ranks_of_a_head_are_less_those_of_its_layer(section, exported, after):
    """Layer 1: heads with ranks of 0.1, 0.2 and 0.6, whose mean is 0.3."""
    after(
        "update stored.attention_norm_correlation set norm_rank = [0.1, 0.2, 0.6][head], "
        "attention_rank = 0.5 where head is not null"
    )
    section("relation", an_level="between_heads")
    frame = frame_of(exported, "an_relation_ranks_between_heads")
    one = frame[(frame["layer"] == 1) & (frame["token_type"] == "sep")].set_index("head")
    assert one["norm_rank"].to_dict() == pytest.approx({1: -0.2, 2: -0.1, 3: 0.3})
    assert one["attention_rank"].tolist() == pytest.approx([0, 0, 0])
    section("relation", an_level="between_layers")
    assert len(frame_of(exported, "an_relation_ranks_between_layers")) == 2 * 4


def test_without_special_tokens_none_are_left_out_of_frequencies(section, gpt2_folder):
    [shown] = frames(section("frequency", gpt2_folder))
    assert len(shown) == shown["quantity"].nunique() == 2


def test_bars_of_a_type_add_up_to_its_correlation(section, exported):
    section("relation")
    sums = frame_of(exported, "an_relation_parts").groupby(["token_type", "spearman"])
    assert len(sums)
    for (_, whole), parts in sums["contribution"]:
        assert parts.sum() == pytest.approx(whole)


def test_one_layer_has_no_level_between_layers_and_one_head_has_no_levels(section):
    one_layer = section("relation", an_scope="layer", an_layer="2")
    assert "between_layers" not in next(frame for frame in frames(one_layer) if "pairs" in frame)
    one_head = section("relation", an_scope="head", head="2-1")
    assert "In L2·H1, ρ of α and ‖f(x)‖ for" in sentences(one_head)
    assert "an_level" not in one_head.session_state


EVERYWHERE = {"layer": None, "head": None}


def test_density_cells_hold_every_pair_of_every_type(section, answers, store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = store.execute(DENSITIES, EVERYWHERE).df()
    pairs = dict(
        answers("select token_type, n from attention_norm_correlation where layer is null")
    )
    assert cells.groupby("token_type")["n"].sum().to_dict() == pairs
    (panels, *_) = charts(section("relation"))
    assert len(panels["concat"]) == len(pairs)


def test_cells_of_the_density_have_the_edges_of_their_values():
    values = np.array([2.0**-24, 0.1, 0.75, 0.999], dtype=np.float32)
    bins = pd.Series(values.view(np.int32) >> 22)
    low, high = edges(bins, 22), edges(bins + 1, 22)
    assert (low <= values).all()
    assert (values < high).all()
    assert (high / low).max() <= 1.5


def test_every_pair_of_the_sample_lies_in_a_cell_of_the_density(store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
        cells = store.execute(DENSITIES, EVERYWHERE).df()
        pairs = store.execute(SAMPLE, EVERYWHERE).df()
    drawn = {tuple(row) for row in cells[["token_type", "attention_bin", "norm_bin"]].to_numpy()}
    bits = pairs[["attention", "value_norm"]].to_numpy(np.float32).view(np.int32)
    lowest, highest = np.float32(2**-24).view(np.int32), np.float32(1).view(np.int32) - 1
    alpha, norm = np.clip(bits[:, 0], lowest, highest) >> 22, bits[:, 1] >> 21
    assert set(zip(pairs["token_type"], alpha, norm, strict=True)) <= drawn


def test_a_sample_within_heads_is_over_the_means_of_its_heads(section, exported, answers):
    frames = []
    for level in ("within_heads", "pooled"):
        section("relation", an_marks="sample", an_level=level)
        frames.append(frame_of(exported, "an_relation_pairs"))
    within, raw = frames
    rows = answers(
        "select layer, head, token_type, "
        "exp(sum(n_tokens * ln(value_norm)) / sum(n_tokens)) as mean "
        "from head_token join sequence using (seq) group by all"
    )
    means = {tuple(place): mean for *place, mean in rows}
    places = raw[["layer", "head", "token_type"]].itertuples(index=False, name=None)
    expected = raw["value_norm"].to_numpy() / [means[place] for place in places]
    assert within["value_norm"].to_numpy() == pytest.approx(expected, rel=0.03)


def test_a_click_on_a_ratio_draws_the_singular_values_of_its_head(section, exported):
    session = section("transformation", head="1-2")
    click(session, "an_ratio", "cell", {"layer": 2, "head": 3})
    assert in_address(session, "head") == ["2-3"]
    drawn = frame_of(exported, "an_transformation_singular_values")
    assert set(zip(drawn["layer"], drawn["head"], strict=True)) == {(1, 1), (2, 1), (2, 3)}
    assert drawn[drawn["is_chosen"]][["layer", "head"]].drop_duplicates().to_numpy().tolist() == [
        [2, 3]
    ]


TYPED = (
    "token_type_mixing",
    "attention_norm_correlation",
    "attention_norm_histogram",
    "attention_norm_sample",
    "head_token",
)


def without(token_type: str) -> list[str]:
    return [f"delete from stored.{table} where token_type = '{token_type}'" for table in TYPED]


@pytest.mark.parametrize(
    ("view", "token_type"),
    list(zip(stems("norms"), cycle(("cls", "sep", "comma_period")))),
)
def test_a_type_that_never_occurs_is_nowhere(view, token_type, after, section):
    after(*without(token_type))
    session = section(view)
    assert "nan" not in sentences(session).lower()
    assert f'"{token_type}"' not in json.dumps(charts(session))
    for frame in frames(session):
        assert len(frame)
        assert "token_type_named" not in frame or len(set(frame["token_type_named"])) == 3


def test_what_never_varies_is_told_and_draws_nothing(after, section):
    after(
        "update stored.attention_norm_correlation set spearman = null, median = null",
        "update stored.frequency_correlation set spearman = null, low = null, high = null, "
        "within_sequences_spearman = null",
        "update stored.singular_value set value = 0",
    )
    relation, frequency, transformation = map(section, ("relation", "frequency", "transformation"))
    assert len(charts(relation)) == 1, "only the pairs themselves"
    assert "nothing to rank" in relation.info[0].value
    assert "nothing to rank" in frequency.info[0].value
    assert not charts(frequency)
    assert len(charts(transformation)) == 3, "a head that maps to nothing has no ratio"
    assert "stretch" not in sentences(transformation).partition("How this is measured")[0]


@pytest.mark.parametrize(
    ("kind", "stem", "said", "n_charts"),
    [
        ("gated", "head", "a token has no length ‖f(x)‖ of its own", 0),
        ("gated", "transformation", "a token has no length ‖f(x)‖ of its own", 0),
        ("latent", "transformation", "There are no singular values of f here", 2),
    ],
)
def test_a_section_says_why_the_model_has_no_such_numbers(
    kind, stem, said, n_charts, section, changed
):
    table = "head_token" if kind == "gated" else "singular_value"
    folder = changed(
        f"update stored.provenance set value = '{kind}' where name = 'transforms'",
        *lacking(table),
    )
    session = section(stem, folder)
    assert said in session.info[0].value
    assert len(charts(session)) == n_charts
