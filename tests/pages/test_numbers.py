"""Numbers of figures and tables are those of the file, or reckoned by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS
from analysis.published.positions import OFFSETS, SHIFT
from analysis.statistics.positions.attention import COUNTINGS, KERNEL
from pages.habits.page import MATTERS, entropy_cls, neighbours
from pages.head_map.tree import tree_parts
from pages.kit.links import VIEWS
from pages.kit.page import findings
from pages.positions.offsets import offset_rows
from pages.services.open_file import described, version_of
from pages.syntax.parsers import is_alike
from tests.pages.kit.ran import FOR_ALL, Ran, inquiry, ran
from tests.small_images import SIZES
from tests.small_store import fetched

pytestmark = pytest.mark.slow
MASK = sorted(SIZES).index("disc.png")
FILES = {"syntax": "treebank", "coreference": "treebank"}
OF_HEAD = "layer = 2 and head = 1"

CASES = {
    "norms": [
        ("layers", "an_quantity=weighted_norm&an_norm_as=share", "layers_norm_share",
         "layer, token_type, mean", "token_type_interval "
         "where head is null and quantity = 'norm_share'"),
        ("heads", "an_type=sep", "heads_maps", "layer, head, quantity, mean",
         "token_type_interval "
         "where head is not null and token_type = 'sep' and quantity <> 'norm_share'"),
        ("transformation", "", "transformation_ratio", "layer, head, largest, smallest, ratio",
         "(select layer, head, max(value) as largest, min(value) as smallest, largest / smallest "
         "as ratio from singular_value group by all)"),
    ],
    "habits": [
        ("layers", "hh_weighing=norm", "layers",
         "layer, head, habit, mean | layer, head, quantity, mean", "head_pattern_weighing "
         "where weighing = 'norm' and quantity in ('cls', 'sep', 'comma_period')"),
        ("matters", "", "matters_scatter", "layer, head, mean, norm | layer, head, e.mean, n.mean",
         "head_effect e join contribution n using (layer, head) where filling = 'mean' "
         "and e.quantity = 'length' and n.quantity = 'norm'"),
    ],
    "head_map": [
        ("map", "hm_colour=change", "map_by_effect", "layer, head, change | layer, head, mean",
         "head_effect where filling = 'mean' and quantity = 'length' and head is not null"),
    ],
    "layer_mixing": [
        ("frequency", "lm_frequency_scope=attn_res", "frequency_words", "token, n, ratio",
         "(select token, count(*) as n, avg(mean) as ratio from token_mixing_ratio "
         "join token using (seq, pos) where scope = 'attn_res' "
         "and token_type not in ('cls', 'sep') and not is_masked group by token)"),
        ("similarity", "lm_layer=2&lm_scope_a=attn&lm_scope_b=attn_w", "similarity_least",
         "seq, spearman", "sequence_scope_similarity "
         "where layer = 2 and scope_a = 'attn_w' and scope_b = 'attn'"),
        ("rollout", "lm_rollout=attn", "rollout_own", "layer, scope, mean",
         "vector_rollout where distance = 0 and scope in ('attn', 'attention_rollout', 'vectors')"),
    ],
    "positions": [
        ("waves", "", "waves_spectrum", "frequency, mean", "(select frequency, "
         "mean * sqrt(40 / length) as mean from position_spectrum_control "
         "where source = 'word_embedding' and frequency > 0)", "series = 'words'"),
        ("claim", f"po_counting={KERNEL}&po_least=0", f"claim_map_{KERNEL}",
         f"layer, head, score, attention | layer, head, {', '.join(COUNTINGS[KERNEL])}",
         "head_offset where dependence is not null", "", "turned"),
        ("heads", "head=2-1", "heads_patches", "row_offset, column_offset, attention_per_pair",
         f"patch_offset where {OF_HEAD}", "", "images"),
    ],
    "head": [
        ("waves", "head=2-1&he_text=2&he_direction=3", "waves_wave", "component",
         f"(select unnest(key) as component from query_key_wave where {OF_HEAD} and seq = 2 "
         "and rank = 3)", "side = 'key'"),
    ],
    "relevance": [
        ("map", f"re_image={MASK}&re_rule=iii&re_layer=2&re_head=1", "map_grid", "head, relevance",
         "(select coalesce(head::varchar, 'mean') as head, unnest(relevance[2:]) as relevance "
         f"from relevance_map where seq = {MASK} and layer = 2 and rule = 'iii')",
         "rule = 'iii'", "images"),
        ("methods", f"re_image={MASK}&re_curves=one&re_curve_rules=gradient_attention",
         "methods_change", "mean", "(select unnest(probability) as mean from "
         f"sequence_perturbation where seq = {MASK} and rule = 'gradient_attention' "
         "and curve = 'insertion')", "curve = 'insertion'", "images"),
        ("corpus", "re_head_rule=ii&re_quantity=entropy", "corpus_head_map", "layer, head, mean",
         "relevance_interval where quantity = 'entropy' and rule = 'ii' and head is not null"),
    ],
    "sinks": [
        ("heads", "", "heads_rates", "layer, mean", "(select layer, "
         "avg((attention > 0.3)::int) as mean from sequence_sink where place = 'cls' "
         "group by layer)", "quantity = 'attention'"),
        ("scores", "si_place=sep", "scores_map_sep_excess", "layer, head, mean",
         "sink_score where place = 'sep' and head is not null and quantity = 'excess'"),
    ],
    "syntax": [
        ("heads", "sy_relation=det", "heads_map", "layer, head, accuracy | layer, head, "
         "max(accuracy)", "dependency_accuracy_merging where relation = 'det' "
         "and merging = 'mean' group by layer, head"),
        ("relations", "sy_weighing=norm&sy_least=1", "relations_rows",
         'relation, layer, head, direction, n_tried, n_chosen, n, accuracy, low, high, "offset", '
         "offset_accuracy, difference, difference_low, difference_high", "dependency_best_weighing "
         "where merging = 'mean' and chosen_on = 'first' and weighing = 'norm'"),
        ("sentences", "sy_relation=obj&sy_sentence=3-0&head=1-2&sy_direction=dependent_to_head"
         "&sy_merging=first", "sentences_drawing", 'word, form, relation, predicted, "right"',
         "(select word, form, relation, predicted[word + 1] as predicted, "
         "coalesce(governor = predicted[word + 1], false) as \"right\" "
         "from word join dependency_prediction using (seq) where seq = 3 and sentence = 0 "
         "and layer = 1 and head = 2 and direction = 'dependent_to_head' and merging = 'first')"),
    ],
    "coreference": [
        ("heads", "co_type=pronoun", "heads_map", "layer, head, more_than_sieve | layer, head, "
         "accuracy - (select accuracy from coreference_accuracy where method = 'sieve' "
         "and mention_type = 'pronoun')",
         "coreference_accuracy where method = 'head' and mention_type = 'pronoun'"),
        ("rules", "co_rule=nearest", "rules_table", "n, accuracy, baseline_accuracy, difference",
         "coreference_best where merging = 'mean' and baseline = 'nearest'"),
    ],
}  # fmt: skip
"""By page: section, address, end of the figure's key, columns of its frame (and after a bar, those
of the file in the same order), rows of the file, and for some: rows of the frame, and the file."""


@pytest.mark.parametrize(
    ("page", "case"),
    [(page, case) for page, cases in CASES.items() for case in cases],
    ids=str,
)
def test_what_is_shown_is_what_the_file_holds(page, case, request, monkeypatch):
    view, address, key, columns, source, where, name = (*case, "", "")[:7]
    folder = request.getfixturevalue(f"{name or FILES.get(page, 'store')}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    ours, _, theirs = columns.partition(" | ")
    frame = ran(page, view, **dict(parse_qsl(address))).keyed(
        f"{VIEWS[page].partition('_')[0]}_{key}"
    )
    with duckdb.connect(str(folder / "tiny.duckdb"), read_only=True) as store:
        expected = store.execute(f"select {theirs or ours} from {source}").df()
        store.register("shown", frame)
        shown = store.execute(f"select {ours} from shown where {where or 'true'}").df()
    assert len(expected)
    expected = _in_order(expected.set_axis(list(shown), axis=1))
    pd.testing.assert_frame_equal(_in_order(shown), expected, check_dtype=False)


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order of their own, with numbers as wide as on a page."""
    wide = frame.astype(dict.fromkeys(frame.select_dtypes("number"), float))
    return wide.sort_values(list(map(str, wide)), ignore_index=True)


