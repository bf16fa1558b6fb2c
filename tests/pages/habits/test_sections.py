"""Sections on habits agree with the file."""

import pandas as pd
import pytest

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from analysis.published.numbers import N_SEQUENCES, N_TOKENS
from pages.habits.breadth import entropy_cls
from pages.habits.effect import effect
from pages.habits.layers import neighbours
from pages.ui.words.numbers import percent
from tests.pages.conftest import charts, frames, in_address, options_of, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import chart_of, frame_of
from tests.pages.kit.inquiries import inquiry


def test_a_group_that_a_model_lacks_is_not_offered(section, gpt2_folder):
    session = section("layers", gpt2_folder, hh_group="from_sep")
    assert options_of(session, "hh_group") == [
        "first or special tokens, punctuation",
        "neighbours",
    ]
    assert charts(session)
    assert not session.info


def test_the_sentence_above_the_chart_is_what_the_file_says(section, after, answers):
    after(
        "update stored.head_pattern set mean = 0.1, low = 0.1, high = 0.1",
        "update stored.head_pattern set mean = 0.75 where quantity = 'sep' and layer = 2",
    )
    text = sentences(section("layers"))
    ((n,),) = answers("select count(*) from head_pattern where layer = 2")
    ((of,),) = answers("select count(*) from head_pattern")
    assert "[SEP] 42%, [CLS] 10%" in text
    assert f"Most in one layer: [SEP], layer 2, 75%. {n} of {of} heads" in text


def test_the_breadth_is_told_against_attention_to_everything_alike(section, after):
    after(
        "update stored.head_pattern set mean = 1 where quantity = 'entropy'",
        "update stored.head_pattern set mean = 2 where quantity = 'uniform'",
        "update stored.head_pattern set mean = 1.9 where quantity = 'entropy' and layer = 2",
    )
    text = sentences(section("breadth"))
    assert "most broadly in layer 2 (1.90 nats) and most narrowly in layer 1 (1.00)" in text
    assert "would have 2.00" in text


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("masked_lm", ("the masked-language-model loss", "L: masked-LM loss (nats)")),
        ("next_token", ("the next-token loss", "L: next-token loss (nats)")),
        ("pooled_length", ("a stand-in, not a loss", "L: ‖mean hidden state‖², no loss")),
    ],
)
def test_the_objective_is_told_with_its_numbers(objective, expected, section, after, exported):
    after(
        "update stored.gradient_importance set importance = 1, low = 1, high = 1",
        "update stored.gradient_importance set importance = 3 where layer = 2",
        f"update stored.gradient_importance set objective = '{objective}'",
    )
    text = sentences(section("gradients"))
    assert expected[0] in text
    axis = chart_of(exported, "hh_gradients_question").layer[0].encoding.y["title"]
    assert axis == f"|∂L/∂α| per token that attends; {expected[1]}"
    assert "other 25%" in text
    assert text.count("25%") == 6, "by type they add up to all; one type beside its weight"
    assert "largest in layer 2 and smallest in layer 1: 3.0 times as much" in text


def test_a_corpus_without_masked_tokens_gets_the_command_that_masks(section, changed):
    folder = changed(
        *lacking("gradient_importance"),
        "update stored.provenance set value = 'masked_lm' where name = 'gradient_objective'",
    )
    session = section("gradients", folder)
    assert not charts(session)
    assert "no token of this corpus is masked" in session.info[0].value
    assert "--mask 0.15" in session.code[0].value
    assert "gradient_importance" in session.code[0].value


def test_a_logarithmic_axis_leaves_out_what_is_0(section, after, exported):
    after(
        "update stored.gradient_importance set low = 0",
        "update stored.gradient_importance set importance = 0 where token_type = 'sep'",
    )
    section("gradients", hh_scale="log")
    drawn = [
        row
        for rows in chart_of(exported, "hh_gradients").to_dict()["datasets"].values()
        for row in rows
    ]
    assert {row["token_type"] for row in drawn} == {"[CLS]", "comma/period", "other"}
    assert min(row["low"] for row in drawn) > 0


def test_the_table_has_a_row_per_head_and_can_be_filtered(section, after, answers):
    ((n,),) = answers("select count(*) from head_pattern")
    [table] = frames(section("heads"))
    assert len(table) == n
    after(
        "update stored.head_pattern set mean = 0.1 where quantity <> 'uniform'",
        "update stored.head_pattern set mean = 0.9 "
        "where quantity = 'previous' and layer = 1 and head = 2",
    )
    session = section("heads", hh_behaviours="previous")
    [table] = frames(session)
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 2]]
    assert table["behaviour"].tolist() == ["previous token"]


@pytest.mark.parametrize("view", ["layers", "breadth", "heads"])
def test_the_choice_is_in_the_address_and_changes_every_number(view, section, exported):
    by_weight = section(view)
    weights = dict(exported)
    exported.clear()
    by_norm = section(view, hh_weighing="norm")
    assert in_address(by_norm, "hh_weighing") == ["norm"]
    assert not in_address(by_weight, "hh_weighing")
    key = {"layers": "hh_layers", "breadth": "hh_breadth", "heads": "hh_heads_map"}[view]
    weighted, other = (frame_of(figures, key) for figures in (weights, exported))
    assert len(weighted) == len(other)
    assert (weighted["mean"].to_numpy() != other["mean"].to_numpy()).any()


