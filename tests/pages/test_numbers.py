"""Numbers of figures and tables are those of the file, for the choices that the address makes."""

from typing import Any

import duckdb
import pandas as pd
import pytest

from analysis.statistics.base.correlations import OF_TOKENS
from analysis.statistics.positions.attention import COUNTINGS, KERNEL
from pages.kit.links import VIEWS
from tests.pages.kit.ran import ran
from tests.small_images import SIZES
from tests.tiny_vision import LAYERS

MASK = sorted(SIZES).index("disc.png")
FILES = {"syntax": "treebank", "coreference": "treebank"}
PATTERN = "layer, head, habit, mean | layer, head, quantity, mean"
BEST = (
    "relation, layer, head, direction, n_tried, n_chosen, accuracy_chosen, n, accuracy, low, high, "
    '"offset", offset_accuracy, difference, difference_low, difference_high'
)
MAPS = (
    "unnest(range(1, len(relevance) + 1)) as pos, unnest(relevance) as relevance from relevance_map"
)
OF_HEAD = "layer = 2 and head = 1"
CELLS = (
    "(select place // n as query_pos, place % n as key_pos, attention from (select n, "
    "unnest(range(n * n)) as place, unnest(attention) as attention from exemplar_attention "
    f"where {OF_HEAD} and seq = 2))"
)

