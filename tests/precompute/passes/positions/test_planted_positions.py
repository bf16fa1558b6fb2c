"""Models with planted waves and planted offsets."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

from precompute.corpora.sequence import Sequence
from precompute.jobs.shards import as_stored
from precompute.models.loaded_model import LoadedModel
from precompute.passes.base import Totals
from precompute.passes.batch import Batch
from precompute.passes.positions import relative_position_profile, state_spectrum
from tests.tiny import HEADS, WIDTH, tiny_model, tiny_sequences

N = 32
CYCLES = 2
FREQUENCY = 512 * CYCLES / N
TURN = 2 * np.pi * CYCLES / N
SHIFTS = (1, -2)
"""By how many tokens the key waves of the first heads are ahead of their query waves."""


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


def _batch(loaded: LoadedModel) -> Batch:
    text = _text()
    return Batch((text,), loaded.trace([text]), controlled=partial(loaded.trace_controlled, seed=0))


def _rows(statistic: Totals, loaded: LoadedModel) -> pd.DataFrame:
    return as_stored(statistic.TABLE, statistic.totals(_batch(loaded))).to_pandas()


@pytest.fixture(scope="module")
def spectra(waves) -> pd.DataFrame:
    rows = _rows(state_spectrum, waves)
    return rows.astype({"control": str, "source": str})


@pytest.mark.parametrize("layer", [0, 1])
def test_the_line_vanishes_without_positions_and_spreads_when_they_are_permuted(spectra, layer):
    here = spectra[(spectra["source"] == "hidden") & (spectra["layer"] == layer)]
    by_control = {
        name: rows.set_index("frequency")["max"] for name, rows in here.groupby("control")
    }
    assert by_control["removed"].max() < 1e-9
    permuted = by_control["permuted"]
    assert permuted[FREQUENCY] < by_control["compared"][FREQUENCY] / 2
    others = permuted.drop([0.0, FREQUENCY])
    assert (others > 0.5).mean() > 0.9


def test_words_that_are_nothing_have_no_line_and_no_control(spectra):
    words = spectra[spectra["source"] == "word_embedding"]
    assert (words["max"] == 0).all()
    assert set(words["control"]) == {"kept"}
    assert words["layer"].isna().all()


def test_a_batch_that_cannot_be_run_again_has_no_controls(waves):
    batch = replace(_batch(waves), controlled=None)
    assert set(state_spectrum.totals(batch)["control"].to_pylist()) == {"kept"}


def test_position_explains_all_of_a_positional_head_and_nothing_of_an_even_one(waves):
    rows = _rows(relative_position_profile, waves)
    first = rows[rows["layer"] == 0]["dependence"]
    np.testing.assert_allclose(first[: len(SHIFTS)], 1, atol=1e-9)
    assert first[len(SHIFTS) :].isna().all()


def test_position_explains_little_of_a_head_that_looks_at_words():
    loaded = _emptied()
    attention = loaded.model.encoder.layer[0].attention.self
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        words = loaded.model.embeddings.word_embeddings.weight
        words.copy_(torch.randn(words.shape, generator=draw, dtype=words.dtype))
        attention.query.bias.fill_(2.0)
        attention.key.weight.copy_(torch.eye(WIDTH))
    rows = _rows(relative_position_profile, loaded)
    dependence = rows[rows["layer"] == 0]["dependence"]
    assert (dependence < 0.15).all()
    assert (dependence > 0).all()
