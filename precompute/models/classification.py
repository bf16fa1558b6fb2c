"""Class predictions of a model for its inputs, whole or in part."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.models.trace import Model
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel

VARIANTS = 32
"""Number of variants of an image in a forward pass."""


@dataclass(frozen=True)
class ClassGradients:
    """∂(logit of the predicted class)/∂α of every layer, each α a free variable."""

    layers: tuple[Float[Tensor, "batch head query key"], ...]
    predicted: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Classification:
    """The classes of a model and their probabilities."""

    model: LoadedModel
    classifier: Model

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the classes."""
        names = self.classifier.config.id2label
        return tuple(str(names[place]) for place in range(len(names)))

    def probabilities(self, sequences: SequenceOf[Sequence]) -> Float[Tensor, "batch class"]:
        """Return the probability of each class."""
        return self._probabilities(self.model.inputs(sequences)).to(self.model.measured_on)

    def gradients(self, sequences: SequenceOf[Sequence]) -> ClassGradients:
        """Gradients of the predicted class's logit with respect to attention weights."""
        inputs = self.model.inputs(sequences)
        predicted = self._probabilities(inputs).argmax(dim=1)

        def loss(returned: Any) -> Tensor:
            return returned.logits.gather(1, predicted[:, None]).sum()

        slopes = self.model.attention_gradients(inputs, loss, self.classifier)
        there = self.model.measured_on
        widened = tuple(
            layer.to(there, self.model.layers[0].query_weight.dtype) for layer in slopes
        )
        return ClassGradients(widened, predicted.to(there))

    def of_variants(
        self, sequence: Sequence, kept: Bool[Tensor, "variant patch"]
    ) -> Float[Tensor, "variant class"]:
        """Return class probabilities with some patches replaced by the image's mean colour."""
        reader = self.model.image_reader
        pixels = reader.pixels(sequence.picture)
        mean = pixels.mean(dim=(1, 2), keepdim=True)
        probabilities = []
        for part in kept.split(VARIANTS):
            grid = part.unflatten(1, (reader.layout.rows, reader.layout.columns))
            height, width = reader.patch
            is_kept = grid.repeat_interleave(height, 1).repeat_interleave(width, 2).unsqueeze(1)
            changed = torch.where(is_kept, pixels, mean).to(self.model.model.device)
            probabilities.append(self._probabilities({"pixel_values": changed}))
        return torch.cat(probabilities).to(self.model.measured_on)

    def _probabilities(self, inputs: dict[str, Tensor]) -> Float[Tensor, "batch class"]:
        with torch.inference_mode():
            given = self.model.reading.inputs(inputs)
            return self.classifier(**given, return_dict=True).logits.float().softmax(dim=-1)


def classification_of(model: LoadedModel) -> Classification | None:
    """Return the classes of a model; None without a head that predicts classes."""
    return None if model.classifier is None else Classification(model, model.classifier)
