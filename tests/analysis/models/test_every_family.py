"""Laws of every family's reading, on tiny models."""

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.models import attention
from analysis.token_types import REGISTER
from tests.tiny import OF_IMAGES, TEXT_FAMILIES, text_families
from tests.tracing import controlled_layers, trace_of


@pytest.mark.parametrize("family", TEXT_FAMILIES, indirect=True, scope="session")
def test_the_longest_sequence_that_fits_runs_and_one_more_token_does_not(tiny):
    ids = torch.full((1, tiny.positions + 1), 7)

    def run(n: int) -> None:
        tiny.model(input_ids=ids[:, :n], attention_mask=torch.ones_like(ids[:, :n]))

    run(tiny.positions)
    with pytest.raises((IndexError, RuntimeError)):
        run(tiny.positions + 1)


def test_attention_with_an_unknown_term_is_refused_when_a_model_is_loaded(tiny, monkeypatch):
    tiny.proved()
    if not attention.attends_by_interface(tiny.model):
        return  # its own code computes the weights
    plain = attention._weights

    def changed(query, key, **terms):
        return plain(query, key, **terms | {"scaling": 1.01 * terms["scaling"]})

    monkeypatch.setattr(attention, "_weights", changed)
    with pytest.raises(UnfitModel, match="Attention weights of layer 1 differ from those of"):
        tiny.proved()


@pytest.mark.parametrize("family", [*TEXT_FAMILIES, *OF_IMAGES], indirect=True, scope="session")
def test_position_embeddings_are_what_the_model_adds_to_the_words(tiny, sequences):
    shown: list[torch.Tensor] = []
    tiny.stream(sequences[:1], lambda *_: None, lambda output: shown.append(output) or output)
    has_position = sequences[0].token_types != REGISTER
    added = shown[0].reshape(len(sequences[0]), -1)
    embedding = tiny.reading.places.embedding[: has_position.sum()]
    torch.testing.assert_close(added[has_position], embedding)
    assert not added[~has_position].any()


@text_families
def test_word_embeddings_are_the_rows_of_the_ids(tiny, sequences):
    table = tiny.model.get_input_embeddings().weight
    for sequence in sequences:
        words = trace_of(tiny, [sequence]).word_embeddings[0]
        torch.testing.assert_close(words, table[torch.from_numpy(sequence.ids).long()])


@text_families
def test_without_positions_a_repeated_text_is_embedded_alike(tiny, sequences):
    sequence = sequences[0]
    removed = controlled_layers(tiny, sequence, "removed")[0].input[0]
    tokens = [*zip(sequence.ids, sequence.segments, strict=True)]
    same = [(i, j) for i in range(len(tokens)) for j in range(i) if tokens[i] == tokens[j]]
    assert same
    for one, other in same:
        torch.testing.assert_close(removed[one], removed[other])


def test_permuted_positions_are_others_and_the_same_every_time(tiny, sequences):
    sequence = sequences[0]
    kept = trace_of(tiny, [sequence]).layers[0].attention
    one, again = (controlled_layers(tiny, sequence, "permuted")[0].attention for _ in range(2))
    assert not torch.equal(kept, one)
    assert torch.equal(one, again)
