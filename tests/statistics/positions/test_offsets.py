"""Attention by offset: preferred offsets, their agreement, clusters, patches; spectra."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.measures.bootstrap import redraws
from analysis.measures.positions import profile_clusters as clusters
from analysis.measures.positions.offset_agreement import (
    agreement,
    chance_agreement,
    layer_parts,
    preferred_offsets,
    rank_correlation,
)
from analysis.measures.positions.position_spectrum import (
    amplitude_spectrum,
    embedding_spectrum,
    position_variance,
    wave_length,
)
from analysis.measures.positions.profile_clusters import (
    centre_names,
    nearest_centres,
    profile_centres,
)
from analysis.measures.positions.relative_position_profile import (
    diagonal_sums,
    patch_offsets,
    position_dependence,
)
from analysis.models.trace import ModelWeights
from analysis.statistics.positions.attention import (
    COUNTINGS,
    MIN_DEPENDENCES,
    OFFSET_AGREEMENT,
    PATCH_OFFSET,
)
from analysis.statistics.positions.scores import (
    EMBEDDING_SPECTRUM,
    POSITION_VARIANCE,
    STATE_SPECTRUM,
)
from precompute.jobs.shards import as_stored
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import rows_of_weights
from tests.statistics.fits import made, store_of
from tests.statistics.positions.turned_layers import public, stored
from tests.tiny import WIDTH, tiny_model, tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, ROWS
from tests.tracing import layers_of, rows_of_table


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [1, 7, 49])
def test_weights_that_are_all_alike_leave_nothing_to_explain(n, dtype):
    even = torch.full((2, n, n), 1 / n, dtype=dtype)
    found = position_dependence(even, diagonal_sums(even), is_causal=False, window=None)
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("values", "offset"),
    [
        ([1, 0, 0, 0, 0, 0, 2], 3),
        ([1, 0, 1, 0, 0, 0, 1], -1),
        ([0, 0, 5, 0, 5, 0, 0], -1),
        ([4, 4, 4, 4, 4, 4, 4], 0),
        ([-9, -8, -7, -6, -5, -4, -5], 2),
    ],
)
def test_of_equal_values_the_nearest_is_preferred_and_then_the_left(values, offset):
    assert preferred_offsets(np.array([values], dtype=float), np.arange(-3, 4)).tolist() == [offset]


def _spearman(scores, attention):
    """None if either side is constant."""
    if len(set(scores)) == 1 or len(set(attention)) == 1:
        return None
    return pd.Series(scores).corr(pd.Series(attention), method="spearman")


def _chance(scores, attention):
    """Σ_t p(t) q(t) over the offsets that occur."""
    n = len(scores)
    return sum(scores.count(t) / n * attention.count(t) / n for t in set(scores))


def test_intervals_are_the_percentiles_of_resampled_heads():
    draw = np.random.default_rng(0)
    scores = draw.integers(-3, 4, size=15)
    attention = np.where(draw.random(15) < 0.5, scores, draw.integers(-3, 4, size=15))
    of_draws = []
    for counts in redraws(np.arange(15), seed=4).weights.astype(int):
        sides = [np.repeat(offsets, counts) for offsets in (scores, attention)]
        of_draws.append(((sides[0] == sides[1]).mean(), _spearman(*sides)))
    expected = np.quantile(np.array(of_draws), [0.025, 0.975], axis=0)
    for place, number in enumerate((agreement, rank_correlation)):
        found = number(scores, attention, seed=4)
        np.testing.assert_allclose([found.low, found.high], expected[:, place], atol=1e-9)
        few = number(scores[:9], attention[:9], seed=4)
        assert np.isnan([few.low, few.high]).all(), "nine heads have no interval"


def test_offsets_that_are_all_the_same_cannot_be_ranked_but_agree_or_not():
    same, other = np.array([-1, -1, -1]), np.array([-1, 2, 0])
    assert np.isnan(rank_correlation(same, other, seed=0)).all()
    assert agreement(same, other, seed=0).value == pytest.approx(1 / 3)
    assert chance_agreement(same, other) == pytest.approx(1 / 3)


def test_parts_add_up_and_shifts_of_whole_layers_are_between_them():
    """Within every layer the offsets go against each other; layers differ in both alike."""
    layers, heads = np.indices((12, 5)).reshape(2, -1)
    scores, attention = 10 * layers + heads, 10 * layers - heads
    within, between = layer_parts(scores, attention, layers, seed=0)
    assert within.spearman == pytest.approx(-1)
    assert within.high < 0 < between.low
    found = rank_correlation(scores, attention, seed=0)
    assert within.contribution + between.contribution == pytest.approx(found.value)


_QUARTERS = st.integers(0, 8).map(lambda n: n / 4)
OFFSETS = np.arange(-2, 3)


PLANTED = np.array([[0, 0.9, 0, 0, 0], [0.1, 0, 0, 0, 0.1], [0, 0.05, 0.1, 0.5, 0]])


def _planted(n, *, seed):
    """Profiles around the planted centres, and the centre of each."""
    draw = np.random.default_rng(seed)
    of = draw.integers(len(PLANTED), size=n)
    return PLANTED[of] + draw.normal(scale=0.01, size=(n, 5)), of


def test_planted_clusters_are_found_again():
    profiles, of = _planted(300, seed=0)
    clustering = profile_centres(profiles, 3, seed=0)
    assert clustering is not None
    np.testing.assert_allclose(clustering.centres, PLANTED[[0, 2, 1]], atol=0.005)
    assert clustering.sizes.tolist() == np.bincount(of)[[0, 2, 1]].tolist()
    assert (np.array([0, 2, 1])[nearest_centres(profiles, clustering.centres)] == of).all()
    within = np.square(profiles - clustering.centres[np.array([0, 2, 1])[of]]).sum()
    total = np.square(profiles - profiles.mean(axis=0)).sum()
    assert clustering.explained == pytest.approx(1 - within / total)


def test_there_are_no_more_clusters_than_profiles_that_differ():
    profiles = np.repeat(np.eye(5)[:3], 4, axis=0)
    three = profile_centres(profiles, 3, seed=0)
    assert three is not None
    assert three.explained == pytest.approx(1)
    assert profile_centres(profiles, 4, seed=0) is None


def test_of_very_many_profiles_a_sample_is_taken(monkeypatch):
    monkeypatch.setattr(clusters, "FITTED", 90)
    clustering = profile_centres(_planted(300, seed=3)[0], 3, seed=0)
    assert clustering is not None
    assert clustering.sizes.sum() == 90
    np.testing.assert_allclose(clustering.centres, PLANTED[[0, 2, 1]], atol=0.01)


@pytest.mark.parametrize(
    ("centre", "name"),
    [
        ([0, 0.4, 0, 0, 0], "previous_strong"),
        ([0, 0.39, 0, 0, 0], "previous_moderate"),
        ([0, 0.3, 0, 0.15, 0], "both_moderate"),
        ([0, 0.3, 0, 0.14, 0], "previous_moderate"),
        ([0.01, 0.02, 0.02, 0.04, 0.09], "next_weak"),
        ([0, 0.1, 0.6, 0.1, 0], "self_strong"),
        ([0.1, 0.2, 0.5, 0.1, 0.1], "both_strong"),
        ([0, 0, 0, 0, 0], "both_weak"),
    ],
)
def test_a_centre_is_named_by_its_direction_and_its_peak(centre, name):
    assert centre_names(np.array([centre], dtype=float), OFFSETS) == [name]


@given(st.lists(st.sampled_from([0.9, 0.2, 0.05]), min_size=1, max_size=12))
def test_no_two_centres_share_a_name(peaks):
    centres = np.outer(sorted(peaks, reverse=True), np.eye(5)[1])
    names = centre_names(centres, OFFSETS)
    assert len(set(names)) == len(names)
    strong = [name for name in names if name.startswith("previous_strong")]
    numbered = [f"previous_strong_{place}" for place in range(2, len(strong) + 1)]
    assert strong == (["previous_strong", *numbered] if strong else [])


@given(
    arrays(np.float64, (6, 4), elements=_QUARTERS), arrays(np.float64, (3, 4), elements=_QUARTERS)
)
def test_the_nearest_centre_is_at_the_smallest_distance_and_the_first_of_several(profiles, centres):
    distances = np.square(profiles[:, None] - centres).sum(axis=-1)
    np.testing.assert_array_equal(nearest_centres(profiles, centres), distances.argmin(axis=1))


def slow_offsets(matrix, n_rows, n_columns, reach):
    """Attention of one head by row and column offset, per patch and per pair."""
    weights = {}
    for query in range(n_rows * n_columns):
        for key in range(n_rows * n_columns):
            down = key // n_columns - query // n_columns
            right = key % n_columns - query % n_columns
            if abs(down) <= reach and abs(right) <= reach:
                weights.setdefault((down, right), []).append(matrix[query][key])
    return {
        offset: (sum(values) / (n_rows * n_columns), sum(values) / len(values))
        for offset, values in weights.items()
    }


SIDES = st.integers(1, 5)


@given(SIDES, SIDES, st.integers(0, 6), st.integers(0, 99))
def test_offsets_are_those_of_the_slow_twin(n_rows, n_columns, reach, seed):
    shape = (2, n_rows * n_columns, n_rows * n_columns)
    attention = torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).softmax(dim=-1)
    offsets = patch_offsets(attention, n_rows=n_rows, n_columns=n_columns, reach=reach)
    for head, matrix in enumerate(attention.tolist()):
        slow = slow_offsets(matrix, n_rows, n_columns, reach)
        assert {(r, c) for r in offsets.rows for c in offsets.columns} == set(slow)
        expected = [slow[row, column] for row in offsets.rows for column in offsets.columns]
        actual = np.stack([offsets.attention[head].ravel(), offsets.per_pair[head].ravel()], axis=1)
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_the_next_patch_of_the_reading_order_is_two_offsets():
    """The first patch of a row follows the last of the row above, and is no neighbour of it."""
    attention = torch.diag(torch.ones(14), 1)[None]
    offsets = patch_offsets(attention, n_rows=3, n_columns=5, reach=7)
    row, column = offsets.attention[0].nonzero()
    steps = set(zip(offsets.rows[row].tolist(), offsets.columns[column].tolist(), strict=True))
    assert steps == {(0, 1), (1, -4)}


@pytest.mark.parametrize("family", ["dinov2_with_registers"], indirect=True, scope="session")
def test_offsets_are_means_over_images_of_their_patches_alone(tiny, sequences):
    """The model has several special tokens in front of the patches."""
    layers = layers_of(tiny, sequences)
    rows = public(PATCH_OFFSET, stored(PATCH_OFFSET, layers), "patch_offset")
    rows = rows.set_index(["layer", "head"])
    first = len(sequences[0]) - ROWS * COLUMNS
    for layer, head in product(layers, range(HEADS)):
        maps = layer.attention[:, head, first:, first:].tolist()
        slow = [slow_offsets(matrix, ROWS, COLUMNS, 7) for matrix in maps]
        of_head: Any = rows.loc[(layer.weights.number, head + 1)]
        assert len(of_head) == len(slow[0]) == (2 * ROWS - 1) * (2 * COLUMNS - 1)
        assert (of_head["n_images"] == len(sequences)).all()
        for row in of_head.itertuples():
            both = [offsets[row.row_offset, row.column_offset] for offsets in slow]
            expected = np.mean(both, axis=0)
            assert (row.attention, row.attention_per_pair) == pytest.approx(tuple(expected), 1e-4)


def test_agreement_is_counted_over_the_heads_that_depend_enough():
    draw = np.random.default_rng(0)
    offsets = {name: draw.integers(-2, 2, 24) for names in COUNTINGS.values() for name in names}
    heads = pd.DataFrame({"layer": np.arange(24) // 8 + 1, "head": np.arange(24) % 8 + 1})
    heads = heads.assign(dependence=draw.random(24) ** 3, **offsets)
    with store_of(head_offset=heads) as store:
        rows: Any = made(OFFSET_AGREEMENT, store).fillna({"layer": 0})
    found = {
        (row.counting, round(row.min_dependence, 2), row.layer): row for row in rows.itertuples()
    }
    for (counting, columns), least in product(COUNTINGS.items(), MIN_DEPENDENCES):
        chosen = heads[heads["dependence"] >= least]
        for layer, of in (*chosen.groupby("layer"), (0, chosen)):
            row = found.pop((counting, least, layer), None)
            assert (row is None) == (len(of) < 2)
            if row is not None:
                sides = [of[name].tolist() for name in columns]
                same = np.mean([one == other for one, other in zip(*sides, strict=True)])
                assert (row.n_heads, row.agreement, row.chance) == pytest.approx(
                    (len(of), same, _chance(*sides))
                )
                rho = _spearman(*sides)
                expected = np.nan if rho is None else rho
                assert row.spearman == pytest.approx(expected, nan_ok=True)
    assert not found


def test_texts_have_no_patches():
    rows = rows_of_table(PATCH_OFFSET, tiny_model("bert"), tiny_sequences("bert"))
    assert rows.num_rows == 0
    assert rows.schema == PATCH_OFFSET.shard_schema


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
