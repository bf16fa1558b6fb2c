"""Kernels and shares: planted offsets are found, and whole sequences are redrawn for intervals."""

from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.measures import bootstrap
from analysis.models.trace import Model
from analysis.scopes import PRE_NORM
from analysis.statistics.base.tables import FitContext, Table
from analysis.statistics.positions.sums import (
    COMPLEX,
    OFFSET_TERM,
    POSITION_KERNEL,
    REAL,
    ROTARY_PLANE,
    SCORE_SHARE,
)
from precompute.corpora.sequence import Entry
from precompute.jobs.runner import run_local
from precompute.passes.filling import begin
from precompute.run import run
from tests.small_store import LONGER_TEXT, request
from tests.statistics.positions.turned_layers import Change, changed_layers
from tests.tiny import tiny_model, tiny_sequences

N, PARTS = 12, ("position", "query", "key", "content")
FREQUENCIES = (0.0, 0.9, 0.05)  # of plane 0 none: it is not turned
OFFSETS = {"turned": (-3, -1, 0), "t5": (-9, -3, 0, 2, 40), "deberta-v2": (-9, -3, 0, 2, 40)}
WORDS = ("the", "cat", "sat", "dog", "ran", "mat")
BACK = (-1, -3, 0, -2)
"""Offsets that the four heads of both layers of a planted decoder look at; two share keys."""


def _context() -> FitContext:
    return FitContext(seed=0, order=PRE_NORM, frequency_ranks={})


def fitted(
    table: Table, rows: pd.DataFrame, offsets: Any, block: Callable[[int], int] = int
) -> tuple[Any, Any]:
    """Kernels and shares from rows of shards; by default each sequence is a block."""
    seqs = sorted(rows["seq"].unique())
    blocks = pd.DataFrame({"seq": seqs, "block": list(map(block, seqs))}, dtype="int32")
    heads = rows[["layer", "head"]].drop_duplicates()
    compared = heads.merge(pd.DataFrame({"offset": offsets}), how="cross")
    with duckdb.connect() as store:
        store.register("blocks", blocks)
        for other in (ROTARY_PLANE, OFFSET_TERM):
            there = rows if other is table else other.shard_schema.empty_table()
            store.register(f"{other.name}_shards", there)
        store.register("query_key_correlation_mean", compared)
        kernels, shares = (
            made.made_by(made, store, _context()).to_pandas()
            for made in (POSITION_KERNEL, SCORE_SHARE)
            if made.made_by
        )
    return kernels, shares


def _term_rows(kind: str, entries: Any = None, change: Change = lambda weights: weights) -> Any:
    """Rows of the shards of offset terms for texts of a tiny model."""
    texts = tiny_sequences(kind, entries) if entries else tiny_sequences(kind)
    layers = changed_layers(tiny_model(kind), texts, change)
    filling = begin(OFFSET_TERM, layers[0].batch)
    for layer in layers:
        filling.add(layer)
    return filling.rows().to_pandas()


def drawn_sums(n_sequences: int, n_heads: int, *, spread: float = 1.0) -> pd.DataFrame:
    """Rows of shards of one layer: pairs of each sequence have queries and keys of their own."""
    draw = np.random.default_rng(0)
    places = [range(n_sequences), [1], range(1, n_heads + 1), range(len(FREQUENCIES))]
    rows = pd.MultiIndex.from_product(places, names=["seq", "layer", "head", "plane"])
    frame = rows.to_frame(index=False)
    frame["frequency"] = frame["plane"].map(dict(enumerate(FREQUENCIES)))
    frame["n_pairs"] = 20 + 5 * (frame["seq"] % 4)
    for name in (f"{quantity}_{part}" for quantity in COMPLEX for part in ("real", "imaginary")):
        means = draw.normal(size=n_heads)[frame["head"] - 1]
        means = means + spread * draw.normal(size=len(frame))
        frame[name] = np.where(frame["plane"] > 0, means * frame["n_pairs"], 0.0)
    for name in REAL:
        frame[name] = draw.uniform(20, 30, size=len(frame)) * frame["n_pairs"]
    return frame


@cache
def shards(kind: str) -> tuple[Table, pd.DataFrame]:
    """A table and rows of its shards for 12 texts: drawn, or of random words."""
    if kind == "turned":
        return ROTARY_PLANE, drawn_sums(N, 2)
    draw = np.random.default_rng(0)
    lines = [" ".join(draw.choice(WORDS, size=3 + seq % 7)) + "." for seq in range(N)]
    entries = tuple(Entry(f"line {seq}", (line,)) for seq, line in enumerate(lines))
    return OFFSET_TERM, _term_rows(kind, entries)


def redrawn(rows: pd.DataFrame, times: np.ndarray) -> pd.DataFrame:
    """Rows in which each sequence is as often as it was drawn, every copy a sequence of its own."""
    copies = enumerate(np.repeat(np.arange(len(times)), times))
    return pd.concat([rows[rows["seq"] == seq].assign(seq=copy) for copy, seq in copies])


