"""Scopes and effects follow from the steps of a layer."""

from itertools import pairwise

import pytest

from analysis.scopes import EFFECTS, ORDERS, PARALLEL, ROLES, SANDWICH_NORM
from analysis.scopes import LayerOrder as Order


def test_scopes_have_the_names_of_the_papers_and_of_their_steps():
    assert SANDWICH_NORM.scopes[1:] == (
        "ln_attn", "ln_attn_ln", "ln_attn_ln_res", "ln_attn_ln_res_ln", "ln_attn_ln_res_ln_ff",
        "ln_attn_ln_res_ln_ff_ln", "ln_attn_ln_res_ln_ff_ln_res",
    )  # fmt: skip
    assert SANDWICH_NORM.with_residual == SANDWICH_NORM.attention_block == "ln_attn_ln_res"
    assert PARALLEL.scopes == ("attn_w", "ln_attn", "ln_attn_ff", "ln_attn_ff_res")
    assert PARALLEL.effects["ff"] == ("ln_attn", "ln_attn_ff")
    assert PARALLEL.attention_block == PARALLEL.whole


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_effects_lead_from_attention_to_the_whole_layer_without_a_gap(order: Order):
    for (before, after), step in zip(pairwise(order.scopes[1:]), order.steps[2:], strict=True):
        assert after == f"{before}_{step}"
    steps = list(order.effects.values())
    assert steps[0][0] == order.vectors
    assert steps[-1][1] == order.whole
    assert all(before[1] == after[0] for before, after in pairwise(steps))
    assert set(order.effects) <= set(EFFECTS)
    assert order.roles == {scope: ROLES[scope] for scope in order.scopes}
