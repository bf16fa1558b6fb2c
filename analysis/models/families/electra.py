"""ELECTRA, discriminators and generators: BERT's layers, with a projection in front if word
embeddings are narrower than hidden states.
"""

from torch import Tensor

from analysis.models.families import bert
from analysis.models.gradients import Loss, attention_gradients
from analysis.models.parts import no_images
from analysis.models.trace import LayerWeights, Model, Trace

FAMILIES = ("electra",)
LANGUAGE_MODELS = {"ElectraForMaskedLM": "AutoModelForMaskedLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = {"ElectraForSequenceClassification": "AutoModelForSequenceClassification"}
"""Loader of each classifier class that a configuration may name."""
fit_to_images, layout, check = no_images, bert.layout, bert.check
positions, position_embedding = bert.positions, bert.position_embedding
changed_positions, weights = bert.changed_positions, bert.weights
class_logits = bert.class_logits


def _entrance(model: Model) -> Model:
    """Return the module whose output is the first layer's input."""
    return getattr(model, "embeddings_project", model.embeddings)


def trace(model: Model, layers: tuple[LayerWeights, ...], inputs: dict[str, Tensor]) -> Trace:
    """Run the model once and split the result by layer."""
    return bert.trace(model, layers, inputs, entrance=_entrance(model))


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits of the generator over the vocabulary, from last hidden states."""
    return language_model.generator_lm_head(language_model.generator_predictions(hidden))


def gradients(model: Model, inputs: dict[str, Tensor], loss: Loss) -> tuple[Tensor, ...]:
    """Gradients of a loss with respect to the attention weights of each layer."""
    n_layers = len(model.encoder.layer)
    return attention_gradients(model, inputs, loss, first=_entrance(model), n_layers=n_layers)
