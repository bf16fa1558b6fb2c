"""Untrained models: one seed is one model everywhere, and never taken for a trained one."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.errors import UnfitModel
from precompute.jobs import workers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.models.load_models import drawn_model, drawn_sha256, load_model
from precompute.models.loaded_model import LoadedModel
from precompute.request import Request
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import lines, remarks
from tests.precompute.models.changed_files import change_settings
from tests.refusals import refused
from tests.small_store import facts_of, fetched, request
from tests.tiny import save_tiny

each_family = pytest.mark.parametrize("family", ["bert", "gpt2", "vit"])


@pytest.fixture
def folder(tmp_path, family):
    return save_tiny(family, tmp_path / "model")


@each_family
def test_a_seed_gives_the_same_bits_on_any_number_of_threads(folder, family):
    threads = torch.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            found.append(drawn_model(folder, "AutoModel", seed=7).state_dict())
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(torch.equal(tensor, other[name]) for name, tensor in found[0].items())
    assert len({drawn_sha256(drawn_model(folder, "AutoModel", seed=s)) for s in (7, 7, 8)}) == 2


def test_an_untrained_model_is_never_taken_for_another(tmp_path):
    """And drawing it leaves the random numbers of the process as they were."""
    folder = save_tiny("bert", tmp_path, predicts_tokens=True)
    trained = load_model(str(folder), device="cpu")
    (tmp_path / "model.safetensors").unlink()

    def drawn(seed: int, **options: Any) -> LoadedModel:
        torch.manual_seed(3)
        model = load_model(str(folder), device="cpu", random_weights=seed, **options)
        left = torch.rand(5)
        torch.manual_seed(3)
        assert torch.equal(torch.rand(5), left)
        return model

    exact, other, rounded = drawn(0), drawn(1), drawn(0, dtype="bfloat16")
    assert exact.weights_sha256 == rounded.weights_sha256
    pairs = zip(exact.model.parameters(), rounded.model.parameters(), strict=True)
    assert all(torch.equal(one.bfloat16(), of_other) for one, of_other in pairs)
    change_settings(tmp_path / "config.json", hidden_act="relu")  # which no weight shows
    hashes = [model.weights_sha256 for model in (trained, exact, other, drawn(0))]
    assert len({*hashes}) == 4
    revisions = [
        f"sha256:{sha256[:16]}{ending}"
        for sha256, ending in zip(hashes, ("", "+random:0", "+random:1"), strict=False)
    ]
    assert [model.revision for model in (trained, exact, other)] == revisions
    assert [model.random_weights for model in (trained, exact, other)] == [None, 0, 1]
    assert exact.language_model is not None
    assert exact.language_model.base_model is exact.model
    assert exact.objective == "masked_lm"


@pytest.fixture(scope="module")
def untrained(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("untrained")
    statistics = ["head_pattern", "mixing_ratio", "completeness", "layer_completeness"]
    asked = request(folder, statistics=statistics, random_weights=5, dtype="bfloat16")
    return asked, run(asked, run_local)


def test_a_file_says_that_its_model_was_never_trained(untrained):
    asked, _ = untrained
    sentence = "Untrained weights, seed 5: this model has learnt nothing."
    assert sentence in list(lines(asked.output))
    assert remarks(asked.output) == [sentence]
    facts = facts_of(asked.output)
    [(revision,)] = fetched(asked.output, "select revision from run")
    assert facts["random_weights"] == "5"
    assert revision == f"sha256:{facts['weights_sha256'][:16]}+random:5"
    [(worst,)] = fetched(asked.output, "select max(worst_relative_error) from completeness")
    assert 1e-5 < worst < 5e-2
    assert not list(faults(asked.output))


def test_a_worker_draws_the_weights_of_the_run_or_stops_it(untrained, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "return_freed_memory", lambda: None)
    threads = torch.get_num_threads()
    asked, plan = untrained
    workers.Worker(plan, asked.model, "cpu", threads).begin()
    assert workers.Worker.here.model.identity == plan.facts.model
    workers.work(0)
    assert not plan.missing(0)
    other = replace(plan, folder=tmp_path, facts=replace(plan.facts, random_weights=3))
    workers.Worker(other, asked.model, "cpu", threads).begin()
    drawn = load_model(asked.model, device="cpu", random_weights=3).weights_sha256
    of_run = dict(plan.facts.model)["model.weights"]
    assert refused(UnfitModel, workers.work, 0) == (
        f"A worker has another {asked.model!r} than the run was started with: weights is "
        f'"{drawn[:59]} and was {of_run[:60]}. Give every worker the same files and versions of '
        "packages, for --random-weights on the same kind of processor."
    )