@pytest.mark.parametrize("kind", OFFSETS)
def test_ends_are_percentiles_of_what_redrawn_sequences_make(kind, monkeypatch):
    monkeypatch.setattr(bootstrap, "RESAMPLES", 25)
    table, rows = shards(kind)
    draws = _context().redraws(np.arange(N)).weights.astype(int)
    found = fitted(table, rows, OFFSETS[kind])
    drawn = [fitted(table, redrawn(rows, times), OFFSETS[kind]) for times in draws]
    ends = {"kernel": ("low", "high")} | {part: (f"{part}_low", f"{part}_high") for part in PARTS}
    for frame, of_draws in zip(found, zip(*drawn, strict=True), strict=True):
        for name in ends.keys() & {*frame}:
            expected = np.quantile([of[name] for of in of_draws], [0.025, 0.975], axis=0)
            np.testing.assert_allclose(frame[[*ends[name]]].T, expected, rtol=1e-7, atol=1e-12)
    width = found[0]["high"] - found[0]["low"]
    assert (width < 1e-14).all() if kind == "t5" else (width > 1e-6).all()


def test_few_texts_have_no_interval_and_blocks_count_as_texts():
    for n, block in ((9, int), (30, lambda seq: seq // 4)):
        for frame in fitted(ROTARY_PLANE, drawn_sums(n, 1), OFFSETS["turned"], block):
            ends = [name for name in frame if name.endswith(("low", "high"))]
            assert frame[ends].isna().all(axis=None)
            assert frame.drop(columns=[*ends, "head"]).notna().all(axis=None)


@pytest.mark.parametrize("kind", OFFSETS)
def test_blocks_change_no_number_but_the_interval(kind):
    table, rows = shards(kind)
    apart = fitted(table, rows, OFFSETS[kind])
    in_blocks = fitted(table, rows, OFFSETS[kind], lambda seq: seq // 2)
    for one, other in zip(apart, in_blocks, strict=True):
        ends = [name for name in one if name.endswith(("low", "high"))]
        pd.testing.assert_frame_equal(one.drop(columns=ends), other.drop(columns=ends), rtol=1e-9)
        assert one[ends].notna().any(axis=None)
        assert other[ends].isna().all(axis=None), "six blocks are too few"


def test_the_kernel_of_a_t5_is_its_bias_at_every_offset_there_is():
    kernels, shares = fitted(OFFSET_TERM, _term_rows("t5"), range(-17, 18))
    model = tiny_model("t5").model
    bias = model.encoder.block[0].layer[0].SelfAttention.compute_bias(18, 18)[0].detach()
    assert len(kernels) == 2 * 3 * 35
    for row in kernels.to_dict("records"):
        i = max(0, -row["offset"])
        expected = float(bias[row["head"] - 1, i, i + row["offset"]])
        assert row["kernel"] == pytest.approx(expected, rel=1e-12)
    assert len(shares) == 2 * (3 + 1), "every head, and the mean over heads of each layer"
    assert (shares[["query", "key"]] == 0).all(axis=None)
    assert (shares["position"] != 0).all()
    np.testing.assert_allclose(shares["position"] + shares["content"], 1)


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
            queries[head] = 4.0 * torch.cat([phases.cos(), phases.sin()])
        attention.k_proj.bias.view(-1, width)[:, : width // 2] = 4.0


def test_planted_offsets_of_a_decoder_are_found_by_planes_kernels_and_attention(tmp_path):
    model = tiny_model("llama", dtype=torch.float32)
    with torch.no_grad():
        _plant(model.model)
    model.model.save_pretrained(tmp_path / "model-llama")
    model.tokenizer.save_pretrained(tmp_path / "model-llama")
    statistics = ["offset_agreement", "score_share", "query_key_error"]
    asked = request(tmp_path, "llama", statistics=statistics)
    (tmp_path / "text.txt").write_text(LONGER_TEXT, encoding="utf-8")
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        found = store.sql("select head, kernel_offset, attention_offset_per_pair from head_offset")
        planted = [(head + 1, offset, offset) for head, offset in enumerate(BACK)]
        assert sorted(found.fetchall()) == sorted(planted * 2)
        planes = store.sql("select head, preferred_offset, coherence from rotary_plane").fetchall()
        assert len(planes) == 2 * len(BACK) * 2
        for head, offset, coherence in planes:
            assert offset == pytest.approx(BACK[head - 1], abs=1e-5)
            assert coherence == pytest.approx(1)
        for shares in store.sql("select position, content from score_share").fetchall():
            assert shares == pytest.approx((1, 0), abs=1e-5)
        [counted] = store.sql(
            "select n_heads, agreement from offset_agreement "
            "where counting = 'kernel' and min_dependence = 0 and layer is null"
        ).fetchall()
        assert counted == (8, 1)
        [(worst,)] = store.sql("select max(attention_error) from query_key_error").fetchall()
        assert worst < 1e-5