HEADS = [(layer, head) for layer in (1, 2) for head in (1, 2, 3)]


@pytest.fixture
def shown(request, monkeypatch) -> Callable[..., Ran]:
    """Run a section on a file that is named."""

    def run(file: str, page: str, stem: str, **choices: Any) -> Ran:
        folder = request.getfixturevalue(f"{file}_folder")
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        return ran(page, stem, **FOR_ALL | choices)

    return run


def heads_of(frame: pd.DataFrame) -> list[list[int]]:
    return frame[["layer", "head"]].to_numpy().tolist()


def test_ranks_of_a_head_are_less_those_of_its_layer(after):
    """Layer 1: heads with ranks of 0.1, 0.2 and 0.6, whose mean is 0.3."""
    after(
        "update stored.attention_norm_correlation set norm_rank = [0.1, 0.2, 0.6][head], "
        "attention_rank = 0.5 where head is not null"
    )
    frame = ran("norms", "relation", an_level="between_heads").keyed("an_relation_ranks")
    one = frame[(frame["layer"] == 1) & (frame["token_type"] == "sep")].set_index("head")
    assert one["norm_rank"].to_dict() == pytest.approx({1: -0.2, 2: -0.1, 3: 0.3})
    assert one["attention_rank"].tolist() == pytest.approx([0, 0, 0])


