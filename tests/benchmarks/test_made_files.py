"""Benchmarks that make files of their own make files that pages open."""

import pytest

from pages.ui.store.open_file import looked_at
from precompute.jobs import tables
from precompute.store import build as storing
from tests.benchmarks import many_sequences, pair_scale

pytestmark = pytest.mark.slow
N_SEQUENCES, N_LAYERS = 3, 2
N_QUESTIONS = 29


@pytest.fixture
def _silent_again(monkeypatch):
    """Steps that a benchmark has print how long they take are as before after it."""
    monkeypatch.setattr(tables, "finish_table", tables.finish_table)
    monkeypatch.setattr(storing, "add_table", storing.add_table)


@pytest.mark.usefixtures("_silent_again")
def test_random_pairs_answer_the_questions_of_their_page(tmp_path, capsys):
    plan, file = pair_scale.plan_of(tmp_path, N_SEQUENCES), tmp_path / "pairs.duckdb"
    pair_scale.make_shards(plan, N_LAYERS)
    pair_scale.make_store(plan, N_LAYERS, file)
    assert looked_at(file).run["n_sequences"] == N_SEQUENCES
    pair_scale.ask(file)
    assert capsys.readouterr().out.count(" ms ") == N_QUESTIONS


def test_many_sequences_are_a_file_of_attention(tmp_path):
    many_sequences.make(tmp_path, N_SEQUENCES)
    assert looked_at(tmp_path / "many.duckdb").run["n_sequences"] == N_SEQUENCES
