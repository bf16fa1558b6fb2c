from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.models.gradients import NO_TARGET
from analysis.scopes import POST_NORM
from precompute.choice import chosen_statistics
from precompute.corpora.sequence import Sequence
from precompute.jobs import plan as of_plans
from precompute.jobs.plan import BATCH_PAIRS, Facts, Plan, batches
from precompute.passes import STATISTICS
from tests.precompute.corpora.whole import on_disk


@pytest.fixture
def plan(sequences, tmp_path) -> Plan:
    corpus = on_disk(sequences, tmp_path)
    return Plan(
        Path("shards"),
        Facts((("model.weights", "w"),), "float32", 0, POST_NORM),
        corpus,
        chosen_statistics(None),
    )


def _jobs(plan: Plan):
    return map(plan.corpus.job, range(len(plan.corpus.job_sizes)))


def test_every_sequence_is_in_one_job_and_one_batch(plan):
    seen = [sequence.index for job in _jobs(plan) for batch in batches(job) for sequence in batch]
    assert sorted(seen) == list(range(len(plan.corpus)))


def test_batches_are_no_larger_than_their_budget(plan, sequences):
    longest = max(sequences, key=len)
    many = tuple(replace(longest, index=i) for i in range(3 * BATCH_PAIRS // len(longest) ** 2))
    sizes = [len(batch) for batch in batches(many)]
    assert sum(sizes) == len(many)
    assert max(sizes) * len(longest) ** 2 <= BATCH_PAIRS < (max(sizes) + 1) * len(longest) ** 2


def _places(plan: Plan) -> dict[str, Path]:
    return {statistic.name: plan.shard_folder(statistic) for statistic in plan.passes}


def test_what_stood_behind_a_mask_gives_another_place(plan, sequences, tmp_path):
    def place(target: int) -> Path:
        targets = np.full_like(sequences[0].ids, NO_TARGET)
        targets[1] = target
        changed = (replace(sequences[0], targets=targets), *sequences[1:])
        other = replace(plan, corpus=on_disk(changed, tmp_path))
        return _places(other)["sequence_gradient_importance"]

    places = {place(3), place(4), _places(plan)["sequence_gradient_importance"]}
    assert len(places) == 3


@pytest.mark.parametrize(("most", "averaged"), [(256, [0, 1, 2, 3, 4]), (2, [0, 1, 2])])
def test_heads_are_averaged_over_the_whole_corpus_and_what_is_run_again(
    sequences, plan, tmp_path, monkeypatch, most, averaged
):
    monkeypatch.setattr(of_plans, "MOST_AVERAGED", most)
    corpus = on_disk(tuple(replace(sequences[0], index=n) for n in range(5)), tmp_path / "five")
    plan = replace(plan, corpus=corpus, n_checked=3, n_again=2)
    assert (plan.checked, plan.run_again) == ({0, 1, 3}, {0, 1})
    read: list[int] = []

    def type_means(texts: Iterable[Sequence]) -> tuple[()]:
        read.extend(text.index for text in texts)
        return ()

    model: Any = SimpleNamespace(identity=(), type_means=type_means)
    for _ in range(2):  # once per process
        plan.type_means(model)
    assert sorted(read) == averaged


def test_a_fit_moves_when_what_it_needs_moves(plan, monkeypatch):
    before = _places(plan)
    monkeypatch.setitem(STATISTICS, "head_token", replace(STATISTICS["head_token"], version=99))
    after = _places(plan)
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {
        "head_token",
        "effect_prediction",
        "value_norm_dispersion",
        "token_type_mixing",
        "frequency_correlation",
    }
