import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.positions.position_spectrum import state_spreads, wave_length, wave_spread
from tests.reference.positions import state_spectrum as reference


def test_every_state_of_every_family_is_that_of_the_slow_twin(traced_alone):
    for trace in traced_alone:
        length = wave_length(trace.is_token.shape[1])
        for layer in trace.layers if length else ():
            inputs, factors = layer.attention_input[0, :length], layer.weights.query_key
            spreads = state_spreads(inputs, factors)
            for source, waves in reference.state_waves(inputs, factors).items():
                np.testing.assert_allclose(spreads[source], reference.spread(waves), atol=1e-9)
            assert set(spreads) == {"hidden", "query", "key"}


@settings(deadline=None)  # the first transform of a length takes long
@given(st.integers(0, 100), st.integers(1, 9))
def test_amplitudes_are_in_order_and_not_below_nothing(seed, columns):
    spread = wave_spread(torch.from_numpy(np.random.default_rng(seed).normal(size=(16, columns))))
    mean, q25, q75, largest = spread.T
    assert (spread >= 0).all()
    assert (q25 <= q75).all()
    assert (q75 <= largest).all()
    assert (mean <= largest + 1e-12).all()
