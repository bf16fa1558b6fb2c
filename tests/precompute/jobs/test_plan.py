"""A plan: its jobs and batches, and the folders of its shards."""

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
from tests.tiny import tiny_sequences

SEQUENCES = tiny_sequences("bert")


@pytest.fixture
def plan(tmp_path) -> Plan:
    facts = Facts((("model.weights", "w"),), "float32", 0, POST_NORM)
    corpus = on_disk(SEQUENCES, tmp_path)
    return Plan(Path("shards"), facts, corpus, chosen_statistics(None))


def test_every_sequence_is_in_one_job_and_in_one_batch_no_larger_than_its_budget(plan):
    jobs = map(plan.corpus.job, range(len(plan.corpus.job_sizes)))
    seen = [sequence.index for job in jobs for batch in batches(job) for sequence in batch]
    assert sorted(seen) == list(range(len(plan.corpus)))
    longest = max(SEQUENCES, key=len)
    many = tuple(replace(longest, index=i) for i in range(3 * BATCH_PAIRS // len(longest) ** 2))
    sizes = [len(batch) for batch in batches(many)]
    assert sum(sizes) == len(many)
    assert max(sizes) * len(longest) ** 2 <= BATCH_PAIRS < (max(sizes) + 1) * len(longest) ** 2


def test_what_stood_behind_a_mask_gives_another_place(plan, tmp_path):
    def place(target: int) -> Path:
        targets = np.full_like(SEQUENCES[0].ids, NO_TARGET)
        targets[1] = target
        changed = (replace(SEQUENCES[0], targets=targets), *SEQUENCES[1:])
        other = replace(plan, corpus=on_disk(changed, tmp_path))
        return other.shard_folder(STATISTICS["sequence_gradient_importance"])

    unmasked = plan.shard_folder(STATISTICS["sequence_gradient_importance"])
    assert len({place(3), place(4), unmasked}) == 3


@pytest.mark.parametrize(("most", "averaged"), [(256, [0, 1, 2, 3, 4]), (2, [0, 1, 2])])
def test_heads_are_averaged_over_the_whole_corpus_and_what_is_run_again(
    plan, tmp_path, monkeypatch, most, averaged
):
    monkeypatch.setattr(of_plans, "MOST_AVERAGED", most)
    corpus = on_disk(tuple(replace(SEQUENCES[0], index=n) for n in range(5)), tmp_path / "five")
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
    def places() -> dict[str, Path]:
        return {statistic.name: plan.shard_folder(statistic) for statistic in plan.passes}

    before = places()
    monkeypatch.setitem(STATISTICS, "head_token", replace(STATISTICS["head_token"], version=99))
    moved = {name for name, place in places().items() if before[name] != place}
    assert moved == {
        *("head_token", "effect_prediction", "value_norm_dispersion", "token_type_mixing"),
        "frequency_correlation",
    }
