"""The largest coordinates of hidden states against loops, a planted one, and laws."""

import pytest
import torch

from analysis.measures.sinks.sequence_massive_activation import largest_activations
from tests.analysis.measures.sinks.places import NAMES, places_of
from tests.massive import COORDINATE, SIZE, massive_model
from tests.reference.sinks import sequence_massive_activation as twin
from tests.reference.sinks.sequence_sink import place_tokens
from tests.tiny import tiny_sequences


def test_every_place_has_the_largest_coordinate_of_the_twin(traced, sequences):
    for layer in traced.layers:
        for row, sequence in enumerate(sequences):
            types = list(sequence.named_types)
            states, names_of_places = layer.input[row, : len(types)], place_tokens(types)
            places = places_of([types], len(types))[0]
            there = [NAMES.index(name) for name in names_of_places]
            found = largest_activations(states, places[there])
            for at, tokens in enumerate(names_of_places.values()):
                size, token, coordinate = twin.largest(states.tolist(), tokens)
                assert found.largest[at].item() == pytest.approx(size, rel=1e-12)
                assert (found.token[at], found.coordinate[at]) == (token, coordinate)
            assert found.median.item() == pytest.approx(twin.median(states.tolist()), rel=1e-12)


def test_a_planted_activation_is_found_where_it_was_put():
    model, (sequence, *_) = massive_model("gpt2", "first"), tiny_sequences("gpt2")
    trace = model.trace([sequence])
    places = places_of([list(sequence.named_types)], len(sequence))[0]
    every = torch.ones_like(places[:1])
    for layer in trace.layers:
        found = largest_activations(layer.input[0], torch.cat([every, places[:1]]))
        assert found.largest[0].item() == pytest.approx(SIZE, rel=0.01)
        assert (found.token[0].item(), found.coordinate[0].item()) == (1, COORDINATE)
        assert found.largest[1] < SIZE / 100, "the first token has none"
        assert found.largest[0] > 1000 * found.median


def test_sizes_grow_with_the_stream_and_their_ratio_does_not():
    states = torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    places = torch.eye(6, dtype=torch.bool)
    found, again = (largest_activations(states * times, places) for times in (1, -7))
    torch.testing.assert_close(again.largest, found.largest * 7)
    torch.testing.assert_close(again.median, found.median * 7)
    assert torch.equal(again.coordinate, found.coordinate)
    whole = largest_activations(states, torch.ones(1, 6, dtype=torch.bool))
    assert whole.largest[0] == found.largest.max()
