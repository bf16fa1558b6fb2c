"""Layers of tiny models."""

import pytest

from analysis.models.trace import LayerTrace


@pytest.fixture(scope="session")
def layers(traced_alone) -> list[LayerTrace]:
    """Every layer of every sequence, without padding."""
    return [layer for trace in traced_alone for layer in trace.layers]
