"""A reader's computation ends at the next operation, and leaves the model as it was."""

import numpy as np
import pytest
import torch

from precompute.live import stopping
from precompute.live.one_sequence import Rerun
from tests.tiny import BOTH_WAYS

pytestmark = pytest.mark.parametrize("family", BOTH_WAYS, indirect=True, scope="session")


class _Left(BaseException):
    """Ends a run in the middle, as Streamlit does."""


class _After:
    """Raises at the n-th call, and counts all."""

    def __init__(self, n: int) -> None:
        self.n, self.asked = n, 0

    def __call__(self) -> None:
        self.asked += 1
        if self.asked == self.n:
            raise _Left


@pytest.fixture(autouse=True)
def always(monkeypatch) -> None:
    monkeypatch.setattr(stopping, "MOMENT", 0.0)


def _n_asked(tiny, sequence) -> int:
    counted = _After(-1)
    Rerun(tiny, counted).layer_maps(sequence, layer=1)
    return counted.asked


def test_wherever_it_is_left_nothing_goes_on_and_the_next_numbers_are_the_same(tiny, sequences):
    sequence = sequences[0]
    expected = Rerun(tiny).layer_maps(sequence, layer=1)
    total = _n_asked(tiny, sequence)  # now that all is there that a model keeps
    assert total > 50
    for n in range(1, total, max(1, total // 12)):
        left = _After(n)
        rerun = Rerun(tiny, left)
        with pytest.raises(_Left):
            rerun.layer_maps(sequence, layer=1)
        assert left.asked == n, "it goes on after it was left"
        assert not rerun.lock.locked()
        again = rerun.layer_maps(sequence, layer=1)
        for part in ("scopes", "weights", "norms"):
            np.testing.assert_array_equal(getattr(again, part), getattr(expected, part))


def test_layers_after_the_one_where_it_is_left_are_not_run(tiny, sequences):
    ran: list[int] = []
    inside = [module for module in tiny.model.modules() if isinstance(module, torch.nn.Linear)] or [
        module for module in tiny.model.modules() if not list(module.children())
    ]
    handles = [
        module.register_forward_hook(lambda *_, n=n: ran.append(n))
        for n, module in enumerate(inside)
    ]
    try:
        Rerun(tiny).layer_maps(sequences[0], layer=1)
        whole = len(ran)
        ran.clear()

        def leave() -> None:
            if ran:
                raise _Left

        with pytest.raises(_Left):
            Rerun(tiny, leave).layer_maps(sequences[0], layer=1)
    finally:
        for handle in handles:
            handle.remove()
    assert 0 < len(ran) < whole


def test_it_looks_up_no_more_often_than_it_was_told(tiny, sequences, monkeypatch):
    monkeypatch.setattr(stopping, "MOMENT", 3600.0)
    assert _n_asked(tiny, sequences[0]) == 0