CASES = {
    "norms": [
        ("layers", "", "layers_table", "layer, attention, value_norm, weighted_norm",
         "token_type_mixing where head is null"),
        ("layers", "an_quantity=weighted_norm&an_norm_as=share", "layers_norm_share",
         "layer, token_type, mean", "token_type_interval "
         "where head is null and quantity = 'norm_share'"),
        ("heads", "an_type=sep", "heads_maps", "layer, head, quantity, mean",
         "token_type_interval "
         "where head is not null and token_type = 'sep' and quantity <> 'norm_share'"),
        ("relation", "an_scope=head&head=2-1", "relation_table", "pairs, spearman | n, spearman",
         "attention_norm_correlation where layer = 2 and head = 1"),
        ("transformation", "", "transformation_ratio", "layer, head, largest, smallest, ratio",
         "(select layer, head, max(value) as largest, min(value) as smallest, largest / smallest "
         "as ratio from singular_value group by all)"),
        *(("frequency", f"an_level={level}", "frequency_question_corpus",
           f"spearman | {level.replace('pooled', '')}_spearman".replace("| _", "| "),
           "frequency_correlation where source = 'corpus'")
          for level in (*OF_TOKENS, "pooled")),
    ],
    "habits": [
        ("layers", "hh_group=from_sep", "layers", PATTERN,
         "head_pattern_interval where quantity in ('sep_to_sep', 'other_to_sep')"),
        ("layers", "hh_weighing=norm", "layers", PATTERN, "head_pattern_weighing "
         "where weighing = 'norm' and quantity in ('cls', 'sep', 'comma_period')"),
        ("matters", "", "matters_scatter", "layer, head, mean, norm | layer, head, e.mean, n.mean",
         "head_effect e join contribution n using (layer, head) where filling = 'mean' "
         "and e.quantity = 'length' and n.quantity = 'norm'"),
        ("matters", "hh_filling=zero", "matters_best", "layer, spearman | layer, max(spearman)",
         "effect_prediction where filling = 'zero' and quantity = 'length' and level = 'layer' "
         "and measure <> 'random' group by layer"),
    ],
    "head_map": [
        ("map", "hm_colour=change", "map_by_effect", "layer, head, change | layer, head, mean",
         "head_effect where filling = 'mean' and quantity = 'length' and head is not null"),
        ("map", "hm_weighing=norm", "map_by_layer", "layer, head, x, y",
         "head_layout_weighing where weighing = 'norm'"),
        ("layers", "hm_weighing=norm", "layers_table", "within, difference, p_value",
         "layer_cohesion_weighing where weighing = 'norm'"),
    ],
    "layer_mixing": [
        ("frequency", "lm_frequency_scope=attn_res", "frequency_words", "token, n, ratio",
         "(select token, count(*) as n, avg(mean) as ratio from token_mixing_ratio "
         "join token using (seq, pos) where scope = 'attn_res' "
         "and token_type not in ('cls', 'sep') and not is_masked group by token)"),
        ("similarity", "lm_layer=2", "similarity_matrix", "scope_a, scope_b, spearman",
         "scope_similarity where layer = 2"),
        ("similarity", "lm_layer=2&lm_scope_a=attn&lm_scope_b=attn_w", "similarity_least",
         "seq, spearman", "sequence_scope_similarity "
         "where layer = 2 and scope_a = 'attn_w' and scope_b = 'attn'"),
        ("ratio", "lm_type=sep", "ratio_table", "mean, std, n",
         "mixing_ratio where layer is null and token_type = 'sep'"),
        ("rollout", "lm_rollout=attn", "rollout_own", "layer, scope, mean",
         "vector_rollout where distance = 0 and scope in ('attn', 'attention_rollout', 'vectors')"),
        ("rollout", "lm_rollout=attn", "rollout_own_place", "layer, by_rollout, by_vectors",
         "(select layer, rolled.mean as by_rollout, vectors.mean as by_vectors "
         "from vector_rollout as rolled join vector_rollout as vectors using (layer, distance) "
         "where distance = 0 and rolled.scope = 'attn' and vectors.scope = 'vectors')"),
    ],
    "positions": [
        ("waves", "", "waves_spectrum", "frequency, mean", "(select frequency, "
         "mean * sqrt(40 / length) as mean from position_spectrum_control "
         "where source = 'word_embedding' and frequency > 0)", "series = 'words'"),
        ("content", "po_k=12", "content_grid_12", "layer, head, cluster, share",
         "relative_position_clustering where k = 12"),
        ("content", "", "content_centres", 'cluster, "offset", attention, n',
         "relative_position_centre where k = 6"),
        *(("claim", f"po_counting={counting}&po_least=0", f"claim_map_{counting}",
           f"layer, head, score, attention | layer, head, {', '.join(offsets)}",
           "head_offset where dependence is not null", "", "turned" * (counting == KERNEL))
          for counting, offsets in COUNTINGS.items()),
        ("claim", "po_counting=sum&po_least=0", "claim_layers",
         "layer, n_heads, mean | layer, n_heads, chance", "offset_agreement where "
         "counting = 'sum' and min_dependence = 0 and layer is not null", "compared = 'chance'"),
        ("waves", "", "waves_spectrum", "frequency, mean, q25, q75", "embedding_spectrum "
         "where frequency > 0 and control = 'permuted'", "series = 'permuted'"),
        ("waves", "po_carrier=states&po_source=query&po_amount=max", "waves_maps",
         "layer, frequency, amplitude | layer, frequency, max", "position_spectrum_control "
         "where control = 'kept' and source = 'query' and frequency > 0"),
        ("heads", "head=2-1", "heads_patches", "row_offset, column_offset, attention_per_pair",
         "patch_offset where layer = 2 and head = 1", "", "images"),
    ],
    "head": [
        ("tokens", "head=2-3&he_least=1", "tokens_ranked_weighted_norm", "token, n, weighted_norm",
         "(select token, count(*) as n, avg(weighted_norm_received / n_tokens) as weighted_norm "
         "from head_token join token using (seq, pos) join sequence using (seq) "
         "where layer = 2 and head = 3 group by token)"),
        ("offsets", "head=2-1&he_text=2", "offsets_map", "query_pos, key_pos, attention",
         CELLS),
        ("waves", "head=2-1&he_text=2&he_direction=3", "waves_wave", "component",
         f"(select unnest(key) as component from query_key_wave where {OF_HEAD} and seq = 2 "
         "and rank = 3)", "side = 'key'"),
    ],
    "relevance": [
        ("map", f"re_image={MASK}&re_rule=iii&re_layer=2&re_head=1", "map_grid", "head, relevance",
         "(select coalesce(head::varchar, 'mean') as head, unnest(relevance[2:]) as relevance "
         f"from relevance_map where seq = {MASK} and layer = 2 and rule = 'iii')",
         "rule = 'iii'", "images"),
        ("text", "re_seq=1&re_rule=iv", "text_heads_1_iv", "pos, head_2 | pos, relevance",
         f"(select {MAPS} where seq = 1 and rule = 'iv' and layer = 2 and head = 2)"),
        ("text", "re_rule=ii&re_head=2", "text_layers", "layer, pos, relevance",
         f"(select layer, {MAPS} where seq = 0 and rule = 'ii' and head = 2)"),
        ("methods", f"re_image={MASK}", "methods_over_image", "relevance",
         "(select unnest(relevance[2:]) as relevance from relevance_map where seq = "
         f"{MASK} and rule = 'gradient_attention' and layer = {LAYERS} and head is null)",
         "panel = 'gradient_attention'", "images"),
        ("methods", f"re_image={MASK}&re_curves=one&re_curve_rules=gradient_attention",
         "methods_change", "mean", "(select unnest(probability) as mean from "
         f"sequence_perturbation where seq = {MASK} and rule = 'gradient_attention' "
         "and curve = 'insertion')", "curve = 'insertion'", "images"),
        ("corpus", "re_head_rule=ii&re_quantity=entropy", "corpus_head_map", "layer, head, mean",
         "relevance_interval where quantity = 'entropy' and rule = 'ii' and head is not null"),
        ("methods", "", "methods_agreement", "rule_a, rule_b, mean",
         "relevance_agreement where not concat(rule_a, rule_b) like '%mean_weights%'", "",
         "images"),
    ],
    "token_pairs": [
        ("pmi", "tp_pmi_least=5", "pmi_layers", "layer, effect, n_pairs, spearman",
         "pair_pmi_correlation "
         "where min_count = 5 and quantity = 'partial' and window_size is null"),
    ],
    "sinks": [
        ("layers", "", "layers_weights", "layer, mean", "(select layer, avg(attention) as mean "
         "from sequence_sink where place = 'cls' group by layer)", "quantity = 'attention'"),
        ("heads", "", "heads_rates", "layer, mean", "(select layer, "
         "avg((attention > 0.3)::int) as mean from sequence_sink where place = 'cls' "
         "group by layer)", "quantity = 'attention'"),
        ("nothing", "", "nothing_layers", "layer, token_type, mean", "head_effect where "
         "filling = 'zero' and quantity = 'length' and layer >= 1 and token_type <> ''"),
        ("scores", "si_place=sep", "scores_map_sep_excess", "layer, head, mean",
         "sink_score where place = 'sep' and head is not null and quantity = 'excess'"),
    ],
    "syntax": [
        ("heads", "sy_relation=det", "heads_map", "layer, head, accuracy | layer, head, "
         "max(accuracy)", "dependency_accuracy_merging where relation = 'det' "
         "and merging = 'mean' group by layer, head"),
        ("heads", "sy_relation=obj&sy_direction=dependent_to_head&sy_merging=first", "heads_map",
         "layer, head, n, accuracy, low, high, direction", "dependency_accuracy_merging "
         "where relation = 'obj' and direction = 'dependent_to_head' and merging = 'first'"),
        ("heads", "sy_relation=nsubj", "heads_offsets", '"offset", n, accuracy',
         "dependency_baseline where relation = 'nsubj'"),
        ("relations", "sy_merging=first&sy_chosen_on=second&sy_least=1", "relations_rows", BEST,
         "dependency_best where merging = 'first' and chosen_on = 'second'"),
        ("relations", "sy_weighing=norm&sy_least=1", "relations_rows", BEST,
         "dependency_best_weighing "
         "where merging = 'mean' and chosen_on = 'first' and weighing = 'norm'"),
        ("sentences", "sy_relation=obj&sy_sentence=3-0&head=1-2&sy_direction=dependent_to_head"
         "&sy_merging=first", "sentences_drawing", 'word, form, relation, predicted, "right"',
         "(select word, form, relation, predicted[word + 1] as predicted, "
         "coalesce(governor = predicted[word + 1], false) as \"right\" "
         "from word join dependency_prediction using (seq) where seq = 3 and sentence = 0 "
         "and layer = 1 and head = 2 and direction = 'dependent_to_head' and merging = 'first')"),
        ("parsers", "", "parsers_table", "mean, std, low, high, n_seeds",
         "(select avg(uas) as mean, stddev_samp(uas) as std, min(uas) as low, max(uas) as high, "
         "count(*) as n_seeds from parser_accuracy group by method)"),
    ],
    "coreference": [
        ("heads", "co_type=pronoun", "heads_map", "layer, head, more_than_sieve | layer, head, "
         "accuracy - (select accuracy from coreference_accuracy where method = 'sieve' "
         "and mention_type = 'pronoun')",
         "coreference_accuracy where method = 'head' and mention_type = 'pronoun'"),
        ("heads", "co_weighing=norm", "heads_map", "layer, head, accuracy",
         "coreference_accuracy_weighing where method = 'head' and weighing = 'norm' "
         "and merging = 'mean' and mention_type = 'all'"),
        ("rules", "co_rule=nearest", "rules_table", "n, accuracy, baseline_accuracy, difference",
         "coreference_best where merging = 'mean' and baseline = 'nearest'"),
    ],
}  # fmt: skip
"""By page: section, address, end of the figure's key, columns of its frame (and after a bar, those
of the file in the same order), rows of the file, and for some: rows of the frame, and the file."""


