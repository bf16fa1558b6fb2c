"""Runs of hybrid models: layers keep their numbers, and nothing is carried across a gap."""

from typing import Any

import duckdb
import numpy as np
import pytest
import torch
from duckdb import DuckDBPyConnection

from analysis.contracts import every_table
from analysis.errors import UnfitModel, UserError
from analysis.models.reading import read_model
from analysis.needs import Need
from analysis.statistics.corpus import identity_in
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model
from precompute.needs import check_model
from precompute.passes import STATISTICS
from precompute.store.check import faults
from tests.analysis.models.every_type import tiny_type
from tests.analysis.models.hybrids import ATTENDING, INSTEAD, N_LAYERS, hybrid, hybrid_run
from tests.refusals import refused

FEW = ["head_token", "token_norm", "head_distance", "sequence_massive_activation"]
FEW += ["sequence_gradient_importance", "singular_value"]
FROM_LAYER_TO_LAYER = {
    name for name, table in STATISTICS.items() if Need.EVERY_LAYER in table.needs
}
OF_LAYERS = ("layer", "layer_a", "layer_b")


@pytest.fixture(scope="module")
def lfm2(tmp_path_factory):
    """A run of LFM 2 with all statistics."""
    asked, _ = hybrid_run(tmp_path_factory, "lfm2")
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield asked, store


@pytest.fixture(scope="module", params=("lfm2", "recurrent_gemma"))
def finished(request, tmp_path_factory):
    """A hybrid's run: of LFM 2 with all statistics, of the others with a few."""
    statistics = None if request.param == "lfm2" else FEW
    asked, _ = hybrid_run(tmp_path_factory, request.param, statistics)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield request.param, asked, store


def _column(store: DuckDBPyConnection, query: str) -> list[Any]:
    return [value for (value,) in store.execute(query).fetchall()]


def test_every_table_numbers_layers_as_the_model_does_and_the_file_names_the_others(finished):
    family, asked, store = finished
    assert list(faults(asked.output)) == []
    there = []
    for table in every_table():
        columns = [column.name for column in table.key if column.name in OF_LAYERS]
        for name in columns if table.name not in ("provenance", "run") else ():
            stored = f"from stored.{table.name} where {name} is not null order by all"
            if found := _column(store, f"select distinct {name} {stored}"):
                there.append(table.name)
                assert set(found) <= set(ATTENDING[family]), table.name
                if name == "layer":
                    assert found == ATTENDING[family], table.name
    assert len(there) >= (40 if family == "lfm2" else 4)
    depths = _column(store, "select distinct depth from sequence_massive_activation order by 1")
    assert depths == sorted({d for n in ATTENDING[family] for d in (n - 1, n)})
    facts = dict(store.execute("select name, value from provenance").fetchall())
    others = [n for n in range(1, N_LAYERS[family] + 1) if n not in ATTENDING[family]]
    assert facts["without_attention"] == ", ".join(f"{n} {INSTEAD[family]}" for n in others)
    windows = facts["windows"].split(", ")
    assert [n for n, size in enumerate(windows, start=1) if size != "none"] == ATTENDING[family]
    assert {windows[n - 1] for n in ATTENDING[family]} == {
        "2" if family == "recurrent_gemma" else "all"
    }
    assert _column(store, "select n_layers from run") == [N_LAYERS[family]]


def test_numbers_of_a_layer_are_those_of_the_library_s_layer_of_that_number(finished):
    family, _, store = finished
    model = hybrid(family)
    kinds = {"output_attentions": True, "output_hidden_states": True}
    for seq in _column(store, "select seq from sequence order by n_tokens desc limit 2"):
        ids = _column(store, f"select token_id from token where seq = {seq} order by pos")
        with torch.no_grad():
            run = model(torch.tensor([ids]), use_cache=False, **kinds)
        attention = [weights for weights in run.attentions if weights is not None]
        for layer, weights in zip(ATTENDING[family], attention, strict=True):
            received = weights[0].sum(1)
            states = run.hidden_states[layer - 1][0].norm(dim=-1)
            for head, of_head in enumerate(received, start=1):
                key = f"where seq = {seq} and layer = {layer} and head = {head} order by pos"
                rows = _column(store, f"select attention_received from head_token {key}")
                np.testing.assert_allclose(rows, of_head, rtol=1e-4, atol=1e-5)
            key = f"where seq = {seq} and layer = {layer} order by pos"
            norms = _column(store, f"select input_norm from token_norm {key}")
            np.testing.assert_allclose(norms, states, rtol=1e-4)


def test_what_is_carried_from_layer_to_layer_is_absent_and_refused_by_name(lfm2):
    asked, store = lfm2
    tables = {"sequence_rollout", "vector_completeness", "sequence_relevance", "relevance_map"}
    assert tables <= FROM_LAYER_TO_LAYER
    rows = dict(store.execute("select name, n_rows from manifest").fetchall())
    assert [name for name in FROM_LAYER_TO_LAYER if rows.get(name)] == []
    model = load_model(asked.model, device="cpu")
    assert refused(UserError, check_model, ["rollout"], model) == (
        f"--statistics rollout needs layers that all attend, and of those of {asked.model} "
        "1, 4, 5, 7 have no attention: leave rollout out, or give a model without other layers, "
        "such as a Llama."
    )
    check_model(["mixing_ratio", "head_distance"], model)


def test_a_page_is_given_maps_of_a_layer_by_its_number_and_no_relevance(lfm2):
    asked, store = lfm2
    facts = dict(store.execute("select name, value from provenance").fetchall())
    [revision] = _column(store, "select revision from run")
    live = rerun(asked.model, revision=revision, identity=identity_in(facts), dtype="float32")
    text, _ = live.typed("The cat sat.", max_tokens=36)
    maps = live.layer_maps(text, layer=6)
    model = hybrid("lfm2")
    with torch.no_grad():
        run = model(torch.tensor([text.ids.tolist()]), use_cache=False, output_attentions=True)
    wanted = [weights for weights in run.attentions if weights is not None][-1][0]
    np.testing.assert_allclose(maps.weights, wanted, rtol=1e-4, atol=1e-6)
    said = refused(UnfitModel, live.relevance_of_text, "The cat sat.", max_tokens=36)
    assert said.endswith("has some without attention.")


def test_attention_that_is_not_seen_makes_no_gap(monkeypatch):
    """A layer that attends by code of its own is no layer without attention."""
    model = tiny_type("llama")
    second, attend = model.layers[1].self_attn, torch.nn.functional.scaled_dot_product_attention

    def attended(hidden_states, **_more):
        heads = hidden_states.unflatten(-1, (4, -1)).transpose(1, 2)
        return attend(heads, heads, heads).transpose(1, 2).flatten(2), None

    monkeypatch.setattr(second, "forward", attended)
    assert refused(UnfitModel, read_model, model) == (
        "LlamaModel: of its 3 layers 2 attend in no way that is known."
    )
