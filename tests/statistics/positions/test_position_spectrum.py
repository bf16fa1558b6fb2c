"""Spectra along positions: of embeddings, and of states with and without positions."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.positions.position_spectrum import (
    amplitude_spectrum,
    embedding_spectrum,
    position_variance,
    wave_length,
)
from analysis.models.trace import ModelWeights
from analysis.statistics.positions.scores import (
    EMBEDDING_SPECTRUM,
    POSITION_VARIANCE,
    STATE_SPECTRUM,
)
from precompute.jobs.shards import as_stored
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_weights
from precompute.store.cross_laws import CROSS_LAWS
from tests.statistics.fits import store_of
from tests.tiny import tiny_model
from tests.tracing import rows_of_table

N = 32
CYCLES = 2
FREQUENCY = 512 * CYCLES / N
TURN = 2 * np.pi * CYCLES / N


@given(st.integers(3, 40), st.integers(0, 20), st.floats(0.1, 9), st.floats(0, 6.3))
def test_a_pure_wave_has_one_line_at_its_frequency(n, k, height, phase):
    k %= (n - 1) // 2 + 1
    t = torch.arange(n, dtype=torch.float64)
    wave = height * torch.cos(2 * np.pi * k * t / n + phase)
    spectrum = amplitude_spectrum(wave[:, None])[:, 0]
    expected = torch.zeros(n // 2 + 1, dtype=torch.float64)
    expected[k] = height * n / 2 if k else abs(height * np.cos(phase)) * n
    torch.testing.assert_close(spectrum, expected, atol=1e-9, rtol=1e-9)


def test_measured_lengths_are_powers_of_two_from_16_on():
    lengths = (1, 15, 16, 17, 31, 32, 127, 128, 511, 512, 1000, 2048)
    measured = [wave_length(n) for n in lengths]
    assert measured == [0, 0, 16, 16, 16, 32, 64, 128, 256, 512, 512, 2048]


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


def test_there_is_one_component_fewer_than_positions_and_none_if_all_are_alike():
    shares = position_variance(torch.rand(4, 9, generator=torch.Generator().manual_seed(0)))
    assert len(shares) == 3
    assert shares.sum().item() == pytest.approx(1)
    assert position_variance(torch.full((5, 3), 0.1)).numel() == 0


@pytest.mark.parametrize(
    "table", [EMBEDDING_SPECTRUM, POSITION_VARIANCE], ids=["spectra", "variance"]
)
def test_a_model_that_learns_no_position_embeddings_has_no_rows(table):
    rows = rows_of_weights(table, ModelWeights(tiny_model("bert").layers, None))
    assert rows.schema == table.shard_schema
    assert rows.num_rows == 0


@pytest.mark.parametrize(
    "change",
    [
        "update state_spectrum set n_sequences = n_sequences + 1 "
        "where control = 'compared' and layer = 1",
        "delete from state_spectrum where control = 'permuted' and source = 'key'",
    ],
)
def test_controls_of_other_sequences_break_a_law(change):
    law = CROSS_LAWS["spectra with and without positions are of the same number of sequences"]
    with store_of(state_spectrum=_rows(STATE_SPECTRUM, tiny_model("bert"))) as store:
        store.execute("create view position_spectrum_control as from state_spectrum")
        assert store.execute(law).fetchone() == (0,)
        store.execute(change)
        [(broken,)] = store.execute(law).fetchall()
    assert broken > 0


@pytest.fixture(scope="module")
def waves() -> LoadedModel:
    """A model that passes its embeddings on: those of positions are one wave in twelve phases,
    those of words are nothing."""
    loaded = tiny_model("bert")
    embedding = loaded.model.embeddings.position_embeddings.weight
    phases = 2 * np.pi * np.arange(WIDTH) / WIDTH
    with torch.no_grad():
        for name, parameter in loaded.model.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        wave = np.cos(TURN * np.arange(len(embedding))[:, None] + phases)
        embedding.copy_(torch.from_numpy(wave))
    return loaded


def _rows(table, loaded: LoadedModel) -> pd.DataFrame:
    """Rows of a text of 32 tokens."""
    sequence = tiny_sequences("bert")[3]
    names = ("ids", "segments", "token_types", "words", "masked")
    arrays = {name: np.resize(getattr(sequence, name), N) for name in names}
    text = replace(sequence, index=0, tokens=(sequence.tokens * N)[:N], **arrays)
    rows = as_stored(table, rows_of_table(table, loaded, [text])).to_pandas()
    return rows.astype(dict.fromkeys(("control", "source"), str))


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
