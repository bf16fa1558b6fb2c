"""Numbers of figures reckoned by hand, from rows that are planted or from other tables of the file.

`test_numbers` has those that are a query of the file.
"""

from collections.abc import Callable
from dataclasses import replace
from html import unescape
from shutil import copyfile
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster

from analysis.published.heads import ENTROPY_CLS, NEIGHBOURS, numbers
from analysis.published.numbers import EXPERIMENTS
from analysis.published.positions import NUMBERS, OFFSETS, SHIFT
from analysis.statistics.probing.parsers import METHODS
from pages.coreference.page import published as coreference_rows
from pages.habits.page import MATTERS, entropy_cls, neighbours
from pages.head.texts import TOKENS
from pages.head_map.tree import tree_parts
from pages.kit.items import Control, Table
from pages.kit.page import findings
from pages.norms.pair_panels import DENSITIES, SAMPLE, edges
from pages.positions.offsets import offset_rows
from pages.services.open_file import described, version_of
from pages.syntax.page import published as relation_rows
from pages.syntax.parsers import is_alike
from pages.words.numbers import percent, scientific
from pages.words.say import say
from pages.words.scope import words_of
from tests.pages.conftest import bodies, captions, options_of, sentences
from tests.pages.kit.ran import FOR_ALL, Ran, inquiry, ran
from tests.pages.kit.stores import answers_of, changes_of

pytestmark = pytest.mark.slow
trees, changed_trees = answers_of("treebank_folder"), changes_of("treebank_folder")
HEADS = [(layer, head) for layer in (1, 2) for head in (1, 2, 3)]
Run = Callable[..., Ran]


@pytest.fixture
def shown(request, monkeypatch) -> Run:
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


def test_bars_of_a_type_add_up_to_its_correlation(shown):
    parts = shown("store", "norms", "relation").keyed("an_relation_parts")
    sums = parts.groupby(["token_type", "spearman"])["contribution"].sum().reset_index()
    assert len(sums)
    assert sums["contribution"].tolist() == pytest.approx(sums["spearman"].tolist())


def test_density_cells_hold_every_pair_and_have_the_edges_of_their_values(store):
    everywhere = {"layer": None, "head": None}
    cells, pairs = (store.execute(sql, everywhere).df() for sql in (DENSITIES, SAMPLE))
    counted = store.sql(
        "select token_type, n from attention_norm_correlation where layer is null"
    ).fetchall()
    assert cells.groupby("token_type")["n"].sum().to_dict() == dict(counted)
    drawn = {tuple(row) for row in cells[["token_type", "attention_bin", "norm_bin"]].to_numpy()}
    bits = pairs[["attention", "value_norm"]].to_numpy(np.float32).view(np.int32)
    lowest, highest = np.float32(2**-24).view(np.int32), np.float32(1).view(np.int32) - 1
    alpha, norm = np.clip(bits[:, 0], lowest, highest) >> 22, bits[:, 1] >> 21
    assert set(zip(pairs["token_type"], alpha, norm, strict=True)) <= drawn
    values = np.array([2.0**-24, 0.1, 0.75, 0.999], dtype=np.float32)
    bins = pd.Series(values.view(np.int32) >> 22)
    low, high = edges(bins, 22), edges(bins + 1, 22)
    assert (low <= values).all()
    assert (values < high).all()
    assert (high / low).max() <= 1.5


def test_a_sample_within_heads_is_over_the_means_of_its_heads(shown, store):
    within, raw = (
        shown("store", "norms", "relation", an_marks="sample", an_level=level).keyed(
            "an_relation_pairs"
        )
        for level in ("within_heads", "pooled")
    )
    rows = store.execute(
        "select layer, head, token_type, "
        "exp(sum(n_tokens * ln(value_norm)) / sum(n_tokens)) as mean "
        "from head_token join sequence using (seq) group by all"
    ).fetchall()
    means = {tuple(place): mean for *place, mean in rows}
    places = raw[["layer", "head", "token_type"]].itertuples(index=False, name=None)
    expected = raw["value_norm"].to_numpy() / [means[place] for place in places]
    assert within["value_norm"].to_numpy() == pytest.approx(expected, rel=0.03)


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


def test_a_logarithmic_axis_leaves_out_what_is_0(after):
    after(
        "update stored.gradient_importance set low = 0",
        "update stored.gradient_importance set importance = 0 where token_type = 'sep'",
    )
    chart = ran("habits", "matters", hh_scale="log").one("gradients").shown.chart
    drawn = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    assert {row["token_type"] for row in drawn} == {"[CLS]", "comma/period", "other"}
    assert min(row["low"] for row in drawn) > 0


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


