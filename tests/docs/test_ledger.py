"""The ledger in the documentation says what a fresh run says."""

from tests.tools.ledger import entry, worst, written

SMALLEST = "demo-copy"
ROUND_OFF = 1e-14, 3e-6, 3e-6
"""Largest errors of attention, network and rebuilt weights of any machine: the model's norms and
angles are in float32, the sum of its vectors is not."""
_FACTOR = 100
"""Round-off of the same sums in another order, by another processor or number of threads."""


def test_the_smallest_model_adds_up_as_the_ledger_says():
    weights, errors = written(SMALLEST)
    fresh = entry(SMALLEST)
    assert fresh.weights_sha256 == weights
    for error, again, largest in zip(errors, worst(fresh.proof), ROUND_OFF, strict=True):
        assert again < largest
        assert error / _FACTOR < again < error * _FACTOR
        assert error < largest
