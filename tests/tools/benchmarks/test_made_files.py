"""A benchmark that makes a file of its own makes one that pages open."""

import pytest

from pages.ui.store.open_file import looked_at
from tests.tools.benchmarks import many_sequences

pytestmark = pytest.mark.slow
N_SEQUENCES = 3


def test_many_sequences_are_a_file_of_attention(tmp_path):
    many_sequences.make(tmp_path, N_SEQUENCES)
    assert looked_at(tmp_path / "many.duckdb").run["n_sequences"] == N_SEQUENCES