IMPORTANCE = "update stored.gradient_importance set importance = {0}, low = {1}, high = {2}"


def test_the_share_of_the_gradient_is_the_mean_over_layers_with_ends_that_hold(after):
    """Layers with 9 of 12 and 1 of 4; each end takes its own low or high, and the others' other."""
    after(
        "update stored.head_pattern set mean = 0.3, low = 0.29, high = 0.31 where quantity = 'cls'",
        "update stored.gradient_importance set objective = 'pooled_length'",
        IMPORTANCE.format(1, 0.8, 1.2),
        f"{IMPORTANCE.format(1, 0.9, 1.1)} where token_type = 'cls'",
        f"{IMPORTANCE.format(9, 8, 10)} where token_type = 'cls' and layer = 1",
    )
    finding, *_ = findings(MATTERS, "habits", inquiry())
    value, low, high = finding.evidence.iloc[0][["value", "low", "high"]]
    assert value == pytest.approx((9 / 12 + 1 / 4) / 2)
    assert low == pytest.approx((8 / (8 + 3 * 1.2) + 0.9 / (0.9 + 3 * 1.2)) / 2)
    assert high == pytest.approx((10 / (10 + 3 * 0.8) + 1.1 / (1.1 + 3 * 0.8)) / 2)
    assert finding.number == "50.0%"
    assert finding.side == "above"
    assert "no loss" in finding.sentence


def test_published_habits_are_those_of_the_last_layer_and_of_the_heads_above_a_half(after):
    above = "update stored.head_pattern set mean = {} where quantity = 'previous' and layer = {}"
    after(
        f"update stored.head_pattern set layer = {ENTROPY_CLS.layer}, mean = 3.891 "
        "where quantity = 'entropy_cls' and layer = 2 and head is null",
        above.format(0.6, 1),
        above.format(0.5, 2),
        "update stored.head_pattern set mean = 0.5 where quantity = 'next'",
    )
    [entropy] = entropy_cls(inquiry(), {}).to_dict("records")
    assert (entropy["number"], entropy["ours"]) == (ENTROPY_CLS, 3.891)
    rows = neighbours(inquiry(), {})
    assert (rows["number"].tolist(), rows["ours"].tolist()) == ([*NEIGHBOURS], [3, 0])


def test_thresholds_decide_what_a_head_does(after):
    planted = [
        ("next", 0.45, "hm_neighbour", "0.40", "next token"),
        ("entropy", 2.0, "hm_entropy", "1.9", "broad"),
        ("sep", 0.35, "hm_token_type", "0.30", "[SEP]"),
    ]
    after(
        "update stored.head_pattern set mean = 0",
        *(
            f"update stored.head_pattern set mean = {value} "
            f"where quantity = '{quantity}' and layer = 1 and head = {head}"
            for head, (quantity, value, *_) in enumerate(planted, start=1)
        ),
    )
    for head, (_, _, key, threshold, name) in enumerate(planted, start=1):
        frame = ran("head_map", "map", **{key: threshold}).keyed("hm_map_by_behaviour")
        assert heads_of(frame[frame["name"] == name]) == [[1, head]]


def test_heads_that_depend_less_on_position_are_left_out(after):
    after(
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.3 where layer = 1 and head < 3",
    )
    frame = ran("positions", "claim", po_least="0.25").keyed("po_claim_map")
    assert heads_of(frame) == [[1, 1], [1, 2]]


def test_a_shift_is_that_of_the_highest_wave_and_an_absent_head_is_left_open():
    heads = pd.DataFrame({"layer": [1, 8], "head": [1, 9], "score_offset": [-2, 3]})
    phases = pd.DataFrame(
        {"phase": [0.5, -np.pi / 4, 1.0], "frequency": [0.0, 64.0, 8.0], "amplitude": [99, 3, 2]}
    )
    rows = offset_rows(heads, phases)
    assert [row.published for row in rows] == [*OFFSETS, SHIFT]
    assert [row.ours for row in rows] == [-2, 3, pytest.approx(-1)]
    assert [row.agrees for row in rows] == [True, False, True]
    assert [row.ours for row in offset_rows(heads[:1], phases[:0])] == [-2, None, None]


def test_only_a_file_of_the_same_shape_and_corpus_is_taken(store_folder):
    ours = described(version_of(store_folder / "tiny.duckdb"))
    assert is_alike(ours, ours)
    for run in ({"corpus_sha256": "another"}, {"n_heads": 4}):
        assert not is_alike(ours, replace(ours, run=pd.Series(ours.run.to_dict() | run)))
    assert not is_alike(ours, replace(ours, facts=ours.facts | {"segments_given": "another"}))