@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("weighing", ["weight", "norm"])
def test_as_many_groups_as_are_asked_for_hold_every_head_once(k, weighing, store):
    steps = store.sql(
        'select "left", "right", height, n_heads from head_linkage_weighing '
        f"where weighing = '{weighing}' order by step"
    ).df()
    parts = tree_parts(steps, pd.DataFrame(HEADS, columns=["layer", "head"]), k)
    leaves = parts.dropna(subset="layer")
    assert sorted(leaves["place"]) == list(range(len(HEADS)))
    expected = fcluster(steps.to_numpy(float), k, criterion="maxclust")
    assert len(set(zip(leaves["group"], expected, strict=True))) == leaves["group"].nunique() == k
    assert leaves.sort_values("place")["group"].is_monotonic_increasing
    [cut] = parts.loc[parts["y"].isna(), "x"]
    assert (steps["height"] > cut).sum() == k - 1


def test_distances_within_groups_are_means_of_the_file(shown, answers):
    section = shown("store", "head_map", "groups", hm_k="2")
    leaves = section.keyed("hm_groups_tree").dropna(subset="layer")
    table = section.table("heads")
    distances = {
        ((a, b), (c, d)): distance
        for a, b, c, d, distance in answers(
            "select layer_a, head_a, layer_b, head_b, mean_divergence from head_distance_mean"
        )
    }
    assert table["n"].sum() == len(leaves) == len(HEADS)
    for row in table.itertuples():
        part = leaves[leaves["group"] == row.group]
        heads = list(part[["layer", "head"]].itertuples(index=False, name=None))
        within = [distances[one, other] for one in heads for other in heads if one != other]
        mean = np.mean(within) if within else np.nan
        assert row.within == pytest.approx(mean, nan_ok=True)


def test_masked_tokens_are_told_and_offered_where_there_are_some(changed, opened):
    tables = ("mixing_ratio", "rollout", "vector_rollout")
    folder = changed(
        "update stored.token set is_masked = pos % 2 = 1",
        *(
            f"insert into stored.{table} select * replace ('mask' as token_type) "
            f"from stored.{table} where token_type = 'sep'"
            for table in tables
        ),
    )
    session = opened("layer_mixing", folder, lm_view="ratio")
    with duckdb.connect(str(folder / "tiny.duckdb"), read_only=True) as store:
        [(share,)] = store.execute("select avg(is_masked::int) from token").fetchall()
    assert f"{percent(share)} of the tokens are masked" in captions(session)
    assert "[MASK]" in options_of(session, "lm_type")


@pytest.mark.parametrize(("file", "name"), [("gpt2", "the first token"), ("turned", "BOS")])
def test_what_comes_from_the_first_token_is_said(file, name, shown):
    said = " ".join(shown(file, "layer_mixing", "rollout").findings)
    assert f"hare of {name} in a token, by “vectors”" in said


def test_the_worst_error_comes_first(shown, answers):
    ((worst, seq),) = answers(
        "select relative_error, seq from (from layer_completeness union all by name "
        "select * exclude attention_sum_error from sequence_completeness) "
        "order by relative_error desc limit 1"
    )
    section = shown("store", "layer_mixing", "completeness")
    table = section.table("error")
    assert table[["error", "seq"]].iloc[0].tolist() == pytest.approx([worst, seq])
    assert scientific(worst) in " ".join(section.findings).replace("\\.", ".")


def test_no_token_is_a_place_where_heads_have_sink_logits(shown):
    layers = shown("sink_logits", "sinks", "layers", si_place="no_token")
    of_no_token = layers.shown[0].shown.frame
    assert set(of_no_token["quantity"]) == {"no_token", "even", "first", "early", "late"}
    nowhere = of_no_token[of_no_token["quantity"] == "no_token"]["mean"].tolist()
    heads = shown("sink_logits", "sinks", "heads", si_place="no_token")
    assert heads.shown[0].shown.frame.groupby("layer")["mean"].mean().tolist() == pytest.approx(
        nowhere
    )
    assert "of 8 heads are above 30%" in heads.findings[-1]


def test_heads_that_depend_less_on_position_are_left_out(after):
    after(
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.3 where layer = 1 and head < 3",
    )
    frame = ran("positions", "claim", po_least="0.25").keyed("po_claim_map")
    assert heads_of(frame) == [[1, 1], [1, 2]]


