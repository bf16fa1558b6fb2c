"""A sequence has the same numbers when it is run again, in a notebook too; no other model does."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import mixscope
from analysis.effects import ZERO
from analysis.errors import UnknownName, UserError
from analysis.measures.pairs.mixing_change import row_shares
from analysis.statistics.corpus import identity_in
from precompute.live.one_sequence import OtherModel, Rerun, pinned, rerun
from precompute.models.load_models import load_model
from precompute.passes.head_effects import Part, TextAgain
from precompute.passes.layers import batch_of
from tests.precompute.models.changed_files import change_settings, change_weights
from tests.refusals import refused
from tests.small_store import build_store
from tests.tiny import save_tiny
from tests.tracing import layers_of

TYPED: Any = {"revision": "sha256:any", "dtype": "float32"}


def test_shares_are_those_of_a_batch_with_padding(tiny, sequences):
    for layer, stored in enumerate(layers_of(tiny, sequences), start=1):
        for sequence, mixing in zip(sequences, stored.mixing, strict=True):
            kept = sequence.ids.tolist(), sequence.segments.tolist()
            shares = Rerun(tiny).layer_maps(kept, layer=layer).scopes
            scopes = tiny.layers[0].order.scopes
            assert shares.shape == (len(scopes), len(sequence), len(sequence))
            np.testing.assert_allclose(shares, row_shares(mixing.maps.numpy()), atol=1e-10)
            np.testing.assert_allclose(shares.sum(axis=-1), 1)


def test_vectors_of_all_heads_add_up_to_the_output_of_attention(tiny, sequences):
    again, sequence, query = Rerun(tiny), sequences[-1], 1
    traced = layers_of(tiny, [sequence])[1].alone(0)
    total = traced.weights.output_bias.numpy().astype(float)
    for head in range(1, len(traced.weights.query_weight) + 1):
        found = again.head_vectors(sequence, head=head, layer=2, query=query)
        np.testing.assert_array_equal(found.weights, traced.attention[0, head - 1, query])
        total = total + found.weights @ found.vectors
    np.testing.assert_allclose(total, traced.attention_output[0, query], atol=1e-5)


def test_without_a_head_layers_before_stay_and_the_output_moves_as_in_a_run(tiny, sequences):
    again, sequence = Rerun(tiny), sequences[-1]
    whole, without = again.head_maps(sequence), again.head_maps(sequence, without=(1, 2))
    maps = again.layer_maps(sequence, layer=2)
    np.testing.assert_allclose(whole.weights[1], maps.weights, atol=1e-6)
    np.testing.assert_allclose(whole.norms[1], maps.norms, atol=1e-6)
    np.testing.assert_array_equal(whole.weights[0], without.weights[0])
    assert not np.allclose(whole.weights[1], without.weights[1])
    found = again.without_head(sequence, layer=1, head=2)
    text = TextAgain(batch_of(tiny, [sequence]), 0, tiny.recorded)
    for part, changes in zip((Part(0, 1), Part(0)), found.changes, strict=True):
        _, length, *_ = text.alone[ZERO][part]
        np.testing.assert_allclose(changes.mean(), length, rtol=1e-4)
    assert len(found.places) == len(found.before) == found.probabilities.shape[1]


def test_what_a_file_tells_of_its_model_and_tokens_is_enough(tmp_path):
    path = build_store(tmp_path, mask_rate=0.2, statistics=["token_norm"])
    with duckdb.connect(str(path), read_only=True) as store:
        row = store.execute("from run").df().iloc[0]
        identity = identity_in(dict(store.execute("from provenance").fetchall()))
        tokens = store.execute("from token where seq = 0 order by pos").df()
    again = rerun(row["model"], revision=row["revision"], identity=identity, dtype=row["dtype"])
    kept = tokens["token_id"].tolist(), tokens["segment"].tolist()
    shares = again.layer_maps(kept, layer=2).scopes
    assert shares.dtype == np.float32
    np.testing.assert_allclose(shares.sum(axis=-1), 1, rtol=1e-5)


def test_another_model_under_the_name_is_refused(tmp_path):
    folder = save_tiny("bert", tmp_path / "model")
    name, before = str(folder), load_model(str(folder), device="cpu").identity
    other = f"{name!r} here is another model than the one of the file: "
    back = ". Put that one back, or build the file again."
    change_settings(folder / "config.json", hidden_act="relu")
    assert refused(OtherModel, rerun, name, identity=before, **TYPED) == (
        f'{other}configuration.hidden_act is "relu" and was "gelu"{back}'
    )
    change_settings(folder / "config.json", hidden_act="gelu")
    change_weights(folder, lambda tensors: next(iter(tensors.values())).add_(1))
    after = load_model(name, device="cpu").identity
    then, now = (dict(of)["model.weights"][:60] for of in (before, after))
    assert refused(OtherModel, rerun, name, identity=before, **TYPED) == (
        f"{other}weights is {now} and was {then}{back}"
    )
    said = refused(OtherModel, rerun, name, identity=(), **TYPED)
    assert "its settings are not known" in said
    with pytest.raises(UserError, match="No folder is called") as error:
        rerun(str(Path(name) / "gone"), identity=(), **TYPED)
    assert not isinstance(error.value, OtherModel)


@pytest.mark.parametrize(
    ("name", "revision", "asked"),
    [
        ("bert-base-uncased", "a" * 40, f"bert-base-uncased@{'a' * 40}"),
        ("someone/model@main", "b" * 40, f"someone/model@{'b' * 40}"),
        ("models/mine", "sha256:0123456789abcdef", "models/mine"),
        ("someone/model", f"{'a' * 40}+random:0", f"someone/model@{'a' * 40}"),
    ],
)
def test_a_hub_name_is_asked_for_at_the_commit_of_the_run(name, revision, asked):
    assert pinned(name, revision) == asked


def test_views_are_data_frames_by_name_and_maps_those_of_the_pages(tmp_path):
    file = build_store(tmp_path, statistics=["token_norm"])
    views = mixscope.open(file)
    assert len(views["run"]) == 1
    assert {"run", "token", "token_norm"} <= set(views)
    assert len(views["token"]) == views["run"]["n_tokens"][0]
    assert views.sql("select 6 * 7 as a")["a"].tolist() == [42]
    missing = tmp_path / "no.duckdb"
    assert refused(UserError, mixscope.open, missing) == (
        f"There is no file {missing}. Make one: `mixscope demo --output {missing}`."
    )
    message = refused(UnknownName, views.__getitem__, "tokens")
    assert message.startswith("No view is called 'tokens'. Did you mean 'token'?")
    model = str(tmp_path / "model-bert")
    found, run = mixscope.maps(model, "The cat sat."), Rerun(load_model(model, device="cpu"))
    sequence, _ = run.typed("The cat sat.", max_tokens=99)
    assert found.tokens == sequence.tokens
    assert len(found.layers) == len(run.model.layers)
    for layer, maps in enumerate(found.layers, 1):
        np.testing.assert_array_equal(maps.weights, run.layer_maps(sequence, layer=layer).weights)
    message = refused(UserError, mixscope.maps, model, "cat " * 2000)
    assert message.endswith(f" tokens that {model} takes. Shorten it.")