def test_kinds_of_few_mentions_are_not_drawn_and_others_tell_their_number(after):
    after(
        "update stored.coreference_best set n = 50, accuracy = 0.6, baseline_accuracy = 0.4",
        "update stored.coreference_best set n = 9 where mention_type = 'proper'",
        to="treebank",
    )
    frame = ran("coreference", "rules").shown[0].shown.frame
    assert "proper" not in set(frame["mention_type"])
    of_all = frame[frame["mention_type"] == "all"].set_index("method")
    assert set(of_all["type"]) == {"all (n = 50)"}
    rules = dict.fromkeys(("nearest", "head_match", "sieve"), 0.4)
    assert of_all["accuracy"].to_dict() == {"head": 0.6, **rules}


def test_an_even_map_has_what_all_patches_share_alike(shown):
    for quantity, expected in (("mask_gain", 0), ("entropy", np.log(12))):
        section = shown("images", "relevance", "corpus", re_quantity=quantity)
        frame = section.keyed("re_corpus_layers").set_index("rule")
        assert frame.loc["even", "mean"].to_numpy() == pytest.approx(expected)


def test_as_many_groups_as_are_asked_for_hold_every_head_once(store):
    steps = store.sql(
        'select "left", "right", height, n_heads from head_linkage order by step'
    ).df()
    parts = tree_parts(steps, pd.DataFrame(HEADS, columns=["layer", "head"]), 3)
    leaves = parts.dropna(subset="layer")
    assert sorted(leaves["place"]) == list(range(len(HEADS)))
    expected = fcluster(steps.to_numpy(float), 3, criterion="maxclust")
    assert len(set(zip(leaves["group"], expected, strict=True))) == leaves["group"].nunique() == 3
    assert leaves.sort_values("place")["group"].is_monotonic_increasing
    [cut] = parts.loc[parts["y"].isna(), "x"]
    assert (steps["height"] > cut).sum() == 2


def test_no_token_is_a_place_where_heads_have_sink_logits(shown):
    layers = shown("sink_logits", "sinks", "layers", si_place="no_token").shown[0].shown.frame
    assert set(layers["quantity"]) == {"no_token", "even", "first", "early", "late"}
    nowhere = layers[layers["quantity"] == "no_token"]["mean"].tolist()
    heads = shown("sink_logits", "sinks", "heads", si_place="no_token").shown[0].shown.frame
    assert heads.groupby("layer")["mean"].mean().tolist() == pytest.approx(nowhere)


def test_shares_of_scores_and_kernels_have_the_intervals_of_the_file(after):
    drawn = []
    for end in ("null", "0.01"):
        after(
            f"update stored.position_kernel set low = kernel - {end}, high = kernel + {end}",
            to="turned",
        )
        [figure, *_] = ran("head", "waves", head="2-3").shown
        drawn.append("'y2': {'field': " in str(figure.shown.chart.to_dict()))
    assert drawn == [False, True]


def test_a_wave_is_shown_with_without_and_with_disordered_positions(after):
    update, wave = "update stored.state_spectrum set max =", "frequency between 63.9 and 64.1"
    after(
        f"{update} 2 * n_sequences",
        f"{update} 8 * n_sequences where control = 'compared' and layer = 1 and {wave}",
        f"{update} 3 * n_sequences where control = 'permuted' and {wave}",
    )
    choices = {"po_carrier": "states", "po_shown": "ratio", "po_states_layer": "1"}
    section = ran("positions", "waves", **choices)
    frame = section.keyed("po_waves_wave")
    shown = frame[frame["layer"] == 1].set_index("control")["amplitude"]
    assert shown.to_dict() == {"compared": 8, "permuted": 3, "removed": 2}
    assert section.keyed("po_waves_maps")["ratio"].max() == 4


def test_arrows_lead_to_what_is_picked(shown, treebank_folder):
    section = shown("treebank", "coreference", "documents", co_method="head", head="1-2")
    [(predicted, correct)] = fetched(
        treebank_folder / "tiny.duckdb",
        "select predicted, correct from coreference_prediction where method = 'head' "
        "and merging = 'mean' and layer = 1 and head = 2 order by len(mentions) desc, seq limit 1",
    )
    shown = section.one("chart").shown
    assert shown.frame["predicted"].tolist() == predicted
    [lines] = [layer.data for layer in shown.chart.layer if layer.mark.type == "line"]
    verdicts = [verdict for verdict, word in zip(correct, predicted, strict=True) if word >= 0]
    assert (lines.groupby("arrow").tail(1)["right"] == "right").tolist() == verdicts
    assert f"right about {sum(correct)} of the {len(correct)} mentions" in section.findings[0]
