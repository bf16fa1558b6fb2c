"""ELECTRA, discriminators and generators: BERT's layers, with a projection in front if word
embeddings are narrower than hidden states.
"""

from torch import Tensor

from analysis.models.attention import ModelParts
from analysis.models.families import bert
from analysis.models.parts import no_images
from analysis.models.trace import Model

FAMILIES = ("electra",)
LANGUAGE_MODELS = {"ElectraForMaskedLM": "AutoModelForMaskedLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = {"ElectraForSequenceClassification": "AutoModelForSequenceClassification"}
"""Loader of each classifier class that a configuration may name."""
fit_to_images, layout, check = no_images, bert.layout, bert.check
positions, position_embedding = bert.positions, bert.position_embedding
changed_positions, weights = bert.changed_positions, bert.weights
class_logits, model_inputs = bert.class_logits, bert.model_inputs
word_embeddings = bert.word_embeddings


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits of the generator over the vocabulary, from last hidden states."""
    return language_model.generator_lm_head(language_model.generator_predictions(hidden))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace; a narrow embedding is projected first."""
    entrance = getattr(model, "embeddings_project", model.embeddings)
    return ModelParts(entrance, bert.layer_parts(model))
