import pytest

from analysis.tables.mixing import mixing_ratio
from precompute.corpora.sequence import TOKEN_TYPES
from precompute.passes.batch import Batch
from precompute.passes.mixing import sequence_mixing_ratio, token_mixing_ratio
from tests.intervals import assert_ordered
from tests.reference.mixing import mixing_ratio as reference


def test_every_type_has_the_ratios_of_its_tokens(sequences, traced):
    batch = Batch(sequences, traced)
    rows = sequence_mixing_ratio.totals(batch).to_pandas()
    for row in rows.itertuples():
        sequence = sequences[row.seq]
        types = [_type(sequence, pos) for pos in range(len(sequence))]
        ratios = _ratios(batch, row.seq, row.layer)[row.scope]
        of = [r for r, t in zip(ratios, types, strict=True) if row.token_type in (t, "all")]
        assert row.n == len(of)
        found = row.mean, row.m2, row.min, row.max
        assert found == pytest.approx(reference.moments(of), rel=1e-9, abs=1e-15)
    kinds = rows.drop_duplicates(["seq", "token_type"])
    for seq, of in kinds.groupby("seq"):
        n = of.set_index("token_type")["n"]
        assert n["all"] == len(sequences[seq]) == n.drop("all").sum()


def _ratios(batch: Batch, row: int, layer: int) -> dict[str, list[float]]:
    """Of one sequence and layer, the ratios of its tokens by scope."""
    found = batch.layer_mixing[row][layer].ratios.tolist()
    n = len(batch.sequences[row])
    mean = batch.trace.layers[layer].attention[row, :, :n, :n].mean(dim=0)
    half = reference.with_residual(mean.tolist())
    return dict(zip(batch.order.scopes, found, strict=True)) | {"attn_w_res": half}


def test_every_token_has_the_mean_of_its_ratios(sequences, traced):
    batch = Batch(sequences, traced)
    rows = token_mixing_ratio.totals(batch).to_pandas()
    assert len(rows) == sum(map(len, sequences)) * len(batch.order.of_ratios)
    for (seq, scope), of in rows.groupby(["seq", "scope"], observed=True):
        layers = [_ratios(batch, seq, layer)[scope] for layer in range(len(traced.layers))]
        assert of.sort_values("pos")["mean"].tolist() == pytest.approx(
            reference.mean_over_layers(layers), rel=1e-6, abs=1e-7
        )


def _type(sequence, pos: int) -> str:
    if sequence.masked[pos]:
        return "mask"
    name = TOKEN_TYPES[sequence.token_types[pos]]
    return name if name in ("cls", "sep") else "other"


def test_each_layer_is_the_mean_over_sequences_and_spreads_over_tokens(masked_store, layer_order):
    parts = masked_store.execute("from sequence_mixing_ratio").df()
    for scope in layer_order.of_ratios:
        for row in mixing_ratio.by_layer(masked_store, scope=scope).itertuples():
            of = parts[
                (parts["layer"] == row.layer)
                & (parts["scope"] == scope)
                & (parts["token_type"] == row.token_type)
            ]
            assert row.mean == pytest.approx(of["mean"].mean(), rel=1e-12)
            assert row.n_sequences == len(of) == 3
            assert (row.n, row.min, row.max) == (of["n"].sum(), of["min"].min(), of["max"].max())
            assert_ordered(row.low, row.mean, row.high)


def test_pooled_is_over_every_token_of_every_layer(masked_store, tokens_of):
    for row in mixing_ratio.pooled(masked_store).itertuples():
        of = tokens_of[row.scope, row.token_type]
        assert row.n == len(of)
        mean, _, smallest, largest = reference.moments(of)
        assert row.mean == pytest.approx(mean, rel=1e-6)
        assert row.std == pytest.approx(reference.standard_deviation(of), rel=1e-4)
        assert (row.min, row.max) == pytest.approx((smallest, largest), rel=1e-6)
        assert_ordered(row.low, row.mean, row.high)


@pytest.fixture(scope="module")
def tokens_of(masked_store, masked_batches) -> dict[tuple[str, str], list[float]]:
    """Ratios of all tokens of all layers, by scope and type."""
    found: dict = {}
    for batch in masked_batches:
        (sequence,) = batch.sequences
        for layer in range(len(batch.trace.layers)):
            for scope, ratios in _ratios(batch, 0, layer).items():
                for pos, ratio in enumerate(ratios):
                    for name in (_type(sequence, pos), "all"):
                        found.setdefault((scope, name), []).append(ratio)
    return found