@pytest.mark.parametrize(
    ("page", "case"),
    [
        pytest.param(page, case, id=f"{page}-{case[2]}-{case[1]}")
        for page, cases in CASES.items()
        for case in cases
    ],
)
def test_what_is_shown_is_what_the_file_holds(page, case, request, monkeypatch):
    view, address, key, columns, source, where, name = (*case, "", "")[:7]
    folder = request.getfixturevalue(f"{name or FILES.get(page, 'store')}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    ours, _, theirs = columns.partition(" | ")
    shown_by_page = ran(page, view, **choices_of(address))
    frame = shown_by_page.keyed(f"{VIEWS[page].partition('_')[0]}_{key}")
    with duckdb.connect(str(folder / "tiny.duckdb"), read_only=True) as store:
        expected = store.execute(f"select {theirs or ours} from {source}").df()
        store.register("shown", frame)
        shown = store.execute(f"select {ours} from shown where {where or 'true'}").df()
    assert len(expected)
    pd.testing.assert_frame_equal(
        _in_order(shown), _in_order(expected.set_axis(list(shown), axis=1)), check_dtype=False
    )


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order of their own, with numbers as wide as on a page."""
    wide = frame.astype(dict.fromkeys(frame.select_dtypes("number"), float))
    return wide.sort_values(list(map(str, wide)), ignore_index=True)


def choices_of(address: str) -> dict[str, Any]:
    parts = (choice.partition("=") for choice in address.split("&"))
    return {key: value for key, _, value in parts if key}
