"""Texts that are run again without each head: how many, and what is left out without any."""

from dataclasses import replace

import pytest

from precompute.choice import of_texts_run_again
from precompute.jobs.runner import run_local
from precompute.needs import summary
from precompute.run import run
from precompute.store.provenance import checked_facts
from tests.precompute.jobs.test_settings import planned
from tests.small_store import facts_of, request
from tests.tiny import tiny_model


@pytest.fixture
def asked(tmp_path):
    """A run whose tenth pays for no text that is run again."""
    return request(tmp_path, check_sequences=None)


def test_effects_are_left_out_of_a_run_that_cannot_pay_for_them_and_the_run_says_so(asked):
    plan = planned(asked)
    assert {"sequence_head_effect", "head_effect", "effect_prediction"} == {*plan.left_out}
    assert {*plan.left_out}.isdisjoint(plan.statistics)
    assert {"contribution", "vector_rollout", "gradient_importance"} <= {*plan.statistics}
    n = len(plan.corpus)
    assert checked_facts(plan) == {"checked": f"2/{n}", "run_again": f"0/{n}"}
    [line] = [line for line in summary(plan, tiny_model("bert")) if "again" in line]
    assert line == (
        "no sequence is run again without each head, which would take more than a tenth of "
        f"the run: {', '.join(plan.left_out)} are left out; --check-sequences 2 adds them"
    )


@pytest.mark.parametrize(
    ("settings", "n"),
    [
        ({"check_sequences": 3}, 3),
        ({"statistics": ["checks", "effect_prediction"]}, 2),
        ({"statistics": ["heads", "checks"]}, 0),
        ({"statistics": ["-checks"]}, 0),
    ],
)
def test_whoever_says_how_many_or_names_an_effect_has_texts_run_again(asked, settings, n):
    plan = planned(replace(asked, **settings))
    assert len(plan.run_again) == n
    assert plan.run_again <= plan.checked
    assert bool(of_texts_run_again(plan.statistics)) == (n > 0)
    said = [line for line in summary(plan, tiny_model("bert")) if "again" in line]
    assert said == [f"{n} of these are run again without each head"] * (n > 0) or plan.left_out


def test_effects_are_added_to_a_file_by_name_and_stay_in_it(asked):
    def made(*statistics: str) -> tuple[set[str], dict[str, str]]:
        plan = run(replace(asked, statistics=[*statistics]), run_local)
        return {*plan.statistics}, facts_of(asked.output)

    first, facts = made("vector_completeness")
    assert "run_again" not in facts
    n = facts["checked"].removeprefix("2/")
    added, facts = made("head_effect")
    assert {*first, "head_effect"} <= added
    assert (facts["checked"], facts["run_again"]) == (f"2/{n}", f"2/{n}")
    later, facts = made("token_norm")
    assert {*added, "token_norm"} <= later
    assert facts["run_again"] == f"2/{n}"
