"""Another rule for gated networks gives other numbers, in other shards, and the file names it."""

from dataclasses import replace

import duckdb
import pytest

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.needs import check_gate_rule
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.tiny import save_tiny, tiny_model

STATISTICS = ["mixing_ratio", "gate_rule_agreement", "token_type_mixing"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict:
    """Files of the same run by both rules, in one folder, so that they share shards if possible."""
    folder = tmp_path_factory.mktemp("rules")
    text = folder / "text.txt"
    text.write_text("\n\n".join(f"The cat sat, the dog ran {'far ' * n}." for n in range(12)))
    model = str(save_tiny("llama", folder / "model"))
    plans = {}
    for rule in ("ig", "half"):
        asked = Request(
            model=model,
            corpus=str(text),
            output=folder / f"{rule}.duckdb",
            statistics=STATISTICS,
            max_tokens=36,
            device="cpu",
            gate_rule=rule,
        )
        plans[rule] = run(asked, run_local), asked.output
    return plans


def _answers(files: dict, rule: str, query: str) -> list[tuple]:
    with duckdb.connect(str(files[rule][1]), read_only=True) as store:
        return store.execute(query).fetchall()


def test_shards_are_computed_anew_where_networks_count_and_nowhere_else(files):
    plan = files["ig"][0]
    computed = {table.name: len([*(plan.folder / table.name).iterdir()]) for table in plan.passes}
    twice = {name for name, n_folders in computed.items() if n_folders == 2}
    assert twice == {"layer_completeness", "sequence_mixing_ratio", "mixing_ratio"}
    assert {*computed} - twice > {"head_token", "token_type_mixing", "sequence_gate_rule"}
    assert {*computed.values()} == {1, 2}


def test_numbers_part_after_the_network_alone(files):
    query = "select scope, mean from mixing_ratio where layer = 1 and token_type = 'all'"
    ours, theirs = (dict(_answers(files, rule, query)) for rule in files)
    parted = {scope for scope in ours if abs(ours[scope] - theirs[scope]) > 1e-6}
    assert parted == {"ln_attn_res_ln_ff", "ln_attn_res_ln_ff_res"}


def test_how_far_rules_part_does_not_hang_on_the_rule(files):
    query = "select layer, spearman, closed from gate_rule_agreement order by layer"
    ours, theirs = (_answers(files, rule, query) for rule in files)
    assert len(ours) == 3
    assert ours == theirs
    assert all(0.5 < spearman < 1 for _, spearman, _ in ours)


def test_the_file_says_by_which_rule(files):
    for rule in files:
        assert _answers(files, rule, "select value from provenance where name = 'gate_rule'") == [
            (rule,)
        ]


def test_a_model_without_gates_refuses_another_rule():
    check_gate_rule(tiny_model("bert"))
    check_gate_rule(replace(tiny_model("llama"), gate_rule="half"))
    half = replace(tiny_model("bert"), gate_rule="half")
    assert refused(UserError, check_gate_rule, half) == (
        "--gate-rule half is for networks that multiply two hidden layers, and those of model "
        "'bert' have one. Leave --gate-rule out."
    )
