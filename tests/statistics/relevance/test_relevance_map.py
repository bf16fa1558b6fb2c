"""Maps of relevance in a store built by the real passes, against the twins and each other."""

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import numpy as np
import pytest
import torch
from duckdb import DuckDBPyConnection

from analysis.measures.relevance.relevance import carried_relevance
from analysis.relevance_rules import ALL, MEAN_WEIGHTS, RULES
from analysis.scopes import PRE_NORM
from analysis.statistics.relevance import (
    RELEVANCE_MAP,
    SEQUENCE_RELEVANCE,
    SEQUENCE_RELEVANCE_AGREEMENT,
)
from precompute.jobs.bounds import evenly_spaced
from precompute.jobs.plan import Plan
from precompute.models.load_models import load_model
from precompute.passes import relevance as passes
from precompute.passes.relevance import start_weights
from precompute.run import Request
from tests.shared_store import shared_run
from tests.small_store import request as asked_for
from tests.statistics.relevance.test_relevance import down
from tests.statistics.relevance.test_relevance_comparison import slow_rollout, weighed_rows
from tests.tiny import HEADS, LAYERS
from tests.tracing import layers_of, rows_of_table, rows_of_tables

three_ways = pytest.mark.parametrize(
    "family", ["bert", "gpt2", "vit"], indirect=True, scope="session"
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family) -> tuple[Request, Plan]:
    names = ["relevance_map", "relevance_summary"]
    return shared_run(
        tmp_path_factory,
        f"relevance-{family}",
        lambda folder: asked_for(folder, family, statistics=names),
    )


@pytest.fixture(scope="module")
def store(finished) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(finished[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="module")
def slow(finished) -> tuple[int, dict[tuple[str, int, int | None], list[float]]]:
    """The shortest sequence, and its maps by rule, layer and head as the twins make them."""
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    sequence = min(plan.corpus, key=len)
    layers = layers_of(model, [sequence], kept=frozenset({sequence.index}))
    batch = layers[0].batch
    weights = start_weights(batch.relevance_start, sequence.token_types, batch.is_content[0])
    assert weights is not None
    start = weights.tolist()
    around = "ln_attn_res" if batch.order is PRE_NORM else "attn_res_ln"
    scopes = {"norm_rollout": batch.order.scopes.index(around), "norm_rollout_layer": -1}
    mixing = [layer.mixing_of(0) for layer in layers]
    by_layer = [
        (layer.attention[0].double().tolist(), layer.trace.values[0].double().tolist())
        for layer in layers
    ]
    maps = {}
    for layer, (attention, _) in enumerate(by_layer, start=1):
        for rule, mean_weights in zip(RULES, MEAN_WEIGHTS, strict=True):
            for head in range(len(attention)):
                maps[rule, layer, head + 1] = down(by_layer[:layer], start, rule, head)[0]
            maps[mean_weights, layer, None] = down(by_layer[:layer], start, rule, None)[0]
        for head, alpha in enumerate(attention, start=1):
            maps["attention", layer, head] = weighed_rows(start, alpha)
        for rule, scope in scopes.items():
            rolled = [of_layer.maps[scope].double().tolist() for of_layer in mixing[:layer]]
            maps[rule, layer, None] = slow_rollout(rolled, start)
        for rule in (*RULES, "attention"):
            heads = [maps[rule, layer, head + 1] for head in range(len(attention))]
            maps[rule, layer, None] = np.mean(heads, axis=0).tolist()
    return sequence.index, maps


@three_ways
def test_every_map_is_that_of_its_twin(store, slow):
    seq, expected = slow
    rows = """
        select rule, layer, head, relevance from relevance_map
        where seq = ? and rule <> 'gradient_attention'"""
    found = {tuple(place): of for *place, of in store.execute(rows, [seq]).fetchall()}
    assert set(found) == set(expected)
    for place, relevance in expected.items():
        np.testing.assert_allclose(found[place], relevance, atol=2e-6, err_msg=str(place))


@three_ways
def test_what_there_is_depends_on_the_model_alone(store, finished):
    has_classes = load_model(finished[0].model, device="cpu").classifier is not None
    expected = [rule for rule in ALL if has_classes or rule != "gradient_attention"]
    held = store.sql("select rule, count(distinct seq) from relevance_map group by all").fetchall()
    assert dict(held) == dict.fromkeys(expected, len(finished[1].corpus))


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
