"""Sections on habits agree with the file, and say of planted rows what is so."""

import pytest

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from analysis.published.numbers import N_SEQUENCES, N_TOKENS
from pages.habits.page import HEADS, LAYERS, MATTERS, entropy_cls, neighbours
from pages.kit.grammar import sentences as sentences_of
from pages.kit.page import findings
from pages.kit.section import rows_of
from pages.words.scope import words_of
from tests.pages.conftest import charts, frames, in_address, options_of
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import chart_of, frame_of
from tests.pages.kit.inquiries import inquiry

PATTERN = "update stored.head_pattern set mean = {0}, low = {0} - {1}, high = {0} + {1} where {2}"
EVEN = "update stored.sink set mean = 0.05, low = 0.04, high = 0.06 where quantity = 'even'"
FEW = PATTERN.format(0.1, 0.01, "quantity <> 'uniform'")
CLS = [FEW, EVEN, PATTERN.format(0.3, 0.01, "quantity = 'cls'")]
GRADIENT = (
    "update stored.gradient_importance set importance = {0}, low = {0}, high = {0}, "
    "objective = 'masked_lm' where {1}"
)
ABLATED = (
    "update stored.head_effect set mean = 0.25, low = 0.2, high = 0.3 "
    "where filling = 'mean' and quantity = 'length' and token_type = 'cls' and layer is null"
)
WITHIN = (
    "update stored.effect_prediction set spearman = {1}, low = {2}, high = {3} where "
    "filling = 'mean' and quantity = 'length' and level = 'within' and measure {0}"
)
CHANGED = (
    "update stored.head_pattern_difference set difference = {0}, low = {0} - 0.1, "
    "high = {0} + 0.1 where quantity = 'cls' and {1}"
)
BY_WEIGHT = {"weighing": "weight", "quantity": "cls"}
EFFECT = {"filling": "mean", "quantity": "length"}
PLANTS = [
    (
        *(LAYERS, {"weighing": "weight", "group": "special"}, CLS),
        "to “[CLS]”, mean over layers and heads, 30.0% [29.0%, 31.0%], above its share of even "
        "attention, 5.0% [4.0%, 6.0%].",
    ),
    (
        *(LAYERS, {"weighing": "norm", "group": "from_sep"}),
        [
            PATTERN.format(0.4, 0.05, "quantity = 'sep_to_sep' and weighing = 'norm'"),
            PATTERN.format(0.1, 0.05, "quantity = 'other_to_sep' and weighing = 'norm'"),
        ],
        "**[SEP] looks at [SEP] more than other tokens do**: share",
    ),
    (
        *(LAYERS, {"weighing": "weight", "group": "breadth"}),
        [
            PATTERN.format(1, 0.1, "quantity = 'entropy'"),
            PATTERN.format(2, 0.1, "quantity = 'uniform'"),
        ],
        "1.00 [0.90, 1.10], below that of uniform attention, 2.00 [1.90, 2.10].",
    ),
    (
        *(LAYERS, {"weighing": "weight", "group": "breadth"}),
        [
            PATTERN.format(2, 0.1, "quantity = 'uniform'"),
            PATTERN.format(1, 0.1, "quantity = 'entropy'"),
            PATTERN.format(1.9, 0.2, "quantity = 'entropy' and layer = 2 and head > 1"),
        ],
        "2 of 6 heads reach 90% of the entropy of uniform attention, 0 of them by their whole",
    ),
    (
        *(LAYERS, {"weighing": "weight", "group": "special"}),
        [
            *CLS,
            PATTERN.format(0.6, 0.05, "quantity = 'cls' and layer = 2 and head = 1"),
            PATTERN.format(0.52, 0.05, "quantity = 'cls' and layer = 2 and head = 2"),
        ],
        "2 of 6 heads give more than half of a token's attention to one of these, 1 of them",
    ),
    (HEADS, BY_WEIGHT, [FEW], "**By the thresholds of Clark et al., none of 6 heads has one"),
    (
        *(HEADS, BY_WEIGHT, [FEW, PATTERN.format(0.62, 0.05, "quantity = 'sep' and layer = 1")]),
        "3 of 6 heads have one main habit**: \\[SEP\\] 3 (in 0 the whole interval is above",
    ),
    (
        *(HEADS, BY_WEIGHT, [FEW, PATTERN.format(0.9, 0.05, "quantity = 'cls' and head = 2")]),
        "“[CLS]” is strongest in L1·H2, 90% [85%, 95%], above the median head, 10%.",
    ),
    (
        *(HEADS, {"weighing": "difference", "quantity": "cls"}),
        [
            CHANGED.format(0, "true"),
            CHANGED.format(-0.3, "layer = 1 and head is not null"),
            CHANGED.format(0.3, "layer = 2 and head = 1"),
        ],
        "Of 6 heads it is less by norms in 3 and more in 1, by intervals that exclude 0; in 2",
    ),
    (
        *(MATTERS, EFFECT),
        [*CLS, GRADIENT.format(1, "true"), GRADIENT.format(0, "token_type = 'cls'"), ABLATED],
        "Of the gradient |∂L/∂α| (L: masked\\-LM loss, nats), attention to [CLS] has 0.0%, below "
        "its share of the weight, 30.0% [29.0%, 31.0%]; with f(x) of [CLS] replaced by its mean, "
        "the last hidden states change by 25.0% [20.0%, 30.0%].",
    ),
    (
        *(MATTERS, EFFECT),
        [
            WITHIN.format("is not null", 0.2, 0, 0.4),
            WITHIN.format("= 'share'", 0.8, 0.4, 0.9),
            WITHIN.format("= 'random'", 0.1, -0.1, 0.3),
        ],
        "Of 6 measures signed share foretells best which heads of a layer have an effect, with ρ "
        "= +0.80 [+0.40, +0.90], above another head of the layer at random, +0.10 [−0.10, +0.30].",
    ),
]