NO_VECTORS = "This model adds no vectors for positions to its input"
OTHER_COUNTINGS = ["means per pair", "sums, rows centred"]


@pytest.mark.parametrize(
    ("file", "first"), [("turned", ["position alone", "sums"]), ("store", ["sums (the paper's)"])]
)
def test_positions_alone_are_counted_first_where_no_vectors_are_added(file, first, shown):
    claim = shown(file, "positions", "claim")
    [counting] = (item for item in claim.items if getattr(item, "key", "") == "po_counting")
    assert isinstance(counting, Control)
    assert list(counting.labels.values()) == [*first, *OTHER_COUNTINGS]
    assert (NO_VECTORS in say("positions.lead")) == (file == "turned")


@pytest.mark.parametrize(
    ("place", "column", "low", "high", "mark"),
    [
        ("positions/content", "position", "position_low", "position_high", "rule"),
        ("head/waves", "kernel", "low", "high", "area"),
    ],
)
def test_shares_of_scores_and_kernels_have_the_intervals_of_the_file(
    place, column, low, high, mark, after_turned
):
    table = "score_share" if column == "position" else "position_kernel"
    drawn = {}
    for end in ("null", "0.01"):
        ends = f"{low} = {column} - 2 * {end}, {high} = {column} + {end}"
        after_turned(f"update stored.{table} set {ends}")
        section = ran(*place.split("/"), head="2-3")
        drawn[end] = str(section.shown[0].shown.chart.to_dict())
        assert ("'y2': {'field': " in drawn[end]) == (end != "null")
    assert f"'type': '{mark}'" in drawn["0.01"]
    tables = [item.full for item in section.shown if isinstance(item, Table)]
    listed = next(
        (rows for rows in tables if f"{column}_low" in rows), section.shown[0].shown.frame
    )
    near = listed[f"{column}_high"] - listed[f"{column}_low"]
    assert near.dropna().to_numpy() == pytest.approx(0.03)


WAVE = "frequency between 63.9 and 64.1"


def test_a_wave_is_shown_with_without_and_with_disordered_positions(after):
    after(
        "update stored.state_spectrum set max = 2 * n_sequences",
        f"update stored.state_spectrum set max = 8 * n_sequences where control = 'compared' "
        f"and layer = 1 and {WAVE}",
        "update stored.state_spectrum set max = 3 * n_sequences where control = 'permuted' "
        f"and {WAVE}",
    )
    choices = {"po_carrier": "states", "po_shown": "ratio", "po_states_layer": "1"}
    section = ran("positions", "waves", **choices)
    wave = section.keyed("po_waves_wave").pivot(
        index="layer", columns="control", values="amplitude"
    )
    assert wave.loc[1].to_dict() == {"compared": 8, "permuted": 3, "removed": 2}
    assert section.keyed("po_waves_maps")["ratio"].max() == 4


def test_files_of_a_folder_are_told_by_their_own_numbers(
    store_folder, gpt2_folder, tmp_path, monkeypatch
):
    for name, folder in (("bert", store_folder), ("gpt", gpt2_folder)):
        copyfile(folder / "tiny.duckdb", tmp_path / f"{name}.duckdb")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(tmp_path))
    section = ran("positions", "waves", po_scale="log")
    table = section.table("peaks")
    assert len(table) == 2
    for name in ("bert", "gpt"):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb"), read_only=True) as store:
            ((largest,),) = store.execute(
                "select max(mean) from embedding_spectrum where control = 'kept' and frequency > 0"
            ).fetchall()
        [ours] = table[table["file"].str.contains(name)]["largest"]
        assert ours == pytest.approx(largest)


def test_the_bars_of_every_cell_fill_it_exactly_once(shown):
    chart = shown("store", "positions", "content").one("grid").shown.chart
    for (layer, head), cell in chart.layer[0].data.groupby(["layer", "head"]):
        cell = cell.sort_values("x")
        assert cell["x"].iloc[1:].tolist() == pytest.approx(cell["x2"].iloc[:-1].tolist())
        assert cell["x"].iloc[0] + cell["x2"].iloc[-1] == pytest.approx(2 * head)
        assert (cell["y"] + cell["y2"]).tolist() == pytest.approx([2 * layer] * len(cell))


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
    assert all(number.experiment in EXPERIMENTS for number in NUMBERS)


