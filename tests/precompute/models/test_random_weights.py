"""Untrained models: one seed is one model everywhere, and never taken for a trained one."""

from dataclasses import replace
from functools import partial

import duckdb
import pytest
import torch

from analysis.errors import UnfitModel
from analysis.statistics.corpus import provenance
from precompute.jobs import workers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import OtherModel, rerun
from precompute.models.load_models import drawn_model, drawn_sha256, load_model
from precompute.request import Request
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import lines, remarks
from tests.precompute.models.changed_files import change_settings
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import request, shards_only
from tests.tiny import save_tiny

each_family = pytest.mark.parametrize("family", ["bert", "gpt2", "vit"])
FEW = ["token_norm"]


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


@each_family
def test_weights_are_those_of_the_architectures_own_initialisation(folder, family):
    model = drawn_model(folder, "AutoModel", seed=0)
    drawn = dict(model.named_parameters())
    norms = [tensor for name, tensor in drawn.items() if "norm" in name.lower() or "ln_" in name]
    biases = [tensor for name, tensor in drawn.items() if name.endswith("bias")]
    matrices = [tensor.flatten() for tensor in drawn.values() if tensor.dim() == 2]
    assert norms
    assert all(torch.equal(norm, torch.ones_like(norm)) for norm in norms if norm.any())
    assert biases
    assert not any(bias.any() for bias in biases)
    scale = torch.cat(matrices).std().item()
    assert scale == pytest.approx(model.config.initializer_range, rel=0.15)


def test_drawing_leaves_the_random_numbers_of_the_process_as_they_were(tmp_path):
    save_tiny("bert", tmp_path)
    torch.manual_seed(3)
    expected = torch.rand(5)
    torch.manual_seed(3)
    drawn_model(tmp_path, "AutoModel", seed=0)
    assert torch.equal(torch.rand(5), expected)


def test_the_hash_knows_what_no_number_shows(tmp_path):
    save_tiny("bert", tmp_path)
    before = load_model(str(tmp_path), device="cpu", random_weights=0).weights_sha256
    change_settings(tmp_path / "config.json", hidden_act="relu")
    assert load_model(str(tmp_path), device="cpu", random_weights=0).weights_sha256 != before


@each_family
def test_an_untrained_model_is_never_taken_for_another(folder, family):
    trained = load_model(str(folder), device="cpu")
    untrained = [load_model(str(folder), device="cpu", random_weights=seed) for seed in (0, 1)]
    every = [trained, *untrained]
    assert len({model.weights_sha256 for model in every}) == 3
    assert [model.revision for model in every] == [
        f"sha256:{trained.weights_sha256[:16]}",
        f"sha256:{untrained[0].weights_sha256[:16]}+random:0",
        f"sha256:{untrained[1].weights_sha256[:16]}+random:1",
    ]
    assert [model.random_weights for model in every] == [None, 0, 1]


def test_a_head_that_the_configuration_names_is_drawn_too_and_no_weights_need_be_there(tmp_path):
    folder = save_tiny("bert", tmp_path, predicts_tokens=True)
    model = load_model(str(folder), device="cpu", random_weights=0)
    assert model.language_model is not None
    assert model.language_model.base_model is model.model
    assert model.objective == "masked_lm"
    (tmp_path / "model.safetensors").unlink()
    again = load_model(str(folder), device="cpu", random_weights=0)
    assert again.weights_sha256 == model.weights_sha256


def test_other_number_formats_are_roundings_of_the_same_weights(tmp_path):
    save_tiny("bert", tmp_path)
    exact, rounded = (
        load_model(str(tmp_path), device="cpu", dtype=dtype, random_weights=0)
        for dtype in ("float32", "bfloat16")
    )
    assert exact.weights_sha256 == rounded.weights_sha256
    pairs = zip(exact.model.parameters(), rounded.model.parameters(), strict=True)
    assert all(torch.equal(one.bfloat16(), other) for one, other in pairs)


def test_every_statistic_of_an_untrained_model_keeps_its_laws_in_another_number_format(tmp_path):
    asked = request(tmp_path, random_weights=0, limit=4, dtype="bfloat16")
    run(asked, run_local)
    assert not list(faults(asked.output))
    assert 1e-5 < _worst_error(asked) < 5e-2


def _worst_error(asked: Request) -> float:
    with duckdb.connect(str(asked.output), read_only=True) as store:
        [(worst,)] = store.execute("select max(worst_relative_error) from completeness").fetchall()
    return worst


def test_a_trained_and_an_untrained_run_share_no_shard(tmp_path):
    asked = request(tmp_path, statistics=FEW)
    plans = [shards_only(replace(asked, random_weights=seed)) for seed in (None, 0, 1)]
    for statistic in plans[0].passes:
        assert len({plan.shard_folder(statistic) for plan in plans}) == 3


@pytest.fixture(scope="module")
def untrained(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("untrained")
    asked = request(folder, statistics=["head_pattern"], random_weights=5)
    return asked, run(asked, run_local)


def test_a_file_says_that_its_model_was_never_trained(untrained, tmp_path_factory):
    asked, _ = untrained
    sentence = "Untrained weights, seed 5: this model has learnt nothing."
    assert sentence in list(lines(asked.output))
    assert remarks(asked.output) == [sentence]
    with duckdb.connect(str(asked.output), read_only=True) as store:
        facts = provenance(store)
        [(revision,)] = store.execute("select revision from run").fetchall()
    assert facts["random_weights"] == "5"
    assert revision == f"sha256:{facts['weights_sha256'][:16]}+random:5"
    assert _worst_error(asked) < 5e-4
    trained = shared_store(tmp_path_factory)
    assert sentence not in list(lines(trained))
    assert remarks(trained) == []


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


def test_the_live_door_draws_the_weights_of_the_file_or_refuses(tmp_path):
    folder = str(save_tiny("bert", tmp_path))
    model = load_model(folder, device="cpu", random_weights=4)
    of_file = partial(
        rerun,
        folder,
        revision=model.revision,
        identity=model.identity,
        dtype="float32",
    )
    again = of_file(random_weights=4).model
    pairs = zip(model.model.parameters(), again.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    for seed in (None, 5):
        with pytest.raises(OtherModel):
            of_file(random_weights=seed)
