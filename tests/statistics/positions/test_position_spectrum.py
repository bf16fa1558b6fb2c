"""Spectra along positions: of embeddings, and of states with and without positions."""

from dataclasses import replace
from shutil import copyfile

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.position_spectrum import (
    SPREAD,
    amplitude_spectrum,
    embedding_spectrum,
    frequencies,
    position_variance,
    spread,
    state_spreads,
    wave_length,
)
from analysis.models.trace import ModelWeights
from analysis.statistics.positions.scores import (
    EMBEDDING_SPECTRUM,
    POSITION_VARIANCE,
    STATE_SPECTRUM,
)
from precompute.corpora.sequence import Sequence
from precompute.jobs.shards import as_stored
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_weights
from precompute.store.cross_laws import CROSS_LAWS
from tests.statistics.positions import slow_twins
from tests.tiny import HEADS, WIDTH, added_positions, tiny_model, tiny_sequences
from tests.tracing import rows_of_table

N = 32
CYCLES = 2
FREQUENCY = 512 * CYCLES / N
TURN = 2 * np.pi * CYCLES / N
SHIFTS = (1, -2)
"""By how many tokens the key waves of the first heads are ahead of their query waves."""


@given(st.integers(3, 40), st.integers(0, 20), st.floats(0.1, 9), st.floats(0, 6.3))
def test_a_pure_wave_has_one_line_at_its_frequency(n, k, height, phase):
    k %= (n - 1) // 2 + 1
    t = torch.arange(n, dtype=torch.float64)
    wave = height * torch.cos(2 * np.pi * k * t / n + phase)
    spectrum = amplitude_spectrum(wave[:, None])[:, 0]
    expected = torch.zeros(n // 2 + 1, dtype=torch.float64)
    expected[k] = height * n / 2 if k else abs(height * np.cos(phase)) * n
    torch.testing.assert_close(spectrum, expected, atol=1e-9, rtol=1e-9)


def test_frequencies_are_cycles_per_512_positions():
    assert frequencies(512).tolist() == list(range(257))
    assert frequencies(64).tolist() == [8 * k for k in range(33)]
    assert frequencies(5).tolist() == [0, 102.4, 204.8]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 13])
def test_the_spread_is_mean_quartiles_and_maximum_over_columns(columns):
    amplitudes = torch.rand(3, 7, columns, generator=torch.Generator().manual_seed(columns))
    spreads = spread(amplitudes)
    assert spreads.shape == (3, 7, len(SPREAD))
    quartiles = np.quantile(amplitudes.numpy(), [0.25, 0.75], axis=-1)
    expected = [amplitudes.mean(dim=-1), *map(torch.from_numpy, quartiles), amplitudes.amax(dim=-1)]
    torch.testing.assert_close(spreads, torch.stack(expected, dim=-1).float())


def test_measured_lengths_are_powers_of_two_from_16_on():
    lengths = (1, 15, 16, 17, 31, 32, 127, 128, 511, 512, 1000, 2048)
    measured = [wave_length(n) for n in lengths]
    assert measured == [0, 0, 16, 16, 16, 32, 64, 128, 256, 512, 512, 2048]


def test_states_are_spread_over_coordinates_and_over_the_directions_of_all_heads(traced_alone):
    layer = traced_alone[3].layers[1]
    inputs, factors = layer.attention_input[0, :16], layer.weights.query_key
    spreads = state_spreads(inputs, factors)
    waves = slow_twins.state_waves(inputs, factors)
    assert set(spreads) == set(waves)
    for source, of_source in waves.items():
        np.testing.assert_allclose(spreads[source], slow_twins.spread(of_source), atol=1e-9)


def test_the_control_has_the_same_energy_and_is_drawn_the_same_every_time():
    wave = torch.sin(2 * np.pi * 5 * torch.arange(64) / 64)[:, None].double()
    kept, permuted = embedding_spectrum(wave)[:, :, 0]
    assert kept.argmax() == 5
    assert kept[5] == pytest.approx(32)
    assert permuted.max() < 20
    weights = torch.tensor([1.0, *[2.0] * 31, 1.0], dtype=torch.float64)
    for spectrum in (kept, permuted):
        assert float(weights @ spectrum.square()) / 64 == pytest.approx(32)
    assert torch.equal(embedding_spectrum(wave)[1, :, 0], permuted)


