"""`mixscope` in a notebook says what the file and the pages say."""

import numpy as np
import pytest

import mixscope
from analysis.errors import UnknownName, UserError
from precompute.live.one_sequence import Rerun
from precompute.models.load_models import load_model
from tests.refusals import refused
from tests.small_store import build_store


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return build_store(tmp_path_factory.mktemp("notebook"), statistics=["token_norm"])


def test_views_are_data_frames_by_name(file):
    views = mixscope.open(file)
    assert len(views["run"]) == 1
    assert {"run", "token", "token_norm"} <= set(views)
    assert len(views["token"]) == views["run"]["n_tokens"][0]
    assert views.sql("select 6 * 7 as a")["a"].tolist() == [42]


def test_a_missing_file_and_a_misspelt_view_are_told(file, tmp_path):
    missing = tmp_path / "no.duckdb"
    assert refused(UserError, mixscope.open, missing) == (
        f"There is no file {missing}. Make one: `mixscope demo --output {missing}`."
    )
    message = refused(UnknownName, mixscope.open(file).__getitem__, "tokens")
    assert message.startswith("No view is called 'tokens'. Did you mean 'token'?")


def test_maps_are_those_of_the_pages(file):
    model = str(file.parent / "model-bert")
    found = mixscope.maps(model, "The cat sat.")
    run = Rerun(load_model(model, device="cpu"))
    sequence, _ = run.typed("The cat sat.", max_tokens=99)
    assert found.tokens == sequence.tokens
    assert len(found.layers) == len(run.model.layers)
    for layer, maps in enumerate(found.layers, 1):
        np.testing.assert_array_equal(maps.weights, run.layer_maps(sequence, layer=layer).weights)
        np.testing.assert_allclose(maps.weights.sum(-1), 1, rtol=1e-5)


def test_a_text_that_is_too_long_is_refused_not_cut(file):
    model = str(file.parent / "model-bert")
    message = refused(UserError, mixscope.maps, model, "cat " * 2000)
    assert message.endswith(f" tokens that {model} takes. Shorten it.")
