"""A decoder with planted offsets: kernels and attention find them."""

import duckdb
import pytest
import torch

from analysis.models.trace import Model
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.small_store import LONGER_TEXT, request
from tests.tiny import tiny_model

BACK = (-1, -3, 0, -2)
"""Where the four heads of both layers look; each two of them share their keys."""
SHARP = 4.0
STATISTICS = ["offset_agreement", "score_share", "query_key_error"]


def _plant(model: Model) -> None:
    """Queries and keys that are the same for every token and out of phase by the offsets."""
    width = model.config.head_dim
    frequencies = model.rotary_emb.inv_freq.double()
    for layer in model.layers:
        attention = layer.self_attn
        for side in (attention.q_proj, attention.k_proj):
            side.weight.zero_()
            side.bias.zero_()
        queries = attention.q_proj.bias.view(-1, width)
        for head, offset in enumerate(BACK):
            phases = frequencies * offset
            queries[head] = SHARP * torch.cat([phases.cos(), phases.sin()])
        attention.k_proj.bias.view(-1, width)[:, : width // 2] = SHARP


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    model = tiny_model("llama", dtype=torch.float32)
    with torch.no_grad():
        _plant(model.model)
    model.model.save_pretrained(folder / "model-llama")
    model.tokenizer.save_pretrained(folder / "model-llama")
    asked = request(folder, "llama", statistics=STATISTICS)
    (folder / "text.txt").write_text(LONGER_TEXT, encoding="utf-8")
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as opened:
        yield opened


def test_the_offset_of_every_head_is_found_by_its_kernel_and_by_its_attention(store):
    found = store.execute(
        "select head, kernel_offset, attention_offset_per_pair from head_offset order by all"
    ).fetchall()
    planted = [(head + 1, offset, offset) for head, offset in enumerate(BACK)]
    assert found == sorted(planted * 2)


def test_every_plane_prefers_that_offset_and_is_coherent(store):
    rows = store.execute("select head, preferred_offset, coherence from rotary_plane").fetchall()
    assert len(rows) == 2 * len(BACK) * 2
    for head, offset, coherence in rows:
        assert offset == pytest.approx(BACK[head - 1], abs=1e-5)
        assert coherence == pytest.approx(1)


def test_position_alone_is_responsible_for_all_of_every_score(store):
    for position, content in store.execute("select position, content from score_share").fetchall():
        assert position == pytest.approx(1, abs=1e-5)
        assert content == pytest.approx(0, abs=1e-5)


def test_all_heads_attend_where_position_alone_puts_them(store):
    [(n, agreement)] = store.execute(
        "select n_heads, agreement from offset_agreement "
        "where counting = 'kernel' and min_dependence = 0 and layer is null"
    ).fetchall()
    assert (n, agreement) == (8, 1)
    [(worst,)] = store.execute("select max(attention_error) from query_key_error").fetchall()
    assert worst < 1e-5
