"""ELECTRA, discriminators and generators: BERT's layers, whose words may be narrower than these and
are then widened before the first.
"""

from torch import Tensor

from analysis.models.families import bert
from analysis.models.gradients import Loss, attention_gradients
from analysis.models.parts import no_images
from analysis.models.trace import LayerWeights, Model, Trace

FAMILIES = ("electra",)
LANGUAGE_MODELS = {"ElectraForMaskedLM": "AutoModelForMaskedLM"}
"""What a configuration calls a model that predicts tokens, and what loads it."""
CLASSIFIERS = {"ElectraForSequenceClassification": "AutoModelForSequenceClassification"}
"""What a configuration calls a model that predicts classes, and what loads it."""
fit_to_images, layout, check = no_images, bert.layout, bert.check
positions, position_embedding = bert.positions, bert.position_embedding
changed_positions, weights = bert.changed_positions, bert.weights
class_logits = bert.class_logits


def _entrance(model: Model) -> Model:
    """What puts out what the first layer reads."""
    return getattr(model, "embeddings_project", model.embeddings)


def trace(model: Model, layers: tuple[LayerWeights, ...], inputs: dict[str, Tensor]) -> Trace:
    """Run the model once and take each layer apart."""
    return bert.trace(model, layers, inputs, entrance=_entrance(model))


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """What the generator says of last hidden states: a number for every token there is."""
    return language_model.generator_lm_head(language_model.generator_predictions(hidden))


def gradients(model: Model, inputs: dict[str, Tensor], loss: Loss) -> tuple[Tensor, ...]:
    """How a loss changes with the attention weights of each layer."""
    n_layers = len(model.encoder.layer)
    return attention_gradients(model, inputs, loss, first=_entrance(model), n_layers=n_layers)