@pytest.mark.parametrize(("label", "expected"), [("poss", 5), ("nmod:poss", 2)])
def test_a_possessor_is_scored_by_the_s_behind_it(label, expected, after_treebank):
    after_treebank(
        f"update stored.word set relation = '{label}' where seq = 3 and word = 0",
        "update stored.word set form = '''s' where seq = 3 and word = 1",
        "update stored.dependency_prediction set predicted = list_concat([2, 5], predicted[3:])",
    )
    section = ran("syntax", "sentences", sy_relation="obj", sy_sentence="3-0")
    assert section.keyed("sy_sentences_drawing")["predicted"].tolist()[:2] == [expected, 5]


def test_untrained_attention_of_another_file_stands_beside_ours(
    treebank_folder, changed_trees, monkeypatch
):
    uas = "update stored.parser_accuracy set uas = {} + 0.01 * (seed - 2) where method = '{}'"
    folder = changed_trees(
        "update stored.provenance set value = '3' where name = 'random_weights'",
        *(uas.format(*of) for of in ((0.1, "attention"), (0.35, "attention_words"))),
    )
    (folder / "tiny.duckdb").rename(folder / "untrained.duckdb")
    copyfile(treebank_folder / "tiny.duckdb", folder / "tiny.duckdb")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    section = ran("syntax", "parsers")
    said = " ".join(section.findings).replace("\\", "")
    assert "the model untrained (untrained.duckdb), 10% [8%, 12%]" in said
    frame = section.keyed("sy_parsers_chart").set_index("method")
    assert frame.loc["untrained_attention_words", "mean"] == pytest.approx(0.35)
    assert len(frame) == len(METHODS) + 2


@pytest.mark.parametrize(
    ("run", "facts", "alike"),
    [
        ({}, {}, True),
        ({"corpus_sha256": "another"}, {}, False),
        ({"n_heads": 4}, {}, False),
        ({}, {"segments_given": "another"}, False),
    ],
)
def test_only_a_file_of_the_same_shape_and_corpus_is_taken(run, facts, alike, store_folder):
    ours = described(version_of(store_folder / "tiny.duckdb"))
    changed_run = pd.Series(ours.run.to_dict() | run)
    assert is_alike(ours, replace(ours, run=changed_run, facts=ours.facts | facts)) is alike


def test_table_1_is_beside_the_best_heads_of_this_file(after_treebank, trees):
    after_treebank()
    with words_of("syntax", "relations"):
        table = relation_rows(inquiry(), {"merging": "mean"}).set_index("of")
    [best] = trees(
        "select accuracy, offset_accuracy from dependency_best "
        "where merging = 'mean' and chosen_on = 'all' and relation = 'obj'"
    )
    assert table[table.index.str.startswith("dobj (UD obj)")]["ours"].tolist() == list(best)
    assert table[table.index.str.startswith("prep")]["ours"].isna().all()
    assert len(table) == 2 * 15


def test_kinds_of_few_mentions_are_not_drawn_and_others_tell_their_number(after_treebank):
    after_treebank(
        "update stored.coreference_best set n = 50, accuracy = 0.6, baseline_accuracy = 0.4",
        "update stored.coreference_best set n = 9 where mention_type = 'proper'",
    )
    frame = ran("coreference", "rules").shown[0].shown.frame
    assert "proper" not in set(frame["mention_type"])
    of_all = frame[frame["mention_type"] == "all"].set_index("method")
    assert set(of_all["type"]) == {"all (n = 50)"}
    rules = dict.fromkeys(("nearest", "head_match", "sieve"), 0.4)
    assert of_all["accuracy"].to_dict() == {"head": 0.6, **rules}


def test_the_papers_head_is_compared_with_the_same_head(after_treebank):
    after_treebank(
        "update stored.coreference_accuracy set accuracy = 0.25 where method <> 'head'",
        "update stored.coreference_accuracy set accuracy = 0.5, layer = 5, head = 4 "
        "where method = 'head' and layer = 2 and head = 1",
    )
    with words_of("coreference", "rules"):
        table = coreference_rows(inquiry(), {"merging": "mean"})
    ours = dict(zip(numbers("coreference_accuracy"), table["ours"], strict=True))
    of_all = {of.method: value for of, value in ours.items() if of.mention_type == "all"}
    assert pd.isna(of_all.pop("neural"))
    assert of_all == {"head": 0.5, "nearest": 0.25, "head_match": 0.25, "sieve": 0.25}


