"""`mixscope` in a notebook says what the file and the pages say."""

import numpy as np

import mixscope
from analysis.errors import UnknownName, UserError
from precompute.live.one_sequence import Rerun
from precompute.models.load_models import load_model
from tests.refusals import refused
from tests.small_store import build_store


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
