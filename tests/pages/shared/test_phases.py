"""Planes of queries and keys: bins, and the one that stands out."""

import numpy as np
import pandas as pd
import pytest

from pages.head import phases


def waves(phase: float, frequencies: list[float]) -> pd.DataFrame:
    """A plane whose waves are strong, its conjugate, and two that are not turned."""
    strong = {phase: 5.0, -phase: 1.0, 0.0: 1.0, np.pi: 1.0}
    rows = [(p, f, a) for p, a in strong.items() for f in frequencies]
    return pd.DataFrame(rows, columns=["phase", "frequency", "amplitude"])


@pytest.mark.parametrize(("measure", "largest"), [("amplitude", 5.0), ("relative", 2.5)])
def test_bins_tell_the_largest_of_their_planes(measure, largest):
    cells = phases.binned(phases.relative(waves(0.5, [16.0, 32.0, 48.0])), measure)
    top = cells[cells[measure] == cells[measure].max()]
    assert top[measure].tolist() == pytest.approx([largest] * 3)
    assert (top["y"] <= 0.5).all()
    assert (top["y2"] >= 0.5).all()
    assert top["x"].tolist() == pytest.approx([8.0, 24.0, 40.0])
    assert cells["y2"].max() == pytest.approx(np.pi)


def test_the_highest_plane_is_named_with_its_shift_in_tokens():
    turn = 2 * np.pi * 64.0 * 1.5 / 512  # a shift of 1.5 tokens
    frame = phases.relative(waves(turn, [32.0, 64.0]))
    frame.loc[frame["frequency"] == 64.0, "relative"] *= 4
    frame.loc[(frame["phase"] == np.pi), "relative"] = 99.0  # half a turn has no side
    [peak] = phases.highest_plane(frame).to_dict("records")
    assert peak == pytest.approx({"frequency": 64, "phase": turn, "relative": 10, "shift": 1.5})
    assert phases.highest_plane(frame.assign(relative=np.nan)).empty