@pytest.mark.parametrize("method", ["head", "nearest"])
def test_arrows_lead_to_what_is_picked(method, shown, trees):
    section = shown("treebank", "coreference", "documents", co_method=method, head="1-2")
    where = "method = 'head' and merging = 'mean' and layer = 1 and head = 2"
    ((predicted, correct),) = trees(
        "select predicted, correct from coreference_prediction "
        f"where {where if method == 'head' else f'method = {method!r}'} "
        "order by len(mentions) desc, seq limit 1"
    )
    item = section.one("chart")
    assert item.shown.frame["predicted"].tolist() == predicted
    [lines] = [layer.data for layer in item.shown.chart.layer if layer.mark.type == "line"]
    verdicts = [verdict for verdict, word in zip(correct, predicted, strict=True) if word >= 0]
    assert (lines.groupby("arrow").tail(1)["right"] == "right").tolist() == verdicts
    said = " ".join(section.findings)
    assert f"right about {sum(correct)} of the {len(correct)} mentions" in said


def test_an_even_map_has_what_all_patches_share_alike(shown):
    n_patches = 12
    for quantity, expected in (("mask_gain", 0), ("entropy", np.log(n_patches))):
        section = shown("images", "relevance", "corpus", re_quantity=quantity)
        frame = section.keyed("re_corpus_layers").set_index("rule")
        assert frame.loc["even", "mean"].to_numpy() == pytest.approx(expected)


def test_relevance_starts_at_the_last_token_of_a_causal_model(shown):
    frame = shown("gpt2", "relevance", "text").keyed("re_text_layers")
    apart = frame.loc[frame["layer"] == 1, "apart"].to_numpy()
    assert np.flatnonzero(apart).tolist() == [len(apart) - 1]


HEAD = "layer = 2 and head = 1"
TOKENS_OF_HEAD = {"he_view": "tokens", "head": "1-1", "he_least": "1"}


def test_a_number_stands_beside_the_median_head(opened, store_folder, answers):
    ((rate, median),) = answers(
        "with heads as (select layer, head, avg((attention > 0.3)::int) as rate "
        "from sequence_sink where place = 'first' group by all) "
        f"select max(rate) filter ({HEAD}), median(rate) from heads"
    )
    shown = bodies(opened("head", store_folder, head="2-1"))
    assert f'<div class="facts-value">{percent(rate)}</div>' in shown
    assert f"Median head {percent(median)}; rank" in shown


def test_texts_are_those_in_which_the_habit_is_strongest(opened, store_folder, answers):
    chosen = {"he_by": "habit", "he_habit": "comma_period", "he_texts": "2"}
    session = opened("head", store_folder, he_view="tokens", head="2-1", **chosen)
    best = answers(
        f"select seq, comma_period from sequence_head_pattern where {HEAD} "
        "and comma_period is not null order by comma_period desc, seq limit 2"
    )
    for place, (seq, share) in enumerate(best, start=1):
        [line] = [line for line in sentences(session).splitlines() if f"**{place}.**" in line]
        assert f"Text {seq}," in line
        assert percent(share) in line


def test_the_sequence_that_is_read_is_the_one_where_the_token_gets_most(
    opened, store_folder, answers
):
    session = opened("head", store_folder, **TOKENS_OF_HEAD, he_token="dog")
    ((seq, value),) = answers(
        """
        select seq, attention_received / n_tokens as value
        from head_token join token using (seq, pos) join sequence using (seq)
        where layer = 1 and head = 1 and token = 'dog' order by value desc, seq limit 1
        """
    )
    first = next(line for line in sentences(session).splitlines() if line.startswith("**1.**"))
    assert f"Text {seq}," in first
    assert f"{value:.2%}" in first


def test_every_token_is_shaded_once_by_weight_and_once_by_norm(opened, store_folder, answers):
    body = bodies(opened("head", store_folder, **TOKENS_OF_HEAD, he_texts="1"))
    assert body.count('class="an-text"') == 2
    titles = [unescape(part.split('"')[0]) for part in body.split('title="')[1:]]
    half = len(titles) // 2
    assert titles[:half] == titles[half:]
    norms = answers("select value_norm from head_token where layer = 1 and head = 1")
    known = {f"‖f(x)‖ {norm:.3f}" for (norm,) in norms}
    assert all(any(name in title for name in known) for title in titles)


def test_an_entry_of_the_vocabulary_is_first_where_it_is_nothing_else(gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        elsewhere = dict(
            store.sql("""
                select token, bool_and(token_type = 'first') from token group by token
                having bool_or(token_type = 'first')""").fetchall()
        )
        assert set(elsewhere.values()) == {True, False}
        frame = store.execute(TOKENS, {"layer": 1, "head": 1, "least": 1}).df()
        types = dict(zip(frame["token"], frame["token_type"], strict=True))
        assert {token: types[token] == "first" for token in elsewhere} == elsewhere
