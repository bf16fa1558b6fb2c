"""Gradients in a store built by the real passes from models that predict tokens."""

from pathlib import Path

import duckdb
import pandas as pd
import pytest

from analysis.statistics.heads import gradient_importance
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.models.load_models import load_model
from precompute.passes.batch import Batch
from precompute.passes.heads import sequence_gradient_importance
from precompute.run import Request, run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.intervals import assert_ordered
from tests.shared_store import shared_store
from tests.small_store import request as asked_for
from tests.tiny import mask_rate, save_tiny

OBJECTIVES = {"bert": "masked_lm", "roberta": "masked_lm", "gpt2": "next_token"}


def gradient_run(folder: Path, family: str, rate: float) -> tuple[Request, Plan]:
    """A run of a model that predicts tokens."""
    save_tiny(family, folder / f"model-{family}", predicts_tokens=True)
    asked = asked_for(folder, family, mask_rate=rate, statistics=["gradient_importance"])
    return asked, run(asked, run_local)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, family) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp(f"gradients-{family}")
    return gradient_run(folder, family, mask_rate(family, 0.3))


@pytest.fixture(scope="module")
def alone(finished) -> pd.DataFrame:
    """Result of the pass for each sequence alone; layers and heads from 1."""
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    batches = [
        Batch((sequence,), model.trace([sequence]), gradients=model.gradients)
        for sequence in plan.corpus
    ]
    rows = pd.concat([sequence_gradient_importance.totals(b).to_pandas() for b in batches])
    return rows.assign(layer=rows["layer"] + 1, head=rows["head"] + 1)


def test_the_file_says_which_loss_it_was(store, family):
    assert gradient_importance.objective(store) == OBJECTIVES[family]
    assert set(gradient_importance.by_layer(store)["objective"]) == {OBJECTIVES[family]}


def test_every_layer_is_the_mean_of_its_heads_with_an_interval(store, alone):
    rows = gradient_importance.by_layer(store)
    of_layers = rows[rows["head"].isna()]
    expected = alone.groupby(["layer", "token_type"], observed=True)["importance"].mean()
    found = of_layers.set_index(["layer", "token_type"])["importance"].to_dict()
    assert found == pytest.approx(expected.to_dict(), rel=1e-5, abs=1e-7)
    assert_ordered(rows["low"], rows["importance"], rows["high"])
    counted = alone.groupby("token_type", observed=True)["seq"].nunique().to_dict()
    assert rows.groupby("token_type")["n_sequences"].unique().map(list).to_dict() == {
        name: [n] for name, n in counted.items()
    }


def test_what_stood_behind_every_mask_is_known(finished, family):
    _, plan = finished
    if not mask_rate(family, 0.3):
        assert all(sequence.targets is None for sequence in plan.corpus)
        return
    assert any((sequence.targets >= 0).any() for sequence in plan.corpus)
    for given in plan.corpus:
        assert ((given.targets >= 0) == given.masked).all()


@pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")
def test_a_masked_language_model_without_masks_has_a_loss_and_no_gradients(tmp_path, family):
    asked, _ = gradient_run(tmp_path, family, 0.0)
    with duckdb.connect(str(asked.output), read_only=True) as connection:
        assert gradient_importance.objective(connection) == OBJECTIVES[family]
        assert gradient_importance.by_layer(connection).empty
    assert list(faults(asked.output, every_table())) == []


def test_a_model_that_predicts_no_tokens_is_told_apart(tmp_path_factory, family):
    with duckdb.connect(str(shared_store(tmp_path_factory, family)), read_only=True) as connection:
        assert gradient_importance.objective(connection) == "pooled_length"
        assert set(gradient_importance.by_layer(connection)["objective"]) == {"pooled_length"}


def test_few_tokens_at_a_time_change_no_number(finished, monkeypatch):
    asked, plan = finished
    model = load_model(asked.model, device="cpu")
    sequences = tuple(sorted(plan.corpus, key=len))
    batch = Batch(sequences, model.trace(sequences), gradients=model.gradients)
    key = ["seq", "layer", "head", "token_type"]

    def rows() -> pd.DataFrame:
        frame = sequence_gradient_importance.totals(batch).to_pandas()
        return frame.astype({"token_type": str}).sort_values(key, ignore_index=True)

    together = rows()
    monkeypatch.setattr(sequence_gradient_importance, "TOKENS", 1)
    apart = rows()
    pd.testing.assert_frame_equal(together, apart, rtol=1e-4, atol=1e-7, check_categorical=False)