def test_axes_say_what_is_shown_and_published_numbers_stand_beside_weights_alone(section):
    by_weight, by_norm = (
        section("layers", hh_group="neighbours", hh_weighing=weighing)
        for weighing in ("weight", "norm")
    )
    titles = [str(charts(session)) for session in (by_weight, by_norm)]
    assert "share of a token's attention" in titles[0]
    assert "‖αf(x)‖" in titles[1]
    assert "share of a token's attention" not in titles[1]
    folds = [" ".join(fold.label for fold in session.expander) for session in (by_weight, by_norm)]
    assert "Published" in folds[0]
    assert "Published" not in folds[1]


def test_the_choice_stays_from_section_to_section(section):
    session = section("layers", hh_weighing="norm")
    session.session_state["hh_view"] = "heads"
    session.run()
    assert session.session_state["hh_weighing"] == "norm"
    assert "‖αf(x)‖" in str(charts(session))


def test_the_finding_counts_heads_that_are_clear_of_0(section, after, answers):
    after(
        "update stored.head_pattern_difference set weight = 0.4, norm = 0.1, difference = -0.3, "
        "low = -0.4, high = 0.1 where quantity = 'cls'",
        "update stored.head_pattern_difference set high = -0.2 "
        "where quantity = 'cls' and layer = 1",
        "update stored.head_pattern_difference set low = 0.2, high = 0.3 "
        "where quantity = 'cls' and layer = 2 and head = 1",
    )
    ((less,),) = answers("select count(*) from head_pattern where layer = 1")
    ((n,),) = answers("select count(*) from head_pattern")
    text = sentences(section("heads", hh_weighing="difference", hh_quantity="cls"))
    assert f"[CLS]: {percent(0.4)} by weights, {percent(0.1)} by norms" in text
    assert f"smaller in {less} and larger in 1 of {n} heads" in text
    assert f"{n - less - 1} show no clear difference" in text


BERT = (
    "update stored.run set model = 'bert-base-uncased', n_layers = 12, n_heads = 12, "
    f"hidden_size = 768, n_sequences = {N_SEQUENCES}, n_tokens = {N_TOKENS}, mask_rate = 0"
)
ZERO = "update stored.provenance set value = '0' where name = 'segments_given'"
PLACES = [("breadth", {}, ["3.89"]), ("layers", {"hh_group": "neighbours"}, ["4", "5"])]


def published(session) -> pd.DataFrame:
    [table] = [frame.value for frame in session.dataframe if "published" in frame.value]
    return table


def test_the_same_experiment_is_compared(section, changed):
    folder = changed(BERT, ZERO)
    for view, choices, _ in PLACES:
        session = section(view, folder, **choices)
        assert not [fold for fold in session.expander if "bert-base-uncased" in fold.label]
        assert "difference" in published(session)


def test_other_segment_ids_are_another_experiment(section, changed):
    [place] = [
        fold for fold in section("breadth", changed(BERT)).expander if "segment ids" in fold.label
    ]
    text = place.markdown[0].value
    assert "no token masked, every segment id 0." in text
    assert "no token masked, segment ids 0, 1: another experiment" in text


def test_ours_are_the_last_layer_and_the_heads_above_a_half():
    layers = pd.DataFrame({"layer": [11, 12], "habit": "entropy_cls", "mean": [1.0, 3.891]})
    row = entropy_cls(layers)
    assert (row.published, row.ours, row.agrees) == (ENTROPY_CLS, 3.891, True)
    heads = pd.DataFrame(
        {"habit": ["previous"] * 5 + ["next"], "mean": [0.6, 0.7, 0.8, 0.9, 0.5, 0.4]}
    )
    rows = neighbours(heads)
    assert [row.published for row in rows] == list(NEIGHBOURS)
    assert [row.ours for row in rows] == [4, 0]
    assert [row.agrees for row in rows] == [True, False]


def test_what_a_model_lacks_is_left_open():
    nothing = pd.DataFrame({"layer": [], "habit": [], "mean": []})
    assert [row.ours for row in [entropy_cls(nothing), *neighbours(nothing)]] == [None] * 3


@pytest.mark.parametrize(
    ("low", "side", "verdict"),
    [(0.4, "above", "do not overlap"), (0.2, "unclear", "overlap: no clear difference")],
)
def test_the_best_measure_of_a_heads_effect_is_told_beside_a_random_head(low, side, verdict, after):
    planted = {"share": (0.8, low, 0.9), "random": (0.1, -0.1, 0.3), "gradient": (-0.9, -1, -0.8)}
    of_kind = "filling = 'mean' and quantity = 'length' and level = 'within'"
    after(
        "update stored.effect_prediction set spearman = 0.2, low = 0, high = 0.4",
        *(
            f"update stored.effect_prediction set spearman = {rho}, low = {low}, high = {high} "
            f"where {of_kind} and measure = '{measure}'"
            for measure, (rho, low, high) in planted.items()
        ),
    )
    [finding] = effect.findings(inquiry())
    assert finding.number == "signed share: 0.80"
    assert finding.evidence["name"].tolist()[:2] == ["signed share", "random head"]
    assert finding.evidence["value"].tolist()[1:] == pytest.approx([0.1, 0.2, 0.2, 0.2, 0.2, -0.9])
    assert "Of 6 measures signed share foretells best" in finding.sentence
    assert f"ρ = 0.80 [{low:.2f}, 0.90]" in finding.sentence
    assert "gives 0.10 [−0.10, 0.30]" in finding.sentence
    assert finding.side == side
    assert verdict in finding.sentence
    after("delete from stored.effect_prediction where measure <> 'random'")
    assert not [*effect.findings(inquiry())], "no measure of a file without any"


def test_heads_that_cannot_be_ranked_are_said_to_be_so_and_no_run_is_offered(section, changed):
    session = section("effect", changed(*lacking("effect_prediction")))
    assert "by ranking heads, and this model has a single one" in session.info[0].value
    assert not session.code
    assert not charts(session)
