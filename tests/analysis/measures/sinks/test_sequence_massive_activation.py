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
            states, by_place = layer.input[row, : len(types)], place_tokens(types)
            places = places_of([types], len(types))[0]
            there = [NAMES.index(name) for name in by_place]
            activations = largest_activations(states, places[there])
            for at, tokens in enumerate(by_place.values()):
                size, token, coordinate = twin.largest(states.tolist(), tokens)
                assert activations.largest[at].item() == pytest.approx(size, rel=1e-12)
                assert (activations.token[at], activations.coordinate[at]) == (token, coordinate)
            assert activations.median.item() == pytest.approx(
                twin.median(states.tolist()), rel=1e-12
            )


def test_a_planted_activation_is_found_where_it_was_put():
    model, (sequence, *_) = massive_model("gpt2", "first"), tiny_sequences("gpt2")
    trace = model.trace([sequence])
    places = places_of([list(sequence.named_types)], len(sequence))[0]
    every = torch.ones_like(places[:1])
    for layer in trace.layers:
        activations = largest_activations(layer.input[0], torch.cat([every, places[:1]]))
        assert activations.largest[0].item() == pytest.approx(SIZE, rel=0.01)
        assert (activations.token[0].item(), activations.coordinate[0].item()) == (1, COORDINATE)
        assert activations.largest[1] < SIZE / 100, "the first token has none"
        assert activations.largest[0] > 1000 * activations.median


def test_sizes_grow_with_the_stream_and_their_ratio_does_not():
    states = torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    places = torch.eye(6, dtype=torch.bool)
    activations, again = (largest_activations(states * times, places) for times in (1, -7))
    torch.testing.assert_close(again.largest, activations.largest * 7)
    torch.testing.assert_close(again.median, activations.median * 7)
    assert torch.equal(again.coordinate, activations.coordinate)
    overall = largest_activations(states, torch.ones(1, 6, dtype=torch.bool))
    assert overall.largest[0] == activations.largest.max()
