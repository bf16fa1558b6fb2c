"""Picture of a layer: the modules, residual connections and scopes of every order."""

import pytest

from analysis.scopes import ORDERS, OUTPUT_NORM, PARALLEL, POST_NORM, PRE_NORM, SANDWICH_NORM
from pages.layer_mixing.anatomy import picture, reach_of, residuals_of

PAST = {
    POST_NORM: [(1, 2), (4, 5)],
    PRE_NORM: [(1, 3), (4, 6)],
    SANDWICH_NORM: [(1, 4), (5, 8)],
    OUTPUT_NORM: [(1, 3), (4, 6)],
    PARALLEL: [(1, 5)],
}
ENDS = {
    POST_NORM: [1, 1, 2, 3, 4, 5, 6],
    PRE_NORM: [2, 2, 3, 4, 5, 6],
    SANDWICH_NORM: [2, 2, 3, 4, 5, 6, 7, 8],
    OUTPUT_NORM: [1, 1, 2, 3, 4, 5, 6],
    PARALLEL: [2, 2, 4, 5],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_scopes_reach_from_the_input_to_the_last_module_that_they_name(order):
    modules, reach = order.attention + order.network_block, reach_of(order)
    assert list(reach) == list(order.scopes)
    assert [last for _, last in reach.values()] == ENDS[order]
    assert modules[reach["attn_w"][0] - 1] == "attn"
    for scope, (first, last) in list(reach.items())[1:]:
        assert first == 1
        assert modules[last - 1] == scope.rpartition("_")[2]
    assert reach[order.whole] == (1, len(modules))


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_residual_connections_run_past_a_block_to_where_its_input_is_added(order):
    assert residuals_of(order) == PAST[order]
    drawn = picture(order)
    for first, last in PAST[order]:
        assert f'class="lm-past" style="grid-column: {first} / {last + 1}; grid-row: 1' in drawn