@pytest.mark.parametrize(("section", "choices", "statements", "expected"), PLANTS)
def test_what_is_planted_is_said(section, choices, statements, expected, after):
    after(*statements)
    with words_of("habits", section.name):
        rows = rows_of(section.finding.rows, inquiry(), choices)
        said = " ".join(sentences_of(rows, section.finding))
    assert expected in said


def test_the_share_of_the_gradient_is_the_mean_over_layers_with_ends_that_hold(after):
    """Layers with 9 of 12 and 1 of 4; each end takes the low one of its own, the others' high."""
    after(
        *CLS,
        GRADIENT.format(1, "true"),
        "update stored.gradient_importance set low = 0.9, high = 1.1 where token_type = 'cls'",
        "update stored.gradient_importance set importance = 9, low = 8, high = 10 "
        "where token_type = 'cls' and layer = 1",
        "update stored.gradient_importance set objective = 'pooled_length'",
    )
    finding, *_ = findings(MATTERS, "habits", inquiry())
    value, low, high = finding.evidence.iloc[0][["value", "low", "high"]]
    assert value == pytest.approx((9 / 12 + 1 / 4) / 2)
    assert (low, high) == pytest.approx(((8 / 11 + 0.9 / 3.9) / 2, (10 / 13 + 1.1 / 4.1) / 2))
    assert finding.number == "50.0%"
    assert finding.side == "above"
    assert "no loss" in finding.sentence


def test_types_are_shown_with_their_weight_their_gradient_and_their_effect(section, exported):
    section("matters", hh_filling="zero")
    frame = frame_of(exported, "hh_matters_types")
    assert set(frame["part"]) == {"weight", "gradient", "effect_zero"}
    shares = frame[frame["part"] == "gradient"]["mean"]
    assert shares.sum() == pytest.approx(1)


def test_a_corpus_without_masked_tokens_gets_the_command_that_masks(section, changed):
    folder = changed(
        *lacking("gradient_importance"),
        "update stored.provenance set value = 'masked_lm' where name = 'gradient_objective'",
    )
    session = section("matters", folder)
    assert charts(session), "effects are shown without gradients"
    assert "no token of this corpus is masked" in session.info[0].value
    [command] = [code.value for code in session.code if "--mask 0.15" in code.value]
    assert "gradient_importance" in command


@pytest.mark.parametrize(
    ("view", "table", "choices"),
    [
        ("matters", "gradient_importance", {}),
        ("heads", "head_pattern_difference", {"hh_weighing": "difference"}),
    ],
)
def test_what_a_figure_lacks_is_offered(view, table, choices, section, changed):
    session = section(view, changed(*lacking(table)), **choices)
    assert any("precompute run" in code.value and table in code.value for code in session.code)


def test_heads_that_cannot_be_ranked_are_said_to_be_so_and_no_run_is_offered(section, changed):
    session = section("matters", changed(*lacking("effect_prediction")))
    assert "this file ranks none" in session.info[0].value
    assert not any("precompute run" in code.value for code in session.code)