@added_positions
def test_shares_of_components_are_the_eigenvalues_of_the_covariance_of_positions(tiny):
    embedding = tiny.weights.position_embedding
    shares = position_variance(embedding).numpy()
    values = np.linalg.eigvalsh(np.cov(embedding.double().numpy().T))[::-1]
    expected = values / values.sum()
    np.testing.assert_allclose(shares, expected[: len(shares)], atol=1e-12)
    np.testing.assert_allclose(expected[len(shares) :], 0, atol=1e-12)


def test_there_is_one_component_fewer_than_positions_and_none_if_all_are_alike():
    shares = position_variance(torch.rand(4, 9, generator=torch.Generator().manual_seed(0)))
    assert len(shares) == 3
    assert shares.sum().item() == pytest.approx(1)
    assert position_variance(torch.full((5, 3), 0.1)).numel() == 0


def test_spectra_and_components_of_embeddings_are_stored(position_store, tiny):
    embedding = tiny.weights.position_embedding
    spectra = position_store.execute("from embedding_spectrum order by all").df()
    spectra = spectra.astype({"control": str}).set_index("control")
    kept = spectra.loc["kept"]
    assert list(kept["frequency"]) == list(frequencies(len(embedding)))
    expected = slow_twins.spread(embedding.T.tolist())
    np.testing.assert_allclose(kept[["mean", "q25", "q75", "max"]], expected, rtol=1e-5)
    assert len(spectra.loc["permuted"]) == len(kept)
    shares = position_store.execute("from position_variance order by component").df()
    ratio = position_variance(embedding).numpy()
    np.testing.assert_allclose(shares["ratio"], ratio, atol=1e-7)
    np.testing.assert_allclose(shares["cumulative"], ratio.cumsum(), atol=1e-7)
    assert shares["component"].tolist() == list(range(1, len(ratio) + 1))


@pytest.mark.parametrize(
    "table", [EMBEDDING_SPECTRUM, POSITION_VARIANCE], ids=["spectra", "variance"]
)
def test_a_model_that_learns_no_position_embeddings_has_no_rows(table):
    rows = rows_of_weights(table, ModelWeights(tiny_model("bert").layers, None))
    assert rows.schema == table.shard_schema
    assert rows.num_rows == 0


def _spreads(traces, length):
    """Spreads of the second layer's states by source, one dictionary for each text."""
    for trace in traces:
        layer = trace.layers[1]
        waves = slow_twins.state_waves(layer.attention_input[0, :length], layer.weights.query_key)
        words = trace.word_embeddings[0, :length].double().T.tolist()
        every = waves | {"word_embedding": words}
        yield {name: slow_twins.spread(values) for name, values in every.items()}


def test_spectra_are_means_over_texts_of_one_length_and_controls_over_every_fourth(
    position_store, position_traces
):
    lengths = {seq: wave_length(trace.is_token.shape[1]) for seq, trace in position_traces.items()}
    every = position_store.execute("from position_spectrum_control order by layer, frequency").df()
    hidden = every[(every["source"] == "hidden") & (every["control"] == "kept")]
    counts = {length: list(lengths.values()).count(length) for length in set(lengths.values())}
    counts.pop(0, None)
    assert hidden.groupby("length")["n_sequences"].max().to_dict() == counts
    again = {length for seq, length in lengths.items() if length and seq % 4 == 0}
    assert [length for seq, length in lengths.items() if seq % 4 and length in again]
    for length in counts:
        of_length = [seq for seq in position_traces if lengths[seq] == length]
        fourth = [seq for seq in of_length if seq % 4 == 0]
        for control, seqs in (("kept", of_length), ("compared", fourth)):
            spreads = list(_spreads([position_traces[seq] for seq in seqs], length))
            for source in ("word_embedding", "hidden", "query", "key"):
                rows = every[every["layer"].isna() | (every["layer"] == 2)]
                rows = rows.query("source == @source and length == @length and control == @control")
                if not seqs or (control == "compared" and source == "word_embedding"):
                    assert rows.empty
                    continue
                expected = np.mean([spread[source] for spread in spreads], axis=0)
                numbers = rows[["mean", "q25", "q75", "max"]].to_numpy()
                np.testing.assert_allclose(numbers, expected, rtol=1e-4, atol=1e-4)
                assert rows["frequency"].tolist() == list(frequencies(length))
                assert (rows["n_sequences"] == len(seqs)).all()
        again = every[(every["source"] == "key") & (every["length"] == length)]
        again = again[again["control"].isin(["removed", "permuted"])]
        assert set(again["n_sequences"]) == ({len(fourth)} if fourth else set())


