import numpy as np
import pytest
import torch

from analysis.measures.positions.position_spectrum import embedding_spectrum
from tests.reference.positions import embedding_spectrum as reference
from tests.tiny import added_positions


@added_positions
def test_spectra_follow_their_slow_twin(tiny):
    embedding = tiny.weights.position_embedding
    spectrum = embedding_spectrum(embedding)[0]
    assert len(spectrum) == len(embedding) // 2 + 1
    for k, amplitudes in enumerate(spectrum):
        expected = reference.of_frequency(embedding.tolist(), k)
        assert amplitudes.tolist() == pytest.approx(expected, rel=1e-9)


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