def test_a_logarithmic_axis_leaves_out_what_is_0(section, after, exported):
    after(
        "update stored.gradient_importance set low = 0",
        "update stored.gradient_importance set importance = 0 where token_type = 'sep'",
    )
    section("matters", hh_scale="log")
    drawn = [
        row
        for rows in chart_of(exported, "hh_matters_gradients").to_dict()["datasets"].values()
        for row in rows
    ]
    assert {row["token_type"] for row in drawn} == {"[CLS]", "comma/period", "other"}
    assert min(row["low"] for row in drawn) > 0


def test_a_group_that_a_model_lacks_is_not_offered(section, gpt2_folder):
    session = section("layers", gpt2_folder, hh_group="from_sep")
    offered = options_of(session, "hh_group")
    assert len(offered) == 3
    assert not any("[SEP]" in option for option in offered)
    assert charts(session)


def test_the_table_has_a_row_per_head_and_can_be_filtered(section, after, answers):
    ((n,),) = answers("select count(*) from head_pattern")
    [table] = frames(section("heads"))
    assert len(table) == n
    after(FEW, PATTERN.format(0.9, 0, "quantity = 'previous' and layer = 1 and head = 2"))
    [table] = frames(section("heads", hh_behaviours="previous"))
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 2]]
    assert table["behaviour"].tolist() == ["previous token"]


@pytest.mark.parametrize("value", ["9-9", "<b>"])
def test_a_link_to_no_head_shows_the_clearest(value, section, after):
    after(FEW, PATTERN.format(0.9, 0, "quantity = 'sep' and layer = 2 and head = 3"))
    session = section("layers", head=value)
    assert session.session_state["head"] == "2-3"
    assert in_address(session, "head") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("breadth", "layers"), ("weighing", "heads"), ("effect", "matters"), ("gradients", "matters")],
)
def test_sections_of_old_links_are_found(old, new, section):
    assert section(old).session_state["hh_view"] == new


def test_axes_say_what_is_shown_and_published_numbers_stand_beside_weights_alone(section):
    by_weight, by_norm = (
        section("layers", hh_group="neighbours", hh_weighing=weighing)
        for weighing in ("weight", "norm")
    )
    titles = [str(charts(session)) for session in (by_weight, by_norm)]
    assert "share of a token's attention" in titles[0]
    assert "share of a token's attention" not in titles[1]
    assert "‖αf(x)‖" in titles[1]
    folds = [" ".join(fold.label for fold in session.expander) for session in (by_weight, by_norm)]
    assert ["Published" in labels for labels in folds] == [True, False]


BERT = (
    "update stored.run set model = 'bert-base-uncased', n_layers = 12, n_heads = 12, "
    f"hidden_size = 768, n_sequences = {N_SEQUENCES}, n_tokens = {N_TOKENS}, mask_rate = 0"
)
ZERO = "update stored.provenance set value = '0' where name = 'segments_given'"


def test_the_same_experiment_is_compared_and_other_segment_ids_are_another(section, changed):
    for group in ("breadth", "neighbours"):
        session = section("layers", changed(BERT, ZERO), hh_group=group)
        assert not [fold for fold in session.expander if "bert-base-uncased" in fold.label]
        assert any("difference" in frame.value for frame in session.dataframe)
    folds = section("layers", changed(BERT), hh_group="breadth").expander
    [place] = [fold for fold in folds if "segment ids" in fold.label]
    assert "no token masked, segment ids 0, 1: another experiment" in place.markdown[0].value


def test_ours_are_the_last_layer_and_the_heads_above_a_half(after):
    after(
        f"update stored.head_pattern set layer = {ENTROPY_CLS.layer}, mean = 3.891 "
        "where quantity = 'entropy_cls' and layer = 2 and head is null",
        PATTERN.format(0.6, 0, "quantity = 'previous' and layer = 1"),
        PATTERN.format(0.5, 0, "quantity = 'previous' and layer = 2 or quantity = 'next'"),
    )
    [entropy] = entropy_cls(inquiry(), {}).to_dict("records")
    assert (entropy["number"], entropy["ours"]) == (ENTROPY_CLS, 3.891)
    rows = neighbours(inquiry(), {})
    assert (rows["number"].tolist(), rows["ours"].tolist()) == ([*NEIGHBOURS], [3, 0])
    after("delete from stored.head_pattern where quantity in ('entropy_cls', 'previous', 'next')")
    assert [*neighbours(inquiry(), {})["ours"], *entropy_cls(inquiry(), {})["ours"]] == [None] * 3