@pytest.mark.parametrize(
    "change",
    [
        "update stored.state_spectrum set n_sequences = n_sequences + 1 "
        "where control = 'compared' and layer = 1",
        "delete from stored.state_spectrum where control = 'permuted' and source = 'key'",
    ],
)
def test_controls_of_other_sequences_break_a_law(position_run, tmp_path, change):
    law = CROSS_LAWS["spectra with and without positions are of the same number of sequences"]
    path = copyfile(position_run[0].output, tmp_path / "copy.duckdb")
    with duckdb.connect(str(path)) as store:
        assert store.execute(law).fetchone() == (0,)
        store.execute(change)
        [(broken,)] = store.execute(law).fetchall()
    assert broken > 0


def test_the_public_spectra_are_of_the_commonest_length_and_of_the_embeddings(position_store):
    every = position_store.execute(
        "from position_spectrum_control where control = 'kept' order by layer, frequency"
    ).df()
    hidden = every[every["source"] == "hidden"].sort_values(["n_sequences", "length"])
    every = every[every["length"] == hidden["length"].iloc[-1]]
    spectra = position_store.execute("from position_spectrum").df()
    for source, of_source in spectra.groupby("source"):
        of_source = of_source.sort_values(["layer", "frequency"])
        if source == "position_embedding":
            assert of_source["layer"].isna().all()
            assert len(of_source) == 40 // 2 + 1
        else:
            kept = every[every["source"] == source]
            np.testing.assert_array_equal(of_source["max"], kept["max"])
    assert spectra["source"].nunique() == 5


def _text() -> Sequence:
    """32 tokens of different kinds."""
    sequence = tiny_sequences("bert")[3]
    names = ("ids", "segments", "token_types", "words", "masked")
    arrays = {name: np.resize(getattr(sequence, name), N) for name in names}
    return replace(sequence, index=0, tokens=(sequence.tokens * N)[:N], **arrays)


def _emptied() -> LoadedModel:
    """A model that passes its embeddings on: every weight 0 but those of the normalisations."""
    loaded = tiny_model("bert")
    with torch.no_grad():
        for name, parameter in loaded.model.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
    return loaded


@pytest.fixture(scope="module")
def waves() -> LoadedModel:
    """Position embeddings are one wave in twelve phases; words are nothing. Of the first layer's
    heads two shift the wave between queries and keys, and the third looks at nothing."""
    loaded = _emptied()
    phases = 2 * np.pi * np.arange(WIDTH) / WIDTH
    embedding = loaded.model.embeddings.position_embeddings.weight
    wave = np.cos(TURN * np.arange(len(embedding))[:, None] + phases)
    quarter = WIDTH // 4  # a quarter of a turn ahead of coordinate 0
    attention = loaded.model.encoder.layer[0].attention.self
    with torch.no_grad():
        embedding.copy_(torch.from_numpy(wave))
        for head, shift in enumerate(SHIFTS):
            cosine, sine = np.cos(TURN * shift), np.sin(TURN * shift)
            row = head * (WIDTH // HEADS)
            attention.query.weight[row, 0] = attention.query.weight[row + 1, quarter] = 3.0
            attention.key.weight[row, 0] = attention.key.weight[row + 1, quarter] = cosine
            attention.key.weight[row, quarter] = sine
            attention.key.weight[row + 1, 0] = -sine
    return loaded


def _rows(table, loaded: LoadedModel, **chosen) -> pd.DataFrame:
    rows = as_stored(table, rows_of_table(table, loaded, [_text()], **chosen)).to_pandas()
    return rows.astype({name: str for name in ("control", "source") if name in rows})


def test_the_line_vanishes_without_positions_and_spreads_when_they_are_permuted(waves):
    spectra = _rows(STATE_SPECTRUM, waves)
    words = spectra[spectra["source"] == "word_embedding"]
    assert (words["max"] == 0).all()
    assert set(words["control"]) == {"kept"}
    assert words["layer"].isna().all()
    for layer in (1, 2):
        here = spectra[(spectra["source"] == "hidden") & (spectra["layer"] == layer)]
        by_control = {
            name: rows.set_index("frequency")["max"] for name, rows in here.groupby("control")
        }
        assert by_control["removed"].max() < 1e-9
        permuted = by_control["permuted"]
        assert permuted[FREQUENCY] < by_control["compared"][FREQUENCY] / 2
        assert (permuted.drop([0.0, FREQUENCY]) > 0.5).mean() > 0.9


def test_a_batch_that_cannot_be_run_again_has_no_controls(waves):
    rows = _rows(STATE_SPECTRUM, waves, controlled=None)
    assert set(rows["control"]) == {"kept"}
