"""Maps of relevance that there are, and numbers of them that are of all heads."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.measures.relevance.relevance import carried_relevance
from analysis.relevance_rules import ALL, RULES
from analysis.statistics.relevance import (
    RELEVANCE_MAP,
    SEQUENCE_RELEVANCE,
    SEQUENCE_RELEVANCE_AGREEMENT,
)
from precompute.jobs.bounds import evenly_spaced
from precompute.passes import relevance as passes
from tests.tiny import HEADS, LAYERS
from tests.tracing import rows_of_table, rows_of_tables


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


def test_a_few_are_taken_evenly_from_all():
    assert evenly_spaced([5, 3, 9], 4) == {3, 5, 9}
    assert evenly_spaced(range(100), 4) == {0, 25, 50, 75}
    assert evenly_spaced([], 4) == frozenset()
