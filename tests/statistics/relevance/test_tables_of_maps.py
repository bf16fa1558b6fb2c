"""Maps of relevance that there are, their agreement, and uploads, which have those of a folder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from analysis.measures.relevance.relevance import carried_relevance
from analysis.relevance_rules import ALL, RULES
from analysis.statistics.relevance import (
    RELEVANCE_MAP,
    SEQUENCE_RELEVANCE,
    SEQUENCE_RELEVANCE_AGREEMENT,
)
from precompute.jobs.bounds import evenly_spaced
from precompute.live.one_sequence import Rerun
from precompute.models.load_models import load_model
from precompute.passes import relevance as passes
from precompute.passes.relevance import SequenceRelevanceAgreement
from tests.intervals import assert_ordered
from tests.small_images import SIZES
from tests.tiny import HEADS, LAYERS
from tests.tracing import layers_of, rows_of_table, rows_of_tables


@pytest.mark.parametrize("family", ["bert", "gpt2", "vit"], indirect=True, scope="session")
def test_what_there_is_depends_on_the_model_alone(tiny, sequences):
    every = frozenset(range(len(sequences)))
    rows = rows_of_table(RELEVANCE_MAP, tiny, sequences, kept=every).to_pandas()
    has_classes = tiny.classifier is not None
    expected = [rule for rule in ALL if has_classes or rule != "gradient_attention"]
    held = rows.astype({"rule": str}).groupby("rule")["seq"].nunique()
    assert held.to_dict() == dict.fromkeys(expected, len(sequences))


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_tokens_in_place_and_errors_of_the_mean_are_those_of_all_heads(
    tiny, sequences, monkeypatch
):
    def planted(*given, **options):
        carried = carried_relevance(*given, **options)
        heads = torch.arange(1, HEADS + 1)
        of_heads = {
            "n_in_place": heads.expand_as(carried.heads.n_in_place),
            "conservation_error": heads.expand_as(carried.heads.conservation_error) / 2**20,
        }
        return replace(carried, heads=carried.heads._replace(**of_heads))

    monkeypatch.setattr(passes, "carried_relevance", planted)
    rows = rows_of_table(SEQUENCE_RELEVANCE, tiny, sequences[:1]).to_pandas()
    of_rules = rows[rows["rule"].isin(RULES)]
    heads = of_rules["head"]
    in_place, error = of_rules["n_in_place"], of_rules["conservation_error"] * 2**20
    assert (in_place == heads.fillna(HEADS * (HEADS + 1) // 2)).all()
    assert (error == heads.fillna(HEADS)).all()
    assert heads.isna().sum() == len(RULES) * LAYERS


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_sequences_whose_weights_take_too_much_memory_have_no_maps(tiny, sequences, monkeypatch):
    """The limit is that of a sequence by itself, and others keep their numbers."""
    every = frozenset(range(len(sequences)))
    tables = (RELEVANCE_MAP, SEQUENCE_RELEVANCE, SEQUENCE_RELEVANCE_AGREEMENT)
    before = rows_of_tables(tables, tiny, sequences, kept=every)
    lengths = sorted(map(len, sequences))
    n_heads = len(tiny.layers) * len(tiny.layers[0].query_weight)
    monkeypatch.setattr(passes, "MOST_BYTES", n_heads * lengths[1] ** 2 * 4)
    after = rows_of_tables(tables, tiny, sequences, kept=every)
    short = {sequence.index for sequence in sequences if len(sequence) <= lengths[1]}
    assert len(short) == 2
    for name, rows in after.items():
        frame, whole = rows.to_pandas(), before[name].to_pandas()
        assert set(frame["seq"]) == short
        expected = whole[whole["seq"].isin(short)].reset_index(drop=True)
        for column in frame.select_dtypes("number"):
            np.testing.assert_allclose(frame[column], expected[column], rtol=1e-5, atol=1e-9)


three_ways = pytest.mark.parametrize(
    "family", ["bert", "gpt2", "vit"], indirect=True, scope="session"
)


@pytest.fixture
def filling(tiny, sequences) -> SequenceRelevanceAgreement:
    layers = layers_of(tiny, sequences, kept=frozenset({0}), classification=None)
    filling = SequenceRelevanceAgreement(layers[0].batch)
    for layer in layers:
        filling.add(layer)
    return filling


@three_ways
def test_every_two_maps_of_the_last_layer_agree_by_rank_over_content(filling, sequences, tiny):
    rows = filling.rows().to_pandas()
    last, n_rows = len(tiny.layers) - 1, 0
    for row, relevance in filling.relevance.maps.items():
        is_content = filling.batch.is_content[row]
        maps = {rule: values[is_content] for rule, values in relevance.mean_maps(last).items()}
        assert ("norm_rollout_layer" in maps) == (row == 0), "kept sequences alone have it"
        of_sequence = rows[rows["seq"] == sequences[row].index].set_index(["rule_a", "rule_b"])
        for place, first in enumerate(maps):
            for second in list(maps)[place + 1 :]:
                if min(np.ptp(maps[first]), np.ptp(maps[second])) > 0:
                    expected = spearmanr(maps[first], maps[second])[0]
                    spearman = of_sequence.loc[(first, second), "spearman"]
                    assert spearman == pytest.approx(expected, abs=1e-6)
                    n_rows += 1
    assert n_rows == len(rows) > 0
    for row, relevance in filling.relevance.maps.items():
        special = ~filling.batch.is_content[row]
        relevance.maps[:, special] = np.random.default_rng(0).random((1, int(special.sum())))
    assert filling.rows().to_pandas().equals(rows), "special tokens are not compared"


def test_means_are_over_the_sequences_and_the_same_in_either_order(curves_store):
    rows = curves_store.sql("from relevance_agreement").df()
    agreement = rows.set_index(["rule_a", "rule_b"])
    same = rows[rows["rule_a"] == rows["rule_b"]]
    assert set(same["rule_a"]) == set(ALL)
    assert (same["mean"] == 1).all()
    rows = curves_store.execute("from sequence_relevance_agreement").df()
    for (first, second), group in rows.groupby(["rule_a", "rule_b"], observed=True):
        for place in ((first, second), (second, first)):
            row = agreement.loc[place]
            assert row["mean"] == pytest.approx(group["spearman"].mean(), abs=1e-6)
            assert_ordered(row["low"], row["mean"], row["high"])
            assert row["n_sequences"] == len(group) == 5
    assert len(agreement) == len(ALL) ** 2


def test_uploads_have_the_maps_predictions_and_pictures_of_a_folder(curves_run, curves_store):
    asked, _ = curves_run
    again = Rerun(load_model(asked.model, device="cpu"))
    names = dict(curves_store.execute("select seq, name from image order by seq").fetchall())
    assert sorted(names.values()) == sorted(SIZES)
    for seq, name in names.items():
        upload = again.relevance_of_image(Path(asked.corpus, name).read_bytes(), name=name)
        rows = curves_store.execute(
            "select rule, layer, head, relevance from relevance_map where seq = ?", [seq]
        ).df()
        for rule, layer, head, relevance in rows.itertuples(index=False):
            of_rule = upload.maps[rule]
            place = layer - 1 - (3 - len(of_rule))
            values = of_rule[place, -1 if pd.isna(head) else int(head) - 1]
            np.testing.assert_allclose(values, relevance, atol=1e-6)
        assert len(rows) == sum(maps.shape[0] * maps.shape[1] for maps in upload.maps.values())
        stored = curves_store.execute(
            "select label, probability from class_prediction where seq = ? order by rank", [seq]
        ).df()
        assert [label for label, _ in upload.prediction] == stored["label"].tolist()
        np.testing.assert_allclose([p for _, p in upload.prediction], stored["probability"], 1e-5)
        image = curves_store.execute("from image where seq = ?", [seq]).df().iloc[0]
        assert upload.picture == bytes(image["picture"])
        grid = (image["grid_rows"], image["grid_columns"], image["first_patch"])
        assert (upload.rows, upload.columns, upload.first_patch) == grid
    kept = curves_store.sql("select distinct seq from relevance_map order by seq").fetchall()
    assert [seq for (seq,) in kept] == list(names)


def test_a_few_are_taken_evenly_from_all():
    assert evenly_spaced([5, 3, 9], 4) == {3, 5, 9}
    assert evenly_spaced(range(100), 4) == {0, 25, 50, 75}
    assert evenly_spaced([], 4) == frozenset()
