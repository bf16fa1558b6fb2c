"""A sequence as a batch of its own, as a run makes it."""

from collections.abc import Callable

from precompute.corpora.sequence import Sequence
from precompute.models.classification import classification_of
from precompute.models.loaded_model import LoadedModel
from precompute.passes.layers import Batch, Layer


def batch_of(model: LoadedModel, sequence: Sequence) -> Batch:
    """Return a batch of one sequence, whose maps of relevance are kept."""
    return Batch(
        (sequence,),
        layers=model.layers,
        is_token=model.is_token([sequence]),
        word_embeddings=model.word_embeddings([sequence]),
        hidden_dtype=model.hidden_dtype,
        gate_rule=model.gate_rule,
        relevance_start=model.relevance_start,
        kept=frozenset({sequence.index}),
        images=model.images,
        classification=classification_of(model),
    )


def run_layers(model: LoadedModel, batch: Batch, receive: Callable[[Layer], None]) -> None:
    """Run the model on a batch and hand over its layers, first to last."""
    model.stream(batch.sequences, lambda index, trace: receive(Layer(batch, index, trace)))
