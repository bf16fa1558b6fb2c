"""A model that is misread is not published, however large one of its activations is."""

import duckdb
import pytest

from analysis.errors import UserError
from analysis.measures.mixing.activation_gate import GATES
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.massive import massive_model
from tests.small_store import request


@pytest.fixture
def asked(tmp_path):
    """A run of a tiny GPT-2 with one activation of 3000, at the second token of every text."""
    massive = massive_model("gpt2", "first")
    massive.model.save_pretrained(tmp_path / "model-gpt2")
    massive.tokenizer.save_pretrained(tmp_path / "model-gpt2")
    return request(tmp_path, "gpt2", statistics=["layer_completeness"])


def test_the_right_activation_is_published_with_the_worst_token(asked):
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        parts = store.execute(
            "select layer, relative_error, seq, worst_pos, percentile_99 from layer_completeness "
            "union all select layer, relative_error, seq, worst_pos, percentile_99 "
            "from sequence_completeness"
        ).fetchall()
        seen = store.execute(
            "select layer, worst_relative_error, worst_seq, worst_pos, percentile_99, n_sequences "
            "from completeness order by layer"
        ).fetchall()
        n_sequences = store.execute("select count(*) from sequence").fetchall()[0][0]
    assert [row[0] for row in seen] == [1, 2]
    for layer, error, seq, pos, percentile, n in seen:
        of_layer = [row for row in parts if row[0] == layer]
        assert (layer, error, seq, pos) in [row[:4] for row in of_layer]
        assert error == max(row[1] for row in of_layer) < 1e-3
        assert percentile == max(row[4] for row in of_layer) <= error
        assert n == n_sequences


def test_the_wrong_activation_is_not_published(asked, monkeypatch):
    monkeypatch.setitem(GATES, "gelu_tanh", GATES["relu"])
    with pytest.raises(UserError, match="the parts of the whole layer at position"):
        run(asked, run_local)
    assert not asked.output.exists()
