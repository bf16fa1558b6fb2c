"""Stored spectra agree with the model's states, text by text."""

from shutil import copyfile

import duckdb
import numpy as np
import pytest

from analysis.measures.positions.position_spectrum import frequencies, wave_length
from analysis.statistics.positions import position_spectrum as state_spectrum
from precompute.store.cross_laws import CROSS_LAWS
from tests.reference.positions import state_spectrum as reference


def test_spectra_are_means_over_the_texts_of_one_length(position_store, position_traces):
    lengths = {seq: wave_length(trace.is_token.shape[1]) for seq, trace in position_traces.items()}
    stored = state_spectrum.lengths(position_store)
    counts = {length: list(lengths.values()).count(length) for length in set(lengths.values())}
    counts.pop(0, None)
    assert dict(zip(stored["length"], stored["n_sequences"], strict=True)) == counts
    for length in counts:
        traces = [position_traces[seq] for seq in position_traces if lengths[seq] == length]
        spreads = []
        for trace in traces:
            layer = trace.layers[1]
            inputs = layer.attention_input[0, :length]
            waves = reference.state_waves(inputs, layer.weights.query_key)
            waves["word_embedding"] = trace.word_embeddings[0, :length].double().T.tolist()
            spreads.append({name: reference.spread(values) for name, values in waves.items()})
        for source in ("word_embedding", "hidden", "query", "key"):
            rows = state_spectrum.by_layer(
                position_store, source=source, length=length, control="kept"
            )
            rows = rows[rows["layer"].isna() | (rows["layer"] == 2)]
            expected = np.mean([spread[source] for spread in spreads], axis=0)
            found = rows[["mean", "q25", "q75", "max"]].to_numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
            assert rows["frequency"].tolist() == list(frequencies(length))
            assert (rows["n_sequences"] == len(traces)).all()


def test_controls_are_of_every_fourth_sequence_and_of_no_words(position_store, position_traces):
    long = [
        seq
        for seq in position_traces
        if seq % 4 == 0 and wave_length(position_traces[seq].is_token.shape[1])
    ]
    assert long
    for control in ("compared", "removed", "permuted"):
        counted = position_store.execute(
            "select source, sum(n_sequences) from position_spectrum_control "
            "where control = $control and layer = 1 and frequency = 0 group by source",
            {"control": control},
        ).fetchall()
        assert dict(counted) == dict.fromkeys(("hidden", "query", "key"), len(long))


def test_controls_are_compared_with_the_same_sequences_as_they_are(position_store, position_traces):
    lengths = {
        seq: wave_length(trace.is_token.shape[1])
        for seq, trace in position_traces.items()
        if seq % 4 == 0
    }
    for length in set(lengths.values()) - {0}:
        layers = [position_traces[seq].layers[0] for seq in lengths if lengths[seq] == length]
        spreads = []
        for layer in layers:
            inputs = layer.attention_input[0, :length]
            waves = reference.state_waves(inputs, layer.weights.query_key)
            spreads.append({name: reference.spread(values) for name, values in waves.items()})
        for source in ("hidden", "query", "key"):
            rows = {
                control: state_spectrum.by_layer(
                    position_store, source=source, length=length, control=control
                )
                for control in state_spectrum.CONTROLS
            }
            for control in ("compared", "removed", "permuted"):
                assert (rows[control]["n_sequences"] == len(layers)).all()
                assert len(rows[control]) == len(rows["kept"])
            first = rows["compared"][rows["compared"]["layer"] == 1]
            found = first[["mean", "q25", "q75", "max"]].to_numpy()
            expected = np.mean([spread[source] for spread in spreads], axis=0)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


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


def test_some_length_has_sequences_that_were_not_run_again(position_traces):
    """Otherwise kept and compared sequences could not be told apart."""
    lengths = {seq: wave_length(t.is_token.shape[1]) for seq, t in position_traces.items()}
    again = {length for seq, length in lengths.items() if length and seq % 4 == 0}
    assert [length for seq, length in lengths.items() if seq % 4 and length in again]


def test_the_public_spectra_are_of_the_commonest_length_and_of_the_embeddings(position_store):
    length = int(state_spectrum.lengths(position_store)["length"].iloc[0])
    spectra = position_store.execute("from position_spectrum").df()
    assert set(spectra["source"]) == {
        "position_embedding", "word_embedding", "hidden", "query", "key"
    }  # fmt: skip
    for source in ("word_embedding", "hidden", "query", "key"):
        of_source = spectra[spectra["source"] == source].sort_values(["layer", "frequency"])
        kept = state_spectrum.by_layer(position_store, source=source, length=length, control="kept")
        np.testing.assert_array_equal(of_source["max"], kept["max"])
    embedding = spectra[spectra["source"] == "position_embedding"]
    assert embedding["layer"].isna().all()
    assert len(embedding) == 40 // 2 + 1
